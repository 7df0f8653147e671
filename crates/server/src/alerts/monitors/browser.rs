//! Checks by a browser: what a worker reports as a result.

use std::time::Duration;

use tidewatch_alerts::monitors::config::BrowserConfig;

use super::connection::{Failure, Observed, Probe};
use crate::browser::checks::{BrowserCheck, BrowserChecks};

/// Runs the script. The caller has a permit of `checks`.
pub(super) async fn check(
    checks: &BrowserChecks,
    probe: &Probe,
    config: &BrowserConfig,
    timeout: Duration,
    observed: &mut Observed,
) -> Result<(), Failure> {
    let trace_id = format!("{:032x}", fastrand::u128(1..));
    let BrowserConfig { script, env } = config;
    let allows_private = probe.policy.allows_private;
    let check = BrowserCheck { script, env, timeout, trace_id: &trace_id, allows_private };
    let report = checks.run(check).await.map_err(Failure::NotMade)?;
    observed.trace_id = trace_id;
    observed.timings.total_ns = report.duration_ns;
    observed.output = report.output;
    report.error.map_or(Ok(()), |reason| Err(Failure::Bad(reason)))
}
