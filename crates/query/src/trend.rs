//! Trend lines of list rows: counts per time bucket for the names of one page.

use std::collections::HashMap;
use std::hash::Hash;

use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::executor::Executor;
use super::plans;
use super::time::{self, Buckets, Range};
use super::views::page::TrendPoint;
use crate::error::QueryError;

/// Maximum buckets of a trend line.
pub const BUCKETS_MAX: i64 = 24;

/// Output column of a trend's plan: weighted rows.
const COUNT: &str = "count";

/// Weighted counts per bucket and group; groups without rows are absent.
pub struct Trends<K> {
    buckets: Buckets,
    counts: HashMap<K, HashMap<i64, u64>>,
}

/// The rows that a trend counts, grouped by a column.
pub struct TrendQuery {
    /// The table of the rows.
    pub table: Table,
    /// Number of the project.
    pub project: u32,
    /// Condition on the rows, usually the names on the page.
    pub filter: Filter,
    /// The group key.
    pub key: Key,
}

/// Queries the trends over `range` by a key of strings, in at most [`BUCKETS_MAX`] buckets.
pub async fn trends(executor: &Executor, query: TrendQuery, range: Range) -> Result<Trends<String>, QueryError> {
    let column = query.key.name;
    by_key(executor, query, range, Buckets::at_most(range, BUCKETS_MAX, MINUTE_NS), |row| row.text(column).to_owned())
        .await
}

/// Queries the trends by a key of any type; `key_of` computes it from the query's column; counts of
/// equal keys are added.
pub async fn by_key<K: Eq + Hash>(
    executor: &Executor,
    query: TrendQuery,
    range: Range,
    buckets: Buckets,
    key_of: impl Fn(Row<'_>) -> K,
) -> Result<Trends<K>, QueryError> {
    let keys = vec![query.key, plans::bucket(&buckets)];
    let aggregates = vec![Function::Weight.named(COUNT)];
    let plan = plans::groups(query.table, &[query.project], range, query.filter, keys, aggregates);
    let answer = executor.run(plan).await?;
    let mut counts: HashMap<K, HashMap<i64, u64>> = HashMap::new();
    for row in answer.rows() {
        *counts.entry(key_of(row)).or_default().entry(row.int(plans::BUCKET)).or_default() += row.count(COUNT);
    }
    Ok(Trends { buckets, counts })
}

impl<K: Eq + Hash> Trends<K> {
    /// The trend of a group: one point per bucket, 0 where it has no rows.
    pub fn line<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Vec<TrendPoint>
    where
        K: std::borrow::Borrow<Q>,
    {
        let counts = self.counts.get(key);
        let point = |start: i64| TrendPoint {
            timestamp: time::to_rfc3339(start),
            count: counts.and_then(|counts| counts.get(&start)).copied().unwrap_or(0),
        };
        self.buckets.starts().map(point).collect()
    }
}
