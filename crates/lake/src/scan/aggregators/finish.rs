//! The value of an aggregate in every group, after all rows were read.

use super::State;
use crate::batch::datum::Datum;

/// One cell of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    One(Datum),
    Many(Vec<f64>),
}

impl Cell {
    fn of(datum: Option<Datum>) -> Cell {
        datum.map_or(Cell::Null, Cell::One)
    }
}

/// Computation of an aggregate's value from a state. Several aggregates may share a state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Finish {
    Plain,
    /// Null for a group without rows: a sum is, a weight is zero.
    NullWhenEmpty,
    Quantiles(Vec<f64>),
    /// Per second over a width in nanoseconds.
    Rate(i64),
}

impl State {
    /// One cell per group.
    pub fn finish(&mut self, finish: &Finish, groups: usize) -> Vec<Cell> {
        match (self, finish) {
            (State::Counts(counts), _) => counts.iter().map(|count| Cell::One(Datum::U64(*count))).collect(),
            (State::Totals(totals), finish) => {
                let null = |rows| rows == 0 && *finish == Finish::NullWhenEmpty;
                let cell = |total: &super::Total| match null(total.rows) {
                    true => Cell::Null,
                    false => Cell::One(Datum::F64(total.value())),
                };
                totals.iter().map(cell).collect()
            }
            (State::Extremes { values, .. }, _) => values.iter().cloned().map(Cell::of).collect(),
            (State::AtTimes { values, .. }, _) => {
                values.iter().cloned().map(|value| Cell::of(value.map(|(_, datum)| datum))).collect()
            }
            (State::Samples { groups, .. }, Finish::Quantiles(qs)) => {
                groups.iter_mut().map(|samples| samples.quantiles(qs).map_or(Cell::Null, Cell::Many)).collect()
            }
            (State::Sketches(sketches), Finish::Quantiles(qs)) => {
                sketches.iter().map(|sketch| sketch.quantiles(qs).map_or(Cell::Null, Cell::Many)).collect()
            }
            (State::Distinct(set), _) => {
                let mut counts = vec![0; groups];
                set.iter().for_each(|(group, _)| counts[*group as usize] += 1);
                counts.into_iter().map(|count| Cell::One(Datum::U64(count))).collect()
            }
            (State::Counters(counters), Finish::Rate(width)) => {
                let rates = counters.rates(groups, *width);
                rates.into_iter().map(|rate| Cell::of(rate.map(Datum::F64))).collect()
            }
            (State::Histograms(histograms), Finish::Quantiles(qs)) => {
                histograms.quantiles(groups, qs).into_iter().map(|list| list.map_or(Cell::Null, Cell::Many)).collect()
            }
            (State::Samples { .. } | State::Sketches(_) | State::Counters(_) | State::Histograms(_), _) => {
                vec![Cell::Null; groups]
            }
        }
    }
}
