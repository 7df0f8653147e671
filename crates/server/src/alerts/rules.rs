//! Evaluates the notification rules of arriving data as soon as it is stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidewatch_alerts::rules::evaluation::arrivals::{Arrivals, Arrived};
use tidewatch_ingest::rule_arrivals::ProjectArrivals;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;

use crate::app::App;

/// Evaluates what was stored before the start, then what arrives, until `stopped`.
pub async fn watch_arrivals(app: Arc<App>, running: HeartbeatGuard, mut stopped: watch::Receiver<bool>) {
    let arriving = app.ingest.durable_store.rule_arrivals().clone();
    let mut evaluator = Arrivals::new(app.query.clone());
    // Whether what is stored was evaluated, as far as it did not arrive since.
    let mut has_caught_up = false;
    loop {
        running.0.beat();
        let (arrived, is_complete) = arriving.take();
        if !is_complete {
            tracing::warn!("more arrived than notification rules keep: they evaluate what is stored");
            has_caught_up = false;
        }
        let mut evaluated = if has_caught_up { Ok(()) } else { evaluator.catch_up().await };
        has_caught_up = evaluated.is_ok();
        if has_caught_up && !arrived.is_empty() {
            let converted =
                arrived.iter().map(|(project, one)| (*project, of_project(one))).collect::<BTreeMap<_, _>>();
            evaluated = evaluator.evaluate(&converted).await;
        }
        let must_repeat = evaluated.is_err();
        if let Err(error) = evaluated {
            tracing::error!(%error, "notification rules have not evaluated what arrived: {error}");
            arriving.put_back(arrived);
        }
        running.0.idle();
        tokio::select! {
            () = arriving.arrived(), if !must_repeat => {}
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

fn of_project(arrivals: &ProjectArrivals) -> Arrived {
    Arrived {
        issues: arrivals.issues.iter().copied().collect(),
        ai_rows: arrivals.ai_rows.iter().map(|id| id.to_ne_bytes()).collect(),
        ai_times: arrivals.ai_times.unwrap_or_default(),
    }
}
