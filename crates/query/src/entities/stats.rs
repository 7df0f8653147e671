//! Aggregates of the rows of each group, or of all rows.

use tidewatch_store::plan::{Aggregate, Filter, Function, KeySource};

use super::{EntityKind, EntityStats};
use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::grouping;
use crate::plans;
use crate::time::Range;

/// The quantiles in [`EntityStats::percentiles`].
const PERCENTILES: [f64; 3] = [0.50, 0.95, 0.99];

/// Output columns of [`aggregates`].
const TOTAL: &str = "total";
const QUANTILES: &str = "quantiles";
const DURATION_SUM: &str = "duration_sum";
const TIMED: &str = "timed";
const ERRORS: &str = "errors";
const LAST_SEEN: &str = "last_seen";
const ROOTS: &str = "roots";
const NON_ROOTS: &str = "non_roots";
const ROWS: &str = "rows";

fn aggregates<K: EntityKind>(context: &K::Context) -> Vec<Aggregate> {
    let mut aggregates = vec![
        Function::Weight.named(TOTAL),
        Function::Quantiles { column: "duration", qs: PERCENTILES.to_vec() }.named(QUANTILES).only(K::timed()),
        Function::Sum("duration").named(DURATION_SUM).only(K::timed()),
        Function::Weight.named(TIMED).only(K::timed()),
        Function::Weight.named(ERRORS).only(filters::is("is_error")),
        Function::Max("time").named(LAST_SEEN),
        Function::Count.named(ROOTS).only(filters::is("is_root")),
        Function::Count.named(NON_ROOTS).only(filters::is_not("is_root")),
        Function::Count.named(ROWS),
    ];
    aggregates.extend(K::aggregates(context));
    aggregates
}

fn read<K: EntityKind>(row: Row<'_>) -> EntityStats<K::Metrics> {
    EntityStats {
        total: row.number(TOTAL),
        percentiles: row.numbers(QUANTILES).and_then(|list| list.try_into().ok()),
        duration_sum: row.number(DURATION_SUM),
        timed: row.number(TIMED),
        errors: row.number(ERRORS),
        last_seen: row.int(LAST_SEEN),
        has_root: row.int(ROOTS) > 0,
        has_non_root: row.int(NON_ROOTS) > 0,
        rows: row.count(ROWS),
        own: K::metrics(row),
    }
}

/// Queries the statistics of every group by `grouping`.
pub(super) async fn by_group<K: EntityKind>(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    grouping: &KeySource,
    context: &K::Context,
) -> Result<Vec<(String, EntityStats<K::Metrics>)>, QueryError> {
    let keys = vec![grouping::key(grouping)];
    let plan = plans::groups(K::TABLE, &[project], range, filter, keys, aggregates::<K>(context));
    let answer = executor.run(plan).await?;
    Ok(answer.rows().map(|row| (row.text(grouping::NAME).to_owned(), read::<K>(row))).collect())
}

/// Queries the statistics of all rows that pass `filter`.
pub(super) async fn of_all<K: EntityKind>(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    context: &K::Context,
) -> Result<EntityStats<K::Metrics>, QueryError> {
    let plan = plans::groups(K::TABLE, &[project], range, filter, vec![], aggregates::<K>(context));
    Ok(executor.run(plan).await?.first().map(read::<K>).unwrap_or_default())
}
