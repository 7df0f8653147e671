//! The page of one name: its rows, its metrics, and the time over which its throughput is computed.

use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::plan::{Filter, Function};
use tidewatch_store::tables::Table;

use super::rows::RowList;
use super::{EntityKind, ListBody, stats};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::plans::{self, Window};
use crate::time::{Buckets, Range};
use crate::trend;
use tidewatch_accounts::Project;

/// `POST /api/.../{kind}?{kind}=name`. `search` matches the values of attributes. [`QueryError::NotFound`] (404) when
/// the project has no row of this name at any time.
pub async fn one<K: EntityKind>(
    executor: &Executor,
    project: &Project,
    name: &str,
    body: impl ListBody<K::RowOrder>,
) -> Result<K::NamePage, QueryError> {
    let (request, body_filter) = body.split();
    let list = RowList::read::<K>(executor, &request)?;
    let filter = list.of_name(name, &request).and(body_filter);
    let (range, number, context) = (list.range, project.number, K::Context::default());
    let (rows, stats, extra) = tokio::try_join!(
        list.rows::<K>(executor, project, filter.clone()),
        stats::of_all::<K>(executor, number, range, filter.clone(), &context),
        K::name_extra(executor, number, range, filter.clone()),
    )?;
    if stats.rows == 0 && !is_known(executor, K::TABLE, number, name).await? {
        return Err(QueryError::not_found(format!("this project has never recorded {} of this name", K::NOUN)));
    }
    Ok(K::name_view(rows, list.paging.info(stats.rows), &stats, extra))
}

/// Whether a row of this name is stored, at any time.
async fn is_known(executor: &Executor, table: Table, project: u32, name: &str) -> Result<bool, QueryError> {
    let (filter, window) = (filters::text("name", name), Window::first(1));
    let plan = plans::rows(table, &[project], Range::ALL, filter, vec!["time"], vec![], window);
    Ok(!executor.unfiltered().run(plan).await?.is_empty())
}

/// Minutes from the first to the last row of the project in the range, regardless of name; at least 1.
///
/// The time of the first row is rounded down to the minute. Both plans are answered from roll-ups.
pub async fn minutes_with_data(
    executor: &Executor,
    table: Table,
    project: u32,
    range: Range,
) -> Result<f64, QueryError> {
    let coarse = Buckets::at_most(range, trend::BUCKETS_MAX, MINUTE_NS);
    let Some((first, last)) = extent(executor, table, project, range, coarse).await? else { return Ok(1.0) };
    let within = Range { from: first.max(range.from), to: first.saturating_add(coarse.width).min(range.to) };
    let fine = extent(executor, table, project, within, Buckets::over(within, MINUTE_NS)).await?;
    let first = fine.map_or(first, |(first, _)| first).max(range.from);
    Ok((last.saturating_sub(first) as f64 / MINUTE_NS as f64).max(1.0))
}

/// Start of the first bucket with a row, and the time of the last row.
async fn extent(
    executor: &Executor,
    table: Table,
    project: u32,
    range: Range,
    buckets: Buckets,
) -> Result<Option<(i64, i64)>, QueryError> {
    const LATEST: &str = "latest";
    let (keys, aggregates) = (vec![plans::bucket(&buckets)], vec![Function::Max("time").named(LATEST)]);
    let plan = plans::groups(table, &[project], range, Filter::True, keys, aggregates);
    let answer = executor.run(plan).await?;
    let found = answer.rows().map(|row| (row.int(plans::BUCKET), row.int(LATEST)));
    Ok(found.reduce(|(first, last), (start, latest)| (first.min(start), last.max(latest))))
}
