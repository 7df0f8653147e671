//! Builds [`Plan`]s: rows, groups, orders, time buckets.

use tidewatch_store::plan::{Aggregate, Filter, GroupOrder, Key, KeySource, Order, Plan, Shape};
use tidewatch_store::tables::Table;

use super::time::{Buckets, Range};

/// A slice of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Rows to skip.
    pub offset: usize,
    /// Rows to return at most.
    pub limit: usize,
}

impl Window {
    /// The first `limit` rows.
    pub fn first(limit: usize) -> Window {
        Window { offset: 0, limit }
    }
}

/// A plan of `columns` of the rows that pass `filter`; without an `order`, the rows come in any order.
pub fn rows(
    table: Table,
    projects: &[u32],
    range: Range,
    filter: Filter,
    columns: Vec<&'static str>,
    order: Vec<Order>,
    window: Window,
) -> Plan {
    let shape = Shape::Rows { columns, order, limit: window.limit, offset: window.offset };
    Plan { table, projects: projects.to_vec(), from: range.from, to: range.to, filter, shape }
}

/// A plan of all groups, up to [`GROUPS_MAX`], in any order. `keys` and `aggregates` are its output columns.
pub fn groups(
    table: Table,
    projects: &[u32],
    range: Range,
    filter: Filter,
    keys: Vec<Key>,
    aggregates: Vec<Aggregate>,
) -> Plan {
    ordered_groups(table, projects, range, filter, keys, aggregates, vec![], Window::first(GROUPS_MAX))
}

/// Groups that one plan returns at most; further groups are left out.
pub const GROUPS_MAX: usize = 1_000_000;

/// A plan of the groups in `window` when sorted by `order`. `keys` and `aggregates` are its output columns.
#[expect(clippy::too_many_arguments, reason = "a plan has that many parts, and each caller sets all of them")]
pub fn ordered_groups(
    table: Table,
    projects: &[u32],
    range: Range,
    filter: Filter,
    keys: Vec<Key>,
    aggregates: Vec<Aggregate>,
    order: Vec<GroupOrder>,
    window: Window,
) -> Plan {
    let shape = Shape::Groups { keys, aggregates, order, limit: window.limit, offset: window.offset };
    Plan { table, projects: projects.to_vec(), from: range.from, to: range.to, filter, shape }
}

/// Every column of the table.
pub fn all_columns(table: Table) -> Vec<&'static str> {
    table.columns().iter().map(|column| column.name).collect()
}

/// The output column of [`bucket`]: the start of the bucket, nanoseconds since the epoch.
pub const BUCKET: &str = "bucket";

/// The group key of a time bucket; its output column is [`BUCKET`].
pub fn bucket(buckets: &Buckets) -> Key {
    KeySource::TimeBucket { origin: buckets.origin, width: buckets.width }.named(BUCKET)
}

/// Sorts groups by the output column `output`, descending.
pub fn greatest(output: &'static str) -> GroupOrder {
    GroupOrder { by: output, descending: true }
}

/// Sorts groups by the output column `output`, ascending.
pub fn least(output: &'static str) -> GroupOrder {
    GroupOrder { by: output, descending: false }
}

/// Sorts rows by `column`, descending.
pub fn descending(column: &'static str) -> Order {
    Order { column, descending: true }
}

/// Sorts rows by `column`, ascending.
pub fn ascending(column: &'static str) -> Order {
    Order { column, descending: false }
}
