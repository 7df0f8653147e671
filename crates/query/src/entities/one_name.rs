//! The page of one name: its rows, its metrics, and the time over which a rate is computed.

use tidewatch_store::plan::{Filter, Function};
use tidewatch_store::tables::Table;

use super::rows::RowList;
use super::{EntityKind, ListBody, stats};
use crate::ask::{self, Ask, Window};
use crate::error::QueryError;
use crate::filters;
use crate::time::{Buckets, MINUTE, Range};
use crate::trend;
use tidewatch_accounts::Project;

/// `POST /api/.../{kind}?{kind}=name`. `search` looks into the attributes' values. 404 when the project has no row of
/// this name at any time.
pub async fn one<K: EntityKind>(
    ask: &Ask,
    project: &Project,
    name: &str,
    body: impl ListBody<K::RowOrder>,
) -> Result<K::NamePage, QueryError> {
    let (request, narrowed) = body.split();
    let list = RowList::read::<K>(ask, &request)?;
    let filter = list.of_name(name, &request).and(narrowed);
    let (range, number, context) = (list.range, project.number, K::of_name());
    let (rows, stats, extra) = tokio::try_join!(
        list.rows::<K>(ask, project, filter.clone()),
        stats::of_all::<K>(ask, number, range, filter.clone(), &context),
        K::name_extra(ask, number, range, filter.clone()),
    )?;
    if stats.rows == 0 && !is_known(ask, K::TABLE, number, name).await? {
        return Err(QueryError::not_found(format!("this project has never recorded {} of this name", K::NOUN)));
    }
    Ok(K::name_view(rows, list.paging.info(stats.rows), &stats, extra))
}

/// Whether a row of this name was ever stored.
async fn is_known(ask: &Ask, table: Table, project: u32, name: &str) -> Result<bool, QueryError> {
    let (filter, window) = (filters::text("name", name), Window::first(1));
    let plan = ask::rows(table, &[project], Range::ALL, filter, vec!["time"], vec![], window);
    Ok(!ask.ask(plan).await?.is_empty())
}

/// Minutes from the first to the last row that the project has in the range, whatever its name; at least one.
///
/// The first is known to the minute. Roll-ups answer both plans.
pub async fn minutes_with_data(ask: &Ask, table: Table, project: u32, range: Range) -> Result<f64, QueryError> {
    let coarse = Buckets::at_most(range, trend::BUCKETS_MAX, MINUTE);
    let Some((first, last)) = extent(ask, table, project, range, coarse).await? else { return Ok(1.0) };
    let within = Range { from: first.max(range.from), to: first.saturating_add(coarse.width).min(range.to) };
    let fine = extent(ask, table, project, within, Buckets::over(within, MINUTE)).await?;
    let first = fine.map_or(first, |(first, _)| first).max(range.from);
    Ok((last.saturating_sub(first) as f64 / MINUTE as f64).max(1.0))
}

/// Start of the first bucket with a row, and the time of the last row.
async fn extent(
    ask: &Ask,
    table: Table,
    project: u32,
    range: Range,
    buckets: Buckets,
) -> Result<Option<(i64, i64)>, QueryError> {
    const LATEST: &str = "latest";
    let (keys, aggregates) = (vec![ask::bucket(&buckets)], vec![Function::Max("time").named(LATEST)]);
    let plan = ask::groups(table, &[project], range, Filter::True, keys, aggregates);
    let answer = ask.ask(plan).await?;
    let found = answer.rows().map(|row| (row.int(ask::BUCKET), row.int(LATEST)));
    Ok(found.reduce(|(first, last), (start, latest)| (first.min(start), last.max(latest))))
}
