//! Which metrics there are, and the values of their tags. WIRE 3.1.

use std::collections::{BTreeMap, BTreeSet};

use tidewatch_store::plan::{AttributeScope, By, Filter, Function, GroupOrder, Key};
use tidewatch_store::tables::Table;

use super::ask::{self, Ask, Window};
use super::filters;
use super::time::{DAY, Range};
use super::views::metrics::*;
use crate::control::Project;
use crate::error::ApiError;

/// Looked at when no range is given.
const DEFAULT_RANGE: i64 = 7 * DAY;
const VALUES_MAX: usize = 1000;
/// The service, as a tag.
const SERVER_NAME: &str = "server_name";

fn range(ask: &Ask, from: Option<&str>, to: Option<&str>) -> Result<Range, ApiError> {
    Range::read_or(from, to, ask.context.clock.now_ns(), DEFAULT_RANGE, ["from", "to"])
}

#[derive(Default)]
struct Found {
    tag_keys: BTreeSet<String>,
    kind: i64,
    monotonic: bool,
    unit: String,
    points: u64,
}

/// `GET /api/metrics/discover`.
pub async fn metrics(ask: &Ask, project: &Project, query: DiscoverQuery) -> Result<DiscoveredMetrics, ApiError> {
    let range = range(ask, query.from.as_deref(), query.to.as_deref())?;
    let keys = vec![Key::Column("name"), Key::AttributeKeys];
    let aggregates = vec![
        ask::plain(Function::Count),
        ask::plain(Function::Latest { column: "metric_kind" }),
        ask::plain(Function::Latest { column: "monotonic" }),
        ask::plain(Function::Latest { column: "unit" }),
        ask::only(Function::Count, filters::not(filters::text(SERVER_NAME, ""))),
    ];
    let plan = ask::groups(Table::MetricPoints, &[project.number], range, Filter::True, keys, aggregates);
    let answer = ask.ask(plan).await?;
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for row in answer.rows() {
        let metric = found.entry(row.text("key0").to_owned()).or_default();
        metric.tag_keys.extend(row.text("key1").split(',').filter(|key| !key.is_empty()).map(str::to_owned));
        if row.count("agg4") > 0 {
            metric.tag_keys.insert(SERVER_NAME.to_owned());
        }
        metric.points += row.count("agg0");
        metric.kind = row.int("agg1");
        metric.monotonic = row.flag("agg2");
        metric.unit = row.text("agg3").to_owned();
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

/// A sum that may fall is a gauge to whoever draws it.
fn metric_type(kind: i64, monotonic: bool) -> &'static str {
    match kind {
        2 if monotonic => "counter",
        3 => "histogram",
        _ => "gauge",
    }
}

/// `GET /api/metrics/discover/tags`.
pub async fn tag_values(ask: &Ask, project: &Project, query: TagValuesQuery) -> Result<TagValues, ApiError> {
    let range = range(ask, query.from.as_deref(), query.to.as_deref())?;
    let key = Key::Attribute { scope: AttributeScope::RecordThenResource, key: query.key };
    let values = texts(ask, project.number, range, filters::text("name", &query.name), key).await?;
    Ok(TagValues { values })
}

/// `GET /api/metrics/discover/instances`.
pub async fn instances(ask: &Ask, project: &Project, query: DiscoverQuery) -> Result<Instances, ApiError> {
    let range = range(ask, query.from.as_deref(), query.to.as_deref())?;
    let instances = texts(ask, project.number, range, Filter::True, Key::Column(SERVER_NAME)).await?;
    Ok(Instances { instances })
}

/// The distinct texts of a key, ascending, without the empty one.
async fn texts(ask: &Ask, project: u32, range: Range, filter: Filter, key: Key) -> Result<Vec<String>, ApiError> {
    let order = vec![GroupOrder { by: By::Key(0), descending: false }];
    let window = Window::first(VALUES_MAX + 1);
    let plan = ask::ordered_groups(Table::MetricPoints, &[project], range, filter, vec![key], vec![], order, window);
    let answer = ask.ask(plan).await?;
    let texts = answer.rows().filter_map(|row| row.opt_text("key0")).filter(|text| !text.is_empty());
    Ok(texts.take(VALUES_MAX).map(str::to_owned).collect())
}
