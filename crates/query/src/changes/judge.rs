//! The second look: what changed, from the minutes of the subjects that may have changed.

use std::ops;

use tidewatch_domain::changes::{
    Change, LAST_MINUTES, LOOKED_BACK, Minute, STEPS, Series, changes, falls, may_have_changed, may_have_fallen,
};
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_store::plan::{Aggregate, Key};
use tidewatch_store::tables::Table;

use super::read::{Columns, Details, Subject, TABLES, aggregates, calls, calls_alone, in_halves};
use crate::answer::Answer;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::{Buckets, Range};
use crate::{filters, plans};

/// Minutes of all subjects that are read together: their distributions are in memory.
const MINUTES_OF_PLAN: i64 = 192_000;
/// Points of a minute's distribution.
const POINTS: usize = 20;

/// Set of measures that is read of minutes.
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
            Look::Traffic => vec![calls_alone()],
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

/// Changes of each subject up to the minute `end`.
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

/// Consecutive minutes of a subject, from one answer after the other.
#[derive(Default)]
struct Minutes(Vec<Piece>);

/// The minutes of a subject in an answer.
struct Piece {
    answer: Answer,
    table: Table,
    look: Look,
    /// Ascending by minute; minutes without calls have none.
    rows: ops::Range<usize>,
    minutes: ops::Range<i64>,
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
    /// The minutes of a name in an answer whose rows ascend by name.
    fn of(answer: &Answer, table: Table, look: Look, name: &str, minutes: ops::Range<i64>) -> Piece {
        let names = Columns::of(answer);
        let first = |is_before: fn(&str, &str) -> bool| {
            let (mut low, mut high) = (0, names.rows);
            while low < high {
                let middle = low.midpoint(high);
                if is_before(names.name.text(middle), name) { low = middle + 1 } else { high = middle }
            }
            low
        };
        let rows = first(|one, name| one < name)..first(|one, name| one <= name);
        Piece { answer: answer.clone(), table, look, rows, minutes }
    }

    fn minutes(&self) -> impl Iterator<Item = Minute<'_>> {
        let columns = Columns::of(&self.answer);
        let details = (self.look == Look::Everything).then(|| Details::of(&self.answer, self.table));
        let of_row = move |row: usize| {
            let calls = columns.calls.number(row);
            let Some(details) = details else { return Minute { calls, ..Minute::default() } };
            let (priced, cost) = details.costs(row);
            let durations = details.durations.numbers(row).unwrap_or_default();
            let (failed, refused) = (details.failed.number(row), details.refused(row));
            Minute { calls, failed, refused, durations, priced, cost }
        };
        let mut rows = self.rows.clone().peekable();
        self.minutes.clone().map(move |minute| {
            let is_of = |row: &usize| columns.bucket.int(*row).div_euclid(MINUTE_NS) == minute;
            rows.next_if(is_of).map_or_else(Minute::default, &of_row)
        })
    }
}

/// The minutes of `range` of the subjects, in their order.
async fn minutes(
    look: Look,
    executor: &Executor,
    project: u32,
    subjects: &[&Subject],
    range: ops::Range<i64>,
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
    minutes: ops::Range<i64>,
) -> Result<Vec<Piece>, QueryError> {
    let range = Range { from: minutes.start.saturating_mul(MINUTE_NS), to: minutes.end.saturating_mul(MINUTE_NS) };
    let buckets = Buckets::over(range, MINUTE_NS);
    let keys = vec![Key::column("name"), plans::bucket(&buckets)];
    let filter = calls(table).and(filters::strings("name", names));
    let plan = plans::groups(table, &[project], range, filter, keys, look.aggregates(table));
    let answer = executor.run(plan).await?;
    let piece = |name: &&str| Piece::of(&answer, table, look, name, minutes.clone());
    Ok(names.iter().map(piece).collect())
}
