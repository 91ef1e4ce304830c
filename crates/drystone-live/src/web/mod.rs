//! The local page, JSON and metrics over HTTP: to look at, never to change anything.
//!
//! It listens on loopback or a Unix socket by default and answers `GET` and `HEAD` alone. On
//! loopback it answers only requests meant for loopback, so a page of another site open in a
//! browser gets nothing.

mod events;
mod listen;
mod page_server;
mod patient_stream;

pub use listen::{Listen, ListenError, ListenPlaceError};
pub use page_server::{PageMaker, PageResponse, serve_pages};

use crate::board::{PublishedBoard, PublishedDocument};
use bytes::Bytes;
use events::{EventBody, Events};
use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use listen::{AcceptedStream, Accepts};
use patient_stream::PatientStream;
use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// Longest time for which a reader may take nothing of a response.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
/// Connections at once; more wait.
const CONNECTIONS: usize = 64;

const PAGE: &str = include_str!("../../assets/page/index.html");
const SCRIPT: &str = include_str!("../../assets/page/page.js");
const STYLE: &str = include_str!("../../assets/page/page.css");
/// Nothing but what this server itself gives.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Serves in a thread of its own, as long as the process lives. Returns the address; nothing where
/// it is not to listen.
///
/// # Errors
/// It cannot listen there.
pub fn serve_board(listen: &Listen, board: &PublishedBoard) -> Result<Option<String>, ListenError> {
    spawn_server(listen, |local| WebSite { board: board.watch_document(), local })
}

/// Response to a request, as soon as it is there.
type NextAnswer = Pin<Box<dyn Future<Output = Response<EventBody>> + Send>>;

trait Answers: Send + Sync + 'static {
    fn answer_request(&self, request: &Request<Incoming>) -> NextAnswer;
}

/// Serves what `site` makes in a thread of its own. It learns whether only requests for loopback
/// are to be answered.
fn spawn_server<S: Answers>(listen: &Listen, site: impl FnOnce(bool) -> S) -> Result<Option<String>, ListenError> {
    let Some(accepts) = listen.open()? else { return Ok(None) };
    let address = accepts.address();
    let site = Arc::new(site(accepts.is_local()));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ListenError::runtime_error)?;
    let serve = move || runtime.block_on(accept_connections(accepts, site));
    std::thread::Builder::new().name("http".into()).spawn(serve).map_err(ListenError::runtime_error)?;
    Ok(Some(address))
}

struct WebSite {
    board: watch::Receiver<Arc<PublishedDocument>>,
    /// True if only requests for loopback are answered.
    local: bool,
}

async fn accept_connections<S: Answers>(accepts: Accepts, site: Arc<S>) {
    let Ok(listener) = accepts.into_listener() else { return };
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok(stream) = listener.accept().await else {
            // Too many files are open, perhaps.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        let site = Arc::clone(&site);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = site.answer_request(&request);
                async move { Ok::<_, Infallible>(answer.await) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(hyper_util::rt::TokioTimer::new()).header_read_timeout(std::time::Duration::from_secs(10));
            // The reader may go away at any time.
            let _ = match stream {
                AcceptedStream::Tcp(stream) => {
                    http.serve_connection(TokioIo::new(PatientStream::new(stream, PATIENCE)), service).await
                }
                AcceptedStream::Unix(stream) => {
                    http.serve_connection(TokioIo::new(PatientStream::new(stream, PATIENCE)), service).await
                }
            };
            drop(permit);
        });
    }
}

/// The response to a request that changes something, or that is meant for another machine where
/// only this one is to be served.
fn refuse_request(request: &Request<Incoming>, local: bool) -> Option<Response<EventBody>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(text_response(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "nothing can be changed here\n"));
    }
    let is_foreign = local && !request.headers().get(HOST).is_none_or(is_loopback);
    // Pages of other sites may link here, but not begin work by what they embed.
    let (site, destination) = (request.headers().get("sec-fetch-site"), request.headers().get("sec-fetch-dest"));
    let is_embedded = site.is_some_and(|site| site == "cross-site" || site == "same-site")
        && destination.is_none_or(|destination| destination != "document");
    (is_foreign || local && is_embedded)
        .then(|| text_response(StatusCode::FORBIDDEN, "text/plain", "this is for the machine itself\n"))
}

impl Answers for WebSite {
    fn answer_request(&self, request: &Request<Incoming>) -> NextAnswer {
        Box::pin(ready(refuse_request(request, self.local).unwrap_or_else(|| self.published_response(request))))
    }
}

impl WebSite {
    fn published_response(&self, request: &Request<Incoming>) -> Response<EventBody> {
        let document = Arc::clone(&self.board.borrow());
        match request.uri().path() {
            "/" => text_response(StatusCode::OK, "text/html; charset=utf-8", PAGE),
            "/page.js" => text_response(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT),
            "/page.css" => text_response(StatusCode::OK, "text/css; charset=utf-8", STYLE),
            "/live.json" if document.json.is_empty() => text_response(
                StatusCode::SERVICE_UNAVAILABLE,
                "text/plain",
                "the cluster was not looked at yet: try again\n",
            ),
            "/live.json" => text_response(StatusCode::OK, "application/json", document.json.clone()),
            "/metrics" => {
                text_response(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", document.metrics.clone())
            }
            "/events" if request.method() == Method::GET => finish_response(
                StatusCode::OK,
                "text/event-stream",
                POLICY,
                EventBody::Events(Events::new(self.board.clone())),
            ),
            _ => text_response(StatusCode::NOT_FOUND, "text/plain", "there are /, /live.json, /events and /metrics\n"),
        }
    }
}

/// Returns whether a request is meant for this machine itself.
fn is_loopback(host: &HeaderValue) -> bool {
    let Ok(host) = host.to_str() else { return false };
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').unwrap_or_default(),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if !rest.is_empty() && !rest.strip_prefix(':').is_some_and(is_port) {
        return false;
    }
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn text_response(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<EventBody> {
    finish_response(status, kind, POLICY, EventBody::Whole(Some(body.into())))
}

fn finish_response(
    status: StatusCode,
    kind: &'static str,
    policy: &'static str,
    body: EventBody,
) -> Response<EventBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_meant() {
        for (host, meant) in [
            ("localhost:9797", true),
            ("127.0.0.1:9797", true),
            ("127.0.0.1", true),
            ("[::1]:9797", true),
            ("[::1]", true),
            ("[::1]evil.example", false),
            ("localhost:evil", false),
            ("evil.example:9797", false),
            ("127.0.0.1.evil.example", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_loopback(&HeaderValue::from_static(host)), meant, "{host}");
        }
    }
}
