//! Checks by a browser in the server: on this machine or by a browser runner, bounded in number.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tidewatch_alerts::monitors::manage::NO_BROWSER;
use tidewatch_alerts::monitors::secrets::MASK;
use tidewatch_limits as limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::installation::Installation;
use super::job::{Job, Report};
use super::local;
use super::remote::Runner;
use super::settings::{BrowserMode, BrowserSettings};

/// Shorter values of variables are too common to be masked.
const SECRET_CHARS_MIN: usize = 6;

/// Checks by a browser.
pub struct BrowserChecks {
    place: Place,
    permits: Arc<Semaphore>,
}

/// Where checks are made.
enum Place {
    /// Nowhere: they are off.
    Nowhere,
    /// On this machine; the error says what is missing.
    Here(Result<Installation, String>),
    /// By a browser runner.
    Elsewhere(Arc<Runner>),
}

impl BrowserChecks {
    /// Finds the programs, or asks the browser runner, if checks by a browser are on, and logs what is missing. Fails if
    /// the settings of the runner cannot be used.
    pub async fn open(settings: &BrowserSettings) -> anyhow::Result<BrowserChecks> {
        let place = match settings.synthetics_browser_mode {
            BrowserMode::Off => Place::Nowhere,
            BrowserMode::Embedded => Place::Here(find(settings).await),
            BrowserMode::Remote => {
                let runner = Arc::new(Runner::new(settings.runner()?));
                let greeted = runner.clone();
                // The server starts without it.
                tokio::spawn(async move { greeted.greet().await });
                Place::Elsewhere(runner)
            }
        };
        Ok(BrowserChecks { place, permits: Arc::new(Semaphore::new(limits::BROWSER_CHECKS_CONCURRENT)) })
    }

    /// Whether the operator has not turned them on.
    pub fn is_off(&self) -> bool {
        matches!(self.place, Place::Nowhere)
    }

    /// Reason for which they do not run; `None`: they do.
    pub fn problem(&self) -> Option<String> {
        match &self.place {
            Place::Nowhere => Some(NO_BROWSER.to_owned()),
            Place::Here(found) => found.as_ref().err().cloned(),
            Place::Elsewhere(runner) => runner.problem(),
        }
    }

    /// A permit for one check; `None`: as many run as may.
    pub fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.permits.clone().try_acquire_owned().ok()
    }

    /// Makes a check. When this is dropped, it ends. An error: the check was not made, and why.
    pub async fn run(&self, check: BrowserCheck<'_>) -> Result<Report, String> {
        let job = Job {
            script: check.script.to_owned(),
            env: check.env.clone(),
            timeout_seconds: check.timeout.as_secs(),
            trace_id: check.trace_id.to_owned(),
            allows_private: check.allows_private,
        };
        let report = match &self.place {
            Place::Nowhere => return Err(NO_BROWSER.to_owned()),
            Place::Here(Err(problem)) => Report::failed(problem.clone()),
            Place::Here(Ok(installation)) => local::run(job, installation.clone()).await,
            Place::Elsewhere(runner) => runner.run(&job).await?,
        };
        Ok(Report {
            error: report.error.map(|error| masked(&error, check.env)),
            output: masked(&report.output, check.env),
            ..report
        })
    }
}

async fn find(settings: &BrowserSettings) -> Result<Installation, String> {
    let programs = settings.programs.clone();
    let found = tokio::task::spawn_blocking(move || Installation::find(&programs)).await;
    let found = found.unwrap_or_else(|error| Err(error.to_string()));
    match &found {
        Ok(found) => tracing::info!("checks by a browser: {}", found.chromium.display()),
        Err(problem) => tracing::warn!("checks by a browser cannot run: {problem}"),
    }
    found
}

/// One check.
#[derive(Debug, Clone, Copy)]
pub struct BrowserCheck<'a> {
    /// The script.
    pub script: &'a str,
    /// Its variables.
    pub env: &'a BTreeMap<String, String>,
    /// Time that the check may take.
    pub timeout: Duration,
    /// Hexadecimal.
    pub trace_id: &'a str,
    /// Whether private networks may be contacted.
    pub allows_private: bool,
}

/// Masks the values of a script's variables, which are secrets, in its output.
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

    #[tokio::test]
    async fn what_is_off_does_not_run() {
        let checks = BrowserChecks::open(&BrowserSettings::default()).await.expect("nothing to open");
        assert!(checks.is_off() && checks.problem().is_some());
        let (script, env, trace_id) = ("", &BTreeMap::new(), "");
        let check = BrowserCheck { script, env, timeout: Duration::from_secs(1), trace_id, allows_private: false };
        assert_eq!(checks.run(check).await, Err(NO_BROWSER.to_owned()));
    }
}
