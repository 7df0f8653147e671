//! Reads a body no faster than it comes and no slower than allowed, counting its bytes as it goes.
//!
//! Spec: limits, rows "Request body", "OTLP body", "Slow client". A body that has fully arrived is never refused for
//! its pace: what is ready is taken before any clock is looked at, and past the deadline there is a last look.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame};
use tokio::time::{Duration, Instant, timeout_at};

use crate as limits;
use crate::RouteLimits;

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// More bytes than allowed.
    TooLarge,
    /// Too long between two pieces, in total, or too few bytes per second.
    Slow,
    /// The connection broke, or the transfer coding is wrong.
    Broken,
    /// Too many other bodies are held in memory.
    NoMemory,
}

/// Who keeps account of a body while it is read.
pub trait Keeper {
    /// So many bytes are in memory now; false when that is too much.
    fn holds(&mut self, bytes: usize) -> bool;
    /// The client lets us wait.
    fn waits(&mut self) {}
}

/// Nobody: the bytes do not stay.
impl Keeper for () {
    fn holds(&mut self, _: usize) -> bool {
        true
    }
}

/// A body, piece by piece.
pub struct Paced {
    body: Body,
    limits: RouteLimits,
    start: Instant,
    received: u64,
    /// Past a deadline: until when the rest may still turn out to have arrived.
    last_look: Option<Instant>,
}

impl Paced {
    /// The clock starts now. `declared` is `Content-Length`, when there is one: a larger one than `limits` allow is
    /// refused before anything is read.
    pub fn new(body: Body, declared: Option<u64>, limits: &RouteLimits) -> Result<Paced, Cut> {
        if declared.is_some_and(|length| length > limits.body_bytes_max as u64) {
            return Err(Cut::TooLarge);
        }
        Ok(Paced { body, limits: *limits, start: Instant::now(), received: 0, last_look: None })
    }

    /// The next piece, never empty; `None` at the end.
    pub async fn next(&mut self, keeper: &mut impl Keeper) -> Result<Option<Bytes>, Cut> {
        while !self.body.is_end_stream() {
            let frame = match self.frame(keeper).await? {
                None => break,
                Some(Err(_)) => return Err(Cut::Broken),
                Some(Ok(frame)) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            self.received += data.len() as u64;
            if self.received > self.limits.body_bytes_max as u64 {
                return Err(Cut::TooLarge);
            }
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    async fn frame(&mut self, keeper: &mut impl Keeper) -> Result<Option<Result<Frame<Bytes>, axum::Error>>, Cut> {
        let (start, received, limits) = (self.start, self.received, self.limits);
        let mut frame = pin!(self.body.frame());
        if let Poll::Ready(frame) = poll_fn(|context| Poll::Ready(frame.as_mut().poll(context))).await {
            return Ok(frame);
        }
        keeper.waits();
        let until = deadline(start, received, &limits);
        if until > Instant::now() {
            self.last_look = None;
        }
        if self.last_look.is_none()
            && let Ok(frame) = timeout_at(until, frame.as_mut()).await
        {
            return Ok(frame);
        }
        // Late, unless only we were: bytes that lie in the socket are still to be read.
        let last_look = *self.last_look.get_or_insert_with(|| Instant::now() + limits::LAST_LOOK);
        timeout_at(last_look, frame).await.map_err(|_| Cut::Slow)
    }
}

/// When the next piece must have come: the gap, the total, and the average pace, whichever is first.
fn deadline(start: Instant, received: u64, limits: &RouteLimits) -> Instant {
    let gap = Instant::now() + limits.body_gap_max;
    let total = start + limits.body_total_max;
    // With `received` bytes so far, the average falls under the floor at this moment.
    let paid = Duration::from_secs_f64(received as f64 / limits::SLOW_BYTES_PER_SECOND as f64);
    let pace = start + paid.max(limits::SLOW_AFTER);
    gap.min(total).min(pace)
}

/// The whole body as received. One that comes in one piece is handed on as it came.
pub async fn read(
    body: Body,
    declared: Option<u64>,
    limits: &RouteLimits,
    keeper: &mut impl Keeper,
) -> Result<Bytes, Cut> {
    let mut paced = Paced::new(body, declared, limits)?;
    let Some(first) = paced.next(keeper).await? else { return Ok(Bytes::new()) };
    if !keeper.holds(first.len()) {
        return Err(Cut::NoMemory);
    }
    let Some(second) = paced.next(keeper).await? else { return Ok(first) };
    // The declared length is a claim: memory follows the bytes.
    let hint = declared.map_or(0, |length| length as usize).min(limits::BODY_BYTES_FIRST_MAX);
    let mut whole = Vec::with_capacity(hint.max(first.len() + second.len()));
    whole.extend_from_slice(&first);
    let mut next = Some(second);
    while let Some(data) = next {
        if !keeper.holds(whole.len() + data.len()) {
            return Err(Cut::NoMemory);
        }
        whole.extend_from_slice(&data);
        next = paced.next(keeper).await?;
    }
    Ok(Bytes::from(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes as Chunk;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use std::convert::Infallible;

    /// A body of pieces, each after a pause in (virtual) seconds; then it ends, or stays silent.
    fn body(pieces: &[(u64, usize)], ends: bool) -> Body {
        timed(pieces.to_vec(), ends)
    }

    fn timed(pieces: Vec<(u64, usize)>, ends: bool) -> Body {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Chunk>, Infallible>>(1);
        tokio::spawn(async move {
            for (pause, bytes) in pieces {
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
        let small = RouteLimits { body_bytes_max: 200_000, ..limits::OTLP };
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
            let read = read(body(pieces, ends), None, &small, &mut ()).await;
            assert_eq!(read.map(|bytes| bytes.len()), expected, "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_declared_length_over_the_limit_is_not_read() {
        let small = RouteLimits { body_bytes_max: 10, ..limits::OTLP };
        assert_eq!(read(body(&[], false), Some(11), &small, &mut ()).await, Err(Cut::TooLarge));
        assert_eq!(read(body(&[(0, 10)], true), Some(10), &small, &mut ()).await.map(|b| b.len()), Ok(10));
    }

    // Spec: limits, rows "OTLP body", "/api/report body", "Request body", "Upload body", "Slow client".
    #[tokio::test(start_paused = true)]
    async fn every_class_at_its_gap_and_its_pace_and_one_second_over() {
        for (name, limits, _) in limits::CLASSES {
            let (gap, total) = (limits.body_gap_max.as_secs(), limits.body_total_max.as_secs());
            let fast = (limits::SLOW_BYTES_PER_SECOND * gap) as usize + 1000;
            for (what, pieces, expected) in [
                ("at the gap", vec![(0, fast), (gap, 1)], Ok(fast + 1)),
                ("over the gap", vec![(0, fast), (gap + 1, 1)], Err(Cut::Slow)),
                ("at the pace", vec![(1, 1), (18, 1), (1, 1)], Ok(3)),
                ("under the pace", vec![(1, 1), (18, 1), (2, 1)], Err(Cut::Slow)),
                ("pace kept", vec![(10, 15_000), (10, 16_000), (9, 10_000)], Ok(41_000)),
                ("pace lost later", vec![(10, 15_000), (10, 6_000), (2, 1), (2, 1)], Err(Cut::Slow)),
            ] {
                let read = read(timed(pieces, true), None, &limits, &mut ()).await;
                assert_eq!(read.map(|bytes| bytes.len()), expected, "{name}, {what}");
            }
            // In total: pieces every ten seconds, fast enough, until the last moment and past it.
            let limits = RouteLimits { body_bytes_max: usize::MAX, ..limits };
            let pieces = |count: u64| {
                (0..count).map(|number| (10, if number == 0 { 31_000 } else { 11_000 })).collect::<Vec<_>>()
            };
            let in_time = read(timed(pieces(total / 10), true), None, &limits, &mut ()).await;
            assert!(in_time.is_ok(), "{name}: in total");
            let late = read(timed(pieces(total / 10 + 1), true), None, &limits, &mut ()).await;
            assert_eq!(late, Err(Cut::Slow), "{name}: over the total");
        }
    }

    /// Asks once, then stops asking.
    struct Count {
        waits: usize,
        most: usize,
    }

    impl Keeper for Count {
        fn holds(&mut self, bytes: usize) -> bool {
            bytes <= self.most
        }
        fn waits(&mut self) {
            self.waits += 1;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_keeper_hears_of_memory_and_of_waiting() {
        let mut keeper = Count { waits: 0, most: 25 };
        let whole = read(Body::from(vec![7; 20]), None, &limits::OTLP, &mut keeper).await;
        assert_eq!((whole.map(|bytes| bytes.len()), keeper.waits), (Ok(20), 0), "it had arrived");
        let slow = read(body(&[(1, 10), (1, 10)], true), None, &limits::OTLP, &mut keeper).await;
        assert_eq!((slow.map(|bytes| bytes.len()), keeper.waits > 0), (Ok(20), true));
        let large = read(body(&[(1, 10), (1, 16)], true), None, &limits::OTLP, &mut keeper).await;
        assert_eq!(large, Err(Cut::NoMemory));
    }

    // A body that has fully arrived is never refused, however long we did not look.
    #[tokio::test(start_paused = true)]
    async fn what_has_arrived_is_not_late() {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Chunk>, Infallible>>(8);
        let mut paced =
            Paced::new(Body::new(StreamBody::new(Pieces(receiver))), None, &limits::OTLP).expect("no length");
        for _ in 0..3 {
            sender.send(Ok(Frame::data(Chunk::from(vec![7; 10])))).await.expect("room");
        }
        drop(sender);
        tokio::time::advance(Duration::from_secs(3600)).await;
        let mut bytes = 0;
        while let Some(data) = paced.next(&mut ()).await.expect("not late") {
            bytes += data.len();
        }
        assert_eq!(bytes, 30);
    }

    // Bytes every tenth of a second past the deadline do not keep it open.
    #[tokio::test(start_paused = true)]
    async fn the_last_look_is_one_look() {
        let start = Instant::now();
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Chunk>, Infallible>>(1);
        tokio::spawn(async move {
            while sender.send(Ok(Frame::data(Chunk::from_static(b"x")))).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        let read = read(Body::new(StreamBody::new(Pieces(receiver))), None, &limits::OTLP, &mut ()).await;
        assert_eq!(read, Err(Cut::Slow));
        assert!(start.elapsed() < limits::SLOW_AFTER + Duration::from_secs(1));
    }
}
