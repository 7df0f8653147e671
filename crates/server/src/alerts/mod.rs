//! Background work of alerts: starts the workers of the rooms of `tidewatch_alerts`, and those that need more than these.
//!
//! - [`monitors`]: checks of monitors. [`rules`]: evaluates rules of arriving data.

pub mod monitors;
pub mod rules;

use std::sync::Arc;
use std::time::Duration;

use tidewatch_alerts::channels::worker::OutboxSender;
use tidewatch_alerts::incidents::Announcer;
use tidewatch_alerts::incidents::worker::Grouper;
use tidewatch_alerts::oncall::worker::Escalator;
use tidewatch_alerts::{channels, incidents, oncall};
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::app::App;

/// Starts everything that runs until `stopped`.
pub fn start(app: &Arc<App>, tasks: &mut JoinSet<()>, stopped: &watch::Receiver<bool>) {
    let running = |name| {
        let guard = HeartbeatGuard(Heartbeat::new(name));
        app.process.background.add(&guard.0);
        guard
    };
    let (config, alerts, clock, holder) =
        (&app.process.config, &app.alerts, &app.process.clock, &app.accounts.lease_holder);
    let sender = OutboxSender {
        channels: alerts.channels.clone(),
        notifier: app.alerting.notifier.clone(),
        mailer: app.accounts.mailer.clone(),
        clock: clock.clone(),
        poll: Duration::from_secs(config.outbox_poll_seconds),
    };
    tasks.spawn(channels::worker::run(Arc::new(sender), running("notifications"), stopped.clone()));
    tasks.spawn(monitors::run(app.clone(), stopped.clone()));
    let escalator = Escalator {
        oncall: alerts.oncall.clone(),
        holder: holder.clone(),
        base_url: config.base_url.as_ref().map(|_| config.base_url()).unwrap_or_default(),
        clock: clock.clone(),
        poll: Duration::from_secs(config.oncall_poll_seconds.max(limits::ONCALL_POLL_SECONDS_MIN)),
        wake: app.alerting.oncall.clone(),
    };
    tasks.spawn(oncall::worker::run(escalator, running("oncall"), stopped.clone()));
    let pause = Duration::from_secs(config.notification_poll_seconds);
    let polled = (app.query.clone(), holder.clone());
    tasks.spawn(tidewatch_alerts::rules::worker::run(polled, pause, running("rules"), stopped.clone()));
    tasks.spawn(rules::watch_arrivals(app.clone(), running("rules-on-arrival"), stopped.clone()));
    let grouper = Grouper {
        incidents: alerts.incidents.clone(),
        holder: holder.clone(),
        clock: clock.clone(),
        grace: Duration::from_secs(config.incident_grace_seconds),
        announcer: announcer(app),
        mailer: app.accounts.mailer.clone(),
    };
    tasks.spawn(incidents::worker::run(grouper, running("incidents"), stopped.clone()));
}

/// Settings for notifications of the subscribers of status pages.
pub fn announcer(app: &App) -> Announcer {
    Announcer {
        base_url: app.process.config.base_url().trim_end_matches('/').to_owned(),
        has_mail: app.accounts.mailer.is_set_up,
    }
}
