//! The profiles of a selection that count, and with which part. DECISIONS 38.
//!
//! Of a cumulative type the difference to the profile before of the same process counts, of a gauge the latest profile
//! of each process. Of a delta type every profile counts as a whole, and nothing is read here unless a profile has no
//! duration: the type may grow.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range as Span;

use tidewatch_domain::rules::profile_temporality::{Part, Reading, Temporality, is_growing, parts, temporality};
use tidewatch_domain::units::DAY_NS;
use tidewatch_store::plan::{Filter, Function, Key, Value};
use tidewatch_store::tables::Table;

use super::selection::{Facts, Selection};
use crate::answer::{Answer, Row};
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::views::profile::{FirstProfiles, ProfileTemporality};

/// Maximum number of profiles of which differences are made.
const PROFILES_MAX: usize = 100_000;
/// Time before a range in which the profile before the first one is looked for.
const BEFORE_NS: i64 = DAY_NS;
/// With more times than this, the samples of the whole range are read instead of these.
const TIMES_MAX: usize = 1000;

/// A row of the table of profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRow {
    pub service: String,
    pub profile_type: String,
    pub is_gauge: bool,
    pub instance: String,
    pub process: String,
    pub version: String,
    pub reading: Reading,
    /// Number of rows with the same process, time and duration. Their samples cannot be distinguished.
    copies: u32,
}

impl ProfileRow {
    fn of(row: Row<'_>) -> ProfileRow {
        ProfileRow {
            service: row.text("server_name").to_owned(),
            profile_type: row.text("profile_type").to_owned(),
            is_gauge: row.flag("is_gauge"),
            instance: row.text("instance").to_owned(),
            process: row.text("process").to_owned(),
            version: row.text("app_version").to_owned(),
            reading: Reading {
                time_ns: row.int("time"),
                duration_ns: row.int("duration"),
                value: row.int("value"),
                samples: row.int("samples"),
            },
            copies: 1,
        }
    }

    /// Identifies the process. Another version is another process.
    fn process(&self) -> (&str, &str, &str) {
        (&self.instance, &self.process, &self.version)
    }

    fn sort_key(&self) -> ((&str, &str, &str), i64, i64) {
        (self.process(), self.reading.time_ns, self.reading.duration_ns)
    }
}

const COLUMNS: [&str; 10] = [
    "server_name",
    "profile_type",
    "is_gauge",
    "instance",
    "process",
    "app_version",
    "time",
    "duration",
    "value",
    "samples",
];

/// Reads profiles, and the last profile of each process in the time before the range. The second value is whether there
/// are too many, in which case only the newest are read.
pub async fn read(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
) -> Result<(Vec<ProfileRow>, bool), QueryError> {
    let (order, window) = (vec![plans::descending("time")], Window::first(PROFILES_MAX + 1));
    let inside = plans::rows(Table::Profiles, &[project], range, filter.clone(), COLUMNS.to_vec(), order, window);
    let keys = ["server_name", "profile_type", "instance", "process", "app_version"].map(Key::column).to_vec();
    let latest = ["is_gauge", "duration", "value", "samples"].map(|column| Function::Latest { column }.named(column));
    let aggregates = latest.into_iter().chain([Function::Max("time").named("time")]).collect();
    let before = Range { from: range.from.saturating_sub(BEFORE_NS), to: range.from };
    let before = plans::groups(Table::Profiles, &[project], before, filter, keys, aggregates);
    let (inside, before) = tokio::try_join!(executor.run(inside), executor.run(before))?;
    let is_cut = inside.len() > PROFILES_MAX;
    let mut rows: Vec<ProfileRow> = inside.rows().take(PROFILES_MAX).map(ProfileRow::of).collect();
    if !is_cut {
        rows.extend(before.rows().map(ProfileRow::of));
    }
    Ok((rows, is_cut))
}

/// A profile that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedPart {
    /// Index of the profile.
    pub row: usize,
    /// Index of the profile that is subtracted.
    pub less: Option<usize>,
}

/// The profiles of one service and type.
#[derive(Debug, Clone)]
pub struct Counted {
    /// By process, time and duration.
    pub rows: Vec<ProfileRow>,
    /// The rows of each process.
    pub processes: Vec<Span<usize>>,
    /// Those that count. Of a gauge the latest of each process.
    pub parts: Vec<CountedPart>,
    pub first: FirstProfiles,
    pub temporality: Temporality,
    /// Whether each row is in the range and selected.
    is_inside: Vec<bool>,
}

impl Counted {
    /// The profiles of a selection. `None`: all of them count as a whole.
    pub async fn read(
        executor: &Executor,
        selection: &Selection,
        facts: &Facts,
    ) -> Result<Option<Counted>, QueryError> {
        if facts.temporality == Temporality::Delta && facts.duration_min_ns > 0 {
            return Ok(None);
        }
        let (rows, is_cut) = read(executor, selection.project, selection.range, selection.any_version.clone()).await?;
        if is_cut {
            if facts.temporality == Temporality::Delta {
                return Ok(None);
            }
            return Err(QueryError::unprocessable("there are too many profiles to compare; narrow the range"));
        }
        let is_kept = |row: &ProfileRow| selection.app_version.as_ref().is_none_or(|version| *version == row.version);
        let counted = Counted::of(rows, selection.range, is_kept);
        Ok((counted.temporality != Temporality::Delta).then_some(counted))
    }

    /// The profiles of one service and type. Only those that `is_kept` accepts count.
    pub fn of(mut rows: Vec<ProfileRow>, range: Range, is_kept: impl Fn(&ProfileRow) -> bool) -> Counted {
        rows.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()).then(a.reading.value.cmp(&b.reading.value)));
        rows.dedup_by(|next, kept| {
            let is_same = next.sort_key() == kept.sort_key();
            if is_same {
                kept.reading = next.reading;
                kept.copies += 1;
            }
            is_same
        });
        let is_inside: Vec<bool> =
            rows.iter().map(|row| (range.from..range.to).contains(&row.reading.time_ns) && is_kept(row)).collect();
        let mut processes: Vec<Span<usize>> = Vec::new();
        for at in 0..rows.len() {
            match processes.last_mut() {
                Some(last) if rows[last.start].process() == rows[at].process() => last.end = at + 1,
                _ => processes.push(at..at + 1),
            }
        }
        let named = rows.first().map(|row| temporality(&row.profile_type, row.is_gauge));
        let temporality = named.unwrap_or(Temporality::Delta);
        let (parts, first) = (Vec::new(), FirstProfiles::default());
        let mut counted = Counted { rows, processes, parts, first, temporality, is_inside };
        match temporality {
            Temporality::Gauge => counted.count_latest(),
            _ => counted.count_differences(),
        }
        counted
    }

    /// The latest profile of each process, except of those that another process of their instance has replaced.
    fn count_latest(&mut self) {
        let seen = |process: &Span<usize>| {
            let mut inside = process.clone().filter(|at| self.is_inside[*at]);
            let first = inside.next()?;
            Some((first, inside.next_back().unwrap_or(first)))
        };
        let all: Vec<(usize, usize)> = self.processes.iter().filter_map(seen).collect();
        let time = |at: usize| self.rows[at].reading.time_ns;
        let mut last_start: HashMap<&str, i64> = HashMap::new();
        for (first, _) in &all {
            let start = last_start.entry(&self.rows[*first].instance).or_insert(i64::MIN);
            *start = (*start).max(time(*first));
        }
        let is_current = |last: &usize| last_start[self.rows[*last].instance.as_str()] <= time(*last);
        let latest = all.iter().map(|(_, last)| *last).filter(is_current);
        self.parts = latest.map(|row| CountedPart { row, less: None }).collect();
    }

    fn count_differences(&mut self) {
        let mut first = Vec::new();
        for process in &self.processes {
            let readings: Vec<Reading> = self.rows[process.clone()].iter().map(|row| row.reading).collect();
            if is_growing(&readings) {
                self.temporality = Temporality::Cumulative;
            }
            for (row, part) in process.clone().zip(parts(self.temporality_of(process), &readings)) {
                match part {
                    _ if !self.is_inside[row] => {}
                    Part::Whole => self.parts.push(CountedPart { row, less: None }),
                    Part::SinceBefore => self.parts.push(CountedPart { row, less: Some(row - 1) }),
                    Part::Base => first.push(row),
                }
            }
        }
        self.first.profiles = first.len() as u64;
        self.first.value = first.iter().map(|row| self.rows[*row].reading.value as f64).sum();
        if self.total() == 0.0 && !first.is_empty() {
            self.first.are_shown = true;
            self.parts.extend(first.into_iter().map(|row| CountedPart { row, less: None }));
        }
    }

    /// The temporality that the name of the type says, for a process.
    fn temporality_of(&self, process: &Span<usize>) -> Temporality {
        let row = &self.rows[process.start];
        temporality(&row.profile_type, row.is_gauge)
    }

    /// The sum of all parts.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|part| self.value(part, |row| self.rows[row].reading.value as f64)).sum()
    }

    /// The value of a part, of the values of profiles.
    pub fn value(&self, part: &CountedPart, of: impl Fn(usize) -> f64) -> f64 {
        of(part.row) - part.less.map_or(0.0, of)
    }

    /// Number of the profile's parts minus how often it is subtracted; profiles that cancel out are left out.
    pub fn weights(&self) -> HashMap<usize, f64> {
        let mut weights: HashMap<usize, f64> = HashMap::new();
        for part in &self.parts {
            *weights.entry(part.row).or_default() += 1.0;
            if let Some(less) = part.less {
                *weights.entry(less).or_default() -= 1.0;
            }
        }
        weights.retain(|_, weight| *weight != 0.0);
        weights
    }

    /// The rows that are in the range and selected.
    pub fn inside(&self, process: &Span<usize>) -> impl Iterator<Item = usize> {
        process.clone().filter(|at| self.is_inside[*at])
    }

    /// Sums of the selected samples of these profiles, by profile and `keys`, with the number of their rows in `rows`.
    pub async fn samples(
        &self,
        executor: &Executor,
        selection: &Selection,
        profiles: &BTreeSet<usize>,
        keys: Vec<Key>,
    ) -> Result<Answer, QueryError> {
        let times: BTreeSet<i64> = profiles.iter().map(|at| self.rows[*at].reading.time_ns).collect();
        let (from, to) = (times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(0));
        let range = Range { from, to: to.saturating_add(1) };
        let at_times = match times.len() <= TIMES_MAX {
            true => Filter::In { column: "time", values: times.into_iter().map(Value::I64).collect() },
            false => Filter::True,
        };
        let filter = filters::all([selection.any_version.clone(), selection.samples.clone(), at_times]);
        let mut all = ["time", "instance", "process", "app_version", "duration"].map(Key::column).to_vec();
        all.extend(keys);
        let aggregates = vec![Function::Sum("value").named("value"), Function::Count.named("rows")];
        executor.run(plans::groups(Table::ProfileSamples, &[selection.project], range, filter, all, aggregates)).await
    }

    /// Finds the profiles of sums of samples.
    pub fn finder(&self) -> Finder<'_> {
        let mut by_time: HashMap<ProcessTime<'_>, Vec<usize>> = HashMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            by_time.entry((row.process(), row.reading.time_ns)).or_default().push(at);
        }
        Finder { counted: self, by_time }
    }

    /// The temporality, for answers.
    pub fn view(counted: Option<&Counted>, facts: &Facts) -> ProfileTemporality {
        counted.map_or(facts.temporality, |counted| counted.temporality).into()
    }
}

type ProcessTime<'c> = ((&'c str, &'c str, &'c str), i64);

/// See [`Counted::finder`].
pub struct Finder<'c> {
    counted: &'c Counted,
    by_time: HashMap<ProcessTime<'c>, Vec<usize>>,
}

impl Finder<'_> {
    /// The profile of a row of [`Counted::samples`], and the row's value. `None`: it is not one of the selection.
    pub fn find(&self, row: Row<'_>) -> Option<(usize, f64)> {
        let process = (row.text("instance"), row.text("process"), row.text("app_version"));
        let known = self.by_time.get(&(process, row.int("time")))?;
        // Samples of earlier versions have no duration.
        let of_duration = |at: &&usize| {
            row.opt_int("duration").is_none_or(|duration| duration == self.counted.rows[**at].reading.duration_ns)
        };
        let at = *known.iter().find(of_duration)?;
        Some((at, row.number("value") / f64::from(self.counted.rows[at].copies)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A profile: instance, process, version, seconds, duration, value.
    type Sent = (&'static str, &'static str, &'static str, i64, i64, i64);

    fn counted(profile_type: &str, is_gauge: bool, sent: &[Sent]) -> Counted {
        let row = |(instance, process, version, time_ns, duration_ns, value): Sent| ProfileRow {
            service: "shop".to_owned(),
            profile_type: profile_type.to_owned(),
            is_gauge,
            instance: instance.to_owned(),
            process: process.to_owned(),
            version: version.to_owned(),
            reading: Reading { time_ns, duration_ns, value, samples: 1 },
            copies: 1,
        };
        Counted::of(sent.iter().copied().map(row).collect(), Range { from: 100, to: 200 }, |_| true)
    }

    // DECISIONS 38. The order of arrival does not matter: each row is read forwards and backwards.
    #[test]
    fn totals_table() {
        const SPACE: &str = "go:profile_heap:alloc_space";
        const IN_USE: &str = "go:profile_heap:inuse_space";
        for (profile_type, is_gauge, sent, total, first) in [
            (SPACE, false, &[][..], 0, 0),
            // One process.
            (SPACE, false, &[("a", "", "", 100, 0, 5), ("a", "", "", 110, 0, 7), ("a", "", "", 120, 0, 9)], 4, 1),
            // The profile before the range is the base.
            (SPACE, false, &[("a", "", "", 90, 0, 5), ("a", "", "", 110, 0, 7)], 2, 0),
            // Two instances, two processes of one instance, a new version.
            (SPACE, false, &[("a", "", "", 100, 5, 5), ("b", "", "", 100, 5, 6), ("a", "", "", 110, 0, 7)], 13, 0),
            (SPACE, false, &[("a", "1", "", 100, 0, 5), ("a", "2", "", 101, 0, 1), ("a", "1", "", 110, 0, 7)], 2, 2),
            (SPACE, false, &[("a", "", "1", 100, 0, 5), ("a", "", "1", 110, 0, 7), ("a", "", "2", 120, 0, 9)], 2, 2),
            // A restart.
            (SPACE, false, &[("a", "", "", 100, 0, 5), ("a", "", "", 110, 0, 7), ("a", "", "", 120, 0, 3)], 5, 1),
            // The same profile in another body counts once.
            (SPACE, false, &[("a", "", "", 100, 5, 5), ("a", "", "", 100, 5, 5)], 5, 0),
            // No profile differs from the first one.
            (SPACE, false, &[("a", "", "", 100, 0, 5), ("a", "", "", 110, 0, 5)], 5, 1),
            // States: the latest of each instance, also of two processes at once; a replaced process does not count.
            (IN_USE, true, &[("a", "", "", 100, 0, 5), ("a", "", "", 110, 0, 3), ("b", "", "", 100, 0, 4)], 7, 0),
            (IN_USE, true, &[("a", "1", "", 100, 0, 5), ("a", "1", "", 110, 0, 3), ("a", "2", "", 105, 0, 4)], 7, 0),
            (IN_USE, true, &[("a", "1", "", 100, 0, 5), ("a", "2", "", 105, 0, 4)], 4, 0),
            (IN_USE, true, &[("a", "1", "", 90, 0, 5)], 0, 0),
        ] {
            let mut backwards = sent.to_vec();
            backwards.reverse();
            for sent in [sent, &backwards] {
                let counted = counted(profile_type, is_gauge, sent);
                assert_eq!((counted.total(), counted.first.profiles), (f64::from(total), first), "{sent:?}");
            }
        }
    }

    #[test]
    fn profiles_between_the_first_and_the_last_cancel_out() {
        let sent = [("a", "", "", 100, 0, 5), ("a", "", "", 110, 0, 7), ("a", "", "", 120, 0, 9)];
        let weights = counted("go:profile_heap:alloc_space", false, &sent).weights();
        assert_eq!(weights, HashMap::from([(0, -1.0), (2, 1.0)]));
    }
}
