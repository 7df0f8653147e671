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
    /// `from <= time < to`, nanoseconds.
    pub from: i64,
    pub to: i64,
    pub filter: Filter,
    pub shape: Shape,
}

/// What the answer looks like.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// The rows themselves, these columns in this order.
    /// Ties of `order` are broken by the table's identity columns, else left open.
    Rows { columns: Vec<&'static str>, order: Vec<Order>, limit: usize, offset: usize },
    /// One row per distinct key: the keys (columns `key0`, `key1` …), then the aggregates (`agg0`, `agg1` …).
    /// No keys: exactly one row. Ties of `order` are broken by the keys, ascending.
    Groups { keys: Vec<Key>, aggregates: Vec<Aggregate>, order: Vec<GroupOrder>, limit: usize, offset: usize },
}

/// Rows by a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub column: &'static str,
    pub descending: bool,
}

/// Groups by one of the answer's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupOrder {
    pub by: By,
    pub descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum By {
    Key(usize),
    Aggregate(usize),
}

/// A condition on a row. Comparisons with a null are false (and so is their `Not`-free use); `Not` is plain negation.
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

/// Which attribute column is read. `Record` is `attributes`; `RecordThenResource` takes the record's own,
/// then `server_name` for that key, then the resource's.
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

#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    Column(&'static str),
    /// `from + floor((time - from) / width) * width` with `from` given here; nanoseconds, I64.
    TimeBucket {
        origin: i64,
        width: i64,
    },
    /// The attribute as text, null when absent.
    Attribute {
        scope: AttributeScope,
        key: String,
    },
    /// The attribute keys of the record, sorted and joined by `,` (metric discovery).
    AttributeKeys,
}

/// All of them skip nulls; `filter` narrows the rows of this aggregate alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    pub function: Function,
    pub filter: Filter,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// Rows; U64.
    Count,
    /// Sum of `weight` (1 where the table has none); F64.
    Weight,
    /// Sum of `column` times weight; F64; null without rows.
    Sum(&'static str),
    /// As the column; null without rows.
    Min(&'static str),
    Max(&'static str),
    /// Weighted quantiles of a numeric column, linear-interpolated (index `q * (n - 1)`): one F64 list column; null without rows.
    /// WIRE 8.1.
    Quantiles {
        column: &'static str,
        qs: Vec<f64>,
    },
    /// Value of `column` in the row with the greatest (`latest`) or smallest `time`; null without rows.
    Latest {
        column: &'static str,
    },
    Earliest {
        column: &'static str,
    },
    /// Number of distinct values; U64.
    Distinct(&'static str),
    /// Per-series increase of a cumulative counter, resets dropped, in units per second over the group's bucket;
    /// delta sums are added up. Only on `MetricPoints` grouped by a `TimeBucket`; F64. WIRE 3.1 "rate".
    Rate,
    /// Quantiles from `bounds` and `buckets` of histogram `.count` rows, interpolated inside the bucket; F64 list; null without buckets.
    /// Cumulative histograms are differenced per series first. DECISIONS 16.
    HistogramQuantiles {
        qs: Vec<f64>,
    },
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
