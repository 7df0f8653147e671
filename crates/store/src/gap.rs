//! Gaps: rows that were stored and can no longer be read, such as parts that an operator set aside and rows that could
//! not be written.
//!
//! A query that overlaps a gap is answered from the other rows, and
//! [`is_incomplete`](crate::TelemetryStore::is_incomplete) returns true for it: no answer is incomplete without notice.

use crate::plan::Plan;
use crate::tables::Table;

/// The bounds of missing rows, all inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The id of the part, or an id of its own.
    pub id: u64,
    /// The table of the rows.
    pub table: Table,
    /// UTC day, days since 1970-01-01.
    pub day: i32,
    /// Number of missing rows.
    pub rows: u64,
    /// Earliest time of the rows, nanoseconds since the epoch.
    pub time_min: i64,
    /// Latest time of the rows, nanoseconds since the epoch.
    pub time_max: i64,
    /// Smallest project number of the rows.
    pub project_min: u32,
    /// Greatest project number of the rows.
    pub project_max: u32,
}

impl Gap {
    /// Whether missing rows may belong to the answer of `plan`.
    pub fn touches(&self, plan: &Plan) -> bool {
        let in_time = self.time_min < plan.to && self.time_max >= plan.from;
        let of_projects = plan.projects.iter().any(|project| (self.project_min..=self.project_max).contains(project));
        self.table == plan.table && in_time && of_projects
    }
}
