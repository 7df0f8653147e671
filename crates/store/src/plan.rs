//! The closed query algebra. A [`Plan`] queries one table; there are no joins and no free expressions.
//!
//! Every engine gives the same answer to a Plan: the lake runs it over pruned parts and the memtable, and the
//! conformance suite compares the answers with those of a naive in-memory model.
//!
//! A plan names every column of its answer, each once.

use crate::tables::Table;
use tidewatch_domain::query_language::Pattern;

/// One query of one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The table.
    pub table: Table,
    /// Project numbers; rows of other projects are never read. Empty: no rows.
    pub projects: Vec<u32>,
    /// Start of the time range `from <= time < to`, nanoseconds since the epoch.
    pub from: i64,
    /// End of the time range, exclusive; `i64::MAX`: no end.
    pub to: i64,
    /// Rows that fail this filter are not in the answer.
    pub filter: Filter,
    /// Columns, grouping, order and limits of the answer.
    pub shape: Shape,
}

/// The shape of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// The rows, with the types of the table's columns. Nulls sort before every value. Ties of `order` are broken by
    /// the table's identity columns; in a table without identity their order is undefined.
    Rows {
        /// Columns of the answer, in this order, each once.
        columns: Vec<&'static str>,
        /// Most significant column first.
        order: Vec<Order>,
        /// Maximum number of rows.
        limit: usize,
        /// Number of rows to skip.
        offset: usize,
    },
    /// One row per distinct key: a column per key, then a column per aggregate, with the plan's names and the types of
    /// [`KeySource`] and [`Function`]. Duplicate names are a bad plan. Without keys there is exactly one row (before
    /// `limit` and `offset`), also when no row passes.
    /// A null is a key of its own and sorts before every value; lists compare by their first difference. Ties of
    /// `order` are broken by the keys, ascending.
    Groups {
        /// Group keys.
        keys: Vec<Key>,
        /// Aggregates of every group.
        aggregates: Vec<Aggregate>,
        /// Most significant first; empty: by the keys, ascending.
        order: Vec<GroupOrder>,
        /// Maximum number of groups.
        limit: usize,
        /// Number of groups to skip.
        offset: usize,
    },
}

/// Orders rows by one column of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Name of the column.
    pub column: &'static str,
    /// Greatest value first; nulls last.
    pub descending: bool,
}

/// Orders groups by one of the answer's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupOrder {
    /// Name of a key or an aggregate of the same plan.
    pub by: &'static str,
    /// Greatest value first; nulls last.
    pub descending: bool,
}

/// A condition on a row: true or false, never unknown. Every comparison with a null is false; `Not` is plain negation.
///
/// Strings and bytes compare bytewise. A filter that fits no column of the table is a bad plan, not an empty answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// Always true.
    True,
    /// All of them are true; true when empty.
    All(Vec<Filter>),
    /// At least one of them is true; false when empty.
    Any(Vec<Filter>),
    /// It is false.
    Not(Box<Filter>),
    /// Compares a column with a literal.
    Compare {
        /// Name of the column.
        column: &'static str,
        /// The comparison, column on the left.
        op: Op,
        /// The literal, of the column's kind.
        value: Value,
    },
    /// The column equals one of the literals.
    In {
        /// Name of the column.
        column: &'static str,
        /// Literals of the column's kind; false when empty.
        values: Vec<Value>,
    },
    /// A text column contains a substring.
    Contains {
        /// Name of the column.
        column: &'static str,
        /// The substring.
        needle: String,
        /// Whether ASCII case is ignored.
        ignore_case: bool,
    },
    /// A text column matches a pattern as a whole.
    Matches {
        /// Name of the column.
        column: &'static str,
        /// The pattern.
        pattern: Pattern,
        /// Whether ASCII case is ignored.
        ignore_case: bool,
    },
    /// The column is null.
    IsNull {
        /// Name of the column.
        column: &'static str,
    },
    /// Compares an attribute, converted to a string, with a literal; false for an absent attribute, for every `op`.
    Attribute {
        /// Where the attribute is read.
        scope: AttributeScope,
        /// Key of the attribute.
        key: String,
        /// The comparison, attribute on the left.
        op: Op,
        /// The literal.
        value: String,
    },
    /// An attribute, converted to a string, matches a pattern as a whole; false for an absent attribute.
    AttributeMatches {
        /// Where the attribute is read.
        scope: AttributeScope,
        /// Key of the attribute.
        key: String,
        /// The pattern.
        pattern: Pattern,
    },
    /// A span below that of the row passes the filter, which is one of the table of spans. No engine evaluates it: a
    /// plan that has it is refused. The crate `query` replaces it by the ids of such rows.
    Descendant(Box<Filter>),
    /// Compares an attribute that is a number, or a string that is one, with a literal; false for any other attribute,
    /// for an absent one, and for NaN with every `op`.
    AttributeNumber {
        /// Where the attribute is read.
        scope: AttributeScope,
        /// Key of the attribute.
        key: String,
        /// The comparison, attribute on the left.
        op: Op,
        /// The literal, not NaN.
        value: f64,
    },
    /// At least one attribute value, converted to a string, contains a substring; ASCII case is ignored.
    AnyAttributeContains {
        /// Where attributes are read.
        scope: AttributeScope,
        /// The substring.
        needle: String,
    },
    /// `bitwise and` of an unsigned column with `mask` is not zero.
    HasBits {
        /// Name of the column.
        column: &'static str,
        /// The bits, of which at least one must be set.
        mask: u64,
    },
}

/// The columns in which an attribute is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttributeScope {
    /// The column `attributes`.
    Record,
    /// The column `resource`.
    Resource,
    /// The column `scope_attributes`.
    Scope,
    /// The column `attributes`, then `server_name` (for that key, unless empty), then `resource` if the table has it.
    RecordThenResource,
    /// The column `event_attributes`, of tables that have it.
    Event,
    /// The column `body`, of tables that have it: the key is the path of a field in its JSON object
    /// ([`tidewatch_domain::rules::body_field`]). Not for [`Filter::AnyAttributeContains`].
    Body,
    /// The columns `event_attributes`, `attributes`, `scope_attributes` and `resource`, as far as the table has them: the
    /// first one that has the attribute.
    Nearest,
}

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less than.
    Lt,
    /// Less than or equal.
    Le,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Ge,
}

/// A literal of the column's kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// For Bool.
    Bool(bool),
    /// For U8, U32, U64.
    U64(u64),
    /// For I16, I64.
    I64(i64),
    /// For F64.
    F64(f64),
    /// For Text.
    Text(String),
    /// For Bytes, Id8, Id16.
    Bytes(Vec<u8>),
}

/// A group key: one column of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Name of the answer's column, unique among the plan's keys and aggregates.
    pub name: &'static str,
    /// How the value is computed.
    pub source: KeySource,
}

/// How the value of a group key is computed.
#[derive(Debug, Clone, PartialEq)]
pub enum KeySource {
    /// The value of a column, with the column's type.
    Column(&'static str),
    /// The string of a text column when it is one of `strings`, else null; Text.
    OneOf {
        /// Name of the column.
        column: &'static str,
        /// The strings that are groups of their own.
        strings: Vec<String>,
    },
    /// The start of the row's time bucket: `origin + floor((time - origin) / width) * width`; I64.
    TimeBucket {
        /// Start of one bucket, nanoseconds since the epoch.
        origin: i64,
        /// Width of the buckets, nanoseconds.
        width: i64,
    },
    /// The attribute converted to a string, null when absent; Text.
    Attribute {
        /// Where the attribute is read.
        scope: AttributeScope,
        /// Key of the attribute.
        key: String,
    },
    /// The attribute keys of the record, sorted, each once, joined by `,` (metric discovery); Text.
    AttributeKeys,
}

/// A value computed per group: one column of the answer. Nulls and NaN are skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Name of the answer's column, unique among the plan's keys and aggregates.
    pub name: &'static str,
    /// The function.
    pub function: Function,
    /// Restricts the rows of this aggregate only.
    pub filter: Filter,
}

/// An aggregate function, with the type of its result.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// The number of rows; U64.
    Count,
    /// Sum of `weight` (1 where the table has none); F64.
    Weight,
    /// Sum of a numeric column times weight; F64; null without rows. Saturates at the largest double.
    Sum(&'static str),
    /// The smallest value of a column, with the column's type; null without rows.
    Min(&'static str),
    /// The greatest value of a column, with the column's type; null without rows.
    Max(&'static str),
    /// Weighted quantiles of a numeric column, linear-interpolated (index `q * (n - 1)`): one F64 list column; null
    /// without rows. A weight `w` counts as `w` equal values, also when it is no whole number. WIRE 8.1.
    Quantiles {
        /// Name of the column.
        column: &'static str,
        /// The quantiles, `0 <= q <= 1`; the list has them in this order.
        qs: Vec<f64>,
    },
    /// Value of `column` in the row with the greatest `time`, of equal times the greatest value; null without rows.
    Latest {
        /// Name of the column.
        column: &'static str,
    },
    /// Value of `column` in the row with the smallest `time`, of equal times the smallest value; null without rows.
    Earliest {
        /// Name of the column.
        column: &'static str,
    },
    /// Number of distinct values; U64.
    Distinct(&'static str),
    /// Per-series increase of a cumulative counter, resets dropped, in units per second over the group's bucket;
    /// delta sums are added up. Only on `MetricPoints` grouped by one `TimeBucket`; F64. WIRE 3.1 "rate".
    ///
    /// A step belongs to the group of its later point. The first point of a series within the plan's time has no step:
    /// start the plan one bucket earlier. Null for a group without any step.
    Rate,
    /// Quantiles from `bounds` and `buckets` of histogram `.count` rows, interpolated inside the bucket; F64 list; null
    /// without observations. Cumulative histograms are differenced per series first, like [`Function::Rate`]. The
    /// lowest bucket starts at 0 when its bound is positive; all values of the highest bucket are at its lower bound.
    /// DECISIONS 16.
    HistogramQuantiles {
        /// The quantiles; the list has them in this order.
        qs: Vec<f64>,
    },
}

impl Key {
    /// A key that groups by a column of the table, under the column's own name.
    pub fn column(name: &'static str) -> Key {
        KeySource::Column(name).named(name)
    }
}

impl KeySource {
    /// A key with this source, under `name` in the answer.
    pub fn named(self, name: &'static str) -> Key {
        Key { name, source: self }
    }
}

impl Function {
    /// An aggregate over all rows of the group, under `name` in the answer.
    pub fn named(self, name: &'static str) -> Aggregate {
        Aggregate { name, function: self, filter: Filter::True }
    }
}

impl Aggregate {
    /// Restricts the aggregate to the rows that pass `filter`; replaces its earlier filter.
    pub fn only(self, filter: Filter) -> Aggregate {
        Aggregate { filter, ..self }
    }
}

impl Filter {
    /// The column equals the literal.
    pub fn eq(column: &'static str, value: Value) -> Filter {
        Filter::Compare { column, op: Op::Eq, value }
    }

    /// False on every row.
    pub fn never() -> Filter {
        Filter::Any(Vec::new())
    }

    /// The row has the attribute, with any value.
    pub fn has_attribute(scope: AttributeScope, key: impl Into<String>) -> Filter {
        // Every string is at least the empty one.
        Filter::Attribute { scope, key: key.into(), op: Op::Ge, value: String::new() }
    }

    /// Both filters are true; [`Filter::True`] is simplified away.
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
