//! Groups new notifications into incidents, on one node at a time.

use std::sync::Arc;
use std::time::Duration;

use tidewatch_accounts::ControlError;
use tidewatch_alerts::incidents::{Announcer, group};
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;

use crate::app::App;

const LEASE: &str = "incidents";

/// Groups until `stopped`.
pub async fn run(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let running = HeartbeatGuard(Heartbeat::new("incidents"));
    app.background.add(&running.0);
    loop {
        running.0.beat();
        if let Err(error) = step(&app, &app.lease_holder).await {
            tracing::warn!(%error, "notifications cannot be grouped into incidents: {error}");
        }
        running.0.idle();
        tokio::select! {
            () = tokio::time::sleep(limits::INCIDENT_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = app.control.database().release_lease(LEASE, &app.lease_holder).await {
        tracing::warn!(%error, "the lease of incidents cannot be released: {error}");
    }
}

/// Groups all new notifications as `holder`. Does nothing while another node has the lease.
pub async fn step(app: &App, holder: &str) -> Result<(), ControlError> {
    let announcer = announcer(app);
    let grace = Duration::from_secs(app.config.incident_grace_seconds);
    while app.alerts.incidents.has_ungrouped_notifications(app.clock.now_ns(), grace).await? {
        let now_ns = app.clock.now_ns();
        let until_ns = now_ns.saturating_add(limits::INCIDENT_LEASE.as_nanos() as i64);
        if !app.control.database().take_lease(LEASE, holder, now_ns, until_ns).await? {
            return Ok(());
        }
        let grouped = app.alerts.incidents.group_notifications(
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
        app.mailer.wake();
    }
    Ok(())
}

/// How subscribers of status pages are reached.
pub fn announcer(app: &App) -> Announcer {
    Announcer { base_url: app.config.base_url().trim_end_matches('/').to_owned(), has_mail: app.mailer.is_set_up }
}
