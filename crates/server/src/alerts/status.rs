//! Groups new notifications into incidents, on one node at a time.

use std::sync::Arc;
use std::time::Duration;

use tidewatch_accounts::{Announcer, ControlError};
use tidewatch_alerts::incidents::group;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;

use crate::app::App;

const LEASE: &str = "incidents";

/// Groups until `stopped`.
pub async fn run(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let running = HeartbeatGuard(Heartbeat::new("incidents"));
    app.process.background.add(&running.0);
    loop {
        running.0.beat();
        if let Err(error) = step(&app, &app.accounts.lease_holder).await {
            tracing::warn!(%error, "notifications cannot be grouped into incidents: {error}");
        }
        running.0.idle();
        tokio::select! {
            () = tokio::time::sleep(limits::INCIDENT_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = app.accounts.control.release_lease(LEASE, &app.accounts.lease_holder).await {
        tracing::warn!(%error, "the lease of incidents cannot be released: {error}");
    }
}

/// Groups all new notifications as `holder`. Does nothing while another node has the lease.
pub async fn step(app: &App, holder: &str) -> Result<(), ControlError> {
    let announcer = announcer(app);
    let grace = Duration::from_secs(app.process.config.incident_grace_seconds);
    while app.accounts.control.has_ungrouped_notifications(app.process.clock.now_ns(), grace).await? {
        let now_ns = app.process.clock.now_ns();
        let until_ns = now_ns.saturating_add(limits::INCIDENT_LEASE.as_nanos() as i64);
        if !app.accounts.control.take_lease(LEASE, holder, now_ns, until_ns).await? {
            return Ok(());
        }
        let grouped = app.accounts.control.group_notifications(
            (LEASE, holder),
            &announcer,
            (now_ns, grace),
            |known, facts, now| {
                group(known, facts, now, grace);
            },
        );
        if grouped.await?.is_none() {
            return Ok(());
        }
        app.accounts.mailer.wake();
    }
    Ok(())
}

/// Address and means by which subscribers of status pages are reached.
pub fn announcer(app: &App) -> Announcer {
    Announcer {
        base_url: app.process.config.base_url().trim_end_matches('/').to_owned(),
        has_mail: app.accounts.mailer.is_set_up,
    }
}
