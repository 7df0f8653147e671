//! An answer that is still being made is a request in flight: live tails are not idle, and a stop waits for them.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, SizeHint};

use super::streamed_body::Answered;
use super::timeouts::InFlight;

struct Lasting {
    body: Body,
    in_flight: Answered,
}

/// The request ends with its answer's last byte, or when `answered` is given up; an answer that is whole already ends it
/// now.
pub fn with(body: Body, in_flight: InFlight, answered: Answered) -> Body {
    if body.size_hint().exact().is_some() {
        return body;
    }
    answered.set(in_flight);
    Body::new(Lasting { body, in_flight: answered })
}

impl Drop for Lasting {
    fn drop(&mut self) {
        self.in_flight.give_up();
    }
}

impl hyper::body::Body for Lasting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(None | Some(Err(_))) = polled {
            self.in_flight.give_up();
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
