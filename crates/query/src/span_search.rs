//! The conditions of a span list.
//!
//! A list of root spans is a list of traces: `serviceName` and `attributeFilters` may then be met by any span of the
//! trace. Two plans answer that: the first finds the traces by their inner spans, the second lists the roots.

use std::collections::BTreeSet;

use tidewatch_store::plan::{AttributeScope, Filter, Op, Value};
use tidewatch_store::tables::Table;

use super::ask::{self, Ask, Window};
use super::time::{HOUR, Range};
use super::views::span::SpanListRequest;
use super::{filters, ids};
use crate::error::QueryError;
use tidewatch_limits as limits;

/// Conditions on attributes at most.
pub const ATTRIBUTE_FILTERS_MAX: usize = 20;
/// Nanoseconds after the range's end in which inner spans of a trace are looked for.
const INNER_AFTER: i64 = HOUR;

/// What a list of spans asks for.
pub struct Search {
    pub filter: Filter,
    /// Only the latest [`limits::TRACE_MATCHES_MAX`] inner spans were looked at.
    pub is_partial: bool,
}

impl Search {
    /// Reads the request; asks for the traces whose inner spans match where the request lists roots.
    pub async fn of(ask: &Ask, project: u32, range: Range, request: &SpanListRequest) -> Result<Search, QueryError> {
        let (own, anywhere) = (own(request)?, anywhere(request)?);
        if !request.roots_only {
            return Ok(Search { filter: own.and(anywhere), is_partial: false });
        }
        let roots = own.and(root());
        if anywhere == Filter::True {
            return Ok(Search { filter: roots, is_partial: false });
        }
        let (traces, is_partial) = traces(ask, project, range, anywhere.clone()).await?;
        let any = Filter::Any(vec![anywhere, filters::ids("trace_id", traces)]);
        Ok(Search { filter: roots.and(any), is_partial })
    }
}

fn root() -> Filter {
    Filter::eq("parent_span_id", Value::Bytes(vec![0; 8]))
}

/// The traces of which an inner span passes, and whether there were more spans than are looked at.
///
/// Rows of ids in the order of time need memory for the limit only, however many spans pass.
async fn traces(
    ask: &Ask,
    project: u32,
    range: Range,
    filter: Filter,
) -> Result<(BTreeSet<[u8; 16]>, bool), QueryError> {
    let range = Range { from: range.from, to: range.to.saturating_add(INNER_AFTER) };
    let filter = filter.and(filters::not(root()));
    let (order, window) = (vec![ask::descending("time")], Window::first(limits::TRACE_MATCHES_MAX + 1));
    let answer = ask.ask(ask::rows(Table::Spans, &[project], range, filter, vec!["trace_id"], order, window)).await?;
    let is_partial = answer.len() > limits::TRACE_MATCHES_MAX;
    Ok((answer.rows().map(|row| row.id16("trace_id")).collect(), is_partial))
}

/// What the listed span itself has to meet.
fn own(request: &SpanListRequest) -> Result<Filter, QueryError> {
    let mut all = vec![filters::contains("name", request.name.as_deref())];
    if let Some(id) = given(&request.trace_id) {
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

/// What one span of the trace has to meet: service and attributes together.
fn anywhere(request: &SpanListRequest) -> Result<Filter, QueryError> {
    if request.attribute_filters.len() > ATTRIBUTE_FILTERS_MAX {
        return Err(QueryError::unprocessable(format!("at most {ATTRIBUTE_FILTERS_MAX} attribute filters")));
    }
    let service = given(&request.service_name).map_or(Filter::True, |service| filters::text("server_name", &service));
    let attributes = request.attribute_filters.iter().map(|condition| Filter::Attribute {
        scope: AttributeScope::RecordThenResource,
        key: condition.key.clone(),
        op: Op::Eq,
        value: condition.value.clone(),
    });
    Ok(attributes.fold(service, Filter::and))
}

fn given(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}
