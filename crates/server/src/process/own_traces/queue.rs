//! The bounded queue of the server's own spans.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tidewatch_domain::model::SpanKind;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_limits as limits;

use super::span::Span;

/// Spans that requests and background work add, and that one thread sends.
pub struct SpanQueue {
    /// The spans.
    pub state: Mutex<QueuedSpans>,
    /// Signalled when there is something to send, and on close.
    pub wake: Condvar,
    /// Heartbeat of the sending thread.
    pub heartbeat: Heartbeat,
}

/// Queued spans and their counts.
#[derive(Default)]
pub struct QueuedSpans {
    /// In the order of arrival.
    pub spans: VecDeque<Span>,
    /// Number of request spans in `spans`.
    pub requests: usize,
    /// Number of spans that are being sent.
    pub sending: usize,
    /// Number of spans that the endpoint has accepted.
    pub sent: u64,
    /// Number of spans that were refused, or not queued.
    pub dropped: u64,
    /// Whether further spans are dropped.
    pub is_closed: bool,
}

impl SpanQueue {
    /// Adds a span, or counts it as dropped.
    pub fn push(&self, span: Span) {
        let mut queue = self.state.lock();
        if queue.is_closed || queue.spans.len() >= limits::OWN_SPANS_WAITING_MAX {
            queue.dropped += 1;
            return;
        }
        queue.requests += usize::from(span.kind == SpanKind::Server);
        queue.spans.push_back(span);
        let wakes = queue.requests == 1 || queue.spans.len() == limits::OWN_SPANS_BATCH;
        drop(queue);
        if wakes {
            self.wake.notify_all();
        }
    }

    /// The next batch of at most [`limits::OWN_SPANS_BATCH`] spans: those of [`limits::OWN_SPANS_EVERY`], or as soon as
    /// there are that many. `None`: closed, and no span is queued.
    pub fn next_batch(&self) -> Option<Vec<Span>> {
        self.heartbeat.idle();
        let mut queue = self.state.lock();
        while queue.requests == 0 && !queue.is_closed {
            self.wake.wait(&mut queue);
        }
        let due = Instant::now() + limits::OWN_SPANS_EVERY;
        while !queue.is_closed {
            let is_full = queue.spans.len() >= limits::OWN_SPANS_BATCH;
            if is_full || self.wake.wait_until(&mut queue, due).timed_out() {
                break;
            }
        }
        let count = queue.spans.len().min(limits::OWN_SPANS_BATCH);
        let batch: Vec<Span> = queue.spans.drain(..count).collect();
        queue.sending = batch.len();
        queue.requests -= batch.iter().filter(|span| span.kind == SpanKind::Server).count();
        (!batch.is_empty()).then_some(batch)
    }

    /// Waits for `pause`, or until the tracer is closed. In that case queued spans are counted as dropped, because the
    /// endpoint does not accept them now. Returns whether it is closed.
    pub fn is_closed_within(&self, pause: Duration) -> bool {
        self.heartbeat.idle();
        let due = Instant::now() + pause;
        let mut queue = self.state.lock();
        while !queue.is_closed {
            if self.wake.wait_until(&mut queue, due).timed_out() {
                break;
            }
        }
        if queue.is_closed {
            queue.dropped += queue.spans.len() as u64;
            queue.spans.clear();
            queue.requests = 0;
        }
        queue.is_closed
    }
}
