//! Response to a request: a whole document, or events as they come.

use crate::board::PublishedDocument;
use bytes::Bytes;
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::watch;

/// Something is sent at least that often, so that both ends know that the other is there.
const ALIVE: Duration = Duration::from_secs(15);

type BoardWatch = watch::Receiver<Arc<PublishedDocument>>;
type NextEvent = Pin<Box<dyn Future<Output = Option<(Bytes, BoardWatch)>> + Send>>;

pub(super) enum EventBody {
    Whole(Option<Bytes>),
    /// Server-sent events, without end.
    Events(Events),
}

/// The published documents, one event each.
pub(super) struct Events {
    next: NextEvent,
}

impl Events {
    pub(super) fn new(mut board: BoardWatch) -> Events {
        // The present one comes at once.
        board.mark_changed();
        Events { next: Box::pin(next_event(board)) }
    }
}

/// The next event; `None` where there will be none.
async fn next_event(mut board: BoardWatch) -> Option<(Bytes, BoardWatch)> {
    match tokio::time::timeout(ALIVE, board.changed()).await {
        Err(_) => Some((Bytes::from_static(b": alive\n\n"), board)),
        Ok(Err(_)) => None,
        Ok(Ok(())) => {
            // JSON has no line ends.
            let event = format!("data: {}\n\n", board.borrow_and_update().json);
            Some((Bytes::from(event), board))
        }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            EventBody::Whole(bytes) => Poll::Ready(bytes.take().filter(|b| !b.is_empty()).map(|b| Ok(Frame::data(b)))),
            EventBody::Events(events) => {
                let Some((bytes, board)) = ready!(events.next.as_mut().poll(context)) else { return Poll::Ready(None) };
                events.next = Box::pin(next_event(board));
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
        }
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            EventBody::Whole(bytes) => hyper::body::SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            EventBody::Events(_) => hyper::body::SizeHint::default(),
        }
    }
}
