//! The thread that sends batches of own spans. A batch that fails temporarily is sent again unchanged; a refused batch
//! is counted as dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;

use super::queue::SpanQueue;
use super::span::{self, Span};
use super::target::Target;
use crate::error::is_retryable;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;
use tidewatch_runtime::outbound;

/// Content type of exports.
const PROTOBUF: &str = "application/x-protobuf";

/// Reasons for which a batch was not accepted.
enum Failed {
    /// It can be retried, after this delay if there is one.
    Temporary {
        why: String,
        retry_after: Option<Duration>,
    },
    Permanent(String),
}

/// Sends batches until the tracer is closed.
pub fn run(queue: &SpanQueue, target: &Target) {
    let _running = HeartbeatGuard(queue.heartbeat.clone());
    let agent = outbound::agent(limits::OWN_SPANS_SEND_MAX);
    while let Some(batch) = queue.next_batch() {
        let send = || send_until_taken(queue, &agent, target, &batch);
        // A panic was reported where it happened; the batch counts as dropped.
        let sent = catch_unwind(AssertUnwindSafe(send)).unwrap_or(false);
        let mut queued = queue.state.lock();
        queued.sending = 0;
        if sent {
            queued.sent += batch.len() as u64;
        } else {
            queued.dropped += batch.len() as u64;
        }
    }
}

/// Sends a batch with retries. Returns whether it was accepted. Spec of OTLP/HTTP: 429, 502, 503 and 504 are retried,
/// other errors are not.
fn send_until_taken(queue: &SpanQueue, agent: &ureq::Agent, target: &Target, batch: &[Span]) -> bool {
    let body = span::export(batch);
    let mut pause = limits::OWN_SPANS_EVERY;
    for attempt in 0..limits::OWN_SPANS_ATTEMPTS {
        queue.heartbeat.beat();
        let why = match send(agent, target, &body) {
            Ok(()) => return true,
            Err(Failed::Permanent(why)) => {
                tracing::warn!(spans = batch.len(), "our own spans are refused by {}: {why}", target.url);
                return false;
            }
            Err(Failed::Temporary { why, retry_after }) => {
                pause = (pause * 2).max(retry_after.unwrap_or_default()).min(limits::OWN_SPANS_PAUSE_MAX);
                why
            }
        };
        if attempt == 0 {
            tracing::warn!("our own spans cannot be sent to {} now: {why}", target.url);
        }
        if queue.is_closed_within(pause) {
            return false;
        }
    }
    false
}

fn send(agent: &ureq::Agent, target: &Target, body: &[u8]) -> Result<(), Failed> {
    let mut request = agent.post(&target.url).header(CONTENT_TYPE, PROTOBUF).header("traceparent", span::unsampled());
    for (name, value) in &target.headers {
        request = request.header(name, value);
    }
    let temporary = |why, retry_after| Failed::Temporary { why, retry_after };
    let mut answer = request.send(body).map_err(|error| temporary(error.to_string(), None))?;
    // The body is read so that the connection can be reused.
    let _ = answer.body_mut().read_to_vec();
    let why = format!("it answers {}", answer.status());
    match answer.status() {
        status if status.is_success() => Ok(()),
        status if is_retryable(status) => {
            let seconds = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
            Err(temporary(why, seconds.map(Duration::from_secs)))
        }
        _ => Err(Failed::Permanent(why)),
    }
}
