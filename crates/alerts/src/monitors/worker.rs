//! Makes the checks of monitors. One node at a time does, by a lease.
//!
//! A check holds a permit while it runs, and no monitor is checked twice at the same time; what finds no permit waits
//! for the next look at the schedule, where only its latest time counts. So nothing piles up. A result is stored with
//! what follows from it in one transaction that checks the lease, so two nodes never report one change twice.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tidewatch_accounts::ControlError;
use tidewatch_limits as limits;
use tidewatch_query::time::to_rfc3339;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::heartbeat::{Heartbeat, missed_deadline_ns};
use super::probe::Prober;
use super::views::CheckType;
use super::{Lease, MonitorOutcome, MonitorResult, MonitorSlot, Monitors, ScheduledMonitor, schedule};

const LEASE: &str = "monitors";

/// The work of a node that checks monitors.
#[derive(Clone)]
pub struct Checker {
    /// Monitors.
    pub monitors: Monitors,
    /// Makes single checks.
    pub prober: Arc<Prober>,
    /// The name of this node in the lease.
    pub holder: String,
}

/// Makes the checks that are due, until `stopped`.
pub async fn run(checker: Checker, running: HeartbeatGuard, mut stopped: watch::Receiver<bool>) {
    let mut scheduler = Scheduler {
        checker,
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
    checker: Checker,
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
        let scheduled = self.checker.monitors.scheduled_monitors().await?;
        let (now_ns, uptime) = self.checker.prober.clock.both();
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
        let database = &self.checker.monitors.database;
        let before_ns = database.lease_until(LEASE).await?;
        let until_ns = now_ns.saturating_add(length_ns);
        if !database.take_lease(LEASE, &self.checker.holder, now_ns, until_ns).await? {
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
        if is_browser && self.checker.prober.browser.is_off() {
            return;
        }
        let Some(slot_ns) = schedule::due_ns(id, interval_seconds, done_ns, now_ns) else { return };
        if self.running.lock().contains(&id) {
            return;
        }
        let Ok(permit) = self.permits.clone().try_acquire_owned() else { return };
        let browser = if is_browser { self.checker.prober.browser.permit() } else { None };
        if is_browser && browser.is_none() {
            return;
        }
        self.running.lock().insert(id);
        let (checker, running) = (self.checker.clone(), self.running.clone());
        self.checks.spawn(async move {
            let missed = schedule::missed(interval_seconds, done_ns, slot_ns);
            let slot = MonitorSlot { lease: Lease { name: LEASE, holder: &checker.holder }, slot_ns, missed };
            if let Err(error) = checker.check(id, &slot).await {
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
        let result = MonitorResult::unmeasured(now_ns, MonitorOutcome::Down, reason);
        let lease = Lease { name: LEASE, holder: &self.checker.holder };
        let slot = MonitorSlot { lease, slot_ns: deadline_ns, missed: Vec::new() };
        self.checker.monitors.record_monitor_result(id, &result, Some(&slot)).await?;
        Ok(())
    }

    /// Gives up what runs, and the lease: another node continues at once.
    async fn end(mut self) {
        self.checks.shutdown().await;
        let now_ns = self.checker.prober.clock.now_ns();
        if self.leased_until_ns > now_ns
            && let Err(error) =
                self.checker.monitors.database.take_lease(LEASE, &self.checker.holder, now_ns, now_ns).await
        {
            tracing::warn!(%error, "the lease of monitors ends by itself: {error}");
        }
    }
}

impl Checker {
    /// Makes a check and stores its result.
    async fn check(&self, id: i64, slot: &MonitorSlot<'_>) -> Result<(), ControlError> {
        let Some(monitor) = self.monitors.any_monitor(id).await? else { return Ok(()) };
        let result = self.prober.probe(&monitor).await;
        self.monitors.record_monitor_result(id, &result, Some(slot)).await?;
        Ok(())
    }
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
