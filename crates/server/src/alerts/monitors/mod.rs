//! Makes the checks of monitors. One node at a time does, by a lease.
//!
//! - [`probe`]: one check, which `tidewatch_probes` makes. [`requests`]: its request from the configuration.
//!   [`browser`]: a check by a browser, without the values of its secrets.
//!
//! A check holds a permit while it runs, and no monitor is checked twice at the same time; what finds no permit waits
//! for the next look at the schedule, where only its latest time counts. So nothing piles up. A result is stored with
//! what follows from it in one transaction that checks the lease, so two nodes never report one change twice.

mod browser;
pub mod probe;
mod requests;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tidewatch_accounts::ControlError;
use tidewatch_alerts::monitors::heartbeat::{Heartbeat, missed_deadline_ns};
use tidewatch_alerts::monitors::rules::Rules;
use tidewatch_alerts::monitors::views::CheckType;
use tidewatch_alerts::monitors::{
    Lease, MonitorOutcome, MonitorResult, MonitorSlot, MonitorTimings, ScheduledMonitor, schedule,
};
use tidewatch_journal::heartbeat::Heartbeat as Liveness;
use tidewatch_limits as limits;
use tidewatch_query::time::to_rfc3339;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::app::App;

const LEASE: &str = "monitors";

/// Makes the checks that are due, until `stopped`.
pub async fn run(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let running = HeartbeatGuard(Liveness::new("monitors"));
    app.process.background.add(&running.0);
    let mut scheduler = Scheduler {
        app,
        permits: Arc::new(Semaphore::new(limits::MONITORS_CONCURRENT)),
        running: Arc::default(),
        checks: JoinSet::new(),
        blind: None,
        leased_until_ns: i64::MIN,
        looked: None,
    };
    loop {
        running.0.beat();
        if let Err(error) = scheduler.look().await {
            tracing::error!(%error, "monitors cannot be checked now: {error}");
        }
        running.0.idle();
        tokio::select! {
            () = tokio::time::sleep(limits::MONITORS_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => break,
        }
    }
    scheduler.end().await;
}

struct Scheduler {
    app: Arc<App>,
    permits: Arc<Semaphore>,
    /// The monitors that are being checked.
    running: Arc<Mutex<HashSet<i64>>>,
    checks: JoinSet<()>,
    /// The latest time without a server, nanoseconds since the epoch.
    blind: Option<(i64, i64)>,
    /// Until when the lease is taken, nanoseconds since the epoch.
    leased_until_ns: i64,
    /// Wall-clock time and monotonic time of the latest look.
    looked: Option<(i64, Duration)>,
}

impl Scheduler {
    /// Begins the checks that are due.
    async fn look(&mut self) -> Result<(), ControlError> {
        while self.checks.try_join_next().is_some() {}
        let scheduled = self.app.alerts.monitors.scheduled_monitors().await?;
        let (now_ns, uptime) = self.app.process.clock.both();
        self.notice_jump(now_ns, uptime);
        if scheduled.is_empty() || !self.lease(now_ns).await? {
            return Ok(());
        }
        for monitor in scheduled {
            match monitor.period_seconds {
                0 => self.begin(monitor, now_ns),
                _ => self.check_report(monitor, now_ns).await?,
            }
        }
        Ok(())
    }

    /// A clock that jumps ahead is like a time without a server: nothing could be reported in it.
    fn notice_jump(&mut self, now_ns: i64, uptime: Duration) {
        if let Some((looked_ns, looked_uptime)) = self.looked {
            let expected_ns = looked_ns.saturating_add(nanoseconds(uptime.saturating_sub(looked_uptime)));
            if now_ns.saturating_sub(expected_ns) > nanoseconds(limits::MONITORS_CLOCK_JUMP) {
                self.blind = Some((looked_ns, now_ns));
            }
        }
        self.looked = Some((now_ns, uptime));
    }

    /// Takes or extends the lease. `false`: another node has it.
    async fn lease(&mut self, now_ns: i64) -> Result<bool, ControlError> {
        let length_ns = nanoseconds(limits::MONITORS_LEASE);
        let left_ns = self.leased_until_ns.saturating_sub(now_ns);
        // A lease far ahead is one of before the clock went back.
        if (length_ns / 2..=length_ns).contains(&left_ns) {
            return Ok(true);
        }
        let before_ns = self.app.accounts.control.database().lease_until(LEASE).await?;
        let until_ns = now_ns.saturating_add(length_ns);
        if !self
            .app
            .accounts
            .control
            .database()
            .take_lease(LEASE, &self.app.accounts.lease_holder, now_ns, until_ns)
            .await?
        {
            self.leased_until_ns = i64::MIN;
            return Ok(false);
        }
        if left_ns <= 0
            && let Some(before_ns) = before_ns
        {
            self.blind = Some((before_ns.saturating_sub(length_ns), now_ns));
        }
        self.leased_until_ns = until_ns;
        Ok(true)
    }

    /// Begins a check if it is due, and if there is a permit.
    fn begin(&mut self, monitor: ScheduledMonitor, now_ns: i64) {
        let ScheduledMonitor { id, interval_seconds, slot_ns: done_ns, .. } = monitor;
        let is_browser = monitor.check_type == CheckType::Browser.name();
        if is_browser && self.app.alerting.browser.is_off() {
            return;
        }
        let Some(slot_ns) = schedule::due_ns(id, interval_seconds, done_ns, now_ns) else { return };
        if self.running.lock().contains(&id) {
            return;
        }
        let Ok(permit) = self.permits.clone().try_acquire_owned() else { return };
        let browser = if is_browser { self.app.alerting.browser.permit() } else { None };
        if is_browser && browser.is_none() {
            return;
        }
        self.running.lock().insert(id);
        let (app, running, holder) = (self.app.clone(), self.running.clone(), self.app.accounts.lease_holder.clone());
        self.checks.spawn(async move {
            let missed = schedule::missed(interval_seconds, done_ns, slot_ns);
            let slot = MonitorSlot { lease: Lease { name: LEASE, holder: &holder }, slot_ns, missed };
            if let Err(error) = check(&app, id, &slot).await {
                tracing::error!(monitor = id, %error, "the result of a monitor cannot be stored: {error}");
            }
            running.lock().remove(&id);
            drop((permit, browser));
        });
    }

    /// Stores that a job is late.
    async fn check_report(&self, monitor: ScheduledMonitor, now_ns: i64) -> Result<(), ControlError> {
        let ScheduledMonitor { id, period_seconds, grace_seconds, .. } = monitor;
        let Some(ping_ns) = monitor.ping_ns else { return Ok(()) };
        let job = Heartbeat { period_seconds, grace_seconds, ping_ns };
        let Some(deadline_ns) = missed_deadline_ns(job, self.blind, now_ns) else { return Ok(()) };
        if monitor.slot_ns.is_some_and(|done_ns| done_ns >= deadline_ns) {
            return Ok(());
        }
        let reason = format!(
            "late: the latest report was at {}, and the next one was due by {}",
            to_rfc3339(ping_ns),
            to_rfc3339(deadline_ns)
        );
        let result = unmeasured(now_ns, MonitorOutcome::Down, reason);
        let lease = Lease { name: LEASE, holder: &self.app.accounts.lease_holder };
        let slot = MonitorSlot { lease, slot_ns: deadline_ns, missed: Vec::new() };
        self.app.alerts.monitors.record_monitor_result(id, &result, Some(&slot), &Rules).await?;
        Ok(())
    }

    /// Gives up what runs, and the lease: another node continues at once.
    async fn end(mut self) {
        self.checks.shutdown().await;
        let now_ns = self.app.process.clock.now_ns();
        if self.leased_until_ns > now_ns
            && let Err(error) = self
                .app
                .accounts
                .control
                .database()
                .take_lease(LEASE, &self.app.accounts.lease_holder, now_ns, now_ns)
                .await
        {
            tracing::warn!(%error, "the lease of monitors ends by itself: {error}");
        }
    }
}

/// Makes a check and stores its result.
async fn check(app: &App, id: i64, slot: &MonitorSlot<'_>) -> Result<(), ControlError> {
    let Some(monitor) = app.alerts.monitors.any_monitor(id).await? else { return Ok(()) };
    let result = probe::probe(app, &monitor).await;
    app.alerts.monitors.record_monitor_result(id, &result, Some(slot), &Rules).await?;
    Ok(())
}

/// A result without durations.
pub fn unmeasured(at_ns: i64, outcome: MonitorOutcome, reason: String) -> MonitorResult {
    MonitorResult {
        id: 0,
        at_ns,
        outcome,
        reason,
        status_code: None,
        trace_id: String::new(),
        timings: MonitorTimings::default(),
        tls_expires_ns: None,
        output: String::new(),
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
