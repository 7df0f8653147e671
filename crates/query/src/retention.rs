//! Retention per project: for the store, which removes older rows, and for queries, which leave them out.

use std::collections::BTreeSet;

use tidewatch_domain::rules::session::RECORDING_DAYS;
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::days::day_of;
use tidewatch_store::plan::{Filter, Op, Plan, Value};
use tidewatch_store::retention::{ProjectRetention, days_of};
use tidewatch_store::tables::Table;

use tidewatch_accounts::Projects;

/// The retention settings of all projects, for the store. `purged`: deleted projects that have no rows left.
pub fn retention_of(projects: &Projects, purged: &BTreeSet<u32>) -> ProjectRetention {
    let deleted = projects.deleted_projects();
    let unpurged = deleted.iter().map(|deleted| deleted.number).filter(|number| !purged.contains(number));
    ProjectRetention { days: projects.retention_days(), deleted_projects: unpurged.collect() }
}

/// Restricts a plan to the days within its projects' retention, whether or not older rows have been removed.
pub fn within_retention(projects: &Projects, plan: Plan, now_ns: i64) -> Plan {
    let recordings = if plan.table == Table::SessionSegments { RECORDING_DAYS } else { 0 };
    let start = |project: u32| {
        let days = projects.project_by_number(project)?.settings.retention_days;
        let days = Some(days_of(days, recordings, plan.table)).filter(|days| *days > 0)?;
        Some((project, i64::from(day_of(now_ns)).saturating_sub(days.into()).saturating_mul(DAY_NS)))
    };
    let starts: Vec<(u32, i64)> = plan.projects.iter().filter_map(|project| start(*project)).collect();
    restrict(plan, &starts)
}

/// Restricts `plan` to rows at or after the start of their project's retention. `starts`: projects by number, each with
/// that start, nanoseconds since the epoch; projects without an entry are not restricted.
fn restrict(mut plan: Plan, starts: &[(u32, i64)]) -> Plan {
    let earliest = starts.iter().map(|(_, start)| *start).min();
    if let Some(earliest) = earliest
        && starts.len() == plan.projects.len()
    {
        plan.from = plan.from.max(earliest.min(plan.to));
    }
    for (project, start) in starts.iter().filter(|(_, start)| *start > plan.from && plan.from < plan.to) {
        let others = Filter::Not(Box::new(Filter::eq("project", Value::U64(u64::from(*project)))));
        let retained = Filter::Compare { column: "time", op: Op::Ge, value: Value::I64(*start) };
        plan.filter = std::mem::replace(&mut plan.filter, Filter::True).and(Filter::Any(vec![others, retained]));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_store::plan::Shape;

    #[test]
    fn plans_start_at_the_retention_of_their_projects() {
        for (projects, starts, expected) in [
            (vec![1], vec![], (10, 0)),
            (vec![1], vec![(1, 5)], (10, 0)),
            (vec![1], vec![(1, 15)], (15, 0)),
            (vec![1], vec![(1, 99)], (20, 0)),
            (vec![1, 2], vec![(1, 15)], (10, 1)),
            (vec![1, 2], vec![(1, 15), (2, 15)], (15, 0)),
            (vec![1, 2], vec![(1, 15), (2, 17)], (15, 1)),
            (vec![1, 2, 3], vec![(1, 15), (2, 5)], (10, 1)),
        ] {
            let shape = Shape::Rows { columns: vec![], order: vec![], limit: 1, offset: 0 };
            let plan = Plan { table: Table::Spans, projects, from: 10, to: 20, filter: Filter::True, shape };
            let plan = restrict(plan, &starts);
            let filters = match &plan.filter {
                Filter::True => 0,
                Filter::All(all) => all.len(),
                _ => 1,
            };
            assert_eq!((plan.from, filters), expected, "{:?} {starts:?}", plan.projects);
        }
    }
}
