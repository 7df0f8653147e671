//! Putting plans to the store, with one deadline for all that one request asks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewatch_store::plan::{Aggregate, Filter, GroupOrder, Key, KeySource, Order, Plan, Shape};
use tidewatch_store::query_memory::RequestMemory;
use tidewatch_store::tables::Table;

use super::answer::Answer;
use super::context::QueryContext;
use super::time::{Buckets, Range};
use crate::error::QueryError;

/// One request's access to the store.
#[derive(Clone)]
pub struct Ask {
    pub context: Arc<QueryContext>,
    deadline: Instant,
    /// Of all its questions, and of their answers until the last clone goes.
    memory: Arc<RequestMemory>,
}

impl Ask {
    /// Everything asked through this has to be answered within `limit` from now; else 504.
    pub fn within(context: Arc<QueryContext>, limit: Duration) -> Ask {
        let memory = Arc::new(context.store.request_memory());
        Ask { context, deadline: Instant::now() + limit, memory }
    }

    pub async fn ask(&self, plan: Plan) -> Result<Answer, QueryError> {
        self.context.ask(self.memory.clone(), plan, self.deadline).await.map(Answer::new)
    }

    /// A page of rows, and how many rows pass the filter on all pages.
    pub async fn page(&self, plan: Plan) -> Result<(Answer, u64), QueryError> {
        let (answer, total) = self.context.ask_page(self.memory.clone(), plan, self.deadline).await?;
        Ok((Answer::new(answer), total))
    }
}

/// A part of a list: skip, then take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub offset: usize,
    pub limit: usize,
}

impl Window {
    pub fn first(limit: usize) -> Window {
        Window { offset: 0, limit }
    }
}

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

/// Groups without an order, all of them (up to [`GROUPS_MAX`]).
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

/// More groups than this are cut: names are meant to be few.
pub const GROUPS_MAX: usize = 1_000_000;

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

/// Name under which [`bucket`] answers: start of the bucket, nanoseconds.
pub const BUCKET: &str = "bucket";

/// Groups by time.
pub fn bucket(buckets: &Buckets) -> Key {
    KeySource::TimeBucket { origin: buckets.origin, width: buckets.width }.named(BUCKET)
}

/// Groups with the greatest, or last, `output` first.
pub fn greatest(output: &'static str) -> GroupOrder {
    GroupOrder { by: output, descending: true }
}

/// Groups with the least, or first, `output` first.
pub fn least(output: &'static str) -> GroupOrder {
    GroupOrder { by: output, descending: false }
}

pub fn descending(column: &'static str) -> Order {
    Order { column, descending: true }
}

pub fn ascending(column: &'static str) -> Order {
    Order { column, descending: false }
}
