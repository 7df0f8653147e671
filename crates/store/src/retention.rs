//! Retention by table and by project, and the removal of deleted projects.
//!
//! The unit is a UTC day, and a part has rows of one day: which of its rows are expired depends on their projects only.
//!
//! Invariant: rows are hidden from queries before they are removed.

use std::collections::{BTreeMap, BTreeSet};

use tidewatch_domain::units::DAY_NS;

use crate::tables::Table;

/// Retention by table in days; 0: rows never expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention([u32; Table::ALL.len()]);

impl Default for Retention {
    /// 30 days for every table.
    fn default() -> Self {
        Retention::all(30)
    }
}

impl Retention {
    /// The same retention for every table; 0 days: rows never expire.
    pub fn all(days: u32) -> Retention {
        Retention([days; Table::ALL.len()])
    }

    /// Sets the retention of one table; 0 days: its rows never expire.
    pub fn with(mut self, table: Table, days: u32) -> Retention {
        self.0[table as usize] = days;
        self
    }

    /// The retention of one table in days; 0: its rows never expire.
    pub fn days(&self, table: Table) -> u32 {
        self.0[table as usize]
    }
}

/// Retention of projects, which overrides [`Retention`], and projects whose rows are to be removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectRetention {
    /// Retention in days by project number, for all tables; 0: rows never expire. Projects without an entry use the
    /// table's default.
    pub days: BTreeMap<u32, u32>,
    /// Numbers of deleted projects; all their rows are expired.
    pub deleted_projects: BTreeSet<u32>,
}

/// Whether the rows of a range of projects on one day are expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expired {
    /// No project's rows are expired.
    Nothing,
    /// The rows of some projects are expired.
    Some,
    /// Every project's rows are expired.
    All,
}

impl ProjectRetention {
    /// The retention of a project's rows of one table in days; 0: they never expire. Recordings have a retention of
    /// their own, which the project's can only shorten.
    pub fn days_of(&self, default: &Retention, project: u32, table: Table) -> u32 {
        days_of(self.days.get(&project).copied(), default.days(table), table)
    }

    /// Whether the rows of `project` in `table` on `day` are expired on the day `today`. `default`: the retention of
    /// projects without an entry.
    pub fn is_expired(&self, default: &Retention, project: u32, table: Table, day: i32, today: i32) -> bool {
        let days = self.days_of(default, project, table);
        self.deleted_projects.contains(&project) || is_past(days, day, today)
    }

    /// Like [`ProjectRetention::is_expired`], for all projects of an inclusive range, whether or not they have rows.
    pub fn expired(&self, default: &Retention, projects: (u32, u32), table: Table, day: i32, today: i32) -> Expired {
        let range = projects.0..=projects.1;
        let (mut expired, mut kept) = (self.deleted_projects.range(range.clone()).count() as u64, 0);
        for (_, days) in self.days.range(range).filter(|(project, _)| !self.deleted_projects.contains(project)) {
            let days = days_of(Some(*days), default.days(table), table);
            *(if is_past(days, day, today) { &mut expired } else { &mut kept }) += 1;
        }
        let others = u64::from(projects.1 - projects.0) + 1 - expired - kept;
        *(if is_past(default.days(table), day, today) { &mut expired } else { &mut kept }) += others;
        match (expired, kept) {
            (_, 0) => Expired::All,
            (0, _) => Expired::Nothing,
            _ => Expired::Some,
        }
    }
}

/// The retention in days of a project with its own setting, where `of_table` is the default. 0: for ever.
pub fn days_of(of_project: Option<u32>, of_table: u32, table: Table) -> u32 {
    match (of_project, table) {
        (Some(of_project), Table::SessionSegments) => shortest(of_project, of_table),
        (of_project, _) => of_project.unwrap_or(of_table),
    }
}

/// The shorter of two retentions in days; 0: for ever.
pub fn shortest(left: u32, right: u32) -> u32 {
    if left == 0 || right == 0 { left.max(right) } else { left.min(right) }
}

/// The earliest time that is within a retention of `days`, nanoseconds since the epoch: the start of the oldest day. 0
/// days: `i64::MIN`. `today_ns`: the time that retention follows.
pub fn kept_from_ns(days: u32, today_ns: i64) -> i64 {
    match days {
        0 => i64::MIN,
        days => i64::from(crate::days::day_of(today_ns)).saturating_sub(days.into()).saturating_mul(DAY_NS),
    }
}

/// Whether `day` is more than `days` before `today`; never for 0 days.
fn is_past(days: u32, day: i32, today: i32) -> bool {
    days > 0 && day < today.saturating_sub(i32::try_from(days).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_expire_by_project_and_age() {
        let retention = ProjectRetention { days: [(2, 7), (3, 90), (4, 0)].into(), deleted_projects: [5, 9].into() };
        let default = Retention::all(30);
        let today = 1000;
        for (projects, age, expected) in [
            ((1, 1), 30, Expired::Nothing),
            ((1, 1), 31, Expired::All),
            ((2, 2), 7, Expired::Nothing),
            ((2, 2), 8, Expired::All),
            ((1, 2), 8, Expired::Some),
            ((3, 3), 90, Expired::Nothing),
            ((3, 3), 91, Expired::All),
            ((4, 4), 900, Expired::Nothing),
            ((5, 5), 0, Expired::All),
            ((1, 3), 6, Expired::Nothing),
            ((1, 3), 40, Expired::Some),
            ((1, 3), 100, Expired::All),
            ((1, 4), 100, Expired::Some),
            ((4, 5), 0, Expired::Some),
            ((6, 8), 0, Expired::Nothing),
            ((0, u32::MAX), 0, Expired::Some),
        ] {
            let found = retention.expired(&default, projects, Table::Spans, today - age, today);
            assert_eq!(found, expected, "{projects:?} after {age} days");
        }
        assert_eq!(retention.expired(&Retention::all(0), (1, 1), Table::Spans, 0, today), Expired::Nothing);
        for (project, age, expected) in
            [(1, 30, false), (1, 31, true), (2, 8, true), (3, 31, true), (4, 30, false), (4, 31, true), (5, 0, true)]
        {
            let table = Table::SessionSegments;
            let found = retention.is_expired(&default, project, table, today - age, today);
            assert_eq!(found, expected, "recordings of project {project} after {age} days");
            let found = retention.expired(&default, (project, project), table, today - age, today);
            assert_eq!(found == Expired::All, expected, "recordings of project {project} after {age} days");
        }
    }
}
