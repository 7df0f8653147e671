//! What a run is asked to do: environment variables, as `make bench` passes them.

use std::path::PathBuf;
use std::time::Duration;

pub struct Settings {
    /// The release binary, and the benches that count for themselves.
    pub tidewatch: PathBuf,
    pub stages: PathBuf,
    pub allocations: PathBuf,
    /// Five minutes instead of an hour.
    pub quick: bool,
    /// Spans of the large data set.
    pub spans: u64,
    /// Where data sets and results are kept.
    pub folder: PathBuf,
    /// Only goals whose id starts with one of these; empty: all.
    only: Vec<String>,
    pub commit: String,
}

impl Settings {
    pub fn read() -> Settings {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let path =
            |name: &str| PathBuf::from(text(name).unwrap_or_else(|| panic!("{name} is not set: run make bench")));
        let quick = text("QUICK").is_some_and(|text| text != "0");
        let default = if quick { 3_000_000 } else { 100_000_000 };
        Settings {
            tidewatch: path("TIDEWATCH_BIN"),
            stages: path("STAGES_BIN"),
            allocations: path("ALLOCATIONS_BIN"),
            quick,
            spans: text("SPANS").and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(default),
            folder: path("BENCH_DIR"),
            only: text("ONLY").map(|text| text.split(',').map(str::to_owned).collect()).unwrap_or_default(),
            commit: text("COMMIT").unwrap_or_else(|| "unknown".to_owned()),
        }
    }

    /// Is one of the goals with this prefix asked for?
    pub fn wants(&self, group: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only.starts_with(group) || group.starts_with(only))
    }

    /// A round of load.
    pub fn round(&self) -> Duration {
        Duration::from_secs(if self.quick { 2 } else { 6 })
    }

    pub fn rounds(&self) -> usize {
        if self.quick { 3 } else { 5 }
    }

    /// How long a server is kept busy to see flush and merge.
    pub fn long(&self) -> Duration {
        Duration::from_secs(if self.quick { 8 } else { 60 })
    }

    pub fn shape(&self) -> String {
        let kind = if self.quick { "QUICK run" } else { "full run" };
        let (rounds, round, long) = (self.rounds(), self.round().as_secs(), self.long().as_secs());
        let millions = self.spans as f64 / 1e6;
        format!("{kind}: {millions} million spans, {rounds} alternated rounds of {round} s, sustained load {long} s")
    }
}
