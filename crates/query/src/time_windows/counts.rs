//! Records that arrived, and records and requests that the server refused or dropped.

use tidewatch_domain::project::DropReason;
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::plan::{Filter, Function};
use tidewatch_store::tables::Table;

use super::{Windows, grouped};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::{filters, plans};

/// Output column of the plans.
const COUNT: &str = "windows_count";
const LAST: &str = "windows_last";

/// Days after which a project that sends nothing counts as one that never sent.
const SILENT_DAYS: i64 = 31;

/// Drops that the project or the protocol wants: they are no loss.
const WANTED: [DropReason; 6] = [
    DropReason::Sampled,
    DropReason::Healthcheck,
    DropReason::Duplicate,
    DropReason::RecordingsOff,
    DropReason::EmptySample,
    DropReason::EmptyPoint,
];

/// Number of refused requests and dropped records in each window.
pub async fn dropped(executor: &Executor, project: u32, windows: Windows) -> Result<Vec<(i64, f64)>, QueryError> {
    let wanted: Vec<String> = WANTED.iter().map(|reason| reason.as_str().to_owned()).collect();
    let lost = filters::strings("outcome", &["rejected", "dropped"]);
    let filter = lost.and(filters::not(filters::strings("reason", &wanted)));
    let plan =
        grouped(Table::IngestCounts, project, windows, filter, vec![], vec![Function::Sum("count").named(COUNT)]);
    let answer = executor.run(plan).await?;
    Ok(answer.rows().map(|row| (windows.index(row), row.opt_number(COUNT).unwrap_or(0.0))).collect())
}

/// The table of a kind of data. `kind`: `endpoints`, `tasks`, `exceptions` or `metrics`; otherwise all of them, and
/// logs, spans and AI Traces.
fn tables(kind: &str) -> &'static [Table] {
    match kind {
        "endpoints" => &[Table::Endpoints],
        "tasks" => &[Table::Tasks],
        "exceptions" => &[Table::Exceptions],
        "metrics" => &[Table::MetricPoints],
        _ => &[Table::Endpoints, Table::Tasks, Table::Exceptions, Table::MetricPoints, Table::Logs, Table::Spans],
    }
}

/// Number of stored records of a kind in each window.
pub async fn records(
    executor: &Executor,
    project: u32,
    kind: &str,
    windows: Windows,
) -> Result<Vec<(i64, f64)>, QueryError> {
    let mut counts: Vec<(i64, f64)> = Vec::new();
    for table in tables(kind) {
        let plan = grouped(*table, project, windows, Filter::True, vec![], vec![Function::Count.named(COUNT)]);
        let answer = executor.run(plan).await?;
        counts.extend(answer.rows().map(|row| (windows.index(row), row.number(COUNT))));
    }
    Ok(counts)
}

/// Time of the latest record of a kind before `to`, nanoseconds since the epoch. `quiet`: the silence that matters; an
/// older record is looked for only when there is none within it. `None`: none within 31 days.
pub async fn last_record(
    executor: &Executor,
    project: u32,
    kind: &str,
    to: i64,
    quiet: i64,
) -> Result<Option<i64>, QueryError> {
    for back in [quiet, SILENT_DAYS * DAY_NS] {
        let mut last: Option<i64> = None;
        for table in tables(kind) {
            let range = Range { from: to.saturating_sub(back), to: i64::MAX };
            let aggregates = vec![Function::Max("time").named(LAST)];
            let plan = plans::groups(*table, &[project], range, Filter::True, vec![], aggregates);
            let found = executor.run(plan).await?.first().and_then(|row| row.opt_int(LAST));
            last = last.max(found);
            if last.is_some_and(|last| last > to.saturating_sub(quiet)) {
                break;
            }
        }
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}
