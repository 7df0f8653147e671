//! One check of a monitor.

use std::time::{Duration, Instant};

use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_probes::browser::checks::BrowserChecks;
use tidewatch_probes::connection::{Observed, Timings};
use tidewatch_probes::{dns, http, tcp};
use tidewatch_runtime::outbound::policy::OutboundPolicy;
use tidewatch_runtime::redact::plain;

use super::config::CheckConfig;
use super::verdict::{self, HttpSeen};
use super::{Monitor, MonitorOutcome, MonitorResult, MonitorTimings, browser, requests};

/// Makes single checks.
pub struct Prober {
    /// Checks by a browser.
    pub browser: BrowserChecks,
    /// The addresses that checks may contact.
    pub policy: OutboundPolicy,
    /// Source of the current time.
    pub clock: Clock,
}

impl Prober {
    /// Makes the check of a monitor within its time, and returns the result, which is not stored yet.
    pub async fn probe(&self, monitor: &Monitor) -> MonitorResult {
        let chosen = &monitor.chosen;
        let at_ns = self.clock.now_ns();
        let config = match CheckConfig::stored(&chosen.check_type, &chosen.config) {
            Ok(config) => config,
            Err(error) => return MonitorResult::unmeasured(at_ns, MonitorOutcome::Down, error.to_string()),
        };
        let mut observed = Observed::default();
        let mut output = String::new();
        let timeout = Duration::from_secs(chosen.timeout_seconds.unsigned_abs());
        let (outcome, reason) = match &config {
            // It ends within its time by itself, and then still reports what the script printed.
            CheckConfig::Browser(config) => {
                match browser::check(&self.browser, self.policy, config, timeout, &mut observed).await {
                    Ok((printed, bad)) => {
                        output = printed;
                        verdict_of(bad)
                    }
                    Err(reason) => (MonitorOutcome::Missed, reason),
                }
            }
            _ => {
                let made = tokio::time::timeout(timeout, check(self.policy, &config, &mut observed, at_ns)).await;
                let made = made.unwrap_or_else(|_| Err(format!("no answer within {} s", timeout.as_secs())));
                verdict_of(made.err())
            }
        };
        let reason = plain(&reason, limits::MONITOR_REASON_CHARS_MAX);
        let Observed { timings, status_code, trace_id, tls_expires_ns } = observed;
        let Timings { dns_ns, connect_ns, tls_ns, wait_ns, total_ns } = timings;
        let timings = MonitorTimings { dns_ns, connect_ns, tls_ns, wait_ns, total_ns };
        MonitorResult { id: 0, at_ns, outcome, reason, status_code, trace_id, timings, tls_expires_ns, output }
    }
}

/// The outcome of a check that was made. `bad`: why it is not up.
fn verdict_of(bad: Option<String>) -> (MonitorOutcome, String) {
    match bad {
        None => (MonitorOutcome::Up, String::new()),
        Some(reason) => (MonitorOutcome::Down, reason),
    }
}

/// Makes a check and judges it. `observed` has what was seen until then.
async fn check(
    policy: OutboundPolicy,
    config: &CheckConfig,
    observed: &mut Observed,
    now_ns: i64,
) -> Result<(), String> {
    let start = Instant::now();
    match config {
        CheckConfig::Http(config) => {
            let answer = http::check(policy, requests::http(config)?, observed, start).await?;
            let seen = HttpSeen {
                status: answer.status,
                body: &answer.body,
                is_body_cut: answer.is_body_cut,
                total_ns: answer.total_ns,
                tls_expires_ns: observed.tls_expires_ns,
                now_ns,
            };
            verdict::http(&config.assertions, &seen)
        }
        CheckConfig::Tcp(config) => {
            let answer = tcp::check(policy, requests::tcp(config), observed, start).await?;
            verdict::answer(&config.expect_contains, &answer)?;
            let days = config.tls_min_days_remaining;
            days.map_or(Ok(()), |days| verdict::certificate(observed.tls_expires_ns, days, now_ns))
        }
        CheckConfig::Tls(config) => {
            tcp::check_certificate(policy, requests::tls(config), observed, start).await?;
            verdict::certificate(observed.tls_expires_ns, config.tls_min_days_remaining, now_ns)
        }
        CheckConfig::Dns(config) => {
            let found = dns::check(policy, requests::dns(config), observed, start).await?;
            verdict::records(config.record_type, &config.expected_value, &found)
        }
        CheckConfig::Browser(_) => Err("a script is run by a worker".to_owned()),
        CheckConfig::Heartbeat(_) => Err("a heartbeat is reported, not checked".to_owned()),
    }
}
