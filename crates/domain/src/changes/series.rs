//! The minutes of a subject, and what windows of them show.

use std::borrow::{Borrow, Cow};
use std::cell::RefCell;
use std::ops::Range;

/// Minutes between the ends of windows that are measured once.
pub(super) const STEP: i64 = 5;
/// Buckets of the logarithm of a duration per unit.
const PER_UNIT: f64 = 64.0;
/// Buckets in all: durations of 1 ns to 292 years.
const BUCKETS: usize = 64 * 44;
/// Requests that a quantile needs.
const CALLS_FOR_QUANTILE: f64 = 15.0;
/// Requests that a rate of errors needs.
const CALLS_FOR_RATE: f64 = 10.0;
/// Minutes of the parts whose long durations are compared, the requests of one, and the quantile.
const PART: usize = 6 * 60;
const CALLS_FOR_PART: f64 = 100.0;
const LONG: f64 = 0.98;
/// Distance of a slow request from the usual long duration: 15 % and 10 ms.
const LN_LONGER: f64 = 0.139_761_942;
const NS_LONGER: f64 = 10e6;

/// One minute of a subject.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Minute<'a> {
    /// Requests.
    pub calls: f64,
    /// Failed requests.
    pub failed: f64,
    /// Requests that were answered with a status of 400 to 499, and did not fail.
    pub refused: f64,
    /// Durations in nanoseconds at evenly spaced quantiles; each stands for as many requests. Empty: none is timed.
    pub durations: Cow<'a, [f64]>,
    /// Requests with a cost.
    pub priced: f64,
    /// Sum of their costs, US dollars.
    pub cost: f64,
}

/// Consecutive minutes of a subject.
#[derive(Debug)]
pub struct Series {
    first: i64,
    minutes: Vec<Cell>,
    /// The buckets of the durations of all minutes.
    buckets: Vec<u16>,
    /// The lowest and the highest one.
    bounds: (u16, u16),
    /// Typical logarithm of a duration.
    typical_ln: f64,
    /// Half the width of the logarithm of durations from P16 to P84.
    pub(super) spread: f64,
    /// Failed share of all requests.
    pub(super) failed_share: f64,
    /// Refused share of all requests.
    refused_share: f64,
    /// Requests are slow that take longer, nanoseconds; infinite when the usual long duration is unknown.
    pub(super) slow_ns: f64,
    /// Slow share of all requests.
    slow_share: f64,
    /// Cost of a request, US dollars.
    typical_cost: f64,
    /// Standard deviation of the logarithm of the cost of a request.
    pub(super) cost_spread: f64,
    cache: RefCell<Vec<(Windows, Ends)>>,
}

/// Windows of a metric: their length, the minutes left out.
type Windows = (Metric, i64, usize);
/// By the end of the window, in steps of [`STEP`] since the first minute: what was measured; `None`: nothing yet.
type Ends = Vec<Option<Option<Value>>>;

#[derive(Debug)]
struct Cell {
    calls: f64,
    failed: f64,
    refused: f64,
    ln_mean: f64,
    /// Places in [`Series::buckets`].
    buckets: Range<u32>,
    slow: f64,
    priced: f64,
    cost: f64,
}

/// Metric of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Metric {
    /// Logarithm of the median duration.
    P50,
    /// Logarithm of the duration that a tenth exceeds.
    P90,
    /// Share of the slow requests: [`Series::slow_ns`].
    SlowShare,
    /// Failed share.
    Errors,
    /// Refused share.
    Refusals,
    /// Number of requests.
    Calls,
    /// Logarithm of the cost of a request.
    Cost,
}

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Value {
    /// In the unit of the metric.
    pub x: f64,
    /// Requests measured.
    pub calls: f64,
    /// Failed requests among them; slow ones of [`Metric::SlowShare`], refused ones of [`Metric::Refusals`].
    pub failed: f64,
}

fn bucket_of(ln_duration: f64) -> u16 {
    (ln_duration * PER_UNIT).clamp(0.0, (BUCKETS - 1) as f64) as u16
}

impl Series {
    /// The minutes from `first` (minutes since the epoch) on, without gaps: a minute without requests is
    /// [`Minute::default`].
    pub fn new<'a>(first: i64, minutes: impl IntoIterator<Item: Borrow<Minute<'a>>>) -> Series {
        let mut buckets = Vec::new();
        let minutes: Vec<Cell> = minutes.into_iter().map(|minute| Cell::of(minute.borrow(), &mut buckets)).collect();
        let mut means: Vec<f64> =
            minutes.iter().filter(|cell| !cell.buckets.is_empty()).map(|cell| cell.ln_mean).collect();
        let (calls, failed) =
            minutes.iter().fold((0.0, 0.0), |(calls, failed), cell| (calls + cell.calls, failed + cell.failed));
        let refused: f64 = minutes.iter().map(|cell| cell.refused).sum();
        let (priced, cost) =
            minutes.iter().fold((0.0, 0.0), |(priced, cost), cell| (priced + cell.priced, cost + cell.cost));
        let bounds = (buckets.iter().min(), buckets.iter().max());
        let mut series = Series {
            first,
            bounds: (bounds.0.copied().unwrap_or(0), bounds.1.copied().unwrap_or(0)),
            buckets,
            typical_ln: median(&mut means).unwrap_or(0.0),
            failed_share: if calls > 0.0 { failed / calls } else { 0.0 },
            refused_share: if calls > 0.0 { refused / calls } else { 0.0 },
            slow_ns: f64::INFINITY,
            slow_share: 0.0,
            spread: 0.0,
            typical_cost: if priced > 0.0 { cost / priced } else { 0.0 },
            cost_spread: cost_spread(&minutes),
            cache: RefCell::default(),
            minutes,
        };
        let all = series.histogram(series.minutes.iter());
        series.spread = match (all.quantile(0.16), all.quantile(0.84)) {
            (Some(low), Some(high)) => (high - low) / 2.0,
            _ => 0.0,
        };
        series.find_slow(calls);
        series
    }

    /// Finds the slow requests: hardly any request of usual hours takes as long. The median of several parts of the time
    /// ignores those that are worse.
    fn find_slow(&mut self, calls: f64) {
        let long = |part: &[Cell]| {
            let is_known = part.iter().map(|cell| cell.calls).sum::<f64>() >= CALLS_FOR_PART;
            if is_known { self.histogram(part.iter()).quantile(LONG) } else { None }
        };
        let mut usual: Vec<f64> = self.minutes.chunks(PART).filter_map(long).collect();
        let Some(usual) = median(&mut usual) else { return };
        self.slow_ns = (usual + LN_LONGER).exp().max(usual.exp() + NS_LONGER);
        let edge = bucket_of(self.slow_ns.ln());
        let buckets = &self.buckets;
        self.minutes.iter_mut().for_each(|cell| cell.slow = cell.longer(buckets, edge));
        self.slow_share = self.minutes.iter().map(|cell| cell.slow).sum::<f64>() / calls.max(1.0);
    }

    /// Whether any request has a cost.
    pub(super) fn has_costs(&self) -> bool {
        self.typical_cost > 0.0
    }

    /// The first minute, since the epoch.
    pub fn first(&self) -> i64 {
        self.first
    }

    /// The minute after the last.
    pub fn end(&self) -> i64 {
        self.first + self.minutes.len() as i64
    }

    fn cells(&self, from: i64, to: i64) -> &[Cell] {
        let index = |minute: i64| (minute - self.first).clamp(0, self.minutes.len() as i64) as usize;
        let (from, to) = (index(from), index(to));
        &self.minutes[from.min(to)..to]
    }

    /// The metric of `length` minutes up to `end`, exclusive, less the `left_out` worst ones. `None`: too few requests,
    /// or the series does not have all of these minutes.
    pub(super) fn window(&self, metric: Metric, length: i64, left_out: usize, end: i64) -> Option<Value> {
        if end - length < self.first || end > self.end() {
            return None;
        }
        let step = |minute: i64| minute.div_euclid(STEP);
        if end.rem_euclid(STEP) != 0 {
            return self.measured(metric, self.cells(end - length, end), left_out);
        }
        let place = (step(end) - step(self.first)) as usize;
        let known = |windows: Windows| {
            let cache = self.cache.borrow();
            let (_, ends) = cache.iter().find(|(one, _)| *one == windows)?;
            ends[place]
        };
        if let Some(value) = known((metric, length, left_out)) {
            return value;
        }
        // Quantiles of one window share its worst minutes and its distribution.
        for (metric, value) in self.measure(metric, self.cells(end - length, end), left_out) {
            let windows = (metric, length, left_out);
            let mut cache = self.cache.borrow_mut();
            let index = cache.iter().position(|(one, _)| *one == windows).unwrap_or_else(|| {
                cache.push((windows, vec![None; (step(self.end()) - step(self.first)) as usize + 1]));
                cache.len() - 1
            });
            cache[index].1[place] = Some(value);
        }
        known((metric, length, left_out)).flatten()
    }

    /// The metric of all minutes of `from..to`.
    pub(super) fn whole(&self, metric: Metric, from: i64, to: i64) -> Option<Value> {
        self.measured(metric, self.cells(from, to), 0)
    }

    fn measured(&self, metric: Metric, cells: &[Cell], left_out: usize) -> Option<Value> {
        self.measure(metric, cells, left_out).into_iter().find(|(one, _)| *one == metric)?.1
    }

    /// The metric; with a quantile of durations, all of them.
    fn measure(&self, metric: Metric, cells: &[Cell], left_out: usize) -> Vec<(Metric, Option<Value>)> {
        let excess = |cell: &Cell| match metric {
            Metric::P50 | Metric::P90 if cell.buckets.is_empty() => 0.0,
            Metric::P50 | Metric::P90 => cell.calls * (cell.ln_mean - self.typical_ln),
            Metric::Errors => cell.failed - cell.calls * self.failed_share,
            Metric::Refusals => cell.refused - cell.calls * self.refused_share,
            Metric::SlowShare => cell.slow - cell.calls * self.slow_share,
            Metric::Calls => -cell.calls,
            Metric::Cost => cell.cost - cell.priced * self.typical_cost,
        };
        let mut order: Vec<(f64, &Cell)> = cells.iter().map(|cell| (excess(cell), cell)).collect();
        if (1..order.len()).contains(&left_out) {
            order.select_nth_unstable_by(left_out, |(one, _), (other, _)| other.total_cmp(one));
        }
        let kept = order.iter().skip(left_out).map(|(_, cell)| *cell);
        if metric == Metric::Cost {
            let priced: f64 = kept.clone().map(|cell| cell.priced).sum();
            let cost: f64 = kept.map(|cell| cell.cost).sum();
            let is_known = priced >= CALLS_FOR_RATE && cost > 0.0;
            let value = is_known.then(|| Value { x: (cost / priced).ln(), calls: priced, failed: 0.0 });
            return vec![(metric, value)];
        }
        let bad = |cell: &Cell| match metric {
            Metric::SlowShare => cell.slow,
            Metric::Refusals => cell.refused,
            _ => cell.failed,
        };
        let (calls, failed) =
            kept.clone().fold((0.0, 0.0), |(calls, failed), cell| (calls + cell.calls, failed + bad(cell)));
        let value = |x: f64| Some(Value { x, calls, failed });
        match metric {
            Metric::P50 | Metric::P90 => {
                let histogram = (calls >= CALLS_FOR_QUANTILE).then(|| self.histogram(kept));
                let quantile = |q| histogram.as_ref()?.quantile(q).and_then(value);
                let quantiles = [(Metric::P50, 0.5), (Metric::P90, 0.9)];
                quantiles.into_iter().map(|(metric, q)| (metric, quantile(q))).collect()
            }
            Metric::Errors | Metric::Refusals | Metric::SlowShare if calls < CALLS_FOR_RATE => vec![(metric, None)],
            Metric::Errors | Metric::Refusals | Metric::SlowShare => vec![(metric, value(failed / calls))],
            Metric::Calls | Metric::Cost => vec![(metric, value(calls))],
        }
    }

    fn histogram<'a>(&self, cells: impl Iterator<Item = &'a Cell>) -> Histogram {
        let (lowest, highest) = self.bounds;
        let mut counts = vec![0.0; usize::from(highest - lowest) + 1];
        for cell in cells {
            let buckets = cell.buckets(&self.buckets);
            let each = cell.calls / buckets.len().max(1) as f64;
            for bucket in buckets {
                counts[usize::from(bucket - lowest)] += each;
            }
        }
        Histogram { first: lowest, counts }
    }

    /// Requests, and those that failed, of each minute of `from..to`.
    pub(super) fn failures(&self, from: i64, to: i64) -> Vec<(f64, f64)> {
        self.cells(from, to).iter().map(|cell| (cell.calls, cell.failed)).collect()
    }

    /// Requests, and those that were refused, of each minute of `from..to`.
    pub(super) fn refusals(&self, from: i64, to: i64) -> Vec<(f64, f64)> {
        self.cells(from, to).iter().map(|cell| (cell.calls, cell.refused)).collect()
    }

    /// Requests with a cost, and those of minutes whose requests cost more than `cost` on average, of each minute of
    /// `from..to`.
    pub(super) fn dearer(&self, cost: f64, from: i64, to: i64) -> Vec<(f64, f64)> {
        let dear = |cell: &Cell| if cell.cost > cost * cell.priced { cell.priced } else { 0.0 };
        self.cells(from, to).iter().map(|cell| (cell.priced, dear(cell))).collect()
    }

    /// Requests, and those longer than `duration_ns`, of each minute of `from..to`.
    pub(super) fn slow(&self, duration_ns: f64, from: i64, to: i64) -> Vec<(f64, f64)> {
        let edge = bucket_of(duration_ns.max(1.0).ln());
        self.cells(from, to).iter().map(|cell| (cell.calls, cell.longer(&self.buckets, edge))).collect()
    }

    /// The duration that hardly any request of `from..to` exceeds, nanoseconds.
    pub(super) fn long_ns(&self, from: i64, to: i64) -> Option<f64> {
        self.histogram(self.cells(from, to).iter()).quantile(LONG).map(f64::exp)
    }
}

impl Cell {
    /// Appends the buckets of its durations.
    fn of(minute: &Minute<'_>, buckets: &mut Vec<u16>) -> Cell {
        let (from, mut ln_sum) = (buckets.len() as u32, 0.0);
        buckets.extend(minute.durations.iter().map(|ns| {
            let ln = ns.max(1.0).ln();
            ln_sum += ln;
            bucket_of(ln)
        }));
        let ln_mean = ln_sum / minute.durations.len().max(1) as f64;
        let &Minute { calls, failed, refused, priced, cost, .. } = minute;
        let buckets = from..buckets.len() as u32;
        let (failed, refused) = (failed.min(calls), refused.min(calls));
        Cell { calls, failed, refused, ln_mean, buckets, slow: 0.0, priced, cost }
    }

    /// Its part of the buckets of all minutes.
    fn buckets<'a>(&self, all: &'a [u16]) -> &'a [u16] {
        &all[self.buckets.start as usize..self.buckets.end as usize]
    }

    /// Requests above a bucket.
    fn longer(&self, all: &[u16], edge: u16) -> f64 {
        let buckets = self.buckets(all);
        let above = buckets.iter().filter(|bucket| **bucket > edge).count() as f64;
        if above > 0.0 { self.calls * above / buckets.len() as f64 } else { 0.0 }
    }
}

/// The median of a chi-squared distribution with one degree of freedom.
const CHI_SQUARED_MEDIAN: f64 = 0.454_936;

/// Standard deviation of the logarithm of the cost of a request. Only sums of minutes are known: the squared distance of
/// a minute from the median, times its requests, has that variance. A median of them ignores hours that differ.
fn cost_spread(minutes: &[Cell]) -> f64 {
    let priced = || minutes.iter().filter(|cell| cell.priced > 0.0 && cell.cost > 0.0);
    let ln_cost = |cell: &Cell| (cell.cost / cell.priced).ln();
    let Some(middle) = median(&mut priced().map(ln_cost).collect::<Vec<f64>>()) else { return 0.0 };
    let mut squares: Vec<f64> = priced().map(|cell| cell.priced * (ln_cost(cell) - middle).powi(2)).collect();
    median(&mut squares).map_or(0.0, |square| (square / CHI_SQUARED_MEDIAN).sqrt())
}

/// Requests by bucket.
struct Histogram {
    /// The bucket of the first count.
    first: u16,
    counts: Vec<f64>,
}

impl Histogram {
    /// The logarithm of the duration at a quantile, interpolated inside the bucket.
    fn quantile(&self, q: f64) -> Option<f64> {
        let wanted = q * self.counts.iter().sum::<f64>();
        let mut below = 0.0;
        for (place, &count) in self.counts.iter().enumerate() {
            if count > 0.0 && below + count >= wanted {
                let inside = ((wanted - below) / count).clamp(0.0, 1.0);
                return Some((f64::from(self.first) + place as f64 + inside) / PER_UNIT);
            }
            below += count;
        }
        None
    }
}

/// The median; sorts the values. `None` without any.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len().checked_sub(1)? / 2;
    Some(if values.len() % 2 == 1 { values[middle] } else { (values[middle] + values[middle + 1]) / 2.0 })
}
