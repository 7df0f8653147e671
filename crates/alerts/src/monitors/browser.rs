//! Checks by a browser: the job of a configuration, and its report without the values of secrets.

use std::collections::BTreeMap;
use std::time::Duration;

use super::config::BrowserConfig;
use super::secrets::MASK;
use tidewatch_probes::browser::checks::BrowserChecks;
use tidewatch_probes::browser::job::{Job, Report};
use tidewatch_probes::connection::Observed;
use tidewatch_runtime::outbound::policy::OutboundPolicy;

/// Shorter values of variables are too common to be masked.
const SECRET_CHARS_MIN: usize = 6;

/// Runs the script, and returns what it printed and why the check is bad. An error: the check was not made, and why. The
/// caller has a permit of `checks`.
pub(super) async fn check(
    checks: &BrowserChecks,
    policy: OutboundPolicy,
    config: &BrowserConfig,
    timeout: Duration,
    observed: &mut Observed,
) -> Result<(String, Option<String>), String> {
    let trace_id = format!("{:032x}", fastrand::u128(1..));
    let BrowserConfig { script, env } = config;
    let job = Job {
        script: script.clone(),
        env: env.clone(),
        timeout_seconds: timeout.as_secs(),
        trace_id: trace_id.clone(),
        allows_private: policy.allows_private,
    };
    let Report { error, duration_ns, output } = checks.run(job).await?;
    observed.trace_id = trace_id;
    observed.timings.total_ns = duration_ns;
    Ok((masked(&output, env), error.map(|error| masked(&error, env))))
}

/// Replaces the values of variables, which are secrets.
fn masked(printed: &str, env: &BTreeMap<String, String>) -> String {
    let mut values: Vec<&String> = env.values().filter(|value| value.chars().count() >= SECRET_CHARS_MIN).collect();
    // A value may contain another one.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values.into_iter().fold(printed.to_owned(), |printed, value| printed.replace(value.as_str(), MASK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_are_masked() {
        let env = [("A", "secret"), ("B", "secret-2"), ("C", "true")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let printed = masked("secret-2 secret true", &env);
        assert_eq!(printed, "******** ******** true");
    }
}
