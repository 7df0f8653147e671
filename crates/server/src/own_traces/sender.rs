//! The thread that sends batches of our own spans. What is not taken is counted as dropped; nothing is sent twice.

use std::time::{Duration, Instant};

use super::Shared;
use super::span::{self, Span};
use super::target::Target;
use crate::limits;

/// Until the tracer is closed.
pub fn run(shared: &Shared, target: &Target) {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(limits::OWN_SPANS_SEND_MAX))
        .build()
        .into();
    let mut pause = limits::OWN_SPANS_EVERY;
    while let Some(batch) = shared.next_batch(pause) {
        let taken = send(&agent, target, &batch);
        let mut queue = shared.queue.lock();
        match taken {
            Ok(()) => {
                queue.sent += batch.len() as u64;
                pause = limits::OWN_SPANS_EVERY;
            }
            Err(why) => {
                queue.dropped += batch.len() as u64;
                let dropped = queue.dropped;
                drop(queue);
                if pause == limits::OWN_SPANS_EVERY {
                    tracing::warn!(dropped, "our own spans cannot be sent to {}: {why}", target.url);
                }
                pause = (pause * 2).min(limits::OWN_SPANS_PAUSE_MAX);
            }
        }
    }
}

fn send(agent: &ureq::Agent, target: &Target, batch: &[Span]) -> Result<(), String> {
    let mut request = agent.post(&target.url).header("traceparent", span::unsampled());
    for (name, value) in &target.headers {
        request = request.header(name, value);
    }
    let mut answer = request.send_json(span::export(batch)).map_err(|error| error.to_string())?;
    // Read, so that the connection is kept.
    let _ = answer.body_mut().read_to_vec();
    if answer.status().is_success() { Ok(()) } else { Err(format!("it answers {}", answer.status())) }
}

impl Shared {
    /// At most [`limits::OWN_SPANS_BATCH`] spans: those of `pause`, or at once when that many wait and all is well.
    /// `None`: closed, and nothing waits (or nothing that can be sent).
    fn next_batch(&self, pause: Duration) -> Option<Vec<Span>> {
        let is_well = pause == limits::OWN_SPANS_EVERY;
        let mut queue = self.queue.lock();
        while queue.requests == 0 && !queue.is_closed {
            self.wake.wait(&mut queue);
        }
        let due = Instant::now() + pause;
        while !queue.is_closed {
            let is_full = is_well && queue.spans.len() >= limits::OWN_SPANS_BATCH;
            if is_full || self.wake.wait_until(&mut queue, due).timed_out() {
                break;
            }
        }
        if queue.is_closed && !is_well {
            queue.dropped += queue.spans.len() as u64;
            queue.spans.clear();
        }
        let count = queue.spans.len().min(limits::OWN_SPANS_BATCH);
        let batch: Vec<Span> = queue.spans.drain(..count).collect();
        queue.requests -= batch.iter().filter(|span| span.kind == span::Kind::Server).count();
        (!batch.is_empty()).then_some(batch)
    }
}
