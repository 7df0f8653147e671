//! Evaluates polled rules periodically, on one node at a time.

use std::sync::Arc;
use std::time::Duration;

use tidewatch_query::context::QueryContext;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;

use super::evaluation::poll::Poller;

/// Evaluates polled rules after each `pause` until `stopped`. `holder`: the name of this node in the lease.
pub async fn run(
    (context, holder): (Arc<QueryContext>, String),
    pause: Duration,
    running: HeartbeatGuard,
    mut stopped: watch::Receiver<bool>,
) {
    let mut poller = Poller::new(context, holder);
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
        running.0.beat();
        if let Err(error) = poller.poll().await {
            tracing::error!(%error, "notification rules were not evaluated: {error}");
        }
        running.0.idle();
    }
    poller.release().await;
}
