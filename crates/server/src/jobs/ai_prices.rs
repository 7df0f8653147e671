//! Reads the prices of AI models again when their file changes. docs/use/ai-traces.md.

use std::sync::Arc;

use tokio::sync::watch;

use crate::contexts::Ingest;
use tidewatch_limits as limits;

/// Looks at the file every [`limits::AI_PRICES_RELOAD_PAUSE`], until `stopped`.
pub async fn run(ingest: Arc<Ingest>, mut stopped: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(limits::AI_PRICES_RELOAD_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let reading = ingest.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || reading.durable_store.prices().reload()).await {
            tracing::error!(%error, "reading the prices of AI models again failed: {error}");
        }
    }
}
