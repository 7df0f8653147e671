//! The first look: which subjects may have changed, from quarters of an hour of all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidewatch_domain::changes::{QUANTILES, QUARTER, Quarter, SCREENED, suspicion};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_limits as limits;
use tidewatch_store::plan::Key;
use tidewatch_store::tables::Table;

use super::read::{Columns, Details, Subject, TABLES, aggregates, calls, in_halves};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::time::{Buckets, Range};

/// Calls of all buckets below which a subject is quiet: one in two minutes.
const QUIET: f64 = SCREENED as f64 / 2.0;

/// The result of the first look.
#[derive(Debug, Clone, PartialEq)]
pub struct Screened {
    /// The most suspicious ones, at most [`limits::CHANGED_SUBJECTS_MAX`].
    pub subjects: Vec<Subject>,
    /// All subjects with rows.
    pub checked: u64,
    /// Those with few rows.
    pub quiet: u64,
    /// The first bucket with rows, minutes since the epoch; `None` without rows.
    pub data_since: Option<i64>,
}

/// Reads quarters of an hour of all subjects up to the minute `end`.
pub async fn screen(executor: &Executor, project: u32, end: i64) -> Result<Screened, QueryError> {
    let (to, quarter) = (end.saturating_mul(MINUTE_NS), QUARTER * MINUTE_NS);
    let from = to.saturating_sub(SCREENED * MINUTE_NS).div_euclid(quarter).saturating_mul(quarter);
    let buckets = Buckets::over(Range { from, to }, quarter);
    let of = |table| screen_table(executor, project, table, Range { from, to }, buckets);
    let [endpoints, tasks, ai_traces] = TABLES.map(of);
    let (mut screened, tasks, ai_traces) = tokio::try_join!(endpoints, tasks, ai_traces)?;
    for other in [tasks, ai_traces] {
        screened.subjects.extend(other.subjects);
        screened.checked += other.checked;
        screened.quiet += other.quiet;
        screened.data_since = screened.data_since.into_iter().chain(other.data_since).min();
    }
    let most = |one: &Subject, other: &Subject| other.suspicion.worst().total_cmp(&one.suspicion.worst());
    screened.subjects.sort_by(|one, other| most(one, other).then_with(|| one.name.cmp(&other.name)));
    screened.subjects.truncate(limits::CHANGED_SUBJECTS_MAX);
    Ok(screened)
}

async fn screen_table(
    executor: &Executor,
    project: u32,
    table: Table,
    range: Range,
    buckets: Buckets,
) -> Result<Screened, QueryError> {
    let starts: Arc<[i64]> = buckets.starts().collect();
    let of = async |range| {
        let keys = vec![Key::column("name"), plans::bucket(&buckets)];
        let plan = plans::groups(table, &[project], range, calls(table), keys, aggregates(table, QUANTILES.to_vec()));
        let (answer, starts) = (executor.run(plan).await?, Arc::clone(&starts));
        executor.context.run_queued(move |_| quarters_of(table, &answer, &starts)).await
    };
    let middle = starts.get(starts.len() / 2).copied().unwrap_or(range.to);
    let (mut names, late) =
        tokio::try_join!(of(Range { from: range.from, to: middle }), of(Range { from: middle, to: range.to }))?;
    for (name, late) in late {
        names.entry(name).or_insert_with(|| Quarters::new(starts.len())).merge(late);
    }
    let first = names.values().filter_map(|quarters| quarters.first).min();
    let mut screened = Screened {
        subjects: Vec::new(),
        checked: names.len() as u64,
        quiet: names.values().filter(|quarters| quarters.calls() < QUIET).count() as u64,
        data_since: first.map(|place| starts[place].div_euclid(MINUTE_NS)),
    };
    let is_whole = range.to.rem_euclid(QUARTER * MINUTE_NS) == 0;
    let suspected = in_halves(executor, names.into_iter().collect(), move |(name, quarters)| {
        let weight = quarters.weight / quarters.calls().max(1.0);
        Subject { table, name, weight, suspicion: suspicion(&quarters.quarters, is_whole) }
    });
    screened.subjects = suspected.await?;
    screened.subjects.retain(|subject| subject.suspicion.worst() > 0.0);
    Ok(screened)
}

/// The quarters of all names, from rows that ascend by name.
fn quarters_of(table: Table, answer: &Answer, starts: &[i64]) -> BTreeMap<String, Quarters> {
    let (columns, details) = (Columns::of(answer), Details::of(answer, table));
    let mut names: Vec<(&str, Quarters)> = Vec::new();
    for row in 0..columns.rows {
        let Ok(place) = starts.binary_search(&columns.bucket.int(row)) else { continue };
        let name = columns.name.text(row);
        if names.last().is_none_or(|(last, _)| *last != name) {
            names.push((name, Quarters::new(starts.len())));
        }
        if let Some((_, quarters)) = names.last_mut() {
            quarters.add(place, &columns, &details, row);
        }
    }
    names.into_iter().map(|(name, quarters)| (name.to_owned(), quarters)).collect()
}

/// The quarters of a name.
struct Quarters {
    /// Calls that all stored rows stand for.
    weight: f64,
    /// The place of the first quarter with rows.
    first: Option<usize>,
    quarters: Vec<Quarter>,
}

impl Quarters {
    fn new(length: usize) -> Quarters {
        Quarters { weight: 0.0, first: None, quarters: vec![Quarter::default(); length] }
    }

    fn add(&mut self, place: usize, columns: &Columns<'_>, details: &Details<'_>, row: usize) {
        self.weight += details.weight.number(row);
        self.first = Some(self.first.map_or(place, |first| first.min(place)));
        let durations = details.durations.numbers(row).unwrap_or_default().as_ref().try_into().unwrap_or_default();
        let (calls, failed) = (columns.calls.number(row), details.failed.number(row));
        let (refused, (priced, cost)) = (details.refused(row), details.costs(row));
        self.quarters[place] = Quarter { calls, failed, refused, durations, priced, cost };
    }

    /// Adds those of later times.
    fn merge(&mut self, late: Quarters) {
        self.weight += late.weight;
        self.first = self.first.or(late.first);
        let with_calls = late.quarters.into_iter().zip(&mut self.quarters).filter(|(late, _)| late.calls > 0.0);
        with_calls.for_each(|(late, quarter)| *quarter = late);
    }

    fn calls(&self) -> f64 {
        self.quarters.iter().map(|quarter| quarter.calls).sum()
    }
}
