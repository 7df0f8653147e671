//! How long rows are kept: by table, by project; and whose are kept no longer at all.
//!
//! The unit is a UTC day, and a part holds rows of one: what of a part is expired is a matter of its projects alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::tables::Table;

/// How many days rows are kept, by table; 0 keeps them for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention([u32; Table::ALL.len()]);

impl Default for Retention {
    /// 30 days of everything.
    fn default() -> Self {
        Retention::all(30)
    }
}

impl Retention {
    pub fn all(days: u32) -> Retention {
        Retention([days; Table::ALL.len()])
    }

    pub fn with(mut self, table: Table, days: u32) -> Retention {
        self.0[table as usize] = days;
        self
    }

    /// Days, 0: for ever.
    pub fn days(&self, table: Table) -> u32 {
        self.0[table as usize]
    }
}

/// What projects ask for beside what the operator chose.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keeping {
    /// Days by project number, 0: for ever. Who is not listed has the table's.
    pub days: BTreeMap<u32, u32>,
    /// Nothing of these is kept.
    pub gone: BTreeSet<u32>,
}

/// What of the projects between two numbers is expired on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expired {
    Nothing,
    /// It depends on the project.
    Some,
    All,
}

impl Keeping {
    /// Are the rows that `project` has in `table` on `day` kept no longer?
    pub fn is_expired(&self, default: &Retention, project: u32, table: Table, day: i32, today: i32) -> bool {
        let days = self.days.get(&project).copied().unwrap_or_else(|| default.days(table));
        self.gone.contains(&project) || is_past(days, day, today)
    }

    /// Of the projects `first..=last`, whether or not they have rows there.
    pub fn expired(&self, default: &Retention, projects: (u32, u32), table: Table, day: i32, today: i32) -> Expired {
        let range = projects.0..=projects.1;
        let (mut expired, mut kept) = (self.gone.range(range.clone()).count() as u64, 0);
        for (_, days) in self.days.range(range).filter(|(project, _)| !self.gone.contains(project)) {
            *(if is_past(*days, day, today) { &mut expired } else { &mut kept }) += 1;
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

/// Where telemetry begins that is kept for `days`, nanoseconds since the epoch: the start of its oldest day. 0 days: for
/// ever. `today_ns`: the time that retention follows.
pub fn kept_from_ns(days: u32, today_ns: i64) -> i64 {
    match days {
        0 => i64::MIN,
        days => {
            i64::from(crate::days::day_of(today_ns)).saturating_sub(days.into()).saturating_mul(crate::days::DAY_NS)
        }
    }
}

/// `days` 0: never.
fn is_past(days: u32, day: i32, today: i32) -> bool {
    days > 0 && day < today.saturating_sub(i32::try_from(days).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_rows_are_expired() {
        let keeping = Keeping { days: [(2, 7), (3, 90), (4, 0)].into(), gone: [5, 9].into() };
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
            let found = keeping.expired(&default, projects, Table::Spans, today - age, today);
            assert_eq!(found, expected, "{projects:?} after {age} days");
        }
        assert_eq!(keeping.expired(&Retention::all(0), (1, 1), Table::Spans, 0, today), Expired::Nothing);
    }
}
