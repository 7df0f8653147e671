//! Heartbeats of the threads and tasks that serve no request and store no telemetry: symbol artifacts, resymbolication,
//! mail, own spans, and reloading of settings and certificates.
//!
//! Ingest and queries do not depend on them. So `/livez`, `/metrics` and the log report a missing thread, but `/livez`
//! does not fail: a restart would cost more than it repairs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidewatch_journal::heartbeat::{Heartbeat, Missing};
use tokio::sync::watch;

use tidewatch_limits as limits;

/// The heartbeats of all background threads and tasks that were started.
#[derive(Default)]
pub struct Background(Mutex<Vec<Heartbeat>>);

impl Background {
    /// Registers the heartbeat of a thread or task.
    pub fn add(&self, heartbeat: &Heartbeat) {
        self.0.lock().push(heartbeat.clone());
    }

    /// Returns the registered heartbeats, in the order of registration.
    pub fn heartbeats(&self) -> Vec<Heartbeat> {
        self.0.lock().clone()
    }

    /// Returns the threads that ended by a panic, or are busy without a heartbeat for
    /// [`limits::BACKGROUND_SILENCE_MAX`].
    pub fn missing(&self, now: Instant) -> Vec<Missing> {
        let heartbeats = self.0.lock();
        heartbeats.iter().filter_map(|heartbeat| heartbeat.missing(now, limits::BACKGROUND_SILENCE_MAX)).collect()
    }
}

/// Held by a thread or task while it runs. When dropped, it marks the heartbeat as ended by a panic, or as idle.
pub struct HeartbeatGuard(pub Heartbeat);

impl Drop for HeartbeatGuard {
    fn drop(&mut self) {
        match std::thread::panicking() {
            true => self.0.end_by_panic(),
            false => self.0.idle(),
        }
    }
}

/// Logs each thread once when it becomes missing, until `stopped`.
pub async fn watch(background: Arc<Background>, mut stopped: watch::Receiver<bool>) {
    let mut known = BTreeSet::new();
    loop {
        tokio::select! {
            () = tokio::time::sleep(limits::BACKGROUND_CHECK_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let missing = background.missing(Instant::now());
        let names: BTreeSet<&str> = missing.iter().map(|missing| missing.thread).collect();
        for missing in missing.iter().filter(|missing| !known.contains(missing.thread)) {
            tracing::error!(thread = missing.thread, "{missing}; ingest and queries go on without it");
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
            let running = HeartbeatGuard(heartbeat);
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
