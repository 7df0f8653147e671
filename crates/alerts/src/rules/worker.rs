//! Evaluates polled rules periodically, on one node at a time, and rules of arriving data as soon as it is stored.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;

use super::evaluation::arrivals::{Arrivals, Arrived};
use super::evaluation::poll::Poller;

/// Evaluates polled rules after each `pause` until `stopped`.
pub async fn poll(mut poller: Poller, pause: Duration, running: HeartbeatGuard, mut stopped: watch::Receiver<bool>) {
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

/// The queue of what arrived and was not evaluated yet, by project. The pipeline that stores telemetry fills it.
pub trait ArrivalQueue: Send + Sync {
    /// Waits until something arrives.
    fn arrived(&self) -> impl Future<Output = ()> + Send;

    /// Takes what arrived. `false`: something was left out, and only the stored rows have it.
    fn take(&self) -> (BTreeMap<u32, Arrived>, bool);

    /// Puts back what could not be evaluated.
    fn put_back(&self, arrived: BTreeMap<u32, Arrived>);
}

/// Evaluates what was stored before the start, then what arrives, until `stopped`.
pub async fn watch_arrivals(
    context: Arc<QueryContext>,
    queue: impl ArrivalQueue,
    running: HeartbeatGuard,
    mut stopped: watch::Receiver<bool>,
) {
    let mut evaluator = Arrivals::new(context);
    // Whether what is stored was evaluated, as far as it did not arrive since.
    let mut has_caught_up = false;
    loop {
        running.0.beat();
        let (arrived, is_complete) = queue.take();
        if !is_complete {
            tracing::warn!("more arrived than notification rules keep: they evaluate what is stored");
            has_caught_up = false;
        }
        let mut evaluated = if has_caught_up { Ok(()) } else { evaluator.catch_up().await };
        has_caught_up = evaluated.is_ok();
        if has_caught_up && !arrived.is_empty() {
            evaluated = evaluator.evaluate(&arrived).await;
        }
        let must_repeat = evaluated.is_err();
        if let Err(error) = evaluated {
            tracing::error!(%error, "notification rules have not evaluated what arrived: {error}");
            queue.put_back(arrived);
        }
        running.0.idle();
        tokio::select! {
            () = queue.arrived(), if !must_repeat => {}
            () = tokio::time::sleep(limits::RULE_ARRIVALS_RETRY), if must_repeat => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
        // Requests of this time are evaluated together.
        tokio::select! {
            () = tokio::time::sleep(limits::RULE_ARRIVALS_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
}
