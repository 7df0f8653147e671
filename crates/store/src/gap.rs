//! Rows that were stored and are no longer to be had: parts that an operator set aside, rows that could not be written.
//!
//! A query whose rows may lie in one of them is answered from the rest, and
//! [`is_incomplete`](crate::TelemetryStore::is_incomplete) says so: an answer is never short in silence.

use crate::plan::Plan;
use crate::tables::Table;

/// What is missing. Bounds are inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// That of the part, or one of its own.
    pub id: u64,
    pub table: Table,
    /// UTC day, days since 1970-01-01.
    pub day: i32,
    pub rows: u64,
    /// Of the rows, nanoseconds.
    pub time_min: i64,
    pub time_max: i64,
    pub project_min: u32,
    pub project_max: u32,
}

impl Gap {
    /// Whether rows of it may belong to the answer of a plan.
    pub fn touches(&self, plan: &Plan) -> bool {
        let in_time = self.time_min < plan.to && self.time_max >= plan.from;
        let of_projects = plan.projects.iter().any(|project| (self.project_min..=self.project_max).contains(project));
        self.table == plan.table && in_time && of_projects
    }
}
