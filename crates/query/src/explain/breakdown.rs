//! Where the time of rows goes: own time by operation and by service.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use tidewatch_accounts::Project;
use tidewatch_domain::explain::{MeanTime, RequestTime, mean_times};
use tidewatch_limits as limits;

use super::answer::MILLISECOND;
use super::sample::Sample;
use super::sets::{Sets, timed_rows};
use super::spans::Below;
use super::{sample, spans};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::views::explain::{Breakdown, BreakdownOperation, BreakdownRequest, BreakdownService};

/// `POST /api/breakdown`. A query that is none is [`QueryError::InQuery`] (400); logs and Issues are
/// [`QueryError::Unprocessable`] (422).
pub async fn breakdown(
    executor: &Executor,
    project: &Project,
    request: BreakdownRequest,
) -> Result<Breakdown, QueryError> {
    let started = Instant::now();
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    let (kind, filter) = timed_rows(request.entity, request.name.as_deref(), request.query.as_deref())?;
    let budget = request.budget_ms.map_or(limits::EXPLAIN_BUDGET, Duration::from_millis);
    let sets = Sets::all(kind.table(), filter, range, budget);
    let sample = sample::read(executor, project.number, &sets).await?;
    let below = spans::read(executor, project.number, &sets, &sample, started + sets.budget).await?;
    executor.context.run_queued(move |_| answer(&sample, &below)).await
}

fn answer(sample: &Sample, below: &Below) -> Breakdown {
    let requests = below.request_times(sample);
    let times = mean_times(&requests);
    let of_row = row_condition(below);
    let mut services: BTreeMap<String, u32> = BTreeMap::new();
    let by_service: Vec<RequestTime> =
        requests.iter().map(|request| of_services(request, below, &mut services)).collect();
    let names: BTreeMap<u32, String> = services.into_iter().map(|(name, number)| (number, name)).collect();
    let total: f64 = times.iter().map(|time| time.mean).sum();
    let listed = times.iter().take(limits::BREAKDOWN_ROWS_MAX);
    let rest: f64 = times.iter().skip(limits::BREAKDOWN_ROWS_MAX).map(|time| time.mean).sum();
    let operation = |time: &MeanTime| {
        let found = below.operation(time.operation);
        let own = below.condition(time.operation);
        let query = match &of_row {
            Some((number, _)) if *number == time.operation => format!("{{{own}}}"),
            Some((_, row)) => format!("{{{row}}} >> {{{own}}}"),
            None => format!("{{{own}}}"),
        };
        BreakdownOperation {
            operation: found.name,
            service: found.service,
            mean_ms: time.mean / MILLISECOND,
            share: time.share,
            rows: time.requests,
            query,
        }
    };
    let service = |time: MeanTime| BreakdownService {
        service: names.get(&time.operation).cloned().unwrap_or_default(),
        mean_ms: time.mean / MILLISECOND,
        share: time.share,
        rows: time.requests,
    };
    Breakdown {
        data: listed.map(operation).collect(),
        services: mean_times(&by_service).into_iter().take(limits::BREAKDOWN_ROWS_MAX).map(service).collect(),
        mean_ms: total / MILLISECOND,
        rest_ms: rest / MILLISECOND,
        rows: sample.counts[0],
        measured: u32::try_from(requests.len()).unwrap_or(u32::MAX),
        partial: below.is_partial,
    }
}

/// The operation of the rows' own spans, and its condition; `None` when they have several.
fn row_condition(below: &Below) -> Option<(u32, String)> {
    let own: BTreeSet<u32> = below.rows.values().filter_map(|own| own.operation).collect();
    let [only] = own.into_iter().collect::<Vec<u32>>()[..] else { return None };
    Some((only, below.condition(only)))
}

/// The times of a request by service, whose numbers are given in the order of arrival.
fn of_services(request: &RequestTime, below: &Below, services: &mut BTreeMap<String, u32>) -> RequestTime {
    let mut times: BTreeMap<u32, f64> = BTreeMap::new();
    for &(operation, time) in &request.operations {
        let next = u32::try_from(services.len()).unwrap_or(u32::MAX);
        let number = *services.entry(below.operation(operation).service).or_insert(next);
        *times.entry(number).or_default() += time;
    }
    RequestTime { set: request.set, operations: times.into_iter().collect() }
}
