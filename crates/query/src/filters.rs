//! Filters that several resources share.

use tidewatch_domain::model::{SpanId, TraceId};
use tidewatch_store::plan::{Filter, Op, Value};

use crate::error::QueryError;

/// The attributes of a resource that name its environment: the stable key, then the earlier one.
pub const ENVIRONMENT_KEYS: [&str; 2] = ["deployment.environment.name", "deployment.environment"];

/// String column equal to `value`.
pub fn text(column: &'static str, value: &str) -> Filter {
    Filter::eq(column, Value::Text(value.to_owned()))
}

/// Rows of a trace.
pub fn trace(id: TraceId) -> Filter {
    Filter::eq("trace_id", Value::Bytes(id.0.to_vec()))
}

/// Rows of a span.
pub fn span(id: SpanId) -> Filter {
    Filter::eq("span_id", Value::Bytes(id.0.to_vec()))
}

/// The row with this id.
pub fn row_id(id: [u8; 16]) -> Filter {
    Filter::eq("row_id", Value::Bytes(id.to_vec()))
}

/// Boolean column is true.
pub fn is(column: &'static str) -> Filter {
    Filter::eq(column, Value::Bool(true))
}

/// Boolean column is false.
pub fn is_not(column: &'static str) -> Filter {
    Filter::eq(column, Value::Bool(false))
}

/// Spans with an error: error status of OTLP, or HTTP status of 500 and above. Their column `is_error` is about the call
/// that a span makes or serves, where an HTTP status of 400 to 499 is none.
pub fn span_error() -> Filter {
    Filter::Any(vec![Filter::eq("status", Value::U64(2)), compare("http_status", Op::Ge, 500)])
}

/// Rows that do not pass `filter`.
pub fn not(filter: Filter) -> Filter {
    Filter::Not(Box::new(filter))
}

/// Signed integer column compared with `value`.
pub fn compare(column: &'static str, op: Op, value: i64) -> Filter {
    Filter::Compare { column, op, value: Value::I64(value) }
}

/// String column equal to one of `values`.
pub fn strings(column: &'static str, values: &[impl AsRef<str>]) -> Filter {
    Filter::In { column, values: values.iter().map(|value| Value::Text(value.as_ref().to_owned())).collect() }
}

/// Column of ids equal to one of `values`.
pub fn ids<const N: usize>(column: &'static str, values: impl IntoIterator<Item = [u8; N]>) -> Filter {
    Filter::In { column, values: values.into_iter().map(|id| Value::Bytes(id.to_vec())).collect() }
}

/// String column contains `text`, ignoring case. Absent and blank `text` match every row.
pub fn contains(column: &'static str, text: Option<&str>) -> Filter {
    match text.map(str::trim) {
        Some(needle) if !needle.is_empty() => Filter::Contains { column, needle: needle.to_owned(), ignore_case: true },
        _ => Filter::True,
    }
}

/// `rootFilter` of a list: `root`, `non_root`, or empty or `all` for both. Other values are
/// [`QueryError::Malformed`].
pub fn root(root_filter: Option<&str>) -> Result<Filter, QueryError> {
    match root_filter.unwrap_or("") {
        "" | "all" => Ok(Filter::True),
        "root" => Ok(is("is_root")),
        "non_root" => Ok(is_not("is_root")),
        other => Err(QueryError::malformed(format!("rootFilter is root, non_root or empty, not {other}"))),
    }
}

/// Rows that pass all `filters`.
pub fn all(filters: impl IntoIterator<Item = Filter>) -> Filter {
    filters.into_iter().fold(Filter::True, Filter::and)
}
