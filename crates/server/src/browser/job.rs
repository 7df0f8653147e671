//! The job and the report of a worker, each one line of JSON. A browser runner receives the job without the
//! programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::installation::Installation;

/// The path of checks below the address of a browser runner.
pub const CHECKS: &str = "checks";

/// The answer of a browser runner to a server that asks who is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// The version of the runner.
    pub version: String,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The script.
    pub script: String,
    /// Its variables.
    pub env: BTreeMap<String, String>,
    /// Seconds that it may take, with the start of the browser.
    pub timeout_seconds: u64,
    /// The trace that requests for the host of the first page belong to, hexadecimal.
    pub trace_id: String,
    /// Whether private networks may be contacted.
    pub allows_private: bool,
}

/// What a worker receives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The check.
    pub job: Job,
    /// The programs.
    pub installation: Installation,
}

/// What came of a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Why it is bad; `None`: it is good.
    pub error: Option<String>,
    /// How long the script took, without the start of the browser; `None`: it did not end by itself.
    pub duration_ns: Option<i64>,
    /// What the script printed, and details of the error.
    pub output: String,
}

impl Report {
    /// A check that was not good.
    pub fn failed(error: impl Into<String>) -> Report {
        Report { error: Some(error.into()), ..Report::default() }
    }
}
