//! Writes down what stack traces asked for and what they found, away from requests.

use std::sync::Arc;

use tokio::sync::watch;

use super::Symbols;
use tidewatch_limits as limits;

impl Symbols {
    /// Blocks. What cannot be written now is tried again with the next.
    pub fn save_notes(&self) {
        for saved in [self.missing.save(), self.uses.save(&self.store)] {
            if let Err(error) = saved {
                tracing::warn!(%error, "what is known of symbols cannot be written: {error}");
            }
        }
    }
}

/// Once in a while until `stopped`, and then once more.
pub async fn run(symbols: Arc<Symbols>, mut stopped: watch::Receiver<bool>) {
    loop {
        let is_last = tokio::select! {
            () = tokio::time::sleep(limits::SYMBOL_NOTES_PAUSE) => false,
            _ = stopped.wait_for(|stop| *stop) => true,
        };
        let noting = symbols.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || noting.save_notes()).await {
            tracing::error!(%error, "writing down what is known of symbols failed: {error}");
        }
        if is_last {
            return;
        }
    }
}
