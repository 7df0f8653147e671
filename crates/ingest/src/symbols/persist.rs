//! Persists missing and used files in the background, outside of requests.

use std::sync::Arc;

use tokio::sync::watch;

use super::Symbols;
use tidewatch_limits as limits;

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

/// Calls [`Symbols::persist`] every [`limits::SYMBOL_STATE_PAUSE`] until `stopped`, and once more at the end.
pub async fn run(symbols: Arc<Symbols>, mut stopped: watch::Receiver<bool>) {
    loop {
        let is_last = tokio::select! {
            () = tokio::time::sleep(limits::SYMBOL_STATE_PAUSE) => false,
            _ = stopped.wait_for(|stop| *stop) => true,
        };
        let persisted = symbols.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || persisted.persist()).await {
            tracing::error!(%error, "writing down what is known of symbols failed: {error}");
        }
        if is_last {
            return;
        }
    }
}
