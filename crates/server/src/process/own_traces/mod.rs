//! The server's own spans, sent as OTLP to itself or to another server: off unless `traces_endpoint` is set.
//!
//! - [`span`]: one span and its encoding. [`parent`]: `traceparent` of callers. [`target`]: where spans go.
//! - [`queue`]: spans that wait. [`sender`]: the thread that sends them.
//!
//! A request adds to a bounded queue and never waits. Spans that do not fit, and spans that the endpoint refuses, are
//! counted and dropped. Requests of callers that do not sample are not traced. Own exports are marked as not sampled,
//! so sending spans creates no spans, here or at another Tidewatch. Spans of flushes and merges are sent with the next
//! request's spans: otherwise storing them would cause further flushes without end.

pub mod parent;
mod queue;
mod sender;
pub mod span;
pub mod target;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};
use parking_lot::{Condvar, Mutex};
use tidewatch_domain::model::SpanKind;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_store::{CompletedWork, Work};

use self::parent::Parent;
use self::queue::SpanQueue;
use self::span::{Span, Value};
use self::target::Target;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::redact;

/// Queues spans and sends them on a thread.
pub struct Tracer {
    clock: Clock,
    queue: Arc<SpanQueue>,
    sampling: Sampling,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Samples requests that begin a trace: evenly, with the given ratio.
struct Sampling {
    ratio: f64,
    /// Accumulated ratio in units of 2^-32. Each carry to a whole is one sampled trace.
    owed: AtomicU64,
}

/// Number of spans by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnSpanStats {
    /// Queued or being sent.
    pub waiting: u64,
    /// Accepted by the endpoint.
    pub sent: u64,
    /// Refused by the endpoint, not queued because the queue was full, or unsent at the end.
    pub dropped: u64,
}

/// A sampled request that has not ended yet.
pub struct Started {
    parent: Option<Parent>,
    start_ns: i64,
    method: &'static str,
    /// As the client sent it; the span has it redacted by [`redact::path`].
    path: String,
    is_https: bool,
}

impl Tracer {
    /// Starts the sending thread.
    pub fn start(target: Target, clock: Clock) -> std::io::Result<Tracer> {
        let heartbeat = Heartbeat::new("own-traces");
        let queue = Arc::new(SpanQueue { state: Mutex::default(), wake: Condvar::new(), heartbeat });
        let (sending, sampling) = (queue.clone(), Sampling::new(target.ratio));
        let thread =
            std::thread::Builder::new().name("own-traces".into()).spawn(move || sender::run(&sending, &target))?;
        Ok(Tracer { clock, queue, sampling, thread: Mutex::new(Some(thread)) })
    }

    /// Heartbeat of the sending thread.
    pub fn heartbeat(&self) -> &Heartbeat {
        &self.queue.heartbeat
    }

    /// Begins the span of a request. `None`: it is not sampled, by its caller or, without one, by the ratio.
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

    /// Ends the span of a request. `route`: `None` for the UI and for paths that do not exist, which share one route.
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
        self.queue.push(Span::new(SpanKind::Server, name, times, parent, attributes, has_failed));
    }

    /// Adds the span of completed background work: a trace of its own, shown as a Task.
    pub fn work_completed(&self, worked: &CompletedWork) {
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
        self.queue.push(Span::new(SpanKind::Internal, name.into(), times, None, attributes, worked.has_failed));
    }

    /// Number of spans by state, since the start.
    pub fn stats(&self) -> OwnSpanStats {
        let queued = self.queue.state.lock();
        OwnSpanStats {
            waiting: (queued.spans.len() + queued.sending) as u64,
            sent: queued.sent,
            dropped: queued.dropped,
        }
    }

    /// Makes one attempt to send queued spans, and ends the thread. Blocks.
    pub fn close(&self) {
        self.queue.state.lock().is_closed = true;
        self.queue.wake.notify_all();
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
        // The first trace is sampled, so that even a small ratio yields a span.
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

const OTHER_METHOD: &str = "_OTHER";

/// The method if it is a known one, else `_OTHER`: clients may send any method name.
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
    fn sampling_follows_the_ratio() {
        for (ratio, expected) in [(0.0, 0), (0.001, 1), (0.25, 25), (0.5, 50), (1.0, 100)] {
            let sampling = Sampling::new(ratio);
            assert_eq!((0..100).filter(|_| sampling.takes()).count(), expected, "{ratio}");
        }
    }
}
