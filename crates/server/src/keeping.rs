//! How long the telemetry of each project is kept, and what deleted projects leave behind.
//!
//! Projects say how long (`control`), the store removes (`store/lake/thin.rs`); this tells the one of the other, again and
//! again, so that nothing is lost when the process ends in between. Whatever a project keeps no longer is hidden from
//! questions at once, removed or not. A deleted project is looked after until nothing of it is left in this data directory
//! and nothing more can come; then the store notes that it is purged.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use tidewatch_store::lake::{Keeping, day_of};
use tidewatch_store::plan::{Filter, Op, Plan, Value};
use tokio::sync::watch;

use crate::app::App;
use crate::control::Control;
use crate::limits;

const DAY_NS: i64 = 24 * 60 * 60 * 1_000_000_000;

/// What the projects ask of the store. `purged`: deleted projects that need no more looking after.
pub fn of(control: &Control, purged: &BTreeSet<u32>) -> Keeping {
    let deleted = control.deleted_projects();
    let gone = deleted.iter().map(|deleted| deleted.number).filter(|number| !purged.contains(number));
    Keeping { days: control.retention_days(), gone: gone.collect() }
}

/// The journal holds exports as they came. When this changes it lets go of all that parts cover: a day, and the deleted
/// projects that may still be in it.
#[derive(Default)]
pub struct Journalled(Mutex<Option<(i32, BTreeSet<u32>)>>);

/// Until `stopped`.
pub async fn run(app: Arc<App>, mut stopped: watch::Receiver<bool>) {
    let journalled = Arc::new(Journalled::default());
    loop {
        let (looking, journalled) = (app.clone(), journalled.clone());
        match tokio::task::spawn_blocking(move || look(&looking, &journalled)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!("deleted projects cannot be purged yet: {error:#}"),
            Err(error) => tracing::error!(%error, "purging deleted projects failed: {error}"),
        }
        tokio::select! {
            () = tokio::time::sleep(limits::KEEPING_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
    }
}

/// Tells the store what to keep, and removes uploads of deleted projects. Blocks.
pub fn look(app: &App, journalled: &Journalled) -> anyhow::Result<()> {
    let lake = app.intake.lake();
    let purged = lake.purged()?;
    let keeping = of(&app.control, &purged);
    let now = Some((day_of(app.clock.now_ns()), keeping.gone.clone()));
    let before = std::mem::replace(&mut *journalled.0.lock(), now.clone());
    app.intake.tidy_journal(before != now);
    lake.set_keeping(keeping);
    let settles_ns = i64::try_from(limits::PURGE_SETTLES.as_nanos()).unwrap_or(i64::MAX);
    for deleted in app.control.deleted_projects().iter().filter(|deleted| !purged.contains(&deleted.number)) {
        if let Some(id) = deleted.id {
            app.symbols.remove_all(id)?;
        }
        let is_settled = app.clock.now_ns().saturating_sub(deleted.deleted_ns) >= settles_ns;
        if is_settled && !lake.holds(deleted.number, Instant::now() + limits::PURGE_LOOK_MAX)? {
            lake.set_purged(deleted.number)?;
            let project = deleted.number;
            tracing::info!(project, "nothing of the deleted project {project} is left here");
        }
    }
    Ok(())
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
