//! Heartbeats of the threads and tasks that serve no request and store no telemetry: symbol artifacts, stack traces
//! resolved again, mail, own spans, settings and certificate read again.
//!
//! Ingest and questions do without them. So a missing one is named by `/livez`, `/metrics` and the log, but does not make
//! `/livez` fail: a restart in the middle of ingest would cost more than it mends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidewatch_journal::heartbeat::{Heartbeat, Missing};
use tokio::sync::watch;

use tidewatch_limits as limits;

/// All that have started.
#[derive(Default)]
pub struct Background(Mutex<Vec<Heartbeat>>);

impl Background {
    pub fn add(&self, heartbeat: &Heartbeat) {
        self.0.lock().push(heartbeat.clone());
    }

    pub fn heartbeats(&self) -> Vec<Heartbeat> {
        self.0.lock().clone()
    }

    /// Those that have ended by a panic, or work and have not beaten for [`limits::BACKGROUND_SILENCE_MAX`].
    pub fn missing(&self, now: Instant) -> Vec<Missing> {
        let heartbeats = self.0.lock();
        heartbeats.iter().filter_map(|heartbeat| heartbeat.missing(now, limits::BACKGROUND_SILENCE_MAX)).collect()
    }
}

/// Held by a thread or task while it runs. Tells its heartbeat of a panic.
pub struct Running(pub Heartbeat);

impl Drop for Running {
    fn drop(&mut self) {
        match std::thread::panicking() {
            true => self.0.end_by_panic(),
            false => self.0.idle(),
        }
    }
}

/// Logs every heartbeat once when it is missing, until `stopped`.
pub async fn watch(background: Arc<Background>, mut stopped: watch::Receiver<bool>) {
    let mut known = BTreeSet::new();
    loop {
        tokio::select! {
            () = tokio::time::sleep(limits::BACKGROUND_LOOK_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let missing = background.missing(Instant::now());
        let names: BTreeSet<&str> = missing.iter().map(|missing| missing.thread).collect();
        for missing in missing.iter().filter(|missing| !known.contains(missing.thread)) {
            tracing::error!(thread = missing.thread, "{missing}; ingest and questions go on without it");
        }
        known = names;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_is_missing_and_one_that_ends_is_not() {
        let background = Background::default();
        for (name, panics) in [("mail", false), ("symbols", true)] {
            let heartbeat = Heartbeat::new(name);
            background.add(&heartbeat);
            let running = Running(heartbeat);
            let thread = std::thread::spawn(move || {
                running.0.beat();
                assert!(!panics, "on purpose");
            });
            assert_eq!(thread.join().is_err(), panics);
        }
        let missing: Vec<String> = background.missing(Instant::now()).iter().map(Missing::to_string).collect();
        assert_eq!(missing, ["thread symbols has ended by a panic"]);
    }
}
