//! Traces by conditions on any span: `POST /api/traces/search`. `docs/use/query-language.md`, "Traces".

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use tidewatch_accounts::Project;
use tidewatch_domain::model::TraceId;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_limits as limits;
use tidewatch_store::plan::Filter;
use tidewatch_store::trace_search::{Found, TraceSearch, TraceSearchBounds, TraceSummary};

use crate::error::QueryError;
use crate::executor::Executor;
use crate::language;
use crate::page::{self, Paging};
use crate::spans::check_length;
use crate::time::{Range, to_rfc3339};
use crate::views::trace_search::{
    TraceOrder, TracePoints, TraceRow, TraceSearchPage, TraceSearchRequest, TraceService,
};

/// Time before and after the range in which spans belong to its traces. A trace that began before the range is known by
/// its earlier spans.
const AROUND: i64 = HOUR_NS;
/// Services of one row.
const SERVICES_MAX: usize = 20;

/// Finds traces. A query that is none is [`QueryError::InQuery`] (400); a range beyond the retention, a negative or
/// reversed duration is [`QueryError::Unprocessable`] (422).
pub async fn search(
    executor: &Executor,
    project: &Project,
    request: TraceSearchRequest,
) -> Result<TraceSearchPage, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    check_length(executor, project, range)?;
    let paging = Paging::read(request.pagination)?;
    let order = page::order(&request.order_by)?;
    let search = TraceSearch {
        projects: vec![project.number],
        start: (range.from, range.to),
        window: (range.from.saturating_sub(AROUND), range.to.saturating_add(AROUND)),
        spans: Filter::True,
        condition: language::trace_condition(request.query.as_deref())?,
        duration: durations(request.min_duration_ms, request.max_duration_ms)?,
        bounds: TraceSearchBounds {
            matches: limits::TRACE_MATCHES_MAX,
            traces: limits::TRACE_SEARCH_TRACES_MAX,
            spans: limits::TRACE_SEARCH_SPANS_MAX,
        },
    };
    let Found { mut traces, complete_after } = executor.find_traces(search.clone()).await?;
    // The latest traces of a busy project are those of minutes: the points are of the whole range.
    let sampled = match complete_after {
        Some(_) => {
            let (size, budget) = (limits::TRACE_SAMPLE_MAX, limits::TRACE_SAMPLE_BUDGET);
            executor.sample_traces(search, size, budget).await?
        }
        None => None,
    };
    let points = match &sampled {
        Some((sample, rate)) => points(&sample.traces, Some(*rate)),
        None => points(&traces, complete_after.is_none().then_some(1.0)),
    };
    let total = traces.len() as u64;
    // Traces are in descending order of start, and stay so among equals.
    let is_descending = page::is_descending(request.sort_direction);
    traces.sort_by(|a, b| {
        let order = compare(order, a, b);
        if is_descending { order.reverse() } else { order }
    });
    Ok(TraceSearchPage {
        data: paging.cut(traces).into_iter().map(row).collect(),
        pagination: paging.info(total),
        points,
        complete: complete_after.is_none(),
        complete_after: complete_after.map(to_rfc3339),
    })
}

fn compare(order: TraceOrder, a: &TraceSummary, b: &TraceSummary) -> Ordering {
    match order {
        TraceOrder::StartTime => a.start.cmp(&b.start),
        TraceOrder::Duration => length(a).cmp(&length(b)),
        TraceOrder::Spans => a.spans.cmp(&b.spans),
        TraceOrder::Errors => a.errors.cmp(&b.errors),
    }
}

fn length(trace: &TraceSummary) -> i64 {
    trace.end.saturating_sub(trace.start)
}

/// The durations between two bounds in milliseconds.
fn durations(least: Option<f64>, most: Option<f64>) -> Result<RangeInclusive<i64>, QueryError> {
    let nanoseconds = |milliseconds: f64| (milliseconds * 1.0e6).round() as i64;
    let (from, to) = (least.map_or(0, nanoseconds), most.map_or(i64::MAX, nanoseconds));
    if from < 0 || to < from {
        return Err(QueryError::unprocessable("minDurationMs is 0 or more, and maxDurationMs not less"));
    }
    Ok(from..=to)
}

fn points(traces: &[TraceSummary], sample_rate: Option<f64>) -> TracePoints {
    TracePoints {
        sample_rate,
        trace_ids: traces.iter().map(|trace| TraceId(trace.trace_id).to_string()).collect(),
        starts: traces.iter().map(|trace| trace.start.div_euclid(1_000_000)).collect(),
        durations: traces.iter().map(|trace| length(trace) as f64 / 1.0e6).collect(),
        errors: traces.iter().map(|trace| trace.errors > 0).collect(),
    }
}

fn row(trace: TraceSummary) -> TraceRow {
    let own: f64 = trace.services.iter().map(|service| service.own).sum();
    let share = |time: f64| if own > 0.0 { time / own } else { 0.0 };
    TraceRow {
        trace_id: TraceId(trace.trace_id).to_string(),
        duration: length(&trace),
        start_time: to_rfc3339(trace.start),
        name: trace.root.name,
        service_name: trace.root.service,
        span_kind: trace.root.kind,
        http_status: Some(i32::from(trace.root.http_status)).filter(|status| *status != 0),
        has_missing_parent: trace.root.has_missing_parent,
        spans: trace.spans,
        errors: trace.errors,
        services: trace
            .services
            .into_iter()
            .take(SERVICES_MAX)
            .map(|one| TraceService { service: one.service, spans: one.spans, share: share(one.own) })
            .collect(),
    }
}
