//! Persists missing and used files in the background, outside of requests.

use std::sync::Arc;

use tokio::sync::watch;

use super::Symbols;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;

impl Symbols {
    /// Writes missing files and times of use to disk. What cannot be written is retried at the next call. Blocks.
    pub fn persist(&self) {
        for saved in [self.missing.save(), self.last_used.save(&self.store)] {
            if let Err(error) = saved {
                tracing::warn!(%error, "what is known of symbols cannot be written: {error}");
            }
        }
    }
}

impl Symbols {
    /// Removes uploads of old releases of the projects that were used since the start. Blocks.
    fn remove_old_releases_of_all(&self, now_ns: i64) {
        for project in self.store.projects() {
            if let Err(error) = self.remove_old_releases(project, now_ns) {
                tracing::warn!(%error, "symbols of old releases cannot be removed: {error}");
            }
        }
    }
}

/// Calls [`Symbols::persist`] every [`limits::SYMBOL_STATE_PAUSE`] until `stopped`, and once more at the end. Every
/// [`limits::SYMBOL_RETENTION_PAUSE`], uploads of old releases are removed.
pub async fn run(symbols: Arc<Symbols>, clock: Clock, mut stopped: watch::Receiver<bool>) {
    let mut looked = clock.uptime();
    loop {
        let is_last = tokio::select! {
            () = tokio::time::sleep(limits::SYMBOL_STATE_PAUSE) => false,
            _ = stopped.wait_for(|stop| *stop) => true,
        };
        let is_due = !is_last && clock.uptime().saturating_sub(looked) >= limits::SYMBOL_RETENTION_PAUSE;
        if is_due {
            looked = clock.uptime();
        }
        let (persisted, now_ns) = (symbols.clone(), clock.now_ns());
        let work = move || {
            if is_due {
                persisted.remove_old_releases_of_all(now_ns);
            }
            persisted.persist();
        };
        if let Err(error) = tokio::task::spawn_blocking(work).await {
            tracing::error!(%error, "writing down what is known of symbols failed: {error}");
        }
        if is_last {
            return;
        }
    }
}
