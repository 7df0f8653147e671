//! Checks by a browser in the server: on this machine or by a browser runner, bounded in number.

use std::sync::Arc;

use tidewatch_limits as limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::installation::{Installation, NamedPrograms};
use super::job::{Job, Report};
use super::local;
use super::remote::{Runner, RunnerAddress};

/// The operator's choice of where checks by a browser are made.
#[derive(Debug, Clone)]
pub enum BrowserPlace {
    /// Nowhere; with the reason for users.
    Nowhere(String),
    /// On this machine.
    Here(NamedPrograms),
    /// By a browser runner.
    Elsewhere(RunnerAddress),
}

/// Checks by a browser.
pub struct BrowserChecks {
    place: Place,
    permits: Arc<Semaphore>,
}

/// Where checks are made.
enum Place {
    /// Nowhere: they are off; with the reason for users.
    Nowhere(String),
    /// On this machine; the error says what is missing.
    Here(Result<Installation, String>),
    /// By a browser runner.
    Elsewhere(Arc<Runner>),
}

impl BrowserChecks {
    /// Finds the programs, or asks the browser runner, if checks by a browser are on, and logs what is missing.
    pub async fn open(place: BrowserPlace) -> BrowserChecks {
        let place = match place {
            BrowserPlace::Nowhere(reason) => Place::Nowhere(reason),
            BrowserPlace::Here(programs) => Place::Here(find(programs).await),
            BrowserPlace::Elsewhere(address) => {
                let runner = Arc::new(Runner::new(address));
                let greeted = runner.clone();
                // The server starts without it.
                tokio::spawn(async move { greeted.greet().await });
                Place::Elsewhere(runner)
            }
        };
        BrowserChecks { place, permits: Arc::new(Semaphore::new(limits::BROWSER_CHECKS_CONCURRENT)) }
    }

    /// Whether the operator has not turned them on.
    pub fn is_off(&self) -> bool {
        matches!(self.place, Place::Nowhere(_))
    }

    /// Reason for which they do not run; `None`: they do.
    pub fn problem(&self) -> Option<String> {
        match &self.place {
            Place::Nowhere(reason) => Some(reason.clone()),
            Place::Here(found) => found.as_ref().err().cloned(),
            Place::Elsewhere(runner) => runner.problem(),
        }
    }

    /// A permit for one check; `None`: as many run as may.
    pub fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.permits.clone().try_acquire_owned().ok()
    }

    /// Makes a check. When this is dropped, it ends. An error: the check was not made, and why.
    pub async fn run(&self, job: Job) -> Result<Report, String> {
        match &self.place {
            Place::Nowhere(reason) => Err(reason.clone()),
            Place::Here(Err(problem)) => Ok(Report::failed(problem.clone())),
            Place::Here(Ok(installation)) => Ok(local::run(job, installation.clone()).await),
            Place::Elsewhere(runner) => runner.run(&job).await,
        }
    }
}

async fn find(programs: NamedPrograms) -> Result<Installation, String> {
    let found = tokio::task::spawn_blocking(move || Installation::find(&programs)).await;
    let found = found.unwrap_or_else(|error| Err(error.to_string()));
    match &found {
        Ok(found) => tracing::info!("checks by a browser: {}", found.chromium.display()),
        Err(problem) => tracing::warn!("checks by a browser cannot run: {problem}"),
    }
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[tokio::test]
    async fn what_is_off_does_not_run() {
        let checks = BrowserChecks::open(BrowserPlace::Nowhere("they are off".to_owned())).await;
        assert!(checks.is_off() && checks.problem().is_some());
        let (script, trace_id) = (String::new(), String::new());
        let job = Job { script, env: BTreeMap::new(), timeout_seconds: 1, trace_id, allows_private: false };
        assert_eq!(checks.run(job).await, Err("they are off".to_owned()));
    }
}
