//! Response bodies that are produced while they are sent, and whose truncation the client detects.
//!
//! A body whose sender is dropped without [`BodySender::end`] is an error: the connection is closed before the last
//! chunk (HTTP/1.1), or the stream is reset (HTTP/2).
//!
//! The request of a client that stops reading is given up.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::Frame;
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::{Duration, timeout};

use super::timeouts::InFlight;

/// The sending end of a streamed body.
pub struct BodySender(mpsc::Sender<Chunk>);

/// Why a chunk was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendError {
    /// The connection or the stream is closed.
    Disconnected,
    /// The client has not read the previous chunk in time.
    TimedOut,
}

enum Chunk {
    Data(Bytes),
    End,
}

/// The receiving end of a streamed body, which buffers at most one chunk.
pub struct StreamedBody {
    chunks: mpsc::Receiver<Chunk>,
    has_ended: bool,
}

/// A streamed body and its sender.
pub fn channel() -> (BodySender, StreamedBody) {
    let (sender, chunks) = mpsc::channel(1);
    (BodySender(sender), StreamedBody { chunks, has_ended: false })
}

impl BodySender {
    /// Sends a chunk. Waits until the previous chunk is read.
    pub async fn send(&self, bytes: Bytes) -> Result<(), SendError> {
        self.0.send(Chunk::Data(bytes)).await.map_err(|_| SendError::Disconnected)
    }

    /// Like [`BodySender::send`], but waits at most `wait_max`.
    pub async fn send_within(&self, bytes: Bytes, wait_max: Duration) -> Result<(), SendError> {
        timeout(wait_max, self.send(bytes)).await.unwrap_or(Err(SendError::TimedOut))
    }

    /// Completes when the connection or the stream is closed.
    pub async fn disconnected(&self) {
        self.0.closed().await;
    }

    /// Ends the body without an error.
    pub async fn end(self) {
        // An error means that the client has disconnected.
        let _ = self.0.send(Chunk::End).await;
    }
}

impl hyper::body::Body for StreamedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        self.chunks.poll_recv(context).map(|chunk| match chunk {
            Some(Chunk::Data(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(Chunk::End) => {
                self.has_ended = true;
                None
            }
            None => {
                self.has_ended = true;
                Some(Err(io::Error::other("the response was truncated")))
            }
        })
    }
}

/// The request of a streamed body, as an extension of the response. When the client stops reading, the sender of the
/// body calls [`StreamedRequest::give_up`], so that the connection counts as idle and its idle timeout starts.
#[derive(Clone, Default)]
pub struct StreamedRequest(Arc<Mutex<Option<InFlight>>>);

impl StreamedRequest {
    pub(super) fn set(&self, in_flight: InFlight) {
        *self.0.lock() = Some(in_flight);
    }

    /// Ends the request: it is no longer in flight.
    pub fn give_up(&self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use http_body_util::BodyExt;
    use tokio::time::Instant;

    use super::super::in_flight_body;
    use super::super::timeouts::Activity;
    use super::*;

    #[tokio::test]
    async fn a_body_without_an_end_is_an_error() {
        for is_ended in [true, false] {
            let (sender, body) = channel();
            let sending = async {
                sender.send(Bytes::from_static(b"all of ")).await.expect("a reader");
                sender.send(Bytes::from_static(b"it")).await.expect("a reader");
                if is_ended {
                    sender.end().await;
                }
            };
            let ((), read) = tokio::join!(sending, to_bytes(Body::new(body), usize::MAX));
            assert_eq!(read.ok().as_deref(), is_ended.then_some(&b"all of it"[..]));
        }
    }

    /// Spec: limits, row "Slow client".
    #[tokio::test(start_paused = true)]
    async fn the_request_of_a_client_that_stops_reading_can_be_given_up() {
        let activity = Activity::start();
        let (sender, body) = channel();
        let request = StreamedRequest::default();
        let mut body = in_flight_body::with(Body::new(body), activity.request(), request.clone());
        let (chunk, wait) = (Bytes::from_static(b"chunk"), Duration::from_secs(60));
        // The first chunk is read, the second is buffered, and the third does not fit.
        sender.send_within(chunk.clone(), wait).await.expect("an empty buffer");
        assert!(body.frame().await.is_some_and(|frame| frame.is_ok()));
        sender.send_within(chunk.clone(), wait).await.expect("an empty buffer");
        let start = Instant::now();
        assert_eq!(sender.send_within(chunk, wait).await, Err(SendError::TimedOut));
        assert_eq!(start.elapsed(), wait);
        assert_eq!(activity.idle_since(), None, "the request is in flight");
        drop(sender);
        request.give_up();
        assert_eq!(activity.idle_since(), Some(Instant::now()));
        assert!(body.frame().await.is_some_and(|frame| frame.is_ok()), "the buffered chunk");
        assert!(body.frame().await.is_some_and(|frame| frame.is_err()), "the rest is missing");
    }
}
