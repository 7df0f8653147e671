//! Pages: one node at a time opens them for notifications, and escalates them until somebody acknowledges.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewatch_journal::heartbeat::Heartbeat;
use tokio::sync::watch;

use crate::app::App;
use tidewatch_accounts::ControlError;
use tidewatch_alerts::oncall::LEASE;
use tidewatch_alerts::oncall::engine::Rules;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;

/// Works until `stopped`: every `oncall_poll_seconds`, when woken, and when notifications wait for a page.
pub async fn run(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let running = HeartbeatGuard(Heartbeat::new("oncall"));
    app.background.add(&running.0);
    let poll = Duration::from_secs(app.config.oncall_poll_seconds.max(limits::ONCALL_POLL_SECONDS_MIN));
    let mut last: Option<Instant> = None;
    loop {
        running.0.beat();
        let is_due = last.is_none_or(|last| last.elapsed() >= poll);
        match if is_due { Ok(true) } else { app.alerts.oncall.has_waiting_pages().await } {
            Ok(false) => {}
            Ok(true) => {
                last = Some(Instant::now());
                if let Err(error) = round(&app).await {
                    tracing::error!(%error, "pages are not escalated yet: {error}");
                }
            }
            Err(error) => tracing::warn!(%error, "notifications that become pages cannot be looked for: {error}"),
        }
        running.0.idle();
        tokio::select! {
            () = tokio::time::sleep(limits::ONCALL_PAUSE) => {}
            () = app.oncall.notified() => last = None,
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = app.control.database().release_lease(LEASE, &app.lease_holder).await {
        tracing::warn!(%error, "another node escalates pages later: {error}");
    }
}

/// Takes the lease, and does what is due. Does nothing while another node has the lease.
async fn round(app: &App) -> Result<(), ControlError> {
    let holder = &app.lease_holder;
    let base_url = app.config.base_url.as_ref().map(|_| app.config.base_url()).unwrap_or_default();
    let lease_ns = limits::ONCALL_LEASE.as_nanos() as i64;
    loop {
        let now_ns = app.clock.now_ns();
        if !app.control.database().take_lease(LEASE, holder, now_ns, now_ns.saturating_add(lease_ns)).await? {
            return Ok(());
        }
        let has_more = [
            app.alerts.oncall.take_page_notifications(&Rules, holder, now_ns).await?,
            app.alerts.oncall.advance_pages(&Rules, holder, now_ns).await?,
            app.alerts.oncall.advance_page_people(&Rules, holder, &base_url, now_ns).await?,
        ];
        if !has_more.contains(&true) {
            return Ok(());
        }
    }
}
