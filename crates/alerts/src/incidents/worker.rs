//! Groups new notifications into incidents, on one node at a time.

use std::sync::Arc;
use std::time::Duration;

use tidewatch_accounts::ControlError;
use tidewatch_accounts::mail::Mailer;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;

use super::{Announcer, Incidents, group};

const LEASE: &str = "incidents";

/// The work of a node that groups notifications.
pub struct Grouper {
    /// Incidents.
    pub incidents: Incidents,
    /// The name of this node in the lease.
    pub holder: String,
    /// Source of the current time.
    pub clock: Clock,
    /// Incidents are resolved this long after their last alert ended.
    pub grace: Duration,
    /// Reaches the subscribers of status pages.
    pub announcer: Announcer,
    /// Woken after incidents have changed.
    pub mailer: Arc<Mailer>,
}

/// Groups until `stopped`.
pub async fn run(grouper: Grouper, running: HeartbeatGuard, mut stopped: watch::Receiver<bool>) {
    loop {
        running.0.beat();
        if let Err(error) = step(&grouper).await {
            tracing::warn!(%error, "notifications cannot be grouped into incidents: {error}");
        }
        running.0.idle();
        tokio::select! {
            () = tokio::time::sleep(limits::INCIDENT_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = grouper.incidents.database.release_lease(LEASE, &grouper.holder).await {
        tracing::warn!(%error, "the lease of incidents cannot be released: {error}");
    }
}

/// Groups all new notifications. Does nothing while another node has the lease.
async fn step(grouper: &Grouper) -> Result<(), ControlError> {
    let (holder, grace) = (grouper.holder.as_str(), grouper.grace);
    while grouper.incidents.has_ungrouped_notifications(grouper.clock.now_ns(), grace).await? {
        let now_ns = grouper.clock.now_ns();
        let until_ns = now_ns.saturating_add(limits::INCIDENT_LEASE.as_nanos() as i64);
        if !grouper.incidents.database.take_lease(LEASE, holder, now_ns, until_ns).await? {
            return Ok(());
        }
        let grouped = grouper.incidents.group_notifications(
            LEASE,
            holder,
            &grouper.announcer,
            now_ns,
            grace,
            |known, facts, now| {
                group(known, facts, now, grace);
            },
        );
        if grouped.await?.is_none() {
            return Ok(());
        }
        grouper.mailer.wake();
    }
    Ok(())
}
