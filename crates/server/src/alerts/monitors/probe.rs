//! One check of a monitor.

use std::time::{Duration, Instant};

use tidewatch_alerts::monitors::config::CheckConfig;
use tidewatch_alerts::monitors::{Monitor, MonitorOutcome, MonitorResult};
use tidewatch_alerts::outbound::OutboundPolicy;
use tidewatch_limits as limits;
use tidewatch_runtime::redact::plain;

use super::connection::{Failure, Observed, Probe};
use super::{browser, dns, http, tcp, unmeasured};
use crate::app::App;

/// Makes the check of a monitor within its time, and returns the result, which is not stored yet.
pub async fn probe(app: &App, monitor: &Monitor) -> MonitorResult {
    let chosen = &monitor.chosen;
    let at_ns = app.clock.now_ns();
    let config = match CheckConfig::read(&chosen.check_type, &chosen.config) {
        Ok(config) => config,
        Err(error) => return unmeasured(at_ns, MonitorOutcome::Down, error.to_string()),
    };
    let policy = OutboundPolicy { allows_private: app.config.allow_private_monitor_targets };
    let probe = Probe { policy, now_ns: at_ns };
    let mut observed = Observed::default();
    let timeout = Duration::from_secs(chosen.timeout_seconds.unsigned_abs());
    let start = Instant::now();
    let verdict = match &config {
        // It ends within its time by itself, and then still reports what the script printed.
        CheckConfig::Browser(config) => browser::check(&app.browser, &probe, config, timeout, &mut observed).await,
        _ => tokio::time::timeout(timeout, check(&probe, &config, &mut observed, start))
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", timeout.as_secs())))
            .map_err(Failure::Bad),
    };
    let (outcome, reason) = match verdict {
        Ok(()) => (MonitorOutcome::Up, String::new()),
        Err(Failure::Bad(reason)) => (MonitorOutcome::Down, reason),
        Err(Failure::NotMade(reason)) => (MonitorOutcome::Missed, reason),
    };
    let reason = plain(&reason, limits::MONITOR_REASON_CHARS_MAX);
    let Observed { timings, status_code, trace_id, tls_expires_ns, output } = observed;
    MonitorResult { id: 0, at_ns, outcome, reason, status_code, trace_id, timings, tls_expires_ns, output }
}

/// The verdict of a check. `observed` has what was seen until then.
async fn check(probe: &Probe, config: &CheckConfig, observed: &mut Observed, start: Instant) -> Result<(), String> {
    match config {
        CheckConfig::Http(config) => http::check(probe, config, observed, start).await,
        CheckConfig::Tcp(config) => tcp::check(probe, config, observed, start).await,
        CheckConfig::Tls(config) => tcp::check_certificate(probe, config, observed, start).await,
        CheckConfig::Dns(config) => dns::check(probe, config, observed, start).await,
        CheckConfig::Browser(_) => Err("a script is run by a worker".to_owned()),
        CheckConfig::Heartbeat(_) => Err("a heartbeat is reported, not checked".to_owned()),
    }
}
