//! Queries in the language of `docs/use/query-language.md` as filters of plans.
//!
//! ```text
//! text ──parse──> Expr ──fields of the kind of row──> Filter
//! ```
//!
//! [`computed`]: of sessions, the fields that a list computes.
//!
//! A filter passes the rows on which [`tidewatch_domain::query_language::evaluate`] is true. A literal that does not fit
//! the type of its field is an error, where the evaluation of a single row is false.

mod compile;
pub mod computed;
pub mod fields;
pub(crate) mod sample;
pub mod values;

use tidewatch_domain::query_language::{Expr, ParseLimits, TraceExpr, parse, parse_trace};
use tidewatch_limits as limits;
use tidewatch_store::plan::Filter;
use tidewatch_store::trace_search::{SpanPath, TraceCondition};

pub use compile::compile;
pub use fields::RowKind;

use crate::error::QueryError;

/// Bounds of the queries in requests.
pub const LIMITS: ParseLimits =
    ParseLimits { bytes: limits::QUERY_TEXT_BYTES_MAX, terms: limits::QUERY_TERMS_MAX, depth: limits::QUERY_DEPTH_MAX };

/// The filter of a request's `query`; every row passes when it is absent or blank. [`QueryError::InQuery`] (400, with
/// the position) when it is no query, or does not fit the kind of row.
pub fn filter(kind: RowKind, query: Option<&str>) -> Result<Filter, QueryError> {
    let text = query.unwrap_or("");
    compile(kind, &parse(text, LIMITS)?)
}

/// The condition of a search for traces; every trace meets it when it is absent or blank. Fails like [`filter`].
pub fn trace_condition(query: Option<&str>) -> Result<TraceCondition, QueryError> {
    fn each(operands: &[TraceExpr]) -> Result<Vec<TraceCondition>, QueryError> {
        operands.iter().map(condition).collect()
    }
    fn condition(expr: &TraceExpr) -> Result<TraceCondition, QueryError> {
        Ok(match expr {
            TraceExpr::All(operands) => TraceCondition::All(each(operands)?),
            TraceExpr::Any(operands) => TraceCondition::Any(each(operands)?),
            TraceExpr::Not(operand) => TraceCondition::Not(Box::new(condition(operand)?)),
            TraceExpr::Chain(chain) => {
                let mut rest = Vec::with_capacity(chain.rest.len());
                for (relation, expr) in &chain.rest {
                    rest.push((*relation, compile(RowKind::Span, expr)?));
                }
                TraceCondition::Spans(SpanPath { first: compile(RowKind::Span, &chain.first)?, rest })
            }
        })
    }
    condition(&parse_trace(query.unwrap_or(""), LIMITS)?)
}

/// Whether a query has a term that a scan can evaluate without searching text.
pub fn is_selective(query: Option<&str>) -> bool {
    fn selects(expr: &Expr) -> bool {
        match expr {
            Expr::All(operands) | Expr::Any(operands) => operands.iter().any(selects),
            Expr::Not(operand) => selects(operand),
            Expr::Text(_) => false,
            // Every body is read.
            Expr::Has(field) | Expr::Compare { field, .. } => {
                field.scope.is_some() || RowKind::Log.body_path(&field.key).is_none()
            }
        }
    }
    parse(query.unwrap_or(""), LIMITS).is_ok_and(|expr| selects(&expr))
}
