//! The server's own spans, sent as OTLP to itself or to another server: off unless `traces_endpoint` is set.
//!
//! - [`span`]: one span and its encoding. [`parent`]: `traceparent` of callers. [`target`]: where spans go.
//! - [`sender`]: the thread that sends.
//!
//! A request adds to a bounded queue and never waits; what does not fit, and what the endpoint does not take, is counted
//! and gone. A caller that does not sample is not traced; our own exports say so of themselves, so that sending spans
//! makes no spans, here or at another Tidewatch. Spans of flushes and merges wait for the next request's: storing spans
//! that tell of storing spans would never end.

pub mod parent;
mod sender;
pub mod span;
pub mod target;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};
use parking_lot::{Condvar, Mutex};
use tidewatch_domain::model::SpanKind;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_store::{Work, Worked};

use self::parent::Parent;
use self::span::{Span, Value};
use self::target::Target;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::redact;

/// Takes spans and sends them.
pub struct Tracer {
    clock: Clock,
    shared: Arc<Shared>,
    sampling: Sampling,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Which of the requests that begin a trace become spans: evenly, as many as the ratio says.
struct Sampling {
    ratio: f64,
    /// In 2^-32; another whole one is another trace.
    owed: AtomicU64,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Signalled when there is something to send, and on the end.
    wake: Condvar,
    heartbeat: Heartbeat,
}

#[derive(Default)]
struct Queue {
    spans: VecDeque<Span>,
    /// Spans of requests among them.
    requests: usize,
    /// Taken from them, and not yet taken by the endpoint.
    sending: usize,
    sent: u64,
    dropped: u64,
    is_closed: bool,
}

/// Spans by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    pub waiting: u64,
    pub sent: u64,
    pub dropped: u64,
}

/// A request that is to become a span.
pub struct Started {
    parent: Option<Parent>,
    start_ns: i64,
    method: &'static str,
    /// As the client sent it; a span shows it through [`redact::path`].
    path: String,
    is_https: bool,
}

impl Tracer {
    /// Starts the thread that sends.
    pub fn start(target: Target, clock: Clock) -> std::io::Result<Tracer> {
        let heartbeat = Heartbeat::new("own-traces");
        let shared = Arc::new(Shared { queue: Mutex::default(), wake: Condvar::new(), heartbeat });
        let (sending, sampling) = (shared.clone(), Sampling::new(target.ratio));
        let thread =
            std::thread::Builder::new().name("own-traces".into()).spawn(move || sender::run(&sending, &target))?;
        Ok(Tracer { clock, shared, sampling, thread: Mutex::new(Some(thread)) })
    }

    pub fn heartbeat(&self) -> &Heartbeat {
        &self.shared.heartbeat
    }

    /// `None`: the caller does not sample, or there is none and it is not this one's turn.
    pub fn begin(&self, method: &Method, path: &str, headers: &HeaderMap, is_https: bool) -> Option<Started> {
        let parent = Parent::of(headers);
        let is_sampled = parent.as_ref().map_or_else(|| self.sampling.takes(), |parent| parent.is_sampled);
        if !is_sampled {
            return None;
        }
        let whole = path.char_indices().map(|(at, letter)| at + letter.len_utf8());
        let end = whole.take_while(|end| *end <= limits::OWN_SPAN_PATH_BYTES_MAX).last().unwrap_or(0);
        let path = path[..end].to_owned();
        Some(Started { parent, start_ns: self.clock.now_ns(), method: known(method), path, is_https })
    }

    /// A request's span. `route`: `None` for the UI and what does not exist, which share one.
    pub fn end(&self, started: Started, route: Option<&str>, status: StatusCode, took: Duration) {
        let Started { parent, start_ns, method, path, is_https } = started;
        let path = redact::path(route, &path);
        let route = route.unwrap_or("/{*path}");
        let has_failed = status.is_server_error();
        let mut attributes = vec![
            ("http.request.method", Value::Text(method.into())),
            ("http.route", Value::Text(route.into())),
            ("http.response.status_code", Value::Int(status.as_u16().into())),
            ("url.path", Value::Text(path)),
            ("url.scheme", Value::Text(if is_https { "https" } else { "http" }.into())),
        ];
        if has_failed {
            attributes.push(("error.type", Value::Text(status.as_str().into())));
        }
        let name = format!("{} {route}", if method == OTHER_METHOD { "HTTP" } else { method });
        let times = (start_ns, start_ns.saturating_add(nanoseconds(took)));
        self.shared.push(Span::new(SpanKind::Server, name, times, parent, attributes, has_failed));
    }

    /// A flush or merge that has just ended: a trace of its own, shown as a Task.
    pub fn worked(&self, worked: &Worked) {
        let name = match worked.work {
            Work::Flush => "store flush",
            Work::Merge => "store merge",
            Work::Remove => "store remove",
            Work::MakeRoom => "store make room",
        };
        let rows = i64::try_from(worked.rows).unwrap_or(i64::MAX);
        let attributes = vec![("console.command", Value::Text(name.into())), ("tidewatch.rows", Value::Int(rows))];
        let end_ns = self.clock.now_ns();
        let times = (end_ns.saturating_sub(nanoseconds(worked.took)), end_ns);
        self.shared.push(Span::new(SpanKind::Internal, name.into(), times, None, attributes, worked.has_failed));
    }

    pub fn figures(&self) -> Figures {
        let queue = self.shared.queue.lock();
        Figures { waiting: (queue.spans.len() + queue.sending) as u64, sent: queue.sent, dropped: queue.dropped }
    }

    /// Sends what waits, when that works at once, and ends the thread. Blocks.
    pub fn close(&self) {
        self.shared.queue.lock().is_closed = true;
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that sends our own spans panicked");
        }
    }
}

impl Sampling {
    const WHOLE: f64 = 4_294_967_296.0;

    fn new(ratio: f64) -> Sampling {
        // The first is taken, so that even a small ratio shows something.
        Sampling { ratio, owed: AtomicU64::new(u64::from(u32::MAX)) }
    }

    fn takes(&self) -> bool {
        let step = (self.ratio * Sampling::WHOLE) as u64;
        let before = self.owed.fetch_add(step, Ordering::Relaxed);
        before >> 32 != before.wrapping_add(step) >> 32
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn push(&self, span: Span) {
        let mut queue = self.queue.lock();
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
}

const OTHER_METHOD: &str = "_OTHER";

/// A client may call its method anything; a span may not.
fn known(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or(OTHER_METHOD)
}

fn nanoseconds(took: Duration) -> i64 {
    i64::try_from(took.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_the_ratio_says() {
        for (ratio, expected) in [(0.0, 0), (0.001, 1), (0.25, 25), (0.5, 50), (1.0, 100)] {
            let sampling = Sampling::new(ratio);
            assert_eq!((0..100).filter(|_| sampling.takes()).count(), expected, "{ratio}");
        }
    }
}
