//! Aggregate states: what is kept per group and measure while rows are read.
//!
//! Merging the states of several threads gives the same state, whichever rows each thread read: sums carry extra
//! digits, ties between equal times are broken by value, samples and points are sorted at the end.

mod counters;
mod distribution;
pub(crate) mod finish;
mod histograms;
mod selected;
mod total;

use std::cmp::Ordering;

use arrow::array::RecordBatch;
use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_128;

use crate::batch::cells::{Cells, cells, times};
use crate::batch::datum::Datum;
use crate::batch::places::find;
use counters::Counters;
use histograms::Histograms;
pub(crate) use selected::Selected;
use tidewatch_store::StoreError;
use tidewatch_store::plan::Function;
use tidewatch_store::rollup::samples::Samples;
use tidewatch_store::rollup::sketch::Sketch;
use tidewatch_store::tables::{Column, Table};
use total::Total;

/// Values that an aggregate collects. Aggregates that differ only in [`finish::Finish`] share a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measure {
    Count,
    Weight { weighted: bool },
    Sum { column: &'static Column, weighted: bool },
    Extreme { column: &'static Column, wanted: Ordering },
    AtTime { column: &'static Column, wanted: Ordering },
    Samples { column: &'static Column, weighted: bool },
    Distinct { column: &'static Column },
    Counters,
    Histograms,
}

impl Measure {
    /// The measure of a checked function.
    pub fn of(table: Table, function: &Function) -> Result<Measure, StoreError> {
        let column = |name: &str| find(table, name).map(|(_, column)| column);
        let weighted = table.column("weight").is_some();
        Ok(match function {
            Function::Count => Measure::Count,
            Function::Weight => Measure::Weight { weighted },
            Function::Sum(name) => Measure::Sum { column: column(name)?, weighted },
            Function::Min(name) => Measure::Extreme { column: column(name)?, wanted: Ordering::Less },
            Function::Max(name) => Measure::Extreme { column: column(name)?, wanted: Ordering::Greater },
            Function::Quantiles { column: name, .. } => Measure::Samples { column: column(name)?, weighted },
            Function::Latest { column: name } => Measure::AtTime { column: column(name)?, wanted: Ordering::Greater },
            Function::Earliest { column: name } => Measure::AtTime { column: column(name)?, wanted: Ordering::Less },
            Function::Distinct(name) => Measure::Distinct { column: column(name)? },
            Function::Rate => Measure::Counters,
            Function::HistogramQuantiles { .. } => Measure::Histograms,
        })
    }

    /// Calls `add` with the columns that the measure reads.
    pub fn columns(self, add: &mut dyn FnMut(&'static str)) {
        let mut with_weight = |name, weighted| {
            add(name);
            if weighted {
                add("weight");
            }
        };
        match self {
            Measure::Count | Measure::Weight { weighted: false } => {}
            Measure::Weight { weighted: true } => add("weight"),
            Measure::Sum { column, weighted } | Measure::Samples { column, weighted } => {
                with_weight(column.name, weighted);
            }
            Measure::Extreme { column, .. } | Measure::Distinct { column } => add(column.name),
            Measure::AtTime { column, .. } => ["time", column.name].into_iter().for_each(add),
            Measure::Counters => ["project", "time", "value", "series", "temporality"].into_iter().for_each(add),
            Measure::Histograms => {
                ["project", "time", "series", "temporality", "bounds", "buckets"].into_iter().for_each(add);
            }
        }
    }
}

/// The state of one measure, by group.
#[derive(Debug)]
pub(crate) enum State {
    Counts(Vec<u64>),
    Totals(Vec<Total>),
    Extremes {
        values: Vec<Option<Datum>>,
        bytes: usize,
    },
    AtTimes {
        values: Vec<Option<(i64, Datum)>>,
        bytes: usize,
    },
    Samples {
        groups: Vec<Samples>,
        count: usize,
    },
    /// Replaces `Samples` when cells of roll-ups are read too.
    Sketches(Vec<Sketch>),
    /// Group and 128-bit hash of the value; collisions are neglected.
    Distinct(HashSet<(u32, u128)>),
    Counters(Counters),
    Histograms(Histograms),
}

impl State {
    /// A state for rows.
    pub fn new(measure: Measure) -> State {
        match measure {
            Measure::Count => State::Counts(Vec::new()),
            Measure::Weight { .. } | Measure::Sum { .. } => State::Totals(Vec::new()),
            Measure::Extreme { .. } => State::Extremes { values: Vec::new(), bytes: 0 },
            Measure::AtTime { .. } => State::AtTimes { values: Vec::new(), bytes: 0 },
            Measure::Samples { .. } => State::Samples { groups: Vec::new(), count: 0 },
            Measure::Distinct { .. } => State::Distinct(HashSet::new()),
            Measure::Counters => State::Counters(Counters::default()),
            Measure::Histograms => State::Histograms(Histograms::default()),
        }
    }

    /// A state for rows and cells of roll-ups.
    pub fn for_rollups(measure: Measure) -> State {
        match measure {
            Measure::Samples { .. } => State::Sketches(Vec::new()),
            measure => State::new(measure),
        }
    }

    /// Makes room for `groups` groups.
    pub fn grow(&mut self, groups: usize) {
        match self {
            State::Counts(counts) => counts.resize(groups, 0),
            State::Totals(totals) => totals.resize(groups, Total::default()),
            State::Extremes { values, .. } => values.resize(groups, None),
            State::AtTimes { values, .. } => values.resize(groups, None),
            State::Samples { groups: samples, .. } => samples.resize_with(groups, Samples::default),
            State::Sketches(sketches) => sketches.resize_with(groups, Sketch::default),
            State::Distinct(_) | State::Counters(_) | State::Histograms(_) => {}
        }
    }

    /// Approximate heap bytes.
    pub fn bytes(&self) -> usize {
        match self {
            State::Counts(counts) => counts.len() * 8,
            State::Totals(totals) => totals.len() * size_of::<Total>(),
            State::Extremes { values, bytes } => values.len() * size_of::<Option<Datum>>() + bytes,
            State::AtTimes { values, bytes } => values.len() * size_of::<Option<(i64, Datum)>>() + bytes,
            State::Samples { groups, count } => groups.len() * size_of::<Samples>() + count * 16,
            State::Sketches(sketches) => {
                sketches.iter().map(|sketch| size_of::<Sketch>() + sketch.bytes()).sum::<usize>()
            }
            State::Distinct(set) => set.capacity() * 36,
            State::Counters(counters) => counters.bytes(),
            State::Histograms(histograms) => histograms.bytes(),
        }
    }

    /// Adds the selected rows of a batch.
    pub fn update(&mut self, measure: Measure, batch: &RecordBatch, selected: &Selected<'_>) -> Result<(), StoreError> {
        match (self, measure) {
            (State::Counts(counts), _) => selected.each(|_, group| counts[group as usize] += 1),
            (State::Totals(totals), Measure::Weight { weighted }) => {
                let weights = weights(batch, weighted)?;
                selected.each(|row, group| totals[group as usize].add(weights.at(row)));
            }
            (State::Totals(totals), Measure::Sum { column, weighted }) => {
                let (values, weights) = (cells(batch, column.name)?.numbers(), weights(batch, weighted)?);
                selected.each(|row, group| {
                    if !values[row].is_nan() {
                        totals[group as usize].add(values[row] * weights.at(row));
                    }
                });
            }
            (State::Extremes { values, bytes }, Measure::Extreme { column, wanted }) => {
                let cells = cells(batch, column.name)?;
                selected.each(|row, group| {
                    let best = &mut values[group as usize];
                    if let Some(datum) = better(&cells, row, best.as_ref(), wanted) {
                        *bytes += datum.heap();
                        *best = Some(datum);
                    }
                });
            }
            (State::AtTimes { values, bytes }, Measure::AtTime { column, wanted }) => {
                let (times, cells) = (times(batch)?, cells(batch, column.name)?);
                selected.each(|row, group| {
                    let (time, best) = (times.value(row), &mut values[group as usize]);
                    let replaces = match best {
                        Some((known, datum)) => match time.cmp(known) {
                            Ordering::Equal => better(&cells, row, Some(datum), wanted),
                            order if order == wanted => valid_datum(&cells, row),
                            _ => None,
                        },
                        None => valid_datum(&cells, row),
                    };
                    if let Some(datum) = replaces {
                        *bytes += datum.heap();
                        *best = Some((time, datum));
                    }
                });
            }
            (State::Samples { groups, count }, Measure::Samples { column, weighted }) => {
                let (values, weights) = (cells(batch, column.name)?.numbers(), weights(batch, weighted)?);
                selected.each(|row, group| {
                    if !values[row].is_nan() {
                        groups[group as usize].add(values[row], weights.at(row));
                        *count += 1;
                    }
                });
            }
            (State::Sketches(sketches), Measure::Samples { column, weighted }) => {
                let weights = weights(batch, weighted)?;
                let Cells::I64(values) = cells(batch, column.name)? else { return Ok(()) };
                selected.each(|row, group| sketches[group as usize].add(values.value(row), weights.at(row)));
            }
            (State::Distinct(set), Measure::Distinct { column }) => {
                let cells = cells(batch, column.name)?;
                selected.each(|row, group| {
                    if let Some(hash) = hash(&cells, row) {
                        set.insert((group, hash));
                    }
                });
            }
            (State::Counters(counters), _) => counters.update(batch, selected)?,
            (State::Histograms(histograms), _) => histograms.update(batch, selected)?,
            _ => unreachable!("a state is made for its measure"),
        }
        Ok(())
    }

    /// Merges the state of another thread. `groups` maps its groups to those of this state.
    pub fn merge(&mut self, measure: Measure, other: State, groups: &[u32]) {
        let ours = |group: usize| groups[group] as usize;
        match (self, other) {
            (State::Counts(counts), State::Counts(other)) => {
                other.iter().enumerate().for_each(|(group, count)| counts[ours(group)] += count);
            }
            (State::Totals(totals), State::Totals(other)) => {
                other.iter().enumerate().for_each(|(group, total)| totals[ours(group)].merge(total));
            }
            (State::Extremes { values, .. }, State::Extremes { values: other, .. }) => {
                let Measure::Extreme { wanted, .. } = measure else { return };
                for (group, datum) in other.into_iter().enumerate() {
                    let best = &mut values[ours(group)];
                    if let Some(datum) = datum
                        && best.as_ref().is_none_or(|best| datum.order(best) == wanted)
                    {
                        *best = Some(datum);
                    }
                }
            }
            (State::AtTimes { values, .. }, State::AtTimes { values: other, .. }) => {
                let Measure::AtTime { wanted, .. } = measure else { return };
                for (group, at_time) in other.into_iter().enumerate() {
                    let best = &mut values[ours(group)];
                    let order = |(time, datum): &(i64, Datum), best: &(i64, Datum)| {
                        time.cmp(&best.0).then_with(|| datum.order(&best.1))
                    };
                    if let Some(at_time) = at_time
                        && best.as_ref().is_none_or(|best| order(&at_time, best) == wanted)
                    {
                        *best = Some(at_time);
                    }
                }
            }
            (State::Samples { groups: samples, count }, State::Samples { groups: other, count: more }) => {
                *count += more;
                other.into_iter().enumerate().for_each(|(group, other)| samples[ours(group)].merge(other));
            }
            (State::Sketches(sketches), State::Sketches(other)) => {
                other.iter().enumerate().for_each(|(group, other)| sketches[ours(group)].merge(other));
            }
            (State::Distinct(set), State::Distinct(other)) => {
                set.extend(other.into_iter().map(|(group, hash)| (groups[group as usize], hash)));
            }
            (State::Counters(counters), State::Counters(other)) => counters.merge(other, groups),
            (State::Histograms(histograms), State::Histograms(other)) => histograms.merge(other, groups),
            _ => unreachable!("states of one measure merge"),
        }
    }
}

/// The cell if it is better than `best`; a null or NaN never is.
fn better(cells: &Cells<'_>, row: usize, best: Option<&Datum>, wanted: Ordering) -> Option<Datum> {
    match (cells, best) {
        // Bytes are copied only when they are better.
        (
            Cells::Text(_) | Cells::Dictionary(..) | Cells::Bytes(_) | Cells::Shared(..) | Cells::Id(_),
            Some(Datum::Bytes(best)),
        ) => {
            let wins = !cells.is_null(row) && cells.bytes(row).cmp(best.as_slice()) == wanted;
            wins.then(|| Datum::Bytes(cells.bytes(row).to_vec()))
        }
        (_, best) => valid_datum(cells, row).filter(|datum| best.is_none_or(|best| datum.order(best) == wanted)),
    }
}

/// The cell unless it is null or NaN.
fn valid_datum(cells: &Cells<'_>, row: usize) -> Option<Datum> {
    cells.datum(row).filter(|datum| !matches!(datum, Datum::F64(value) if value.is_nan()))
}

fn hash(cells: &Cells<'_>, row: usize) -> Option<u128> {
    match valid_datum(cells, row)? {
        Datum::U64(value) => Some(u128::from(value)),
        Datum::I64(value) => Some(u128::from(value as u64)),
        // 0.0 and -0.0 are the same value.
        Datum::F64(value) => Some(u128::from((value + 0.0).to_bits())),
        Datum::Bytes(bytes) => Some(xxh3_128(&bytes)),
    }
}

/// The weight of every row.
enum Weights {
    /// All weights are 1, or the table has no weights.
    One,
    Each(Vec<f64>),
}

impl Weights {
    fn at(&self, row: usize) -> f64 {
        match self {
            Weights::One => 1.0,
            Weights::Each(weights) => weights[row],
        }
    }
}

fn weights(batch: &RecordBatch, weighted: bool) -> Result<Weights, StoreError> {
    if !weighted {
        return Ok(Weights::One);
    }
    let mut weights = cells(batch, "weight")?.numbers();
    if weights.iter().all(|weight| *weight == 1.0) {
        return Ok(Weights::One);
    }
    weights.iter_mut().filter(|weight| weight.is_nan()).for_each(|weight| *weight = 1.0);
    Ok(Weights::Each(weights))
}
