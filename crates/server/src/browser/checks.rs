//! Checks by a browser in the server: a worker process each, bounded in number and time.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tidewatch_alerts::monitors::manage::NO_BROWSER;
use tidewatch_alerts::monitors::secrets::MASK;
use tidewatch_limits as limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::installation::Installation;
use super::job::{Job, Report};
use super::settings::{BrowserMode, BrowserSettings};

/// The program of this process, also after its file was replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// Size of a report: its output, and an error.
const REPORT_BYTES_MAX: u64 = 1 << 20;
/// Shorter values of variables are too common to be masked.
const SECRET_CHARS_MIN: usize = 6;

/// Checks by a browser.
pub struct BrowserChecks {
    /// `None`: they are off.
    found: Option<Result<Installation, String>>,
    permits: Arc<Semaphore>,
}

impl BrowserChecks {
    /// Finds the programs if checks by a browser are on, and logs what is missing.
    pub async fn open(settings: &BrowserSettings) -> BrowserChecks {
        let found = match settings.synthetics_browser_mode {
            BrowserMode::Off | BrowserMode::Remote => None,
            BrowserMode::Embedded => {
                let settings = settings.clone();
                let found = tokio::task::spawn_blocking(move || Installation::find(&settings)).await;
                Some(found.unwrap_or_else(|error| Err(error.to_string())))
            }
        };
        match &found {
            None => {}
            Some(Ok(found)) => tracing::info!("checks by a browser: {}", found.chromium.display()),
            Some(Err(problem)) => tracing::warn!("checks by a browser cannot run: {problem}"),
        }
        BrowserChecks { found, permits: Arc::new(Semaphore::new(limits::BROWSER_CHECKS_CONCURRENT)) }
    }

    /// Whether the operator has not turned them on.
    pub fn is_off(&self) -> bool {
        self.found.is_none()
    }

    /// Why they do not run; `None`: they do.
    pub fn problem(&self) -> Option<&str> {
        match &self.found {
            None => Some(NO_BROWSER),
            Some(Err(problem)) => Some(problem),
            Some(Ok(_)) => None,
        }
    }

    /// A permit for one check; `None`: as many run as may.
    pub fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.permits.clone().try_acquire_owned().ok()
    }

    /// Makes a check. When this is dropped, the worker ends it.
    pub async fn run(&self, check: BrowserCheck<'_>) -> Report {
        let installation = match &self.found {
            Some(Ok(found)) => found.clone(),
            Some(Err(problem)) => return Report::failed(problem.clone()),
            None => return Report::failed(NO_BROWSER),
        };
        let job = Job {
            script: check.script.to_owned(),
            env: check.env.clone(),
            timeout_seconds: check.timeout.as_secs(),
            trace_id: check.trace_id.to_owned(),
            allows_private: check.allows_private,
            installation,
        };
        let report = tokio::time::timeout(check.timeout + limits::BROWSER_GRACE, work(&job)).await;
        let report = match report {
            Ok(Ok(report)) => report,
            Ok(Err(error)) => Report::failed(format!("the worker of the check failed: {error}")),
            Err(_) => Report::failed("the worker of the check did not end in time"),
        };
        Report {
            error: report.error.map(|error| masked(&error, check.env)),
            output: masked(&report.output, check.env),
            ..report
        }
    }
}

/// One check.
#[derive(Debug, Clone, Copy)]
pub struct BrowserCheck<'a> {
    /// The script.
    pub script: &'a str,
    /// Its variables.
    pub env: &'a BTreeMap<String, String>,
    /// How long it may take.
    pub timeout: Duration,
    /// Hexadecimal.
    pub trace_id: &'a str,
    /// Whether private networks may be contacted.
    pub allows_private: bool,
}

async fn work(job: &Job) -> std::io::Result<Report> {
    let mut command = Command::new(OWN_PROGRAM);
    command.arg("browser-worker").env_clear().envs(std::env::var_os("TMPDIR").map(|folder| ("TMPDIR", folder)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // A signal of the terminal ends the server, which ends it. It is not killed: it has processes to end itself.
    command.process_group(0);
    let mut child = command.spawn()?;
    let missing = || std::io::Error::other("it has no pipes");
    // Open until the report is here: its end is the sign to give up.
    let mut input = child.stdin.take().ok_or_else(missing)?;
    let output = child.stdout.take().ok_or_else(missing)?;
    let mut line = serde_json::to_string(job)?;
    line.push('\n');
    input.write_all(line.as_bytes()).await?;
    let mut report = Vec::new();
    output.take(REPORT_BYTES_MAX).read_to_end(&mut report).await?;
    let status = child.wait().await?;
    serde_json::from_slice(&report).map_err(|_| std::io::Error::other(format!("it ended with {status}")))
}

/// What a script printed, without the values of its variables, which are secrets.
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
        let checks = BrowserChecks::open(&BrowserSettings::default()).await;
        assert!(checks.is_off() && checks.problem().is_some());
        let (script, env, trace_id) = ("", &BTreeMap::new(), "");
        let check = BrowserCheck { script, env, timeout: Duration::from_secs(1), trace_id, allows_private: false };
        assert_eq!(checks.run(check).await, Report::failed(NO_BROWSER));
    }
}
