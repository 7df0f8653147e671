//! Pages: one node at a time opens them for notifications, and escalates them until somebody acknowledges.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewatch_accounts::ControlError;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::{Notify, watch};

use super::{LEASE, OnCall};

/// The work of a node that escalates pages.
pub struct Escalator {
    /// Pages.
    pub oncall: OnCall,
    /// The name of this node in the lease.
    pub holder: String,
    /// Begins links; empty: there are none.
    pub base_url: String,
    /// Source of the current time.
    pub clock: Clock,
    /// Time between two rounds.
    pub poll: Duration,
    /// Begins a round at once.
    pub wake: Arc<Notify>,
}

/// Works until `stopped`: every [`Escalator::poll`], when woken, and when notifications wait for a page.
pub async fn run(escalator: Escalator, running: HeartbeatGuard, mut stopped: watch::Receiver<bool>) {
    let mut last: Option<Instant> = None;
    loop {
        running.0.beat();
        let is_due = last.is_none_or(|last| last.elapsed() >= escalator.poll);
        match if is_due { Ok(true) } else { escalator.oncall.has_waiting_pages().await } {
            Ok(false) => {}
            Ok(true) => {
                last = Some(Instant::now());
                if let Err(error) = round(&escalator).await {
                    tracing::error!(%error, "pages are not escalated yet: {error}");
                }
            }
            Err(error) => tracing::warn!(%error, "notifications that become pages cannot be looked for: {error}"),
        }
        running.0.idle();
        tokio::select! {
            () = tokio::time::sleep(limits::ONCALL_PAUSE) => {}
            () = escalator.wake.notified() => last = None,
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = escalator.oncall.database.release_lease(LEASE, &escalator.holder).await {
        tracing::warn!(%error, "another node escalates pages later: {error}");
    }
}

/// Takes the lease, and does what is due. Does nothing while another node has the lease.
async fn round(escalator: &Escalator) -> Result<(), ControlError> {
    let holder = &escalator.holder;
    let lease_ns = limits::ONCALL_LEASE.as_nanos() as i64;
    loop {
        let now_ns = escalator.clock.now_ns();
        if !escalator.oncall.database.take_lease(LEASE, holder, now_ns, now_ns.saturating_add(lease_ns)).await? {
            return Ok(());
        }
        let has_more = [
            escalator.oncall.take_page_notifications(holder, now_ns).await?,
            escalator.oncall.advance_pages(holder, now_ns).await?,
            escalator.oncall.advance_page_people(holder, &escalator.base_url, now_ns).await?,
        ];
        if !has_more.contains(&true) {
            return Ok(());
        }
    }
}
