//! The metrics of a project, and the values of their tags. WIRE 3.1.

use std::collections::{BTreeMap, BTreeSet};

use tidewatch_domain::units::DAY_NS;
use tidewatch_store::plan::{AttributeScope, Filter, Function, Key, KeySource};
use tidewatch_store::tables::Table;

use super::executor::Executor;
use super::filters;
use super::plans::{self, Window};
use super::time::Range;
use super::views::metrics::*;
use crate::error::QueryError;
use tidewatch_accounts::Project;

/// Length of the range when the request has none.
const DEFAULT_RANGE: i64 = 7 * DAY_NS;
const VALUES_MAX: usize = 1000;
/// The tag of the service name.
const SERVER_NAME: &str = "server_name";

/// Output columns of [`metrics`], beside those named as columns of the table.
const TAG_KEYS: &str = "tag_keys";
const POINTS: &str = "points";
/// Points with a service name.
const SERVER_POINTS: &str = "server_points";
/// Output column of [`strings`].
const VALUE: &str = "value";

fn range(executor: &Executor, from: Option<&str>, to: Option<&str>) -> Result<Range, QueryError> {
    Range::read_or(from, to, executor.context.clock.now_ns(), DEFAULT_RANGE, ["from", "to"])
}

#[derive(Default)]
struct MetricSummary {
    tag_keys: BTreeSet<String>,
    kind: i64,
    monotonic: bool,
    unit: String,
    points: u64,
}

/// `GET /api/metrics/discover`.
pub async fn metrics(
    executor: &Executor,
    project: &Project,
    query: DiscoverQuery,
) -> Result<DiscoveredMetrics, QueryError> {
    let range = range(executor, query.from.as_deref(), query.to.as_deref())?;
    let keys = vec![Key::column("name"), KeySource::AttributeKeys.named(TAG_KEYS)];
    let aggregates = vec![
        Function::Count.named(POINTS),
        Function::Latest { column: "metric_kind" }.named("metric_kind"),
        Function::Latest { column: "monotonic" }.named("monotonic"),
        Function::Latest { column: "unit" }.named("unit"),
        Function::Count.named(SERVER_POINTS).only(filters::not(filters::text(SERVER_NAME, ""))),
    ];
    let plan = plans::groups(Table::MetricPoints, &[project.number], range, Filter::True, keys, aggregates);
    let answer = executor.run(plan).await?;
    let mut found: BTreeMap<String, MetricSummary> = BTreeMap::new();
    for row in answer.rows() {
        let metric = found.entry(row.text("name").to_owned()).or_default();
        metric.tag_keys.extend(row.text(TAG_KEYS).split(',').filter(|key| !key.is_empty()).map(str::to_owned));
        if row.count(SERVER_POINTS) > 0 {
            metric.tag_keys.insert(SERVER_NAME.to_owned());
        }
        metric.points += row.count(POINTS);
        metric.kind = row.int("metric_kind");
        metric.monotonic = row.flag("monotonic");
        metric.unit = row.text("unit").to_owned();
    }
    let metrics = found.into_iter().map(|(name, metric)| DiscoveredMetric {
        name,
        tag_keys: metric.tag_keys.into_iter().collect(),
        metric_type: metric_type(metric.kind, metric.monotonic).to_owned(),
        unit: metric.unit,
        point_count: metric.points,
    });
    Ok(DiscoveredMetrics { metrics: metrics.collect() })
}

/// The type of a metric in the API: a sum that is not monotonic is drawn as a gauge.
fn metric_type(kind: i64, monotonic: bool) -> &'static str {
    match kind {
        2 if monotonic => "counter",
        3 | 4 => "histogram",
        _ => "gauge",
    }
}

/// `GET /api/metrics/discover/tags`.
pub async fn tag_values(
    executor: &Executor,
    project: &Project,
    query: TagValuesQuery,
) -> Result<TagValues, QueryError> {
    let range = range(executor, query.from.as_deref(), query.to.as_deref())?;
    let key = KeySource::Attribute { scope: AttributeScope::RecordThenResource, key: query.key };
    let values = strings(executor, project.number, range, filters::text("name", &query.name), key).await?;
    Ok(TagValues { values })
}

/// `GET /api/metrics/discover/instances`.
pub async fn instances(executor: &Executor, project: &Project, query: DiscoverQuery) -> Result<Instances, QueryError> {
    let range = range(executor, query.from.as_deref(), query.to.as_deref())?;
    let instances = strings(executor, project.number, range, Filter::True, KeySource::Column(SERVER_NAME)).await?;
    Ok(Instances { instances })
}

/// The distinct values of a key, ascending, without the empty string.
async fn strings(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    key: KeySource,
) -> Result<Vec<String>, QueryError> {
    let (keys, order) = (vec![key.named(VALUE)], vec![plans::least(VALUE)]);
    let window = Window::first(VALUES_MAX + 1);
    let plan = plans::ordered_groups(Table::MetricPoints, &[project], range, filter, keys, vec![], order, window);
    let answer = executor.run(plan).await?;
    let strings = answer.rows().filter_map(|row| row.opt_text(VALUE)).filter(|text| !text.is_empty());
    Ok(strings.take(VALUES_MAX).map(str::to_owned).collect())
}
