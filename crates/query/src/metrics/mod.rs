//! `POST /api/metrics/query`: what is asked, within its bounds, and the series that come back. WIRE 3.1.
//!
//! [`Checked::read`] is pure: it turns a request into widths and conditions or says what is wrong with it. Each query is
//! then one Plan, or two when it is grouped: first which groups there are (the first 200 in order of their value), then
//! their series.

use std::collections::BTreeMap;

use serde_json::Number;
use tidewatch_store::plan::{Aggregate, AttributeScope, Filter, Function, Key, KeySource, Op, Plan};
use tidewatch_store::tables::Table;

use super::answer::Row;
use super::ask::{self, Ask, Window};
use super::filters;
use super::time::{self, Buckets, DAY, MINUTE, Range, effective_minutes};
use super::views::metrics::{Aggregation, MetricQuery, MetricResult, MetricsAnswer, MetricsRequest};
use super::views::page::ValuePoint;
use crate::error::QueryError;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// The series of a query without `groupBy`.
pub const ALL: &str = "__all__";
/// The group of points that have no such tag.
const WITHOUT: &str = "";
/// Outputs of the plans.
const GROUP: &str = "group";
const VALUE: &str = "value";
/// The exact value where it is an integer that a double may not hold.
const INTEGER: &str = "integer";
const COUNT: &str = "count";
const UNIT: &str = "unit";
/// Longest bucket that can be asked for. WIRE 3.1.
const INTERVAL_MINUTES_MAX: i64 = 366 * 24 * 60;

/// A request that may be answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub range: Range,
    pub interval_minutes: i64,
    pub queries: Vec<MetricQuery>,
}

impl Checked {
    /// Spec: `/api/metrics/query`, rules 1 to 3. 400 what cannot be read, 422 what is out of bounds.
    pub fn read(request: MetricsRequest, now_ns: i64) -> Result<Checked, QueryError> {
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
        if range.length() > limits::METRICS_DAYS_MAX * DAY {
            return Err(QueryError::unprocessable(format!("at most {} days", limits::METRICS_DAYS_MAX)));
        }
        if request.interval_minutes.is_some_and(|minutes| minutes > INTERVAL_MINUTES_MAX) {
            return Err(QueryError::unprocessable(format!("intervalMinutes is at most {INTERVAL_MINUTES_MAX}")));
        }
        let interval_minutes = effective_minutes(request.interval_minutes, range, limits::METRICS_POINTS_MAX);
        Ok(Checked { range, interval_minutes, queries: request.queries })
    }
}

/// `POST /api/metrics/query`.
pub async fn query(ask: &Ask, project: &Project, request: MetricsRequest) -> Result<MetricsAnswer, QueryError> {
    let Checked { range, interval_minutes, queries } = Checked::read(request, ask.context.clock.now_ns())?;
    let mut results = Vec::with_capacity(queries.len());
    for query in queries {
        let series = Series { project: project.number, range, interval_minutes, query };
        results.push(series.result(ask).await?);
    }
    Ok(MetricsAnswer { results, interval_minutes })
}

/// One query on its way.
struct Series {
    project: u32,
    range: Range,
    interval_minutes: i64,
    query: MetricQuery,
}

impl Series {
    async fn result(&self, ask: &Ask) -> Result<MetricResult, QueryError> {
        let Some((groups, truncated_groups)) = self.groups(ask).await? else {
            return Ok(self.finish(String::new(), BTreeMap::new(), false));
        };
        let mut series = BTreeMap::new();
        for (names, aggregates) in self.attempts() {
            series = self.series(ask, &names, aggregates, &groups).await?;
            if !series.is_empty() {
                break;
            }
        }
        let unit = if series.is_empty() { String::new() } else { self.unit(ask).await? };
        Ok(self.finish(unit, series, truncated_groups))
    }

    fn finish(&self, unit: String, series: BTreeMap<String, Vec<ValuePoint>>, truncated_groups: bool) -> MetricResult {
        let (name, interval_minutes) = (self.query.name.clone(), self.interval_minutes);
        MetricResult { name, unit, series, truncated_groups, interval_minutes }
    }

    /// Points of these metrics with the tags asked for.
    fn filter(&self, names: &[String]) -> Filter {
        let tag = |(key, value): (&String, &String)| Filter::Attribute {
            scope: AttributeScope::RecordThenResource,
            key: key.clone(),
            op: Op::Eq,
            value: value.clone(),
        };
        filters::all(std::iter::once(filters::texts("name", names)).chain(self.query.tag_filters.iter().map(tag)))
    }

    /// The metric itself, and the one that carries its buckets when percentiles are asked for.
    fn names(&self) -> Vec<String> {
        let mut names = vec![self.query.name.clone()];
        if is_percentile(self.query.aggregation) {
            names.push(bucket_metric(&self.query.name));
            names.dedup();
        }
        names
    }

    /// What to ask, in turn, until something answers: percentiles come from a histogram's buckets if there are any.
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
        // The exact value of integers beyond 2^53 beside the double that stands for it, see `exact`.
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

    /// Which groups are shown: a condition on them, and whether there are more. `None` when there is no point at all.
    async fn groups(&self, ask: &Ask) -> Result<Option<(Filter, bool)>, QueryError> {
        let Some(key) = self.group_key() else { return Ok(Some((Filter::True, false))) };
        let answer = ask.ask(self.groups_plan(key.clone())).await?;
        let mut values: Vec<Option<&str>> = answer.rows().map(|row| row.opt_text(GROUP)).collect();
        // Points without the tag are a group too; it sorts first, wherever the store puts nulls.
        values.sort_unstable();
        if values.is_empty() {
            return Ok(None);
        }
        let is_cut = values.len() > limits::METRICS_GROUPS_MAX;
        if !is_cut {
            return Ok(Some((Filter::True, false)));
        }
        let KeySource::Attribute { scope, key } = key.source else { return Ok(Some((Filter::True, false))) };
        let last = values[limits::METRICS_GROUPS_MAX - 1].unwrap_or(WITHOUT).to_owned();
        // "Not after the last one shown" also holds for points without the tag.
        let after = Filter::Attribute { scope, key, op: Op::Gt, value: last };
        Ok(Some((filters::not(after), true)))
    }

    fn groups_plan(&self, key: Key) -> Plan {
        ask::ordered_groups(
            Table::MetricPoints,
            &[self.project],
            self.range,
            self.filter(&self.names()),
            vec![key],
            vec![Function::Count.named(COUNT)],
            vec![ask::least(GROUP)],
            // One more would do to know that there are more, but a null may stand first or last.
            Window::first(limits::METRICS_GROUPS_MAX + 2),
        )
    }

    async fn series(
        &self,
        ask: &Ask,
        names: &[String],
        aggregates: Vec<Aggregate>,
        groups: &Filter,
    ) -> Result<BTreeMap<String, Vec<ValuePoint>>, QueryError> {
        let buckets = Buckets::over(self.range, self.interval_minutes * MINUTE);
        // A rate is a difference to the point before, which may lie in the bucket before the first.
        let look_back = if self.query.aggregation == Aggregation::Rate { buckets.width } else { 0 };
        let range = Range { from: self.range.from.saturating_sub(look_back), ..self.range };
        let mut keys = vec![ask::bucket(&buckets)];
        keys.extend(self.group_key());
        let filter = self.filter(names).and(groups.clone());
        let order = vec![ask::least(ask::BUCKET)];
        let window = Window::first(ask::GROUPS_MAX);
        let plan =
            ask::ordered_groups(Table::MetricPoints, &[self.project], range, filter, keys, aggregates, order, window);
        let answer = ask.ask(plan).await?;
        let is_grouped = self.group_key().is_some();
        let mut series: BTreeMap<String, Vec<ValuePoint>> = BTreeMap::new();
        for row in answer.rows().filter(|row| row.int(ask::BUCKET) >= buckets.origin) {
            let Some(value) = self.value(row) else { continue };
            let group = if is_grouped { row.opt_text(GROUP).unwrap_or(WITHOUT) } else { ALL };
            let point = ValuePoint { timestamp: time::show(row.int(ask::BUCKET)), value };
            series.entry(group.to_owned()).or_default().push(point);
        }
        Ok(series)
    }

    fn value(&self, row: Row<'_>) -> Option<Number> {
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

    /// Of the latest point; `count` for counts, per second for rates.
    async fn unit(&self, ask: &Ask) -> Result<String, QueryError> {
        if self.query.aggregation == Aggregation::Count {
            return Ok("count".to_owned());
        }
        let filter = filters::texts("name", &self.names());
        let aggregates = vec![Function::Latest { column: "unit" }.named(UNIT)];
        let plan = ask::groups(Table::MetricPoints, &[self.project], self.range, filter, vec![], aggregates);
        let answer = ask.ask(plan).await?;
        let unit = answer.first().map_or("", |row| row.text(UNIT));
        Ok(match self.query.aggregation {
            Aggregation::Rate => format!("{unit}/s"),
            _ => unit.to_owned(),
        })
    }
}

/// `integer`: of the points whose integer a double may not hold, the one that the function chose. It is what `double`
/// stands for when it rounds to it; otherwise the function chose another point.
fn exact(double: f64, integer: Option<i64>) -> Option<Number> {
    match integer {
        Some(integer) if integer as f64 == double => Some(integer.into()),
        _ => Number::from_f64(double),
    }
}

fn is_percentile(aggregation: Aggregation) -> bool {
    matches!(aggregation, Aggregation::P50 | Aggregation::P95 | Aggregation::P99)
}

/// Where the buckets of a histogram are, whichever of its names is given. DECISIONS 16.
fn bucket_metric(name: &str) -> String {
    let base = name.strip_suffix(".avg").or(name.strip_suffix(".count")).unwrap_or(name);
    format!("{base}.count")
}

#[cfg(test)]
mod tests;
