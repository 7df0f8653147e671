//! Reads request bodies within the limits on size, time and transfer rate.
//!
//! Spec: limits, rows "Request body", "OTLP body", "Slow client". A body that has fully arrived is never refused as too
//! slow: bytes that are ready are read before the clock, and after the deadline there is one late read.

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

/// Reasons for which a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyError {
    /// The body, or its declared length, exceeds [`RouteLimits::body_bytes_max`].
    TooLarge,
    /// The body took too long between two chunks or in total, or its average transfer rate is too low.
    Slow,
    /// The connection ended early, or the transfer coding is invalid.
    Broken,
    /// The observer refused the memory: other bodies hold too much of it.
    NoMemory,
}

/// Observes the reading of a body and accounts for its memory.
pub trait BodyObserver {
    /// Reserves memory for the `bytes` bytes of the body that are in memory in total. False aborts the read with
    /// [`BodyError::NoMemory`].
    fn reserve(&mut self, bytes: usize) -> bool;
    /// Called before the reader waits for the client's next bytes.
    fn on_wait(&mut self) {}
}

/// Accounts for nothing: the caller does not keep the bytes in memory.
impl BodyObserver for () {
    fn reserve(&mut self, _: usize) -> bool {
        true
    }
}

/// Reads a body chunk by chunk.
pub struct BodyReader {
    body: Body,
    limits: RouteLimits,
    start: Instant,
    received: u64,
    /// Once a deadline has passed, the end of the late read.
    late_read_until: Option<Instant>,
}

impl BodyReader {
    /// A reader of `body`; the clock starts now. `declared` is the `Content-Length`, if there is one.
    /// [`BodyError::TooLarge`] if it exceeds the limit, before anything is read.
    pub fn new(body: Body, declared: Option<u64>, limits: &RouteLimits) -> Result<BodyReader, BodyError> {
        if declared.is_some_and(|length| length > limits.body_bytes_max as u64) {
            return Err(BodyError::TooLarge);
        }
        Ok(BodyReader { body, limits: *limits, start: Instant::now(), received: 0, late_read_until: None })
    }

    /// Returns the next chunk, never empty; `None` at the end.
    pub async fn next(&mut self, observer: &mut impl BodyObserver) -> Result<Option<Bytes>, BodyError> {
        while !self.body.is_end_stream() {
            let frame = match self.frame(observer).await? {
                None => break,
                Some(Err(_)) => return Err(BodyError::Broken),
                Some(Ok(frame)) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            self.received += data.len() as u64;
            if self.received > self.limits.body_bytes_max as u64 {
                return Err(BodyError::TooLarge);
            }
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    async fn frame(
        &mut self,
        observer: &mut impl BodyObserver,
    ) -> Result<Option<Result<Frame<Bytes>, axum::Error>>, BodyError> {
        let (start, received, limits) = (self.start, self.received, self.limits);
        let mut frame = pin!(self.body.frame());
        if let Poll::Ready(frame) = poll_fn(|context| Poll::Ready(frame.as_mut().poll(context))).await {
            return Ok(frame);
        }
        observer.on_wait();
        let until = deadline(start, received, &limits);
        if until > Instant::now() {
            self.late_read_until = None;
        }
        if self.late_read_until.is_none()
            && let Ok(frame) = timeout_at(until, frame.as_mut()).await
        {
            return Ok(frame);
        }
        // The reader itself may be late: bytes that wait in the socket are still read.
        let late_read_until = *self.late_read_until.get_or_insert_with(|| Instant::now() + limits::LATE_READ_MAX);
        timeout_at(late_read_until, frame).await.map_err(|_| BodyError::Slow)
    }
}

/// When the next chunk must have arrived: the earliest deadline of gap, total time and average transfer rate.
fn deadline(start: Instant, received: u64, limits: &RouteLimits) -> Instant {
    let gap = Instant::now() + limits.body_gap_max;
    let total = start + limits.body_total_max;
    // With `received` bytes so far, the average falls below the minimum rate after this time.
    let allowed = Duration::from_secs_f64(received as f64 / limits::SLOW_BYTES_PER_SECOND as f64);
    let slow_client = start + allowed.max(limits::SLOW_AFTER);
    gap.min(total).min(slow_client)
}

/// Reads the whole body, as received. A body of one chunk is returned without a copy.
pub async fn read(
    body: Body,
    declared: Option<u64>,
    limits: &RouteLimits,
    observer: &mut impl BodyObserver,
) -> Result<Bytes, BodyError> {
    let mut reader = BodyReader::new(body, declared, limits)?;
    let Some(first) = reader.next(observer).await? else { return Ok(Bytes::new()) };
    if !observer.reserve(first.len()) {
        return Err(BodyError::NoMemory);
    }
    let Some(second) = reader.next(observer).await? else { return Ok(first) };
    // The declared length is only a hint: memory is reserved for received bytes.
    let hint = declared.map_or(0, |length| length as usize).min(limits::BODY_BYTES_FIRST_MAX);
    let mut whole = Vec::with_capacity(hint.max(first.len() + second.len()));
    whole.extend_from_slice(&first);
    let mut next = Some(second);
    while let Some(data) = next {
        if !observer.reserve(whole.len() + data.len()) {
            return Err(BodyError::NoMemory);
        }
        whole.extend_from_slice(&data);
        next = reader.next(observer).await?;
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

    /// A body of chunks, each after a pause in (virtual) seconds; then it ends, or sends nothing more.
    fn body(chunks: &[(u64, usize)], ends: bool) -> Body {
        timed(chunks.to_vec(), ends)
    }

    fn timed(chunks: Vec<(u64, usize)>, ends: bool) -> Body {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Chunk>, Infallible>>(1);
        tokio::spawn(async move {
            for (pause, bytes) in chunks {
                tokio::time::sleep(Duration::from_secs(pause)).await;
                if sender.send(Ok(Frame::data(Chunk::from(vec![7; bytes])))).await.is_err() {
                    return;
                }
            }
            if !ends {
                sender.closed().await;
            }
        });
        Body::new(StreamBody::new(Chunks(receiver)))
    }

    struct Chunks(tokio::sync::mpsc::Receiver<Result<Frame<Chunk>, Infallible>>);

    impl futures_core::Stream for Chunks {
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
    async fn bodies_within_and_beyond_the_time_limits() {
        let small = RouteLimits { body_bytes_max: 200_000, ..limits::OTLP };
        for (name, chunks, ends, expected) in [
            ("empty", &[][..], true, Ok(0)),
            ("one piece", &[(0, 10)], true, Ok(10)),
            ("several pieces", &[(1, 10), (1, 20), (1, 30)], true, Ok(60)),
            ("a gap of 19 s", &[(0, 60_000), (19, 1)], true, Ok(60_001)),
            ("a gap of 21 s", &[(0, 60_000), (21, 1)], true, Err(BodyError::Slow)),
            ("never ends", &[(0, 10)], false, Err(BodyError::Slow)),
            ("a few bytes, all within 20 s", &[(9, 1), (9, 1)], true, Ok(2)),
            ("a few bytes, beyond 20 s", &[(9, 1), (9, 1), (9, 1)], true, Err(BodyError::Slow)),
            (
                "fast enough, but over two minutes",
                &[(0, 150_000), (19, 1), (19, 1), (19, 1), (19, 1), (19, 1), (19, 1), (19, 1)],
                true,
                Err(BodyError::Slow),
            ),
            ("too large in pieces", &[(0, 150_000), (0, 50_001)], true, Err(BodyError::TooLarge)),
        ] {
            let read = read(body(chunks, ends), None, &small, &mut ()).await;
            assert_eq!(read.map(|bytes| bytes.len()), expected, "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_declared_length_over_the_limit_is_not_read() {
        let small = RouteLimits { body_bytes_max: 10, ..limits::OTLP };
        assert_eq!(read(body(&[], false), Some(11), &small, &mut ()).await, Err(BodyError::TooLarge));
        assert_eq!(read(body(&[(0, 10)], true), Some(10), &small, &mut ()).await.map(|b| b.len()), Ok(10));
    }

    // Spec: limits, rows "OTLP body", "/api/report body", "Request body", "Upload body", "Slow client".
    #[tokio::test(start_paused = true)]
    async fn every_class_at_its_gap_and_rate_limit_and_one_second_over() {
        for (name, limits, _) in limits::CLASSES {
            let (gap, total) = (limits.body_gap_max.as_secs(), limits.body_total_max.as_secs());
            let fast = (limits::SLOW_BYTES_PER_SECOND * gap) as usize + 1000;
            for (what, chunks, expected) in [
                ("at the gap", vec![(0, fast), (gap, 1)], Ok(fast + 1)),
                ("over the gap", vec![(0, fast), (gap + 1, 1)], Err(BodyError::Slow)),
                ("at the minimum rate", vec![(1, 1), (18, 1), (1, 1)], Ok(3)),
                ("below the minimum rate", vec![(1, 1), (18, 1), (2, 1)], Err(BodyError::Slow)),
                ("rate kept", vec![(10, 15_000), (10, 16_000), (9, 10_000)], Ok(41_000)),
                ("rate too low later", vec![(10, 15_000), (10, 6_000), (2, 1), (2, 1)], Err(BodyError::Slow)),
            ] {
                let read = read(timed(chunks, true), None, &limits, &mut ()).await;
                assert_eq!(read.map(|bytes| bytes.len()), expected, "{name}, {what}");
            }
            // The total time: chunks every ten seconds, fast enough, up to the limit and beyond it.
            let limits = RouteLimits { body_bytes_max: usize::MAX, ..limits };
            let chunks = |count: u64| {
                (0..count).map(|number| (10, if number == 0 { 31_000 } else { 11_000 })).collect::<Vec<_>>()
            };
            let in_time = read(timed(chunks(total / 10), true), None, &limits, &mut ()).await;
            assert!(in_time.is_ok(), "{name}: in total");
            let late = read(timed(chunks(total / 10 + 1), true), None, &limits, &mut ()).await;
            assert_eq!(late, Err(BodyError::Slow), "{name}: over the total");
        }
    }

    /// Counts the waits, and refuses more than `most` bytes.
    struct CountingObserver {
        waits: usize,
        most: usize,
    }

    impl BodyObserver for CountingObserver {
        fn reserve(&mut self, bytes: usize) -> bool {
            bytes <= self.most
        }
        fn on_wait(&mut self) {
            self.waits += 1;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_observer_is_called_for_memory_and_waiting() {
        let mut observer = CountingObserver { waits: 0, most: 25 };
        let whole = read(Body::from(vec![7; 20]), None, &limits::OTLP, &mut observer).await;
        assert_eq!((whole.map(|bytes| bytes.len()), observer.waits), (Ok(20), 0), "it had arrived");
        let slow = read(body(&[(1, 10), (1, 10)], true), None, &limits::OTLP, &mut observer).await;
        assert_eq!((slow.map(|bytes| bytes.len()), observer.waits > 0), (Ok(20), true));
        let large = read(body(&[(1, 10), (1, 16)], true), None, &limits::OTLP, &mut observer).await;
        assert_eq!(large, Err(BodyError::NoMemory));
    }

    // A body that has fully arrived is never refused, however late it is read.
    #[tokio::test(start_paused = true)]
    async fn a_body_that_has_arrived_is_not_late() {
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Chunk>, Infallible>>(8);
        let mut reader =
            BodyReader::new(Body::new(StreamBody::new(Chunks(receiver))), None, &limits::OTLP).expect("no length");
        for _ in 0..3 {
            sender.send(Ok(Frame::data(Chunk::from(vec![7; 10])))).await.expect("room");
        }
        drop(sender);
        tokio::time::advance(Duration::from_secs(3600)).await;
        let mut bytes = 0;
        while let Some(data) = reader.next(&mut ()).await.expect("not late") {
            bytes += data.len();
        }
        assert_eq!(bytes, 30);
    }

    // Bytes every tenth of a second after the deadline do not extend it.
    #[tokio::test(start_paused = true)]
    async fn the_late_read_happens_once() {
        let start = Instant::now();
        let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Chunk>, Infallible>>(1);
        tokio::spawn(async move {
            while sender.send(Ok(Frame::data(Chunk::from_static(b"x")))).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        let read = read(Body::new(StreamBody::new(Chunks(receiver))), None, &limits::OTLP, &mut ()).await;
        assert_eq!(read, Err(BodyError::Slow));
        assert!(start.elapsed() < limits::SLOW_AFTER + Duration::from_secs(1));
    }
}
