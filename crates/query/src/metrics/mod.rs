//! `POST /api/metrics/query`: validation of the request, and the series of the response. WIRE 3.1.
//!
//! [`CheckedRequest::read`] is pure: it validates a request and computes the bucket width. Each query is then one Plan,
//! or two when it is grouped: the first finds the groups (the first 200 by value), the second their series.

use std::collections::BTreeMap;

use serde_json::Number;
use tidewatch_domain::units::{DAY_NS, MINUTE_NS};
use tidewatch_store::plan::{Aggregate, AttributeScope, Filter, Function, Key, KeySource, Op, Plan};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::{self, Buckets, Range, effective_minutes};
use super::time_windows::Windows;
use super::views::metrics::{Aggregation, MetricQuery, MetricResult, MetricsAnswer, MetricsRequest};
use super::views::page::ValuePoint;
use crate::error::QueryError;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// The name of the series of a query without `groupBy`.
pub const ALL: &str = "__all__";
/// The name of the group of points without the tag.
const NO_TAG: &str = "";
/// Output columns of the plans.
const GROUP: &str = "group";
const VALUE: &str = "value";
/// The exact value of integers that a double may not represent.
const INTEGER: &str = "integer";
const COUNT: &str = "count";
const UNIT: &str = "unit";
/// Maximum bucket width that a request may set. WIRE 3.1.
const INTERVAL_MINUTES_MAX: i64 = 366 * 24 * 60;

/// A validated request.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedRequest {
    /// Time range of the series.
    pub range: Range,
    /// Effective minutes per bucket.
    pub interval_minutes: i64,
    /// One result per query, in this order.
    pub queries: Vec<MetricQuery>,
}

impl CheckedRequest {
    /// Validates a request. Fails with [`QueryError::Malformed`] (400) when it cannot be parsed, and with
    /// [`QueryError::Unprocessable`] (422) when out of bounds. Spec: `/api/metrics/query`, rules 1 to 3.
    pub fn read(request: MetricsRequest, now_ns: i64) -> Result<CheckedRequest, QueryError> {
        if request.queries.is_empty() {
            return Err(QueryError::unprocessable("queries is empty"));
        }
        if request.queries.len() > limits::METRICS_QUERIES_MAX {
            return Err(QueryError::unprocessable(format!("at most {} queries", limits::METRICS_QUERIES_MAX)));
        }
        for query in &request.queries {
            if query.name.is_empty() {
                return Err(QueryError::unprocessable("a query has no metric name"));
            }
            if query.tag_filters.len() > limits::METRICS_TAG_FILTERS_MAX {
                let max = limits::METRICS_TAG_FILTERS_MAX;
                return Err(QueryError::unprocessable(format!("at most {max} tag filters in one query")));
            }
        }
        if request.from.is_empty() || request.to.is_empty() {
            return Err(QueryError::malformed("from and to are RFC 3339 times"));
        }
        let range = Range::read(Some(&request.from), Some(&request.to), now_ns, ["from", "to"])?;
        if range.length() > limits::METRICS_DAYS_MAX * DAY_NS {
            return Err(QueryError::unprocessable(format!("at most {} days", limits::METRICS_DAYS_MAX)));
        }
        if request.interval_minutes.is_some_and(|minutes| minutes > INTERVAL_MINUTES_MAX) {
            return Err(QueryError::unprocessable(format!("intervalMinutes is at most {INTERVAL_MINUTES_MAX}")));
        }
        let interval_minutes = effective_minutes(request.interval_minutes, range, limits::METRICS_POINTS_MAX);
        Ok(CheckedRequest { range, interval_minutes, queries: request.queries })
    }
}

/// `POST /api/metrics/query`.
pub async fn query(
    executor: &Executor,
    project: &Project,
    request: MetricsRequest,
) -> Result<MetricsAnswer, QueryError> {
    let CheckedRequest { range, interval_minutes, queries } =
        CheckedRequest::read(request, executor.context.clock.now_ns())?;
    let mut results = Vec::with_capacity(queries.len());
    for query in queries {
        let buckets = Buckets::over(range, interval_minutes * MINUTE_NS);
        let series = SeriesQuery { project: project.number, range, buckets, interval_minutes, query };
        results.push(series.result(executor).await?);
    }
    Ok(MetricsAnswer { results, interval_minutes })
}

/// The values of a metric in consecutive windows, without those that have none: start of the window, value.
pub async fn in_windows(
    executor: &Executor,
    project: u32,
    query: MetricQuery,
    windows: Windows,
) -> Result<Vec<(i64, f64)>, QueryError> {
    let query = MetricQuery { group_by: None, ..query };
    let Windows { from: origin, width, count } = windows;
    let buckets = Buckets { origin, width, count };
    let series = SeriesQuery { project, range: windows.range(), buckets, interval_minutes: width / MINUTE_NS, query };
    for (names, aggregates) in series.attempts() {
        let found = series.numbers(executor, &names, aggregates, &Filter::True).await?;
        if let Some(numbers) = found.get(ALL) {
            return Ok(numbers.iter().filter_map(|(start, value)| Some((*start, value.as_f64()?))).collect());
        }
    }
    Ok(Vec::new())
}

/// One query of a request.
struct SeriesQuery {
    project: u32,
    range: Range,
    buckets: Buckets,
    interval_minutes: i64,
    query: MetricQuery,
}

impl SeriesQuery {
    async fn result(&self, executor: &Executor) -> Result<MetricResult, QueryError> {
        let Some((groups, truncated_groups)) = self.groups(executor).await? else {
            return Ok(self.finish(String::new(), BTreeMap::new(), false));
        };
        let mut series = BTreeMap::new();
        for (names, aggregates) in self.attempts() {
            series = self.series(executor, &names, aggregates, &groups).await?;
            if !series.is_empty() {
                break;
            }
        }
        let unit = if series.is_empty() { String::new() } else { self.unit(executor).await? };
        Ok(self.finish(unit, series, truncated_groups))
    }

    fn finish(&self, unit: String, series: BTreeMap<String, Vec<ValuePoint>>, truncated_groups: bool) -> MetricResult {
        let (name, interval_minutes) = (self.query.name.clone(), self.interval_minutes);
        MetricResult { name, unit, series, truncated_groups, interval_minutes }
    }

    /// Points of these metrics that pass the query's tag filters.
    fn filter(&self, names: &[String]) -> Filter {
        let tag = |(key, value): (&String, &String)| Filter::Attribute {
            scope: AttributeScope::RecordThenResource,
            key: key.clone(),
            op: Op::Eq,
            value: value.clone(),
        };
        filters::all(std::iter::once(filters::strings("name", names)).chain(self.query.tag_filters.iter().map(tag)))
    }

    /// The metric itself, and for percentiles the metric that carries its buckets.
    fn names(&self) -> Vec<String> {
        let mut names = vec![self.query.name.clone()];
        if is_percentile(self.query.aggregation) {
            names.push(bucket_metric(&self.query.name));
            names.dedup();
        }
        names
    }

    /// The plans to try until one returns points, as metrics and aggregates: percentiles are computed from a
    /// histogram's buckets if there are any.
    fn attempts(&self) -> Vec<(Vec<String>, Vec<Aggregate>)> {
        let own = vec![self.query.name.clone()];
        let percentile = |share: f64| {
            vec![
                (
                    vec![bucket_metric(&self.query.name)],
                    vec![Function::HistogramQuantiles { qs: vec![share] }.named(VALUE)],
                ),
                (own.clone(), vec![Function::Quantiles { column: "value", qs: vec![share] }.named(VALUE)]),
            ]
        };
        let one = |function: Function| vec![(own.clone(), vec![function.named(VALUE)])];
        // The exact value of integers beyond 2^53, and the double that approximates it; see `exact`.
        let two =
            |value: Function, integer: Function| vec![(own.clone(), vec![value.named(VALUE), integer.named(INTEGER)])];
        match self.query.aggregation {
            Aggregation::Avg => {
                vec![(own.clone(), vec![Function::Sum("value").named(VALUE), Function::Count.named(COUNT)])]
            }
            Aggregation::Sum => one(Function::Sum("value")),
            Aggregation::Count => one(Function::Count),
            Aggregation::Min => two(Function::Min("value"), Function::Min("int_value")),
            Aggregation::Max => two(Function::Max("value"), Function::Max("int_value")),
            Aggregation::Last => two(Function::Latest { column: "value" }, Function::Latest { column: "int_value" }),
            Aggregation::Rate => one(Function::Rate),
            Aggregation::P50 => percentile(0.50),
            Aggregation::P95 => percentile(0.95),
            Aggregation::P99 => percentile(0.99),
        }
    }

    fn group_key(&self) -> Option<Key> {
        let key = self.query.group_by.clone().filter(|key| !key.is_empty())?;
        Some(KeySource::Attribute { scope: AttributeScope::RecordThenResource, key }.named(GROUP))
    }

    /// A filter on the groups that are shown, and whether there are more groups. `None` when there are no points.
    async fn groups(&self, executor: &Executor) -> Result<Option<(Filter, bool)>, QueryError> {
        let Some(key) = self.group_key() else { return Ok(Some((Filter::True, false))) };
        let answer = executor.run(self.groups_plan(key.clone())).await?;
        let mut values: Vec<Option<&str>> = answer.rows().map(|row| row.opt_text(GROUP)).collect();
        // Points without the tag form a group. It sorts first here, wherever the store sorts nulls.
        values.sort_unstable();
        if values.is_empty() {
            return Ok(None);
        }
        let is_cut = values.len() > limits::METRICS_GROUPS_MAX;
        if !is_cut {
            return Ok(Some((Filter::True, false)));
        }
        let KeySource::Attribute { scope, key } = key.source else { return Ok(Some((Filter::True, false))) };
        let last = values[limits::METRICS_GROUPS_MAX - 1].unwrap_or(NO_TAG).to_owned();
        // Points without the tag pass "not greater than the last shown".
        let after = Filter::Attribute { scope, key, op: Op::Gt, value: last };
        Ok(Some((filters::not(after), true)))
    }

    fn groups_plan(&self, key: Key) -> Plan {
        plans::ordered_groups(
            Table::MetricPoints,
            &[self.project],
            self.range,
            self.filter(&self.names()),
            vec![key],
            vec![Function::Count.named(COUNT)],
            vec![plans::least(GROUP)],
            // One group beyond the maximum shows that there are more. A second one, since nulls may sort first or last.
            Window::first(limits::METRICS_GROUPS_MAX + 2),
        )
    }

    async fn series(
        &self,
        executor: &Executor,
        names: &[String],
        aggregates: Vec<Aggregate>,
        groups: &Filter,
    ) -> Result<BTreeMap<String, Vec<ValuePoint>>, QueryError> {
        let numbers = self.numbers(executor, names, aggregates, groups).await?;
        let point = |(start, value)| ValuePoint { timestamp: time::to_rfc3339(start), value };
        Ok(numbers.into_iter().map(|(group, points)| (group, points.into_iter().map(point).collect())).collect())
    }

    /// By group, the starts of the buckets and their values.
    async fn numbers(
        &self,
        executor: &Executor,
        names: &[String],
        aggregates: Vec<Aggregate>,
        groups: &Filter,
    ) -> Result<BTreeMap<String, Vec<(i64, Number)>>, QueryError> {
        let buckets = self.buckets;
        // A rate is the difference from the preceding point, which may be in the bucket before the first.
        let lookback = if self.query.aggregation == Aggregation::Rate { buckets.width } else { 0 };
        let range = Range { from: self.range.from.saturating_sub(lookback), ..self.range };
        let mut keys = vec![plans::bucket(&buckets)];
        keys.extend(self.group_key());
        let filter = self.filter(names).and(groups.clone());
        let order = vec![plans::least(plans::BUCKET)];
        let window = Window::first(plans::GROUPS_MAX);
        let plan =
            plans::ordered_groups(Table::MetricPoints, &[self.project], range, filter, keys, aggregates, order, window);
        let answer = executor.run(plan).await?;
        let is_grouped = self.group_key().is_some();
        let mut series: BTreeMap<String, Vec<(i64, Number)>> = BTreeMap::new();
        for row in answer.rows().filter(|row| row.int(plans::BUCKET) >= buckets.origin) {
            let Some(value) = self.value(row) else { continue };
            let group = if is_grouped { row.opt_text(GROUP).unwrap_or(NO_TAG) } else { ALL };
            series.entry(group.to_owned()).or_default().push((row.int(plans::BUCKET), value));
        }
        Ok(series)
    }

    /// The value of a bucket, inverted if the query says so. WIRE 3.1.
    fn value(&self, row: Row<'_>) -> Option<Number> {
        let value = self.aggregate(row)?;
        if self.query.inverted { Number::from_f64(1.0 - value.as_f64()?) } else { Some(value) }
    }

    fn aggregate(&self, row: Row<'_>) -> Option<Number> {
        let double = match self.query.aggregation {
            Aggregation::Avg => row.opt_number(VALUE)? / row.opt_number(COUNT).filter(|count| *count > 0.0)?,
            Aggregation::P50 | Aggregation::P95 | Aggregation::P99 => row.numbers(VALUE)?.first().copied()?,
            Aggregation::Min | Aggregation::Max | Aggregation::Last => {
                return exact(row.opt_number(VALUE)?, row.opt_int(INTEGER));
            }
            _ => row.opt_number(VALUE)?,
        };
        Number::from_f64(double)
    }

    /// The unit of the latest point; `count` for counts, per second for rates.
    async fn unit(&self, executor: &Executor) -> Result<String, QueryError> {
        if self.query.aggregation == Aggregation::Count {
            return Ok("count".to_owned());
        }
        let filter = filters::strings("name", &self.names());
        let aggregates = vec![Function::Latest { column: "unit" }.named(UNIT)];
        let plan = plans::groups(Table::MetricPoints, &[self.project], self.range, filter, vec![], aggregates);
        let answer = executor.run(plan).await?;
        let unit = answer.first().map_or("", |row| row.text(UNIT));
        Ok(match self.query.aggregation {
            Aggregation::Rate => format!("{unit}/s"),
            _ => unit.to_owned(),
        })
    }
}

/// The exact value of an aggregate. `integer`: the same aggregate over the points whose integers a double may not
/// represent. If it rounds to `double`, it is the exact value; otherwise the aggregate is the value of another point.
fn exact(double: f64, integer: Option<i64>) -> Option<Number> {
    match integer {
        Some(integer) if integer as f64 == double => Some(integer.into()),
        _ => Number::from_f64(double),
    }
}

fn is_percentile(aggregation: Aggregation) -> bool {
    matches!(aggregation, Aggregation::P50 | Aggregation::P95 | Aggregation::P99)
}

/// The metric that carries the buckets of a histogram, for any of the histogram's names. DECISIONS 16.
fn bucket_metric(name: &str) -> String {
    let base = name.strip_suffix(".avg").or(name.strip_suffix(".count")).unwrap_or(name);
    format!("{base}.count")
}

#[cfg(test)]
mod tests;
