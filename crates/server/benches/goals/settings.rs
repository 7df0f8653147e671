//! Settings of a run, from the environment variables of `make bench`.

use std::path::PathBuf;
use std::time::Duration;

pub struct Settings {
    /// Paths of the release binary and of the in-process benches.
    pub tidewatch: PathBuf,
    pub stages: PathBuf,
    pub allocations: PathBuf,
    /// Shorter rounds on less data: five minutes instead of an hour.
    pub quick: bool,
    /// Number of spans in the large data set.
    pub spans: u64,
    /// Folder of data sets and results.
    pub folder: PathBuf,
    /// Prefixes of the goals to measure; empty: all goals.
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

    /// Whether a goal with this prefix is to be measured.
    pub fn wants(&self, group: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| is_prefix(group, only) || is_prefix(only, group))
    }

    /// Duration of one round of load.
    pub fn round(&self) -> Duration {
        Duration::from_secs(if self.quick { 2 } else { 6 })
    }

    pub fn rounds(&self) -> usize {
        if self.quick { 3 } else { 5 }
    }

    /// Duration of the load that includes flushes and merges.
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

/// Whether `id` is this group or one of its goals: `G1` is the group of `G1a`, not of `G11`.
fn is_prefix(group: &str, id: &str) -> bool {
    id.strip_prefix(group).is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
}
