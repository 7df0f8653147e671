//! Which subjects may have changed, and their minutes.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidewatch_domain::changes::{
    Change, Kind, LAST_MINUTES, LOOKED_BACK, Minute, QUANTILES, QUARTER, Quarter, SCREENED, STEPS, Series, Suspicion,
    changes, falls, may_have_changed, may_have_fallen, suspicion,
};
use tidewatch_store::plan::{Aggregate, Filter, Function, Key};
use tidewatch_store::tables::Table;

use crate::answer::{Answer, Column};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans;
use crate::time::{Buckets, MINUTE, Range};
use crate::views::changes::ChangeKind;
use crate::{ai_metrics, filters};
use tidewatch_limits as limits;

/// The tables of subjects.
const TABLES: [Table; 3] = [Table::Endpoints, Table::Tasks, Table::AiTraces];
/// Minutes of all subjects that are read together: their distributions are in memory.
const MINUTES_OF_PLAN: i64 = 192_000;
/// Points of a minute's distribution.
const POINTS: usize = 20;
/// Calls of all buckets below which a subject is quiet: one in two minutes.
const QUIET: f64 = SCREENED as f64 / 2.0;

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
    /// How much its quarters suggest a change.
    suspicion: Suspicion,
}

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

/// The rows of a table that are calls.
pub fn calls(table: Table) -> Filter {
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

/// The columns of an answer: groups by name and bucket.
struct Columns<'a> {
    rows: usize,
    name: Column<'a>,
    bucket: Column<'a>,
    calls: Column<'a>,
    /// `None`: only calls were read.
    details: Option<Details<'a>>,
}

#[derive(Clone, Copy)]
struct Details<'a> {
    failed: Column<'a>,
    weight: Column<'a>,
    durations: Column<'a>,
    /// Stored calls with a cost, their weight, and the weighted sum of their costs; `None`: the table has none.
    costs: Option<[Column<'a>; 3]>,
}

impl<'a> Columns<'a> {
    fn of(answer: &'a Answer, table: Table, look: Look) -> Columns<'a> {
        let column = |name| answer.column(name);
        let details = || Details {
            failed: column(FAILED),
            weight: column(WEIGHT_COLUMN),
            durations: column(DURATIONS),
            costs: (table == Table::AiTraces).then(|| [PRICED, PRICED_WEIGHT, COST].map(column)),
        };
        Columns {
            rows: answer.len(),
            name: column("name"),
            bucket: column(plans::BUCKET),
            calls: column(CALLS_COLUMN),
            details: (look == Look::Everything).then(details),
        }
    }
}

impl<'a> Columns<'a> {
    /// The rows of a name: rows ascend by name.
    fn rows_of(&self, name: &str) -> std::ops::Range<usize> {
        let first = |is_before: fn(&str, &str) -> bool| {
            let (mut low, mut high) = (0, self.rows);
            while low < high {
                let middle = low.midpoint(high);
                if is_before(self.name.text(middle), name) { low = middle + 1 } else { high = middle }
            }
            low
        };
        first(|one, name| one < name)..first(|one, name| one <= name)
    }

    fn minute(&self, row: usize) -> Minute<'a> {
        let calls = self.calls.number(row);
        let Some(details) = self.details else { return Minute { calls, ..Minute::default() } };
        let (priced, cost) = details.costs(row);
        let durations = details.durations.numbers(row).unwrap_or_default();
        Minute { calls, failed: details.failed.number(row), durations, priced, cost }
    }
}

impl Details<'_> {
    /// Stored calls with a cost, and the sum of their costs, US dollars.
    fn costs(&self, row: usize) -> (f64, f64) {
        let Some(costs) = self.costs else { return (0.0, 0.0) };
        let [priced, weight, cost] = costs.map(|column| column.number(row));
        (priced, if weight > 0.0 { cost * priced / weight } else { 0.0 })
    }
}

/// Reads quarters of an hour of all subjects up to the minute `end`.
pub async fn screen(executor: &Executor, project: u32, end: i64) -> Result<Screened, QueryError> {
    let (to, quarter) = (end.saturating_mul(MINUTE), QUARTER * MINUTE);
    let from = to.saturating_sub(SCREENED * MINUTE).div_euclid(quarter).saturating_mul(quarter);
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
        data_since: first.map(|place| starts[place].div_euclid(MINUTE)),
    };
    let is_whole = range.to.rem_euclid(QUARTER * MINUTE) == 0;
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
    let columns = Columns::of(answer, table, Look::Everything);
    let mut names: Vec<(&str, Quarters)> = Vec::new();
    for row in 0..columns.rows {
        let Ok(place) = starts.binary_search(&columns.bucket.int(row)) else { continue };
        let name = columns.name.text(row);
        if names.last().is_none_or(|(last, _)| *last != name) {
            names.push((name, Quarters::new(starts.len())));
        }
        if let Some((_, quarters)) = names.last_mut() {
            quarters.add(place, &columns, row);
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

    fn add(&mut self, place: usize, columns: &Columns<'_>, row: usize) {
        let Some(details) = columns.details else { return };
        self.weight += details.weight.number(row);
        self.first = Some(self.first.map_or(place, |first| first.min(place)));
        let durations = details.durations.numbers(row).unwrap_or_default().as_ref().try_into().unwrap_or_default();
        let (calls, failed) = (columns.calls.number(row), details.failed.number(row));
        let (priced, cost) = details.costs(row);
        self.quarters[place] = Quarter { calls, failed, durations, priced, cost };
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

/// What is read of minutes and judged.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Look {
    Everything,
    /// Calls alone, of subjects whose quarters suggest nothing else: most of a minute's cost is its distribution.
    Traffic,
}

impl Look {
    fn of(subject: &Subject) -> Look {
        if subject.suspicion.risen > 0.0 { Look::Everything } else { Look::Traffic }
    }

    fn aggregates(self, table: Table) -> Vec<Aggregate> {
        match self {
            Look::Everything => {
                aggregates(table, (0..POINTS).map(|point| (point as f64 + 0.5) / POINTS as f64).collect())
            }
            Look::Traffic => vec![Function::Count.named(CALLS_COLUMN)],
        }
    }

    fn may_have_changed(self, series: &Series) -> bool {
        match self {
            Look::Everything => may_have_changed(series),
            Look::Traffic => may_have_fallen(series),
        }
    }

    fn changes(self, series: &Series) -> Vec<Change> {
        match self {
            Look::Everything => changes(series),
            Look::Traffic => falls(series),
        }
    }
}

/// What changed of each subject up to the minute `end`.
pub async fn judged(
    executor: &Executor,
    project: u32,
    subjects: &[Subject],
    end: i64,
) -> Result<Vec<Vec<Change>>, QueryError> {
    let of = async |look: Look| {
        let places: Vec<usize> = (0..subjects.len()).filter(|place| Look::of(&subjects[*place]) == look).collect();
        let some: Vec<&Subject> = places.iter().map(|place| &subjects[*place]).collect();
        let judged = judged_by(look, executor, project, &some, end).await?;
        Ok::<_, QueryError>(places.into_iter().zip(judged).collect::<Vec<_>>())
    };
    let (everything, traffic) = tokio::try_join!(of(Look::Everything), of(Look::Traffic))?;
    let mut judged = vec![Vec::new(); subjects.len()];
    for (place, changes) in everything.into_iter().chain(traffic) {
        judged[place] = changes;
    }
    Ok(judged)
}

/// Days that baselines need are read for subjects only whose last minutes need them.
async fn judged_by(
    look: Look,
    executor: &Executor,
    project: u32,
    subjects: &[&Subject],
    end: i64,
) -> Result<Vec<Vec<Change>>, QueryError> {
    let (first, middle) = (end - STEPS - LOOKED_BACK, end - LAST_MINUTES);
    let last = minutes(look, executor, project, subjects, middle..end).await?;
    let looked_at = in_halves(executor, last, move |last| {
        let may_have_changed = look.may_have_changed(&last.series(middle));
        (may_have_changed, last)
    });
    let looked_at = looked_at.await?;
    let places: Vec<usize> = (0..subjects.len()).filter(|place| looked_at[*place].0).collect();
    let some: Vec<&Subject> = places.iter().map(|place| subjects[*place]).collect();
    let mut whole = minutes(look, executor, project, &some, first..middle).await?;
    let last = looked_at.into_iter().filter_map(|(may_have_changed, last)| may_have_changed.then_some(last));
    whole.iter_mut().zip(last).for_each(|(days, last)| days.0.extend(last.0));
    let changed = in_halves(executor, whole, move |minutes: Minutes| look.changes(&minutes.series(first))).await?;
    let mut judged = vec![Vec::new(); subjects.len()];
    for (place, changes) in places.into_iter().zip(changed) {
        judged[place] = changes;
    }
    Ok(judged)
}

/// Computes on two threads, in the order of `items`.
async fn in_halves<I: Send + 'static, O: Send + 'static>(
    executor: &Executor,
    mut items: Vec<I>,
    compute: impl Fn(I) -> O + Clone + Send + 'static,
) -> Result<Vec<O>, QueryError> {
    let rest = items.split_off(items.len() / 2);
    let of = |items: Vec<I>| {
        let compute = compute.clone();
        executor.context.run_queued(move |_| items.into_iter().map(compute).collect::<Vec<O>>())
    };
    let (mut computed, others) = tokio::try_join!(of(items), of(rest))?;
    computed.extend(others);
    Ok(computed)
}

/// Consecutive minutes of a subject, from one answer after the other.
#[derive(Default)]
struct Minutes(Vec<Piece>);

/// The minutes of a subject in an answer.
struct Piece {
    answer: Answer,
    table: Table,
    look: Look,
    /// Ascending by minute; minutes without calls have none.
    rows: std::ops::Range<usize>,
    minutes: std::ops::Range<i64>,
}

impl Minutes {
    /// The series of the minutes, which begin at `first`. A subject has no windows before its first call.
    fn series(&self, mut first: i64) -> Series {
        let mut minutes = self.0.iter().flat_map(Piece::minutes).peekable();
        while minutes.next_if(|minute| minute.calls == 0.0).is_some() {
            first += 1;
        }
        Series::new(first, minutes)
    }
}

impl Piece {
    fn minutes(&self) -> impl Iterator<Item = Minute<'_>> {
        let columns = Columns::of(&self.answer, self.table, self.look);
        let mut rows = self.rows.clone().peekable();
        self.minutes.clone().map(move |minute| {
            let is_of = |row: &usize| columns.bucket.int(*row).div_euclid(MINUTE) == minute;
            rows.next_if(is_of).map_or_else(Minute::default, |row| columns.minute(row))
        })
    }
}

/// The minutes of `range` of the subjects, in their order.
async fn minutes(
    look: Look,
    executor: &Executor,
    project: u32,
    subjects: &[&Subject],
    range: std::ops::Range<i64>,
) -> Result<Vec<Minutes>, QueryError> {
    let mut found: Vec<Minutes> = subjects.iter().map(|_| Minutes::default()).collect();
    let of_plan = (MINUTES_OF_PLAN / (range.end - range.start).max(1)).max(1) as usize;
    let middle = range.start.midpoint(range.end);
    for table in TABLES {
        let places: Vec<usize> = (0..subjects.len()).filter(|place| subjects[*place].table == table).collect();
        // A plan decodes the cells of every subject of its time: several subjects share it, two plans share the time.
        for places in places.chunks(of_plan) {
            let names: Vec<&str> = places.iter().map(|place| subjects[*place].name.as_str()).collect();
            let of = |minutes| minutes_of(look, executor, project, table, &names, minutes);
            let (early, late) = tokio::try_join!(of(range.start..middle), of(middle..range.end))?;
            for (place, (early, late)) in places.iter().zip(early.into_iter().zip(late)) {
                found[*place] = Minutes(vec![early, late]);
            }
        }
    }
    Ok(found)
}

/// The minutes of names of a table.
async fn minutes_of(
    look: Look,
    executor: &Executor,
    project: u32,
    table: Table,
    names: &[&str],
    minutes: std::ops::Range<i64>,
) -> Result<Vec<Piece>, QueryError> {
    let range = Range { from: minutes.start.saturating_mul(MINUTE), to: minutes.end.saturating_mul(MINUTE) };
    let buckets = Buckets::over(range, MINUTE);
    let keys = vec![Key::column("name"), plans::bucket(&buckets)];
    let filter = calls(table).and(filters::strings("name", names));
    let plan = plans::groups(table, &[project], range, filter, keys, look.aggregates(table));
    let answer = executor.run(plan).await?;
    let columns = Columns::of(&answer, table, look);
    let piece =
        |name| Piece { answer: answer.clone(), table, look, rows: columns.rows_of(name), minutes: minutes.clone() };
    Ok(names.iter().copied().map(piece).collect())
}
