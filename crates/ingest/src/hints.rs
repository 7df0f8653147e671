//! Counts, since the start of the process, of telemetry that a project's settings would make more of.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Counts by project number. Only projects with a count have an entry.
#[derive(Debug, Default)]
pub struct Hints {
    other_ai: Mutex<HashMap<u32, u64>>,
}

impl Hints {
    /// Adds model calls without `gen_ai.*` that were not promoted. DECISIONS 26.
    pub fn add_other_ai(&self, project: u32, spans: u64) {
        if spans > 0 {
            *self.other_ai.lock().entry(project).or_default() += spans;
        }
    }

    /// Number of such model calls since the start.
    pub fn other_ai(&self, project: u32) -> u64 {
        self.other_ai.lock().get(&project).copied().unwrap_or_default()
    }
}
