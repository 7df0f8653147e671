//! Queries that Endpoints, Tasks and AI Traces share: lists, groups, the page of one name, charts and the page of one
//! row.
//!
//! [`EntityKind`] has the differences. The kinds are in `endpoints`, `tasks` and `ai_traces`.

pub(crate) mod detail;
mod entity_stats;
mod groups;
mod kind;
mod name_page;
mod rows;
mod stats;

pub use detail::{detail, find};
pub use entity_stats::EntityStats;
pub use groups::{groups, top};
pub use kind::{ChartBody, ChartValues, DetailParts, EntityKind, ListBody, RankedGroup, SortValue};
pub use name_page::{minutes_with_data, one};
pub use rows::{list, span_id};

use super::chart::{self, Chart, VALUE};
use super::executor::Executor;
use super::language;
use super::time::Range;
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// `POST /api/.../chart`: the names with the greatest weight, over time.
pub async fn chart<K: EntityKind>(
    executor: &Executor,
    project: &Project,
    request: K::ChartRequest,
) -> Result<K::Chart, QueryError> {
    let now = executor.context.clock.now_ns();
    let mut body = K::chart_body(request);
    body.filter = body.filter.and(language::filter(K::ROWS, body.query.as_deref())?);
    let range = Range::of_list(body.from_date.as_deref(), body.to_date.as_deref(), now)?;
    if let Some(lines) = K::own_chart(executor, project.number, range, &body).await? {
        return Ok(K::chart_view(lines));
    }
    let ChartBody { interval_minutes, only, metric, filter, grouping, .. } = body;
    let only = only.filter(|name| !name.is_empty());
    let ChartValues { weight, value, is_duration } = K::chart_values(metric);
    let chart = Chart {
        table: K::TABLE,
        project: project.number,
        range,
        interval_minutes,
        grouping,
        only,
        filter,
        weight,
        value,
    };
    let lines = chart::lines(executor, chart, |row| {
        let number = row.numbers(VALUE).and_then(|quantiles| quantiles.first().copied()).or(row.opt_number(VALUE))?;
        Some(if is_duration { milliseconds(number) } else { number })
    });
    lines.await.map(K::chart_view)
}

/// Converts nanoseconds to milliseconds.
pub fn milliseconds(ns: f64) -> f64 {
    ns / 1.0e6
}

/// Converts a sum of weights to a number of records: rounded, never negative.
pub fn whole(count: f64) -> u64 {
    count.round().max(0.0) as u64
}
