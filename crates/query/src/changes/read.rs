//! Which subjects may have changed, and their minutes.

use std::collections::BTreeMap;

use tidewatch_domain::changes::{Change, Kind, LOOKED_BACK, Minute, STEPS, Series};
use tidewatch_store::plan::{Aggregate, Filter, Function, Key};
use tidewatch_store::tables::Table;

use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::time::{Buckets, HOUR, MINUTE, Range};
use crate::views::changes::ChangeKind;
use crate::{ai_metrics, filters};
use tidewatch_limits as limits;

/// Minutes of a bucket of the first look.
const QUARTER: i64 = 15 * MINUTE;
/// Points of a minute's distribution.
const POINTS: usize = 20;
/// Calls of a bucket from which on its durations and errors are compared.
const CALLS: f64 = 6.0;
/// Calls of all buckets below which a subject is quiet: one in two minutes.
const QUIET: f64 = 720.0;

/// Output columns of the plans.
const CALLS_COLUMN: &str = "calls";
const FAILED: &str = "failed";
const WEIGHT_COLUMN: &str = "weights";
const DURATIONS: &str = "durations";
const PRICED: &str = "priced";
const PRICED_WEIGHT: &str = "priced_weight";
const COST: &str = "cost";

/// A subject that may have changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// Its table.
    pub table: Table,
    /// Its name.
    pub name: String,
    /// Calls that a stored row stands for.
    weight: f64,
    /// How much its buckets differ; only orders subjects.
    difference: f64,
}

/// The result of the first look.
#[derive(Debug, Clone, PartialEq)]
pub struct Screened {
    /// Those that differ most, at most [`limits::CHANGED_SUBJECTS_MAX`].
    pub subjects: Vec<Subject>,
    /// All subjects with rows.
    pub checked: u64,
    /// Those with few rows.
    pub quiet: u64,
    /// The first bucket with rows, minutes since the epoch; `None` without rows.
    pub data_since: Option<i64>,
}

impl Subject {
    /// The kind of the subject in responses.
    pub fn kind(&self) -> ChangeKind {
        match self.table {
            Table::Tasks => ChangeKind::Task,
            Table::AiTraces => ChangeKind::AiTrace,
            _ => ChangeKind::Endpoint,
        }
    }

    /// Its rows.
    pub fn rows(&self) -> Filter {
        calls(self.table).and(filters::text("name", &self.name))
    }

    /// The change in calls instead of stored rows.
    pub fn scaled(&self, change: &Change) -> Change {
        let mut scaled = change.clone();
        (scaled.harm, scaled.calls_an_hour) = (change.harm * self.weight, change.calls_an_hour * self.weight);
        if change.kind == Kind::Fewer {
            (scaled.before, scaled.after) = (change.before * self.weight, change.after * self.weight);
        }
        scaled
    }
}

fn calls(table: Table) -> Filter {
    if table == Table::AiTraces { ai_metrics::model_calls() } else { Filter::True }
}

/// Durations of streams say how long clients stay.
fn timed(table: Table) -> Filter {
    if table == Table::AiTraces { Filter::True } else { filters::is_not("is_stream") }
}

fn aggregates(table: Table, qs: Vec<f64>) -> Vec<Aggregate> {
    let mut aggregates = vec![
        Function::Count.named(CALLS_COLUMN),
        Function::Count.named(FAILED).only(filters::is("is_error")),
        Function::Weight.named(WEIGHT_COLUMN),
        Function::Quantiles { column: "duration", qs }.named(DURATIONS).only(timed(table)),
    ];
    if table == Table::AiTraces {
        let priced = || filters::not(Filter::IsNull { column: "total_cost" });
        aggregates.extend([
            Function::Count.named(PRICED).only(priced()),
            Function::Weight.named(PRICED_WEIGHT).only(priced()),
            Function::Sum("total_cost").named(COST).only(priced()),
        ]);
    }
    aggregates
}

/// Stored calls with a cost, and the sum of their costs, US dollars.
fn costs(table: Table, row: Row<'_>) -> (f64, f64) {
    if table != Table::AiTraces {
        return (0.0, 0.0);
    }
    let (priced, weight) = (row.number(PRICED), row.number(PRICED_WEIGHT));
    (priced, if weight > 0.0 { row.number(COST) * priced / weight } else { 0.0 })
}

/// Calls, failed calls, P50 and P90 of a bucket.
#[derive(Default, Clone, Copy)]
struct Quarter {
    calls: f64,
    failed: f64,
    p50: f64,
    p90: f64,
    priced: f64,
    cost: f64,
}

/// Reads quarters of an hour of all subjects up to the minute `end`.
pub async fn screen(executor: &Executor, project: u32, end: i64) -> Result<Screened, QueryError> {
    let to = end.saturating_mul(MINUTE);
    let from = to.saturating_sub(STEPS * MINUTE + 2 * HOUR);
    let range = Range { from: from.div_euclid(QUARTER).saturating_mul(QUARTER), to };
    let buckets = Buckets::over(range, QUARTER);
    let mut screened = Screened { subjects: Vec::new(), checked: 0, quiet: 0, data_since: None };
    for table in [Table::Endpoints, Table::Tasks, Table::AiTraces] {
        let keys = vec![Key::column("name"), plans::bucket(&buckets)];
        let plan = plans::groups(table, &[project], range, calls(table), keys, aggregates(table, vec![0.5, 0.9]));
        let answer = executor.run(plan).await?;
        let mut names: BTreeMap<&str, (f64, BTreeMap<i64, Quarter>)> = BTreeMap::new();
        for row in answer.rows() {
            let durations = row.numbers(DURATIONS).unwrap_or_default();
            let at = |index: usize| durations.get(index).copied().unwrap_or(0.0);
            let (calls, failed) = (row.number(CALLS_COLUMN), row.number(FAILED));
            let (weight, quarters) = names.entry(row.text("name")).or_default();
            *weight += row.number(WEIGHT_COLUMN);
            let start = row.int(plans::BUCKET);
            let (priced, cost) = costs(table, row);
            quarters.insert(start, Quarter { calls, failed, p50: at(0), p90: at(1), priced, cost });
            let minute = start.div_euclid(MINUTE);
            screened.data_since = Some(screened.data_since.map_or(minute, |since| since.min(minute)));
        }
        for (name, (weight, quarters)) in names {
            let calls: f64 = quarters.values().map(|quarter| quarter.calls).sum();
            screened.checked += 1;
            screened.quiet += u64::from(calls < QUIET);
            let starts: Vec<i64> = buckets.starts().collect();
            let difference = difference(&starts, &quarters, calls);
            if difference > 0.0 {
                let weight = weight / calls.max(1.0);
                screened.subjects.push(Subject { table, name: name.to_owned(), weight, difference });
            }
        }
    }
    let by_difference = |one: &Subject, other: &Subject| other.difference.total_cmp(&one.difference);
    screened.subjects.sort_by(|one, other| by_difference(one, other).then_with(|| one.name.cmp(&other.name)));
    screened.subjects.truncate(limits::CHANGED_SUBJECTS_MAX);
    Ok(screened)
}

/// How far the worst bucket is from the better quarter of all; 0 when every bucket is near.
fn difference(starts: &[i64], quarters: &BTreeMap<i64, Quarter>, calls: f64) -> f64 {
    let known: Vec<&Quarter> = quarters.values().filter(|quarter| quarter.calls >= CALLS).collect();
    let low = |value: fn(&Quarter) -> f64| {
        let mut values: Vec<f64> = known.iter().map(|quarter| value(quarter)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 4).copied().unwrap_or(0.0)
    };
    let (p50, p90, share) =
        (low(|quarter| quarter.p50), low(|quarter| quarter.p90), low(|quarter| quarter.failed / quarter.calls));
    let price = |quarter: &Quarter| if quarter.priced > 0.0 { quarter.cost / quarter.priced } else { 0.0 };
    let cost = low(price);
    let mut worst = 0.0_f64;
    for quarter in &known {
        let root = quarter.calls.sqrt();
        for (value, usual, least) in [(quarter.p50, p50, 1.1), (quarter.p90, p90, 1.1), (price(quarter), cost, 1.1)] {
            if usual > 0.0 && value >= least * usual {
                worst = worst.max((value / usual).ln() * root);
            }
        }
        let added = quarter.failed - quarter.calls * share;
        if quarter.failed >= 2.0 && added >= 0.003 * quarter.calls {
            worst = worst.max(added / (quarter.calls * share + 1.0).sqrt());
        }
    }
    // Buckets before the first row of a young subject are no drop.
    let since = quarters.keys().next().copied().unwrap_or(0);
    let all: Vec<f64> = starts
        .iter()
        .filter(|start| **start >= since)
        .map(|start| quarters.get(start).map_or(0.0, |quarter| quarter.calls))
        .collect();
    let mean = calls / all.len().max(1) as f64;
    let hours = all.windows(4).map(|four| four.iter().sum::<f64>());
    let least = hours.fold(f64::INFINITY, f64::min);
    if mean * 4.0 >= 15.0 && least <= 0.7 * mean * 4.0 {
        worst = worst.max((mean * 4.0 - least) / (mean * 4.0).sqrt() / 3.0);
    }
    worst
}

/// The minutes of a subject up to `end`, with the days that its baselines need.
pub async fn series(executor: &Executor, project: u32, subject: &Subject, end: i64) -> Result<Series, QueryError> {
    let first = end - STEPS - LOOKED_BACK;
    let range = Range { from: first.saturating_mul(MINUTE), to: end.saturating_mul(MINUTE) };
    let buckets = Buckets::over(range, MINUTE);
    let qs = (0..POINTS).map(|point| (point as f64 + 0.5) / POINTS as f64).collect();
    let keys = vec![plans::bucket(&buckets)];
    let plan = plans::groups(subject.table, &[project], range, subject.rows(), keys, aggregates(subject.table, qs));
    let answer = executor.run(plan).await?;
    let mut minutes = vec![Minute::default(); (end - first).max(0) as usize];
    let mut earliest = minutes.len();
    for row in answer.rows() {
        let index = (row.int(plans::BUCKET).div_euclid(MINUTE) - first) as usize;
        let Some(minute) = minutes.get_mut(index) else { continue };
        let (priced, cost) = costs(subject.table, row);
        *minute = Minute {
            calls: row.number(CALLS_COLUMN),
            failed: row.number(FAILED),
            durations: row.numbers(DURATIONS).unwrap_or_default(),
            priced,
            cost,
        };
        earliest = earliest.min(index);
    }
    // A subject has no windows before its first call.
    Ok(Series::new(first + earliest as i64, minutes.split_off(earliest)))
}
