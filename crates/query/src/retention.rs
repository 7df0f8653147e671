//! How long projects keep their telemetry: for the store, which removes the rest, and for queries, which leave it out.

use std::collections::BTreeSet;

use tidewatch_store::days::day_of;
use tidewatch_store::plan::{Filter, Op, Plan, Value};
use tidewatch_store::retention::Keeping;

use tidewatch_accounts::Control;

const DAY_NS: i64 = 24 * 60 * 60 * 1_000_000_000;

/// The retention that projects choose, for the store. `purged`: deleted projects of which nothing is left.
pub fn keeping_of(control: &Control, purged: &BTreeSet<u32>) -> Keeping {
    let deleted = control.deleted_projects();
    let gone = deleted.iter().map(|deleted| deleted.number).filter(|number| !purged.contains(number));
    Keeping { days: control.retention_days(), gone: gone.collect() }
}

/// The plan without the days that its projects keep no longer, whether or not their rows are removed yet.
pub fn only_kept(control: &Control, plan: Plan, now_ns: i64) -> Plan {
    let start = |project: u32| {
        let days = control.project_by_number(project)?.settings.retention_days.filter(|days| *days > 0)?;
        Some((project, i64::from(day_of(now_ns)).saturating_sub(days.into()).saturating_mul(DAY_NS)))
    };
    let starts: Vec<(u32, i64)> = plan.projects.iter().filter_map(|project| start(*project)).collect();
    starting(plan, &starts)
}

/// `starts`: projects and when what they keep begins, nanoseconds since the epoch.
fn starting(mut plan: Plan, starts: &[(u32, i64)]) -> Plan {
    let earliest = starts.iter().map(|(_, start)| *start).min();
    if let Some(earliest) = earliest
        && starts.len() == plan.projects.len()
    {
        plan.from = plan.from.max(earliest.min(plan.to));
    }
    for (project, start) in starts.iter().filter(|(_, start)| *start > plan.from && plan.from < plan.to) {
        let others = Filter::Not(Box::new(Filter::eq("project", Value::U64(u64::from(*project)))));
        let kept = Filter::Compare { column: "time", op: Op::Ge, value: Value::I64(*start) };
        plan.filter = std::mem::replace(&mut plan.filter, Filter::True).and(Filter::Any(vec![others, kept]));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidewatch_store::plan::Shape;
    use tidewatch_store::tables::Table;

    #[test]
    fn plans_begin_where_what_is_kept_begins() {
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
            let plan = starting(plan, &starts);
            let filters = match &plan.filter {
                Filter::True => 0,
                Filter::All(all) => all.len(),
                _ => 1,
            };
            assert_eq!((plan.from, filters), expected, "{:?} {starts:?}", plan.projects);
        }
    }
}
