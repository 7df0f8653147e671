//! Small trend lines beside the rows of a list: counts per bucket for the names of one page.

use std::collections::HashMap;
use std::hash::Hash;

use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::ask::{self, Ask};
use super::time::{self, Buckets, MINUTE, Range};
use super::views::page::TrendPoint;
use crate::error::QueryError;

/// Buckets of a trend line at most.
pub const BUCKETS_MAX: i64 = 24;

/// Output of a trend's plan: weighted rows.
const COUNT: &str = "count";

/// Weighted counts per bucket, of each group that has any.
pub struct Trends<K> {
    buckets: Buckets,
    counts: HashMap<K, HashMap<i64, u64>>,
}

/// What is drawn: rows of a table by a column.
pub struct Subject {
    pub table: Table,
    pub project: u32,
    /// Usually: the names on the page.
    pub filter: Filter,
    pub column: &'static str,
}

/// Asks for the trends over `range` in at most [`BUCKETS_MAX`] buckets.
pub async fn trends(ask: &Ask, subject: Subject, range: Range) -> Result<Trends<String>, QueryError> {
    let column = subject.column;
    by_key(ask, subject, range, Buckets::at_most(range, BUCKETS_MAX, MINUTE), |row| row.text(column).to_owned()).await
}

/// Asks for the trends by a key of any type; `key_of` reads it from the subject's column.
pub async fn by_key<K: Eq + Hash>(
    ask: &Ask,
    subject: Subject,
    range: Range,
    buckets: Buckets,
    key_of: impl Fn(Row<'_>) -> K,
) -> Result<Trends<K>, QueryError> {
    let keys = vec![Key::column(subject.column), ask::bucket(&buckets)];
    let aggregates = vec![Function::Weight.named(COUNT)];
    let plan = ask::groups(subject.table, &[subject.project], range, subject.filter, keys, aggregates);
    let answer = ask.ask(plan).await?;
    let mut counts: HashMap<K, HashMap<i64, u64>> = HashMap::new();
    for row in answer.rows() {
        counts.entry(key_of(row)).or_default().insert(row.int(ask::BUCKET), row.count(COUNT));
    }
    Ok(Trends { buckets, counts })
}

impl<K: Eq + Hash> Trends<K> {
    /// Every bucket, zeros included.
    pub fn line<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Vec<TrendPoint>
    where
        K: std::borrow::Borrow<Q>,
    {
        let counts = self.counts.get(key);
        let point = |start: i64| TrendPoint {
            timestamp: time::show(start),
            count: counts.and_then(|counts| counts.get(&start)).copied().unwrap_or(0),
        };
        self.buckets.starts().map(point).collect()
    }
}
