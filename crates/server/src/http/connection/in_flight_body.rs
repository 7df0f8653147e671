//! A response body keeps its request in flight until its end: live tails are not idle, and a shutdown waits for them.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, SizeHint};

use super::streamed_body::StreamedRequest;
use super::timeouts::InFlight;

struct InFlightBody {
    body: Body,
    in_flight: StreamedRequest,
}

/// Wraps a response body so that its request ends with the body's last byte, or with [`StreamedRequest::give_up`]. The
/// request of a body of known length, which is complete already, ends now.
pub fn with(body: Body, in_flight: InFlight, request: StreamedRequest) -> Body {
    if body.size_hint().exact().is_some() {
        return body;
    }
    request.set(in_flight);
    Body::new(InFlightBody { body, in_flight: request })
}

impl Drop for InFlightBody {
    fn drop(&mut self) {
        self.in_flight.give_up();
    }
}

impl hyper::body::Body for InFlightBody {
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
