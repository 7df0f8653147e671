//! Reads a body no faster than it comes and no slower than allowed, counting its bytes as it goes.
//!
//! Spec: limits, rows "Request body", "OTLP body", "Slow client". A body that has fully arrived is never refused for
//! its pace.

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use tokio::time::{Duration, Instant, timeout_at};

use crate::limits::{self, RouteLimits};

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// More bytes than allowed.
    TooLarge,
    /// Too long between two pieces, in total, or too few bytes per second.
    Slow,
    /// The connection broke, or the transfer coding is wrong.
    Broken,
}

/// The whole body as received, at most `bytes_max` bytes of it.
///
/// `declared` is `Content-Length`, when there is one: a larger one is refused before anything is read.
pub async fn read(mut body: Body, declared: Option<u64>, bytes_max: usize, limits: &RouteLimits) -> Result<Bytes, Cut> {
    if declared.is_some_and(|length| length > bytes_max as u64) {
        return Err(Cut::TooLarge);
    }
    let start = Instant::now();
    let mut first: Option<Bytes> = None;
    let mut joined: Vec<u8> = Vec::new();
    let mut received = 0;
    loop {
        let until = next_deadline(start, received, limits);
        let frame = match timeout_at(until, body.frame()).await {
            Err(_) => return Err(Cut::Slow),
            Ok(None) => break,
            Ok(Some(Err(_))) => return Err(Cut::Broken),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        received += data.len();
        if received > bytes_max {
            return Err(Cut::TooLarge);
        }
        match &first {
            None if !data.is_empty() => first = Some(data),
            None => {}
            Some(head) => {
                if joined.is_empty() {
                    let hint = declared.map_or(limits::BODY_BYTES_HINT_MAX, |length| length as usize);
                    joined.reserve(hint.max(received));
                    joined.extend_from_slice(head);
                }
                joined.extend_from_slice(&data);
            }
        }
    }
    // One piece is handed on as it came.
    Ok(if joined.is_empty() { first.unwrap_or_default() } else { Bytes::from(joined) })
}

/// When the next piece must have come: the gap, the total, and the average pace, whichever is first.
fn next_deadline(start: Instant, received: usize, limits: &RouteLimits) -> Instant {
    let gap = Instant::now() + limits.body_gap_max;
    let total = start + limits.body_total_max;
    // With `received` bytes so far, the average falls under the floor at this moment.
    let paid = Duration::from_secs_f64(received as f64 / limits::SLOW_BYTES_PER_SECOND as f64);
    let pace = start + paid.max(limits::SLOW_AFTER);
    gap.min(total).min(pace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes as Chunk;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use std::convert::Infallible;

    /// A body of pieces, each after a pause in (virtual) seconds; then it ends, or stays silent.
    fn body(pieces: &'static [(u64, usize)], ends: bool) -> Body {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Chunk>, Infallible>>(1);
        tokio::spawn(async move {
            for &(pause, bytes) in pieces {
                tokio::time::sleep(Duration::from_secs(pause)).await;
                if sender.send(Ok(Frame::data(Chunk::from(vec![7; bytes])))).await.is_err() {
                    return;
                }
            }
            if !ends {
                sender.closed().await;
            }
        });
        Body::new(StreamBody::new(Pieces(receiver)))
    }

    struct Pieces(tokio::sync::mpsc::Receiver<Result<Frame<Chunk>, Infallible>>);

    impl futures_core::Stream for Pieces {
        type Item = Result<Frame<Chunk>, Infallible>;

        fn poll_next(
            mut self: std::pin::Pin<&mut Self>,
            context: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Self::Item>> {
            self.0.poll_recv(context)
        }
    }

    // Spec: limits, rows "OTLP body" and "Slow client". The clock is virtual.
    #[tokio::test(start_paused = true)]
    async fn bodies_in_time_and_out_of_time() {
        for (name, pieces, ends, expected) in [
            ("empty", &[][..], true, Ok(0)),
            ("one piece", &[(0, 10)], true, Ok(10)),
            ("several pieces", &[(1, 10), (1, 20), (1, 30)], true, Ok(60)),
            ("a gap of 19 s", &[(0, 60_000), (19, 1)], true, Ok(60_001)),
            ("a gap of 21 s", &[(0, 60_000), (21, 1)], true, Err(Cut::Slow)),
            ("never ends", &[(0, 10)], false, Err(Cut::Slow)),
            ("few bytes, but all of them inside 20 s", &[(9, 1), (9, 1)], true, Ok(2)),
            ("1 byte a while, past 20 s", &[(9, 1), (9, 1), (9, 1)], true, Err(Cut::Slow)),
            (
                "fast enough, but over two minutes",
                &[(0, 150_000), (19, 1), (19, 1), (19, 1), (19, 1), (19, 1), (19, 1), (19, 1)],
                true,
                Err(Cut::Slow),
            ),
            ("too large in pieces", &[(0, 150_000), (0, 50_001)], true, Err(Cut::TooLarge)),
        ] {
            let read = read(body(pieces, ends), None, 200_000, &limits::OTLP).await;
            assert_eq!(read.map(|bytes| bytes.len()), expected, "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_declared_length_over_the_limit_is_not_read() {
        assert_eq!(read(body(&[], false), Some(11), 10, &limits::OTLP).await, Err(Cut::TooLarge));
        assert_eq!(read(body(&[(0, 10)], true), Some(10), 10, &limits::OTLP).await.map(|b| b.len()), Ok(10));
    }
}
