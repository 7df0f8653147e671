//! Arrivals that notification rules watch: the Issues of stored exceptions, and rows of AI Traces.
//!
//! Collecting it costs a request without such rows nothing, and storing never waits for a rule. What is collected is
//! lost in a crash; after the next start the replay of the journal collects it again, and the evaluation catches up
//! with what parts cover (`alerts`, `rules::evaluation::arrivals`).

use std::collections::{BTreeMap, HashSet};

use parking_lot::Mutex;
use tidewatch_limits as limits;
use tidewatch_store::columns::Rows;
use tidewatch_store::tables::Table;
use tokio::sync::Notify;

/// What arrived for a project and was not evaluated yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectArrivals {
    /// Hashes of Issues.
    pub issues: HashSet<u64>,
    /// Ids of rows of AI Traces.
    pub ai_rows: HashSet<u128>,
    /// Time of the earliest and the latest of these rows, nanoseconds since the epoch; `None` without rows.
    pub ai_times: Option<(i64, i64)>,
}

/// What arrived, by project.
#[derive(Debug, Default)]
pub struct RuleArrivals {
    pending: Mutex<Pending>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    by_project: BTreeMap<u32, ProjectArrivals>,
    /// Whether something was left out.
    is_incomplete: bool,
}

impl ProjectArrivals {
    /// Of the rows of a request; `None` without exceptions and AI Traces. Duplicates are included: they are evaluated
    /// once by what the database knows.
    pub fn of(rows: &Rows) -> Option<ProjectArrivals> {
        let mut arrivals: Option<ProjectArrivals> = None;
        for table in &rows.tables {
            let buffer = &table.buffer;
            match buffer.table() {
                Table::Exceptions => {
                    let issues = buffer.u64("group").unwrap_or_default().iter().copied();
                    arrivals.get_or_insert_default().issues.extend(issues);
                }
                Table::AiTraces => {
                    let arrivals = arrivals.get_or_insert_default();
                    arrivals.ai_rows.extend(buffer.id16s("row_id").unwrap_or_default().iter().copied());
                    let times = buffer.i64("time").unwrap_or_default();
                    arrivals.ai_times = times.iter().min().copied().zip(times.iter().max().copied());
                }
                _ => {}
            }
        }
        arrivals
    }

    /// Adds those of another request. Beyond [`limits::RULE_ARRIVALS_MAX`] they are left out: returns `false`.
    fn add(&mut self, other: ProjectArrivals) -> bool {
        let room = |count: usize| limits::RULE_ARRIVALS_MAX.saturating_sub(count);
        let (issues, rows) = (room(self.issues.len()), room(self.ai_rows.len()));
        let fits = other.issues.len() <= issues && other.ai_rows.len() <= rows;
        self.issues.extend(other.issues.into_iter().take(issues));
        self.ai_rows.extend(other.ai_rows.into_iter().take(rows));
        self.ai_times = match (self.ai_times, other.ai_times) {
            (Some((from, to)), Some((other_from, other_to))) => Some((from.min(other_from), to.max(other_to))),
            (known, other) => known.or(other),
        };
        fits
    }
}

impl Pending {
    fn add(&mut self, project: u32, arrivals: ProjectArrivals) {
        if !self.by_project.entry(project).or_default().add(arrivals) {
            self.is_incomplete = true;
        }
    }
}

impl RuleArrivals {
    /// Adds what a request stored.
    pub fn add(&self, project: u32, arrivals: ProjectArrivals) {
        self.pending.lock().add(project, arrivals);
        self.arrived.notify_one();
    }

    /// Waits until something arrives.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Takes what arrived. `false`: something was left out, and only the stored rows have it.
    pub fn take(&self) -> (BTreeMap<u32, ProjectArrivals>, bool) {
        let pending = std::mem::take(&mut *self.pending.lock());
        (pending.by_project, !pending.is_incomplete)
    }

    /// Puts back what could not be evaluated.
    pub fn put_back(&self, arrivals: BTreeMap<u32, ProjectArrivals>) {
        let mut pending = self.pending.lock();
        for (project, arrivals) in arrivals {
            pending.add(project, arrivals);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issues(hashes: &[u64]) -> ProjectArrivals {
        ProjectArrivals { issues: hashes.iter().copied().collect(), ..ProjectArrivals::default() }
    }

    fn rows(ids: &[u128], times: (i64, i64)) -> ProjectArrivals {
        ProjectArrivals { ai_rows: ids.iter().copied().collect(), ai_times: Some(times), ..ProjectArrivals::default() }
    }

    #[test]
    fn arrivals_are_taken_once_and_can_be_put_back() {
        let arrivals = RuleArrivals::default();
        arrivals.add(1, issues(&[7, 8]));
        arrivals.add(1, rows(&[3], (20, 30)));
        arrivals.add(1, rows(&[4], (10, 25)));
        arrivals.add(2, issues(&[7]));
        let taken = arrivals.take();
        let mut expected = issues(&[7, 8]);
        (expected.ai_rows, expected.ai_times) = ([3, 4].into(), Some((10, 30)));
        assert_eq!(taken, ([(1, expected), (2, issues(&[7]))].into(), true));
        assert_eq!(arrivals.take(), (BTreeMap::new(), true));
        arrivals.add(2, issues(&[9]));
        arrivals.put_back([(2, issues(&[7]))].into());
        assert_eq!(arrivals.take(), ([(2, issues(&[7, 9]))].into(), true));
    }

    #[test]
    fn what_waits_is_bounded_and_says_so() {
        let arrivals = RuleArrivals::default();
        let many: Vec<u64> = (0..limits::RULE_ARRIVALS_MAX as u64 + 5).collect();
        arrivals.add(1, issues(&many));
        let (taken, is_complete) = arrivals.take();
        assert_eq!((taken[&1].issues.len(), is_complete), (limits::RULE_ARRIVALS_MAX, false));
        assert!(arrivals.take().1, "it is said once");
    }
}
