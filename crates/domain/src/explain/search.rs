//! The candidates among the requests that no row explains.

use std::cmp::Ordering;

use super::cause_order::rank;
use super::numbers::{self, best_cut};
use super::score::{Baseline, SUPPORT_MIN, Score};
use super::table::{Column, Condition, Counts, LeftOut, Predicate, Set, Table, Values};

/// Level of significance over all tests, and with few selected requests.
const LEVEL: f64 = 0.01;
const LEVEL_OF_FEW: f64 = 0.001;
/// Selected requests below which the stricter level applies.
const FEW: f64 = 20.0;
/// Overlap above which two conditions mean the same.
pub const SYNONYM: f64 = 0.95;
/// Requests before that tell what is usual.
const BEFORE_MIN: f64 = 20.0;
/// Part of the requests with distinct values above which a column holds identifiers.
const IDENTIFIER: f64 = 0.5;

/// Baseline with which the selection is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// With what the band would hold if it were as before.
    Excess,
    /// With the other requests of the same minutes.
    SameMinutes,
}

/// A condition with its statistics.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    pub condition: Condition,
    pub counts: Counts,
    pub score: Score,
}

/// The requests that no row explains, and the columns that are candidates.
pub struct Search<'t> {
    pub table: &'t Table,
    /// Places of the requests that no row explains.
    pub requests: Vec<u32>,
    candidates: Vec<usize>,
    pub left_out: Vec<(usize, LeftOut)>,
    level: f64,
}

impl<'t> Search<'t> {
    pub fn new(table: &'t Table, all: Counts) -> Search<'t> {
        let (mut candidates, mut left_out) = (Vec::new(), Vec::new());
        for (place, column) in table.columns.iter().enumerate() {
            match unfit(column, table) {
                Some(reason) => left_out.push((place, reason)),
                None => candidates.push(place),
            }
        }
        let requests = (0..u32::try_from(table.sets.len()).unwrap_or(u32::MAX)).collect();
        let level = if all.selected() < FEW { LEVEL_OF_FEW } else { LEVEL };
        Search { table, requests, candidates, left_out, level }
    }

    /// The same search among the requests that meet a condition.
    pub fn within(&self, condition: Condition) -> Search<'t> {
        let requests = self.requests.iter().copied().filter(|&request| self.table.holds(condition, request as usize));
        Search {
            table: self.table,
            requests: requests.collect(),
            candidates: self.candidates.clone(),
            left_out: Vec::new(),
            level: self.level,
        }
    }

    pub fn remaining(&self) -> Counts {
        self.count(|_| true)
    }

    pub fn count(&self, holds: impl Fn(usize) -> bool) -> Counts {
        let mut counts = Counts::default();
        for &request in &self.requests {
            if holds(request as usize) {
                counts.add(self.table.sets[request as usize]);
            }
        }
        counts
    }

    pub fn remove(&mut self, conditions: &[Condition]) {
        let table = self.table;
        self.requests.retain(|&request| !conditions.iter().all(|&one| table.holds(one, request as usize)));
    }

    /// The kept conditions in excess mode, or in same-minutes mode when that keeps nothing.
    pub fn ranked(&self, all: Counts) -> (Mode, Option<Baseline>, Vec<Candidate>) {
        if let Some(excess) = Baseline::excess(all, self.table.rates) {
            let kept = self.kept(&excess);
            if !kept.is_empty() {
                return (Mode::Excess, Some(excess), kept);
            }
        }
        let Some(baseline) = Baseline::same_minutes(all) else { return (Mode::SameMinutes, None, Vec::new()) };
        let mut kept = self.kept(&baseline);
        // What nearly all requests before had too tells nothing about a change.
        let is_usual = |counts: Counts| all.before() >= BEFORE_MIN && counts.before() >= SYNONYM * all.before();
        kept.retain(|candidate| !is_usual(candidate.counts));
        (Mode::SameMinutes, Some(baseline), kept)
    }

    /// The kept conditions, best first.
    pub fn kept(&self, baseline: &Baseline) -> Vec<Candidate> {
        let (mut tests, mut tested) = (0, Vec::new());
        for &place in &self.candidates {
            self.conditions(place, baseline, &mut |candidate, of| {
                if candidate.score.is_tested() {
                    tests += of;
                    tested.push(candidate);
                }
            });
        }
        tested.retain(|candidate| candidate.score.is_kept(tests, self.level));
        tested.sort_by(|a, b| self.order(a, b));
        tested
    }

    /// Best first; a total order, so that the same requests give the same answer.
    fn order(&self, a: &Candidate, b: &Candidate) -> Ordering {
        let name = |candidate: &Candidate| self.table.columns[candidate.condition.column].name.as_str();
        b.score
            .score
            .total_cmp(&a.score.score)
            .then_with(|| rank(name(a)).cmp(&rank(name(b))))
            .then_with(|| name(a).cmp(name(b)))
            .then_with(|| self.table.value(a.condition).cmp(&self.table.value(b.condition)))
    }

    /// Every condition on one column that enough selected requests meet, and as how many tests it counts.
    fn conditions(&self, place: usize, baseline: &Baseline, found: &mut dyn FnMut(Candidate, usize)) {
        let table = self.table;
        let mut report = |predicate: Predicate, counts: Counts| {
            if counts.selected() >= SUPPORT_MIN {
                let score = baseline.score(counts);
                found(Candidate { condition: Condition { column: place, predicate }, counts, score }, 1);
            }
        };
        match &table.columns[place].values {
            Values::Strings { codes, dictionary } => {
                let mut counts = vec![Counts::default(); dictionary.len() + 1];
                for &request in &self.requests {
                    counts[codes[request as usize] as usize].add(table.sets[request as usize]);
                }
                for (code, counts) in counts.iter().enumerate() {
                    match u32::try_from(code).ok().and_then(|code| code.checked_sub(1)) {
                        Some(code) => report(Predicate::Is(code), *counts),
                        None => report(Predicate::Absent, *counts),
                    }
                }
            }
            Values::Lists { offsets, codes, dictionary } => {
                let mut counts = vec![Counts::default(); dictionary.len()];
                for &request in &self.requests {
                    let request = request as usize;
                    for &code in &codes[offsets[request] as usize..offsets[request + 1] as usize] {
                        counts[code as usize].add(table.sets[request]);
                    }
                }
                // Not absence: a request that fails early has fewer spans below it, which explains nothing.
                for (code, counts) in (0..).zip(&counts) {
                    report(Predicate::Is(code), *counts);
                }
            }
            Values::Numbers(values) => {
                report(Predicate::Absent, self.count(|request| values[request].is_nan()));
                if let Some((condition, counts, score)) = best_cut(place, values, &table.sets, &self.requests, baseline)
                {
                    found(Candidate { condition, counts, score }, numbers::TESTS);
                }
            }
        }
    }

    pub fn cause(&self, condition: Condition) -> (usize, &'t str, Option<String>) {
        let name = self.table.columns[condition.column].name.as_str();
        (rank(name), name, self.table.value(condition))
    }

    /// The condition and the kept ones on other attributes that hold for the same requests.
    pub fn synonyms(&self, condition: Condition, kept: &[Candidate]) -> Vec<Condition> {
        let own = self.count(|request| self.table.holds(condition, request));
        let mut same = vec![condition];
        for candidate in kept {
            let column = candidate.condition.column;
            let is_near = |own: f64, other: f64| own.min(other) >= SYNONYM * own.max(other);
            if same.iter().all(|one| one.column != column)
                && is_near(own.selected(), candidate.counts.selected())
                && is_near(own.rest(), candidate.counts.rest())
                && self.overlap(condition, candidate.condition, Set::Selected) >= SYNONYM
                && self.overlap(condition, candidate.condition, Set::Rest) >= SYNONYM
            {
                same.push(candidate.condition);
            }
        }
        same
    }

    /// Jaccard index of two conditions in one set; 1 when neither has requests there.
    pub fn overlap(&self, a: Condition, b: Condition, set: Set) -> f64 {
        let (mut both, mut either) = (0_u32, 0_u32);
        for &request in &self.requests {
            if self.table.sets[request as usize] == set {
                let holds = |condition| self.table.holds(condition, request as usize);
                let (a, b) = (holds(a), holds(b));
                both += u32::from(a && b);
                either += u32::from(a || b);
            }
        }
        if either == 0 { 1.0 } else { f64::from(both) / f64::from(either) }
    }
}

/// Reason for which a column is no candidate.
fn unfit(column: &Column, table: &Table) -> Option<LeftOut> {
    let (codes, dictionary): (Vec<u32>, usize) = match &column.values {
        Values::Strings { codes, dictionary } => (codes.clone(), dictionary.len()),
        Values::Lists { .. } => return None,
        Values::Numbers(numbers) => {
            let mut present = numbers.iter().filter(|number| !number.is_nan());
            let first = present.next();
            let is_constant = first.is_none_or(|first| present.all(|number| number == first))
                && (first.is_none() || numbers.iter().all(|number| !number.is_nan()));
            return is_constant.then_some(LeftOut::Constant);
        }
    };
    if codes.windows(2).all(|pair| pair[0] == pair[1]) {
        return Some(LeftOut::Constant);
    }
    let (mut selected, mut distinct, mut present) = (vec![0_u32; dictionary + 1], 0_u32, 0_u32);
    let mut is_used = vec![false; dictionary + 1];
    for (code, set) in codes.iter().zip(&table.sets) {
        let place = *code as usize;
        if place > 0 {
            present += 1;
            distinct += u32::from(!std::mem::replace(&mut is_used[place], true));
            selected[place] += u32::from(*set == Set::Selected);
        }
    }
    let has_support = selected.iter().any(|&count| f64::from(count) >= SUPPORT_MIN);
    (f64::from(distinct) > IDENTIFIER * f64::from(present) && !has_support).then_some(LeftOut::Identifier)
}
