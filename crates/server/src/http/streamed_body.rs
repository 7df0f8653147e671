//! Bodies that are made while they are sent, and that cannot break off unnoticed.
//!
//! A body whose sender is dropped without [`BodySender::end`] is an error: the connection is closed before the last
//! chunk (HTTP/1.1), or the stream is reset (HTTP/2), and the client sees that something is missing.

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

/// Where the bytes of a body go.
pub struct BodySender(mpsc::Sender<Piece>);

/// Why a piece was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untaken {
    /// The client has gone.
    Gone,
    /// The client reads too slowly.
    Slow,
}

enum Piece {
    Data(Bytes),
    End,
}

/// A body; one piece waits at most.
pub struct StreamedBody {
    pieces: mpsc::Receiver<Piece>,
    has_ended: bool,
}

pub fn channel() -> (BodySender, StreamedBody) {
    let (sender, pieces) = mpsc::channel(1);
    (BodySender(sender), StreamedBody { pieces, has_ended: false })
}

impl BodySender {
    /// Waits until the client has taken the piece before.
    pub async fn send(&self, bytes: Bytes) -> Result<(), Untaken> {
        self.0.send(Piece::Data(bytes)).await.map_err(|_| Untaken::Gone)
    }

    /// As [`BodySender::send`], for as long as `wait_max`.
    pub async fn send_within(&self, bytes: Bytes, wait_max: Duration) -> Result<(), Untaken> {
        timeout(wait_max, self.send(bytes)).await.unwrap_or(Err(Untaken::Slow))
    }

    /// The body is whole.
    pub async fn end(self) {
        // Nobody is left to be told otherwise.
        let _ = self.0.send(Piece::End).await;
    }
}

impl hyper::body::Body for StreamedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        self.pieces.poll_recv(context).map(|piece| match piece {
            Some(Piece::Data(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(Piece::End) => {
                self.has_ended = true;
                None
            }
            None => {
                self.has_ended = true;
                Some(Err(io::Error::other("the answer broke off")))
            }
        })
    }
}

/// The request that a streamed body answers, as an extension of its response: a body that nobody reads can give it up, so
/// that its connection counts as idle and is closed in the end.
#[derive(Clone, Default)]
pub struct Answered(Arc<Mutex<Option<InFlight>>>);

impl Answered {
    pub(super) fn set(&self, in_flight: InFlight) {
        *self.0.lock() = Some(in_flight);
    }

    /// The request is no longer in flight.
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
    async fn a_body_is_whole_only_when_its_sender_says_so() {
        for is_ended in [true, false] {
            let (sender, body) = channel();
            let sending = async {
                sender.send(Bytes::from_static(b"all of ")).await.expect("somebody reads");
                sender.send(Bytes::from_static(b"it")).await.expect("somebody reads");
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
    async fn a_client_that_stops_reading_is_given_up() {
        let activity = Activity::start();
        let (sender, body) = channel();
        let answered = Answered::default();
        let mut body = in_flight_body::with(Body::new(body), activity.request(), answered.clone());
        let (piece, wait) = (Bytes::from_static(b"piece"), Duration::from_secs(60));
        // One piece is read, the next waits in the channel, and there is no place for the third.
        sender.send_within(piece.clone(), wait).await.expect("there is a place");
        assert!(body.frame().await.is_some_and(|frame| frame.is_ok()));
        sender.send_within(piece.clone(), wait).await.expect("there is a place");
        let start = Instant::now();
        assert_eq!(sender.send_within(piece, wait).await, Err(Untaken::Slow));
        assert_eq!(start.elapsed(), wait);
        assert_eq!(activity.idle_since(), None, "the request is in flight");
        drop(sender);
        answered.give_up();
        assert_eq!(activity.idle_since(), Some(Instant::now()));
        assert!(body.frame().await.is_some_and(|frame| frame.is_ok()), "what had its place");
        assert!(body.frame().await.is_some_and(|frame| frame.is_err()), "the rest is missing");
    }
}
