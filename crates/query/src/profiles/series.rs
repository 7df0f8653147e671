//! Series of profiles over time, whole and by version, server or label.

use std::collections::{BTreeMap, HashMap};

use tidewatch_accounts::Project;
use tidewatch_domain::units::{MINUTE_NS, SECOND_NS};
use tidewatch_store::plan::{AttributeScope, Function, Key, KeySource};
use tidewatch_store::tables::Table;

use super::selection::{Facts, Selection, check_label};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::time::{self, Buckets, effective_minutes};
use crate::views::profile::*;

/// Maximum number of points of a series.
const POINTS_MAX: i64 = 2000;
const BREAKDOWN_DEFAULT: usize = 10;
const BREAKDOWN_MAX: usize = 50;
const KEY: &str = "key";
const VALUE: &str = "value";
const PROFILES: &str = "profiles";
const DURATION: &str = "duration";

/// The profiles of one bucket.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    profiles: u64,
    duration_ns: f64,
    value: f64,
}

impl Bucket {
    fn point(self, start: i64, facts: &Facts, normalize: bool) -> ProfilePoint {
        let value = match facts.is_gauge {
            true => self.value / self.profiles.max(1) as f64,
            false if normalize && self.duration_ns > 0.0 => self.value * SECOND_NS as f64 / self.duration_ns,
            false => self.value,
        };
        ProfilePoint { timestamp: time::to_rfc3339(start), value, profile_count: self.profiles }
    }
}

/// Buckets by key and start; without a key, the key is empty.
type Keyed = HashMap<String, BTreeMap<i64, Bucket>>;

fn buckets(selection: &Selection, minutes: Option<i64>) -> Buckets {
    Buckets::over(selection.range, effective_minutes(minutes, selection.range, POINTS_MAX) * MINUTE_NS)
}

/// The selected profiles by bucket and, if given, a column.
async fn of_profiles(
    executor: &Executor,
    selection: &Selection,
    buckets: &Buckets,
    column: Option<&'static str>,
) -> Result<Keyed, QueryError> {
    let mut keys = vec![plans::bucket(buckets)];
    keys.extend(column.map(|column| KeySource::Column(column).named(KEY)));
    let aggregates = vec![
        Function::Count.named(PROFILES),
        Function::Sum("duration").named(DURATION),
        Function::Sum("value").named(VALUE),
    ];
    let filter = selection.profiles.clone();
    let plan = plans::groups(Table::Profiles, &[selection.project], selection.range, filter, keys, aggregates);
    let mut keyed = Keyed::new();
    for row in executor.run(plan).await?.rows() {
        let key = if column.is_some() { row.text(KEY).to_owned() } else { String::new() };
        let bucket =
            Bucket { profiles: row.count(PROFILES), duration_ns: row.number(DURATION), value: row.number(VALUE) };
        keyed.entry(key).or_default().insert(row.int(plans::BUCKET), bucket);
    }
    Ok(keyed)
}

/// The values of the selected samples by bucket and, if given, a key.
async fn of_samples(
    executor: &Executor,
    selection: &Selection,
    buckets: &Buckets,
    key: Option<KeySource>,
) -> Result<HashMap<String, BTreeMap<i64, f64>>, QueryError> {
    let mut keys: Vec<Key> = vec![plans::bucket(buckets)];
    let is_keyed = key.is_some();
    keys.extend(key.map(|source| source.named(KEY)));
    let aggregates = vec![Function::Sum("value").named(VALUE)];
    let (table, filter) = (Table::ProfileSamples, selection.samples());
    let plan = plans::groups(table, &[selection.project], selection.range, filter, keys, aggregates);
    let mut keyed: HashMap<String, BTreeMap<i64, f64>> = HashMap::new();
    for row in executor.run(plan).await?.rows() {
        let key = if is_keyed { row.text(KEY).to_owned() } else { String::new() };
        keyed.entry(key).or_default().insert(row.int(plans::BUCKET), row.number(VALUE));
    }
    Ok(keyed)
}

/// Replaces the values of profiles by those of samples. A key that only samples have, as that of a label, has the
/// profiles of the empty key.
fn with_samples(mut profiles: Keyed, samples: HashMap<String, BTreeMap<i64, f64>>) -> Keyed {
    let all = profiles.get("").cloned().unwrap_or_default();
    let merge = |(key, values): (String, BTreeMap<i64, f64>)| {
        let of_key = profiles.remove(&key).unwrap_or_else(|| all.clone());
        let bucket =
            |(start, value): (i64, f64)| (start, Bucket { value, ..of_key.get(&start).copied().unwrap_or_default() });
        (key, values.into_iter().map(bucket).collect())
    };
    samples.into_iter().map(merge).collect()
}

/// `POST /api/profiles/series`.
pub async fn series(
    executor: &Executor,
    project: &Project,
    request: ProfileSeriesRequest,
) -> Result<ProfileSeries, QueryError> {
    let selection = Selection::read(&request.selection, project, executor.context.clock.now_ns())?;
    let buckets = buckets(&selection, request.interval_minutes);
    let (facts, mut keyed) =
        tokio::try_join!(selection.facts(executor), of_profiles(executor, &selection, &buckets, None))?;
    if selection.is_filtered() {
        keyed = with_samples(keyed, of_samples(executor, &selection, &buckets, None).await?);
    }
    let of_time = keyed.remove("").unwrap_or_default();
    let point = |(start, bucket): (i64, Bucket)| bucket.point(start, &facts, request.normalize);
    Ok(ProfileSeries {
        points: of_time.into_iter().map(point).collect(),
        interval_minutes: buckets.width / MINUTE_NS,
        unit: facts.unit.clone(),
        is_gauge: facts.is_gauge,
    })
}

/// `POST /api/profiles/series/breakdown`.
pub async fn breakdown(
    executor: &Executor,
    project: &Project,
    request: ProfileBreakdownRequest,
) -> Result<ProfileBreakdown, QueryError> {
    let ProfileSeriesRequest { selection, interval_minutes, normalize } = request.series;
    let selection = Selection::read(&selection, project, executor.context.clock.now_ns())?;
    let limit = request.limit.unwrap_or(BREAKDOWN_DEFAULT);
    if !(1..=BREAKDOWN_MAX).contains(&limit) {
        return Err(QueryError::unprocessable(format!("limit is 1 to {BREAKDOWN_MAX}")));
    }
    let column = match (request.dimension.as_str(), request.dimension.strip_prefix("label:")) {
        ("appVersion", _) => Some("app_version"),
        ("serverName", _) => Some("instance"),
        (_, Some(key)) => {
            check_label(key, project)?;
            None
        }
        _ => return Err(QueryError::malformed("dimension is appVersion, serverName, or label: and a key")),
    };
    let buckets = buckets(&selection, interval_minutes);
    let (facts, mut keyed) =
        tokio::try_join!(selection.facts(executor), of_profiles(executor, &selection, &buckets, column))?;
    if column.is_none() || selection.is_filtered() {
        let key = match column {
            Some(column) => KeySource::Column(column),
            None => KeySource::Attribute {
                scope: AttributeScope::Record,
                key: request.dimension.trim_start_matches("label:").to_owned(),
            },
        };
        keyed = with_samples(keyed, of_samples(executor, &selection, &buckets, Some(key)).await?);
    }
    let mut all: Vec<(f64, String, BTreeMap<i64, Bucket>)> = keyed
        .into_iter()
        .map(|(key, of_time)| (of_time.values().map(|bucket| bucket.value).sum(), key, of_time))
        .collect();
    all.sort_by(|(a, one, _), (b, other, _)| b.total_cmp(a).then_with(|| one.cmp(other)));
    let others = all.len().saturating_sub(limit);
    all.truncate(limit);
    let series = |(_, key, of_time): (f64, String, BTreeMap<i64, Bucket>)| ProfileBreakdownSeries {
        key,
        points: of_time.into_iter().map(|(start, bucket)| bucket.point(start, &facts, normalize)).collect(),
    };
    Ok(ProfileBreakdown {
        series: all.into_iter().map(series).collect(),
        others,
        interval_minutes: buckets.width / MINUTE_NS,
        unit: facts.unit.clone(),
        is_gauge: facts.is_gauge,
    })
}
