//! Pages that are made when they are asked for.

use super::events::EventBody;
use super::{Answers, NextAnswer, finish_response, refuse_request, spawn_server};
use super::{Listen, ListenError};
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::{Request, StatusCode};
use std::future::ready;
use std::sync::Arc;

/// Scripts and styles of the pages themselves, of which each says more narrowly what it holds.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Maker of pages. It is called on a thread of its own and may take its time.
pub trait PageMaker: Send + Sync + 'static {
    fn make_page(&self, path: &str, query: &str) -> PageResponse;
}

#[derive(Clone, Debug)]
pub struct PageResponse {
    pub status: u16,
    pub html: Arc<str>,
}

/// Serves pages in a thread of its own, as long as the process lives. Returns the address; nothing
/// where it is not to listen.
///
/// # Errors
/// It cannot listen there.
pub fn serve_pages(listen: &Listen, maker: Arc<dyn PageMaker>) -> Result<Option<String>, ListenError> {
    spawn_server(listen, |local| PageServer { maker, local })
}

struct PageServer {
    maker: Arc<dyn PageMaker>,
    /// True if only requests for loopback are answered.
    local: bool,
}

impl Answers for PageServer {
    fn answer_request(&self, request: &Request<Incoming>) -> NextAnswer {
        if let Some(refusal) = refuse_request(request, self.local) {
            return Box::pin(ready(refusal));
        }
        let uri = request.uri();
        let (path, query) = (uri.path().to_string(), uri.query().unwrap_or_default().to_string());
        let maker = Arc::clone(&self.maker);
        Box::pin(async move {
            let response = tokio::task::spawn_blocking(move || maker.make_page(&path, &query)).await;
            let (status, body) = match response {
                Ok(page) => (page.status, Bytes::copy_from_slice(page.html.as_bytes())),
                Err(_) => (500, Bytes::from_static(b"<!doctype html><title>Error</title>The page could not be made.")),
            };
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            finish_response(status, "text/html; charset=utf-8", POLICY, EventBody::Whole(Some(body)))
        })
    }
}
