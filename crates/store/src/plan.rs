//! The closed query algebra. A [`Plan`] asks one table one thing; there are no joins and no free expressions.
//!
//! Every engine answers a Plan alike: the lake runs it over pruned parts and the memtable, and the conformance
//! suite holds it against a naive in-memory model.

use crate::tables::Table;

/// One question to one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub table: Table,
    /// Project numbers; rows of any other project are never seen. Empty: no rows.
    pub projects: Vec<u32>,
    /// `from <= time < to`, nanoseconds; a `to` of `i64::MAX` has no end.
    pub from: i64,
    pub to: i64,
    pub filter: Filter,
    pub shape: Shape,
}

/// What the answer looks like.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// The rows themselves, these columns (each once) in this order, with the table's types.
    /// A null comes before every value. Ties of `order` are broken by the table's identity columns, else left open.
    Rows { columns: Vec<&'static str>, order: Vec<Order>, limit: usize, offset: usize },
    /// One row per distinct key: a column per key, then a column per aggregate, named by the plan and typed as
    /// [`KeySource`] and [`Function`] say. Two columns of one name are a bad plan. No keys: exactly one row, seen or not
    /// (before `limit` and `offset`).
    /// A null is a key of its own and comes before every value; lists order by their first difference. Ties of `order`
    /// are broken by the keys, ascending.
    Groups { keys: Vec<Key>, aggregates: Vec<Aggregate>, order: Vec<GroupOrder>, limit: usize, offset: usize },
}

/// Rows by a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub column: &'static str,
    pub descending: bool,
}

/// Orders groups by one of the answer's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupOrder {
    /// Name of a key or an aggregate of the same plan.
    pub by: &'static str,
    pub descending: bool,
}

/// A condition on a row: true or false, never unknown. Every comparison with a null is false; `Not` is plain negation.
///
/// Text and bytes compare bytewise. A filter that fits no column of the table is a bad plan, not an empty answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    True,
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    Compare {
        column: &'static str,
        op: Op,
        value: Value,
    },
    /// Equal to one of them.
    In {
        column: &'static str,
        values: Vec<Value>,
    },
    /// Text contains this, ASCII case ignored when `ignore_case`.
    Contains {
        column: &'static str,
        needle: String,
        ignore_case: bool,
    },
    IsNull {
        column: &'static str,
    },
    /// An attribute, compared as text (see [`AttributeScope`] for where); absent: false, for every op.
    Attribute {
        scope: AttributeScope,
        key: String,
        op: Op,
        value: String,
    },
    /// Some attribute value (as text) contains this, ASCII case ignored.
    AnyAttributeContains {
        scope: AttributeScope,
        needle: String,
    },
    /// `bitwise and` of an unsigned column with `mask` is not zero.
    HasBits {
        column: &'static str,
        mask: u64,
    },
}

/// Which attribute column is read. `Record` is `attributes`, `Scope` is `scope_attributes`; `RecordThenResource` takes
/// the record's own, then the column `server_name` (for that key, unless empty), then the resource's where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttributeScope {
    Record,
    Resource,
    Scope,
    RecordThenResource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A literal of the column's kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bool(bool),
    /// For U8, U32, U64.
    U64(u64),
    /// For I16, I64.
    I64(i64),
    F64(f64),
    Text(String),
    /// For Bytes, Id8, Id16.
    Bytes(Vec<u8>),
}

/// A group key: one column of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Name of the answer's column, unique among the plan's keys and aggregates.
    pub name: &'static str,
    pub source: KeySource,
}

/// Where the value of a group key comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum KeySource {
    /// As the column.
    Column(&'static str),
    /// The text of the column when it is one of these, else null; Text.
    OneOf { column: &'static str, texts: Vec<String> },
    /// `from + floor((time - from) / width) * width` with `from` given here; nanoseconds, I64.
    TimeBucket { origin: i64, width: i64 },
    /// The attribute as text, null when absent; Text.
    Attribute { scope: AttributeScope, key: String },
    /// The attribute keys of the record, sorted, each once, joined by `,` (metric discovery); Text.
    AttributeKeys,
}

/// A value computed per group: one column of the answer. Nulls and NaN are skipped; `filter` narrows the rows of this
/// aggregate alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Name of the answer's column, unique among the plan's keys and aggregates.
    pub name: &'static str,
    pub function: Function,
    pub filter: Filter,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// Rows; U64.
    Count,
    /// Sum of `weight` (1 where the table has none); F64.
    Weight,
    /// Sum of a numeric `column` times weight; F64; null without rows. Stays at the largest double when beyond it.
    Sum(&'static str),
    /// As the column; null without rows.
    Min(&'static str),
    Max(&'static str),
    /// Weighted quantiles of a numeric column, linear-interpolated (index `q * (n - 1)`): one F64 list column; null
    /// without rows. A weight `w` counts as `w` equal values, also when it is no whole number. `0 <= q <= 1`. WIRE 8.1.
    Quantiles {
        column: &'static str,
        qs: Vec<f64>,
    },
    /// Value of `column` in the row with the greatest `time`, of equal times the greatest value; null without rows.
    Latest {
        column: &'static str,
    },
    /// Value of `column` in the row with the smallest `time`, of equal times the smallest value; null without rows.
    Earliest {
        column: &'static str,
    },
    /// Number of distinct values; U64.
    Distinct(&'static str),
    /// Per-series increase of a cumulative counter, resets dropped, in units per second over the group's bucket;
    /// delta sums are added up. Only on `MetricPoints` grouped by one `TimeBucket`; F64. WIRE 3.1 "rate".
    ///
    /// A step belongs to the group of its later point. The first point of a series within the plan's time has nothing
    /// before it and gives no step: ask from one bucket earlier. Null for a group without any step.
    Rate,
    /// Quantiles from `bounds` and `buckets` of histogram `.count` rows, interpolated inside the bucket; F64 list; null
    /// without observations. Cumulative histograms are differenced per series first, as a rate is. The lowest bucket
    /// starts at 0 when its bound is positive; the highest is all at its lower bound. DECISIONS 16.
    HistogramQuantiles {
        qs: Vec<f64>,
    },
}

impl Key {
    /// Groups by a column of the table and answers under the column's own name.
    pub fn column(name: &'static str) -> Key {
        KeySource::Column(name).named(name)
    }
}

impl KeySource {
    /// A key that is answered under this name.
    pub fn named(self, name: &'static str) -> Key {
        Key { name, source: self }
    }
}

impl Function {
    /// An aggregate over all rows of the group, answered under this name.
    pub fn named(self, name: &'static str) -> Aggregate {
        Aggregate { name, function: self, filter: Filter::True }
    }
}

impl Aggregate {
    /// The same aggregate over the rows that pass `filter` alone.
    pub fn only(self, filter: Filter) -> Aggregate {
        Aggregate { filter, ..self }
    }
}

impl Filter {
    pub fn eq(column: &'static str, value: Value) -> Filter {
        Filter::Compare { column, op: Op::Eq, value }
    }

    /// Both hold; `True` disappears.
    pub fn and(self, other: Filter) -> Filter {
        match (self, other) {
            (Filter::True, other) => other,
            (this, Filter::True) => this,
            (Filter::All(mut all), other) => {
                all.push(other);
                Filter::All(all)
            }
            (this, other) => Filter::All(vec![this, other]),
        }
    }
}
