//! Rows with their spans as evidence, and the result of the engine on it.

use tidewatch_domain::explain::{self as engine, OperationTime, SampleRates};

use super::columns::{Columns, Compared};
use super::defining::Defining;
use super::sample::Sample;
use super::spans::{Below, Failure};
use super::stored::Operation;

/// Rows with what was read of them.
pub(super) struct Evidence {
    pub(super) defining: Defining,
    pub(super) sample: Sample,
    pub(super) below: Below,
    pub(super) is_named: bool,
}

/// Result of the engine.
pub(super) struct Found {
    pub(super) compared: Compared,
    pub(super) explanation: engine::Explanation,
    pub(super) own_time: Vec<(Operation, OperationTime)>,
    pub(super) failures: Vec<Failure>,
}

impl Evidence {
    /// Runs the engine. When the spans of only some rows were read, attributes of spans below are compared among those
    /// rows, and win when they explain more.
    pub(super) fn explained(self) -> (Evidence, Found) {
        let rates = self.sample.rates;
        let with_spans: Vec<usize> = self.below.rows.keys().copied().collect();
        let all: Vec<usize> = (0..self.sample.rows.len()).collect();
        let is_whole = with_spans.len() == all.len() || !self.below.is_partial;
        let mut compared = self.compared(&all, rates, is_whole);
        let mut explanation = engine::explain(&compared.table);
        if !is_whole {
            let part = with_spans.len() as f64 / all.len().max(1) as f64;
            let rates =
                SampleRates { selected: rates.selected * part, rest: rates.rest * part, before: rates.before * part };
            let inner = self.compared(&with_spans, rates, true);
            let other = engine::explain(&inner.table);
            let best = |one: &engine::Explanation| one.rows.first().map_or(0.0, |row| row.explained);
            if best(&other) > best(&explanation) {
                (compared, explanation) = (inner, other);
            }
        }
        let own_time = self.own_time();
        let failures = self.below.failures(&self.sample);
        (self, Found { compared, explanation, own_time, failures })
    }

    pub(super) fn compared(&self, rows: &[usize], rates: SampleRates, with_spans: bool) -> Compared {
        let mut columns = Columns::new(&self.defining);
        let most_frequent = self.below.frequent_keys();
        for (place, &row) in rows.iter().enumerate() {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            // Attributes of spans are compared only among rows whose spans were read.
            let own = self.below.rows.get(&row).filter(|_| with_spans);
            self.sample.rows[row].add_to(&mut columns, place, own.is_some_and(|own| own.has_own), self.is_named);
            if let Some(own) = own {
                own.add_to(&mut columns, place, &most_frequent, &self.below);
            }
        }
        let sets = rows.iter().map(|&row| self.sample.rows[row].set).collect();
        columns.finish(sets, rates)
    }

    pub(super) fn own_time(&self) -> Vec<(Operation, OperationTime)> {
        let found = engine::own_time(&self.below.request_times(&self.sample), self.sample.rates);
        found.into_iter().map(|time| (self.below.operation(time.operation), time)).collect()
    }
}
