//! The filter of a list of spans.
//!
//! A list of root spans is a list of traces: any span of the trace may then match `serviceName`, `attributeFilters` and `query`.
//! That takes two plans: the first finds traces by their inner spans, the second lists their roots.

use std::collections::BTreeSet;

use tidewatch_domain::units::HOUR_NS;
use tidewatch_store::plan::{AttributeScope, Filter, Op, Value};
use tidewatch_store::tables::Table;

use super::executor::Executor;
use super::language::{self, RowKind};
use super::plans::{self, Window};
use super::time::Range;
use super::views::span::SpanListRequest;
use super::{filters, ids};
use crate::error::QueryError;
use tidewatch_limits as limits;

/// Maximum attribute filters of one request.
pub const ATTRIBUTE_FILTERS_MAX: usize = 20;
/// Nanoseconds after the range's end in which inner spans of a trace are searched.
const INNER_AFTER: i64 = HOUR_NS;

/// The filter of a list of spans.
pub struct Search {
    /// Condition on the listed spans.
    pub filter: Filter,
    /// More than [`limits::TRACE_MATCHES_MAX`] inner spans match; only the latest of them were considered.
    pub is_partial: bool,
}

impl Search {
    /// Validates the request. When it lists roots, queries the traces whose inner spans match.
    pub async fn of(
        executor: &Executor,
        project: u32,
        range: Range,
        request: &SpanListRequest,
    ) -> Result<Search, QueryError> {
        let (span_filter, trace_filter) = (span_filter(request)?, trace_filter(request)?);
        if !request.roots_only {
            return Ok(Search { filter: span_filter.and(trace_filter), is_partial: false });
        }
        let roots = span_filter.and(root());
        if trace_filter == Filter::True {
            return Ok(Search { filter: roots, is_partial: false });
        }
        let (traces, is_partial) = traces(executor, project, range, trace_filter.clone()).await?;
        let any = Filter::Any(vec![trace_filter, filters::ids("trace_id", traces)]);
        Ok(Search { filter: roots.and(any), is_partial })
    }
}

fn root() -> Filter {
    Filter::eq("parent_span_id", Value::Bytes(vec![0; 8]))
}

/// The traces with an inner span that passes `filter`, and whether more spans pass than were considered.
///
/// Rows sorted by time with a limit need memory for the limit only, regardless of the number of spans that pass.
async fn traces(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
) -> Result<(BTreeSet<[u8; 16]>, bool), QueryError> {
    let range = Range { from: range.from, to: range.to.saturating_add(INNER_AFTER) };
    let filter = filter.and(filters::not(root()));
    let (order, window) = (vec![plans::descending("time")], Window::first(limits::TRACE_MATCHES_MAX + 1));
    let answer =
        executor.run(plans::rows(Table::Spans, &[project], range, filter, vec!["trace_id"], order, window)).await?;
    let is_partial = answer.len() > limits::TRACE_MATCHES_MAX;
    Ok((answer.rows().map(|row| row.id16("trace_id")).collect(), is_partial))
}

/// The conditions on the listed span itself.
fn span_filter(request: &SpanListRequest) -> Result<Filter, QueryError> {
    let mut all = vec![filters::contains("name", request.name.as_deref())];
    if let Some(id) = non_empty(&request.trace_id) {
        all.push(filters::trace(ids::parse_trace(&id)?));
    }
    for (column, wanted, max) in [("kind", request.kind, 5), ("status", request.status, 2)] {
        match wanted {
            Some(number) if number > max => {
                return Err(QueryError::unprocessable(format!("{column} is a number from 0 to {max}")));
            }
            Some(number) => all.push(Filter::eq(column, Value::U64(number.into()))),
            None => {}
        }
    }
    for (bound, op) in [(request.min_duration_ms, Op::Ge), (request.max_duration_ms, Op::Le)] {
        if let Some(milliseconds) = bound {
            all.push(filters::compare("duration", op, (milliseconds * 1.0e6).round() as i64));
        }
    }
    Ok(filters::all(all))
}

/// The conditions that one span of the trace has to meet all: service, attributes and query.
fn trace_filter(request: &SpanListRequest) -> Result<Filter, QueryError> {
    if request.attribute_filters.len() > ATTRIBUTE_FILTERS_MAX {
        return Err(QueryError::unprocessable(format!("at most {ATTRIBUTE_FILTERS_MAX} attribute filters")));
    }
    let service =
        non_empty(&request.service_name).map_or(Filter::True, |service| filters::text("server_name", &service));
    let attributes = request.attribute_filters.iter().map(|condition| Filter::Attribute {
        scope: AttributeScope::RecordThenResource,
        key: condition.key.clone(),
        op: Op::Eq,
        value: condition.value.clone(),
    });
    let query = language::filter(RowKind::Span, request.query.as_deref())?;
    Ok(attributes.fold(service, Filter::and).and(query))
}

fn non_empty(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}
