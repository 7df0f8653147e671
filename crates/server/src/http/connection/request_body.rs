//! Whether a request body was read to its end before the response. hyper closes an HTTP/1 connection on which much of a
//! body is unread; the response must announce that (RFC 9112, section 9.6), or the client's next request is lost.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};

use tidewatch_limits as limits;

/// Whether a part of a request body is unread.
#[derive(Debug)]
pub struct Unread {
    is_left: Arc<AtomicBool>,
    /// Whether the body's length exceeds [`limits::UNREAD_BODY_BYTES`] or is unknown.
    is_large: bool,
}

impl Unread {
    /// Whether a part of the body is unread.
    pub fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// Whether more may be unread than hyper discards before the next request.
    pub fn ends_connection(&self) -> bool {
        self.is_large && self.is_left()
    }
}

/// Wraps a request body, and reports whether it was read to its end.
pub fn watch(body: Incoming) -> (Body, Unread) {
    let size = body.size_hint().exact();
    let is_left = Arc::new(AtomicBool::new(!body.is_end_stream()));
    let unread =
        Unread { is_left: Arc::clone(&is_left), is_large: size.is_none_or(|bytes| bytes > limits::UNREAD_BODY_BYTES) };
    if body.is_end_stream() {
        return (Body::empty(), unread);
    }
    (Body::new(Watched { body, is_left }), unread)
}

struct Watched {
    body: Incoming,
    is_left: Arc<AtomicBool>,
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if self.body.is_end_stream() || matches!(polled, Poll::Ready(None)) {
            self.is_left.store(false, Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
