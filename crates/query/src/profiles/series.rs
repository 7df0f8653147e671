//! Series of profiles over time, whole and by version, server or label.

use std::collections::{BTreeMap, HashMap};

use tidewatch_accounts::Project;
use tidewatch_domain::rules::profile_temporality::Temporality;
use tidewatch_domain::units::{MINUTE_NS, SECOND_NS};
use tidewatch_store::plan::{AttributeScope, Function, Key, KeySource};
use tidewatch_store::tables::Table;

use super::counted::{Counted, ProfileRow};
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
        let is_rate = normalize && !facts.is_gauge && self.duration_ns > 0.0;
        let value = if is_rate { self.value * SECOND_NS as f64 / self.duration_ns } else { self.value };
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

/// Dimension of a breakdown.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Dimension {
    Version,
    Server,
    Label(String),
}

/// Values of profiles by their index, by key.
type Values = HashMap<String, HashMap<usize, f64>>;

/// The values of profiles that count in part: their own, or of the selected samples.
async fn values(
    executor: &Executor,
    selection: &Selection,
    counted: &Counted,
    dimension: Option<&Dimension>,
) -> Result<Values, QueryError> {
    let key_of = |row: &ProfileRow| match dimension {
        Some(Dimension::Version) => row.version.clone(),
        Some(Dimension::Server) => row.instance.clone(),
        _ => String::new(),
    };
    let label = match dimension {
        Some(Dimension::Label(key)) => Some(key.clone()),
        _ => None,
    };
    let mut values = Values::new();
    if label.is_none() && !selection.is_filtered() {
        for (at, row) in counted.rows.iter().enumerate() {
            values.entry(key_of(row)).or_default().insert(at, row.reading.value as f64);
        }
        return Ok(values);
    }
    let is_by_label = label.is_some();
    let keys = label.map(|key| KeySource::Attribute { scope: AttributeScope::Record, key }.named(KEY));
    let profiles = (0..counted.rows.len()).collect();
    let answer = counted.samples(executor, selection, &profiles, keys.into_iter().collect()).await?;
    let finder = counted.finder();
    for row in answer.rows() {
        let Some((at, value)) = finder.find(row) else { continue };
        let key = if is_by_label { row.text(KEY).to_owned() } else { key_of(&counted.rows[at]) };
        *values.entry(key).or_default().entry(at).or_default() += value;
    }
    Ok(values)
}

/// The buckets of profiles of which differences or the latest count.
fn of_counted(counted: &Counted, values: Values, buckets: &Buckets) -> Keyed {
    let start = |at: usize| {
        let time = counted.rows[at].reading.time_ns;
        time - (time - buckets.origin).rem_euclid(buckets.width)
    };
    let of_key = |(key, values): (String, HashMap<usize, f64>)| {
        let of_time = match counted.temporality {
            Temporality::Gauge => latest(counted, &values, start, buckets.width),
            _ => differences(counted, &values, start),
        };
        (key, of_time)
    };
    values.into_iter().map(of_key).filter(|(_, of_time)| !of_time.is_empty()).collect()
}

fn differences(counted: &Counted, values: &HashMap<usize, f64>, start: impl Fn(usize) -> i64) -> BTreeMap<i64, Bucket> {
    let mut of_time: BTreeMap<i64, Bucket> = BTreeMap::new();
    for part in counted.parts.iter().filter(|part| values.contains_key(&part.row)) {
        let reading = counted.rows[part.row].reading;
        let since = part.less.map(|less| reading.time_ns - counted.rows[less].reading.time_ns);
        let bucket = of_time.entry(start(part.row)).or_default();
        bucket.profiles += 1;
        bucket.duration_ns += since.unwrap_or(reading.duration_ns) as f64;
        bucket.value += counted.value(part, |at| values.get(&at).copied().unwrap_or_default()).max(0.0);
    }
    of_time
}

/// Of each bucket with profiles, the sum of the latest value of each process. A process keeps its value between its
/// first and its last profile.
fn latest(
    counted: &Counted,
    values: &HashMap<usize, f64>,
    start: impl Fn(usize) -> i64,
    width: i64,
) -> BTreeMap<i64, Bucket> {
    let mut of_time: BTreeMap<i64, Bucket> = BTreeMap::new();
    let of_process = |process| counted.inside(process).filter(|at| values.contains_key(at));
    for at in counted.processes.iter().flat_map(of_process) {
        of_time.entry(start(at)).or_default().profiles += 1;
    }
    let starts: Vec<i64> = of_time.keys().copied().collect();
    let mut firsts: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in counted.processes.iter().filter_map(|process| of_process(process).next()) {
        firsts.entry(&counted.rows[at].instance).or_default().push(at);
    }
    let time = |at: usize| counted.rows[at].reading.time_ns;
    // Whether another process of the instance began after this last profile, in the same bucket.
    let is_replaced = |at: usize| {
        firsts[counted.rows[at].instance.as_str()]
            .iter()
            .any(|first| time(*first) > time(at) && start(*first) == start(at))
    };
    for process in &counted.processes {
        let mut rest = of_process(process).peekable();
        let mut current = None;
        for bucket in &starts {
            let mut is_seen = false;
            while let Some(at) = rest.next_if(|at| start(*at) < bucket.saturating_add(width)) {
                (current, is_seen) = (Some(at), true);
            }
            let is_known = rest.peek().is_some() || is_seen && current.is_some_and(|at| !is_replaced(at));
            if let Some(at) = current.filter(|_| is_known)
                && let Some(bucket) = of_time.get_mut(bucket)
            {
                bucket.value += values[&at];
            }
        }
    }
    of_time
}

/// `POST /api/profiles/series`.
pub async fn series(
    executor: &Executor,
    project: &Project,
    request: ProfileSeriesRequest,
) -> Result<ProfileSeries, QueryError> {
    let selection = Selection::read(&request.selection, project, executor.context.clock.now_ns())?;
    let buckets = buckets(&selection, request.interval_minutes);
    let facts = selection.facts(executor).await?;
    let counted = Counted::read(executor, &selection, &facts).await?;
    let mut keyed = match &counted {
        Some(counted) => of_counted(counted, values(executor, &selection, counted, None).await?, &buckets),
        None => of_profiles(executor, &selection, &buckets, None).await?,
    };
    if selection.is_filtered() && counted.is_none() {
        keyed = with_samples(keyed, of_samples(executor, &selection, &buckets, None).await?);
    }
    let of_time = keyed.remove("").unwrap_or_default();
    let point = |(start, bucket): (i64, Bucket)| bucket.point(start, &facts, request.normalize);
    Ok(ProfileSeries {
        points: of_time.into_iter().map(point).collect(),
        interval_minutes: buckets.width / MINUTE_NS,
        unit: facts.unit.clone(),
        is_gauge: facts.is_gauge,
        temporality: Counted::view(counted.as_ref(), &facts),
        first_profiles: counted.map(|counted| counted.first).unwrap_or_default(),
    })
}

/// The buckets of each key of a dimension, of profiles that all count as a whole.
async fn of_dimension(
    executor: &Executor,
    selection: &Selection,
    buckets: &Buckets,
    dimension: Dimension,
) -> Result<Keyed, QueryError> {
    let (column, source) = match dimension {
        Dimension::Version => (Some("app_version"), KeySource::Column("app_version")),
        Dimension::Server => (Some("instance"), KeySource::Column("instance")),
        Dimension::Label(key) => (None, KeySource::Attribute { scope: AttributeScope::Record, key }),
    };
    let keyed = of_profiles(executor, selection, buckets, column).await?;
    match column {
        Some(_) if !selection.is_filtered() => Ok(keyed),
        _ => Ok(with_samples(keyed, of_samples(executor, selection, buckets, Some(source)).await?)),
    }
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
    let dimension = match (request.dimension.as_str(), request.dimension.strip_prefix("label:")) {
        ("appVersion", _) => Dimension::Version,
        ("serverName", _) => Dimension::Server,
        (_, Some(key)) => {
            check_label(key, project)?;
            Dimension::Label(key.to_owned())
        }
        _ => return Err(QueryError::malformed("dimension is appVersion, serverName, or label: and a key")),
    };
    let buckets = buckets(&selection, interval_minutes);
    let facts = selection.facts(executor).await?;
    let counted = Counted::read(executor, &selection, &facts).await?;
    let keyed = match &counted {
        Some(counted) => of_counted(counted, values(executor, &selection, counted, Some(&dimension)).await?, &buckets),
        None => of_dimension(executor, &selection, &buckets, dimension).await?,
    };
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
        temporality: Counted::view(counted.as_ref(), &facts),
        first_profiles: counted.map(|counted| counted.first).unwrap_or_default(),
    })
}
