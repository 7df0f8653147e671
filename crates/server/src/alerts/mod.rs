//! Wiring of the background work of alerting, which the rooms of `tidewatch_alerts` do.
//!
//! - `arrivals`: the queue of arrivals of the pipeline, as rules take from it.

mod arrivals;

use std::sync::Arc;
use std::time::Duration;

use tidewatch_alerts::channels::worker::OutboxSender;
use tidewatch_alerts::incidents::worker::Grouper;
use tidewatch_alerts::monitors::worker::Checker;
use tidewatch_alerts::oncall::worker::Escalator;
use tidewatch_alerts::rules::evaluation::poll::Poller;
use tidewatch_alerts::{channels, incidents, monitors, oncall, rules};
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::App;
use arrivals::StoredArrivals;

/// Starts everything that runs until `stopped`.
pub fn start(app: &App, tasks: &mut JoinSet<()>, stopped: &watch::Receiver<bool>) {
    let App { accounts, alerting, process, query, ingest, .. } = app;
    let running = |name| {
        let guard = HeartbeatGuard(Heartbeat::new(name));
        process.background.add(&guard.0);
        guard
    };
    let (config, rooms, clock, holder) = (&process.config, &alerting.rooms, &alerting.clock, &accounts.lease_holder);
    let sender = OutboxSender {
        channels: rooms.channels.clone(),
        notifier: alerting.notifier.clone(),
        mailer: accounts.mailer.clone(),
        clock: clock.clone(),
        poll: Duration::from_secs(config.outbox_poll_seconds),
    };
    tasks.spawn(channels::worker::run(Arc::new(sender), running("notifications"), stopped.clone()));
    let checker = Checker { monitors: rooms.monitors.clone(), prober: alerting.prober.clone(), holder: holder.clone() };
    tasks.spawn(monitors::worker::run(checker, running("monitors"), stopped.clone()));
    let escalator = Escalator {
        oncall: rooms.oncall.clone(),
        holder: holder.clone(),
        base_url: config.base_url.as_ref().map(|_| config.base_url()).unwrap_or_default(),
        clock: clock.clone(),
        poll: Duration::from_secs(config.oncall_poll_seconds.max(limits::ONCALL_POLL_SECONDS_MIN)),
        wake: alerting.oncall_wake.clone(),
    };
    tasks.spawn(oncall::worker::run(escalator, running("oncall"), stopped.clone()));
    let poller = Poller::new(query.clone(), holder.clone());
    let pause = Duration::from_secs(config.notification_poll_seconds);
    tasks.spawn(rules::worker::poll(poller, pause, running("rules"), stopped.clone()));
    let arrivals = StoredArrivals(ingest.durable_store.rule_arrivals().clone());
    tasks.spawn(rules::worker::watch_arrivals(query.clone(), arrivals, running("rules-on-arrival"), stopped.clone()));
    let grouper = Grouper {
        incidents: rooms.incidents.clone(),
        holder: holder.clone(),
        clock: clock.clone(),
        grace: Duration::from_secs(config.incident_grace_seconds),
        announcer: alerting.announcer.clone(),
        mailer: accounts.mailer.clone(),
    };
    tasks.spawn(incidents::worker::run(grouper, running("incidents"), stopped.clone()));
}
