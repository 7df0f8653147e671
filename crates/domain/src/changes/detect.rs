//! When a subject gets worse, and when it recovers.

use crate::units;

use super::baseline::{DAY_MINUTES, Usual, Window, ends, lately, recent, same_time, usual, whole_day};
use super::series::{Metric, STEP, Series, Value, median};
use super::since::{split, split_calls};

/// Minutes before the time of evaluation in which changes begin.
pub const STEPS: i64 = 24 * 60;
/// Minutes before [`STEPS`] that baselines read.
pub const LOOKED_BACK: i64 = 7 * 24 * 60 + 90;

/// Minutes that [`may_have_changed`] reads: [`STEPS`], and what is usual before the longest window at their start.
pub const LAST_MINUTES: i64 = STEPS + 8 * 60;

/// Minutes of ordinary values after which a change is over.
const RECOVERY: i64 = 15;
/// A new alarm within this many minutes continues the change.
const REOPENED: i64 = 60;

/// Metric that got worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The median duration.
    Slower,
    /// The duration that a tenth of the requests exceeds.
    SlowerTail,
    /// The share of requests that take longer than hardly any did.
    SlowShare,
    /// The failed share.
    Failing,
    /// The share that is answered with a status of 400 to 499.
    Refusing,
    /// The number of requests fell.
    Fewer,
    /// The cost of a request.
    Dearer,
}

/// A change for the worse.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Metric that got worse.
    pub kind: Kind,
    /// First minute of the change, since the epoch.
    pub since: i64,
    /// Whether `since` is certain within five minutes.
    pub is_exact: bool,
    /// The minute after the last one of the change, when it is over.
    pub recovered: Option<i64>,
    /// Usual value: nanoseconds, failed, refused or slow share, requests a minute, or US dollars a request.
    pub before: f64,
    /// Value since then, in the same unit.
    pub after: f64,
    /// Longer than usual, nanoseconds: a tenth of the requests before the change, hardly any for [`Kind::SlowShare`]. 0
    /// for other kinds than durations.
    pub slow_ns: f64,
    /// Minutes of the change: from `since` to its end, or to the end of the data.
    pub minutes: i64,
    /// Requests an hour since then.
    pub calls_an_hour: f64,
    /// Requests an hour that the change affects, weighted by its severity.
    pub harm: f64,
}

impl Change {
    /// Whether both went on at some time.
    fn overlaps(&self, other: &Change) -> bool {
        let end = |change: &Change| change.recovered.unwrap_or(i64::MAX);
        self.since < end(other) && other.since < end(self)
    }
}

/// One row of the table of thresholds.
struct Test {
    metric: Metric,
    window: Window,
    /// Standard deviations of an alarm; of a subject younger than a day.
    wanted: f64,
    wanted_young: f64,
    /// Distance from the 98th percentile.
    margin: f64,
}

const LATENCY_FLOOR: f64 = 0.04;
const ERRORS_FLOOR: f64 = 0.0005;
/// Logarithms of 1.05 and 1.15.
const LN_MARGIN: f64 = 0.048_790_164;
const LN_LEAST: f64 = 0.139_761_942;
const ERRORS_LEAST: f64 = 0.003;
const ERRORS_MARGIN: f64 = 0.002;
const ERRORS_COUNT: f64 = 4.0;
const REFUSALS_LEAST: f64 = 0.05;
const REFUSALS_MARGIN: f64 = 0.02;
const SLOW_LEAST: f64 = 0.02;
const SLOW_MARGIN: f64 = 0.01;
const SLOW_COUNT: f64 = 8.0;
/// Logarithm of 1.2, and US dollars an hour.
const LN_DEARER: f64 = 0.182_321_557;
const DOLLARS_LEAST: f64 = 0.5;
/// The harm of a refused request, of that of a failed one.
const REFUSAL: f64 = 0.5;
const MS: f64 = units::MILLISECOND_NS as f64;

const fn test(metric: Metric, (length, left_out): (i64, usize), wanted: f64, wanted_young: f64, margin: f64) -> Test {
    Test { metric, window: Window { length, left_out }, wanted, wanted_young, margin }
}

const TESTS: [Test; 17] = [
    test(Metric::P50, (10, 4), 9.0, 12.5, LN_MARGIN),
    test(Metric::P50, (30, 8), 5.8, 12.5, LN_MARGIN),
    // A median of an hour is robust with all minutes.
    test(Metric::P50, (60, 0), 4.8, 8.0, 0.0),
    test(Metric::P90, (10, 4), 8.0, 12.5, LN_MARGIN),
    test(Metric::P90, (30, 8), 4.8, 12.5, LN_MARGIN),
    test(Metric::P90, (60, 14), 4.8, 8.0, LN_MARGIN),
    test(Metric::SlowShare, (30, 12), 3.6, 5.2, SLOW_MARGIN),
    test(Metric::SlowShare, (60, 14), 4.6, 5.2, SLOW_MARGIN),
    test(Metric::Errors, (10, 4), 4.0, 5.2, ERRORS_MARGIN),
    test(Metric::Errors, (30, 8), 3.6, 5.2, ERRORS_MARGIN),
    test(Metric::Errors, (60, 14), 4.6, 5.2, ERRORS_MARGIN),
    test(Metric::Refusals, (10, 4), 4.0, 5.2, REFUSALS_MARGIN),
    test(Metric::Refusals, (30, 8), 3.6, 5.2, REFUSALS_MARGIN),
    test(Metric::Refusals, (60, 14), 4.6, 5.2, REFUSALS_MARGIN),
    test(Metric::Cost, (10, 4), 9.0, 12.5, LN_MARGIN),
    test(Metric::Cost, (30, 8), 5.8, 8.0, LN_MARGIN),
    test(Metric::Cost, (60, 0), 4.8, 8.0, LN_MARGIN),
];

/// Windows and thresholds of fallen traffic.
const DROPS: [(Window, f64); 3] = [
    (Window { length: 20, left_out: 8 }, 4.0),
    (Window { length: 40, left_out: 16 }, 4.6),
    (Window { length: 60, left_out: 20 }, 4.7),
];

/// The state of one kind of change while the minutes are read.
struct Open {
    /// Time of the alarm.
    at: i64,
    /// Length of the window that raised it.
    length: i64,
    /// The usual value of that window, frozen at the alarm.
    centre: f64,
    recovered: Option<i64>,
    /// Minutes with ordinary values up to now.
    calm: i64,
}

/// Whether [`changes`] of more days may find something, from [`LAST_MINUTES`] minutes. Other days can only raise what is
/// usual, so a window that is not above the hours before it is not looked at again.
pub fn may_have_changed(series: &Series) -> bool {
    may_have_fallen(series) || evaluations(series).any(|now| TESTS.iter().any(|test| rose_lately(series, test, now)))
}

/// [`may_have_changed`] for [`falls`].
pub fn may_have_fallen(series: &Series) -> bool {
    let fell = |now| DROPS.iter().any(|(window, wanted)| fell_lately(series, *window, *wanted, now).is_some());
    evaluations(series).any(fell)
}

/// The times at which windows end.
fn evaluations(series: &Series) -> impl Iterator<Item = i64> {
    let first = (series.end() - STEPS).max(series.first()).div_euclid(STEP) * STEP;
    (first..=series.end()).step_by(STEP as usize)
}

fn rose_lately(series: &Series, test: &Test, now: i64) -> bool {
    let Some(value) = higher(series, test, now) else { return false };
    // Without recent windows other days say what is usual.
    lately(series, test.metric, test.window, now).is_none_or(|usual| is_far_above(series, test, &value, &usual))
}

/// The change of traffic among [`changes`], which only the requests of minutes are read for.
pub fn falls(series: &Series) -> Vec<Change> {
    latest(series, Kind::Fewer).into_iter().collect()
}

/// The changes of the last [`STEPS`] minutes of the series, open or over; at most one of each kind.
pub fn changes(series: &Series) -> Vec<Change> {
    let kinds =
        [Kind::Slower, Kind::SlowerTail, Kind::SlowShare, Kind::Failing, Kind::Refusing, Kind::Fewer, Kind::Dearer];
    let is_measured = |kind: &Kind| *kind != Kind::Dearer || series.has_costs();
    let mut found: Vec<Change> =
        kinds.into_iter().filter(is_measured).filter_map(|kind| latest(series, kind)).collect();
    // The median says more than the tail when both moved, the tail more than its end.
    for (kind, said) in
        [(Kind::Slower, [Kind::SlowerTail, Kind::SlowShare].as_slice()), (Kind::SlowerTail, &[Kind::SlowShare])]
    {
        let Some(of_kind) = found.iter().find(|change| change.kind == kind).cloned() else { continue };
        // A tail that goes on says what a median that recovered does not.
        let is_said = |change: &Change| {
            said.contains(&change.kind)
                && (of_kind.recovered.is_none() || (change.recovered.is_some() && change.overlaps(&of_kind)))
        };
        found.retain(|change| !is_said(change));
    }
    found
}

/// The latest change of a kind.
fn latest(series: &Series, kind: Kind) -> Option<Change> {
    let mut open: Option<Open> = None;
    for now in evaluations(series) {
        match &mut open {
            Some(change) if change.recovered.is_none() => {
                change.calm = if is_calm(series, kind, change, now) { change.calm + STEP } else { 0 };
                if change.calm > RECOVERY {
                    change.recovered = Some(now - change.calm);
                }
            }
            _ => {
                let Some((length, centre)) = alarm(series, kind, now) else { continue };
                match &mut open {
                    Some(change) if change.recovered.is_some_and(|end| now - end <= REOPENED) => {
                        // The long windows still have the minutes before the recovery.
                        if !is_calm(series, kind, change, now) {
                            (change.recovered, change.calm) = (None, 0);
                        }
                    }
                    _ => open = Some(Open { at: now, length, centre, recovered: None, calm: 0 }),
                }
            }
        }
    }
    describe(series, kind, &open?)
}

fn metric_of(kind: Kind) -> Metric {
    match kind {
        Kind::Slower => Metric::P50,
        Kind::SlowerTail => Metric::P90,
        Kind::SlowShare => Metric::SlowShare,
        Kind::Failing => Metric::Errors,
        Kind::Refusing => Metric::Refusals,
        Kind::Fewer => Metric::Calls,
        Kind::Dearer => Metric::Cost,
    }
}

/// The length and the usual value of the first window that raises an alarm.
fn alarm(series: &Series, kind: Kind, now: i64) -> Option<(i64, f64)> {
    if kind == Kind::Fewer {
        let drop = |now| {
            let of = |(window, wanted): &(Window, f64)| Some((window.length, fallen(series, *window, *wanted, now)?));
            DROPS.iter().find_map(of)
        };
        // Twice in a row.
        drop(now - STEP)?;
        return drop(now);
    }
    let tests = TESTS.iter().filter(|test| test.metric == metric_of(kind));
    tests.filter_map(|test| Some((test.window.length, raised(series, test, now)?))).next()
}

/// The least distance from the usual value, in the unit of the metric.
fn least_of(metric: Metric) -> f64 {
    match metric {
        Metric::Errors => ERRORS_LEAST,
        Metric::Refusals => REFUSALS_LEAST,
        Metric::SlowShare => SLOW_LEAST,
        Metric::Cost => LN_DEARER,
        Metric::P50 | Metric::P90 | Metric::Calls => LN_LEAST,
    }
}

/// The window that ends at `now`, unless it is hardly above the last six hours.
fn higher(series: &Series, test: &Test, now: i64) -> Option<Value> {
    let value = series.window(test.metric, test.window.length, test.window.left_out, now)?;
    let recent = recent(series, test.metric, test.window, now);
    recent.is_none_or(|recent| value.x - recent >= least_of(test.metric)).then_some(value)
}

/// The usual value when the window that ends at `now` is far above it.
fn raised(series: &Series, test: &Test, now: i64) -> Option<f64> {
    let value = higher(series, test, now)?;
    let mut usual = usual(series, test.metric, test.window, now)?;
    if !is_far_above(series, test, &value, &usual) {
        return None;
    }
    // Rarely reached, so the day is read last.
    usual.centre = usual.centre.max(whole_day(series, test.metric, test.window, now)?);
    // The day has its worst minutes. Without those of the window, one slow request in twenty is hardly seen.
    let left_out = if test.metric == Metric::SlowShare { 0 } else { test.window.left_out };
    let all = series.window(test.metric, test.window.length, left_out, now)?;
    let is_added = all.x - usual.centre >= least_of(test.metric);
    (is_added && is_significant(series, test, &value, &usual)).then_some(usual.centre)
}

fn is_far_above(series: &Series, test: &Test, value: &Value, usual: &Usual) -> bool {
    value.x - usual.centre >= least_of(test.metric) && is_significant(series, test, value, usual)
}

fn is_significant(series: &Series, test: &Test, value: &Value, usual: &Usual) -> bool {
    let added = value.x - usual.centre;
    let is_enough = match test.metric {
        Metric::Errors | Metric::Refusals => value.failed >= ERRORS_COUNT && value.x >= 2.0 * usual.centre,
        Metric::SlowShare => value.failed >= SLOW_COUNT && value.x >= 2.0 * usual.centre,
        Metric::Cost => {
            let an_hour = value.calls * 60.0 / (test.window.length - test.window.left_out as i64) as f64;
            (value.x.exp() - usual.centre.exp()) * an_hour >= DOLLARS_LEAST
        }
        Metric::P50 => value.x.exp() - usual.centre.exp() >= 5.0 * MS,
        Metric::P90 | Metric::Calls => value.x.exp() - usual.centre.exp() >= 10.0 * MS,
    };
    if !is_enough {
        return false;
    }
    // Standard deviation by chance of a window with this many requests.
    let by_chance = |calls: f64| match test.metric {
        Metric::P50 => 1.25 * series.spread / calls.sqrt(),
        Metric::P90 => 2.2 * series.spread / calls.sqrt(),
        Metric::Cost => series.cost_spread / calls.sqrt(),
        Metric::Errors | Metric::Refusals | Metric::SlowShare | Metric::Calls => {
            let share = usual.centre.max(0.5 / calls).min(0.5);
            (share * (1.0 - share) / calls).sqrt()
        }
    };
    let (sample, floor) = match test.metric {
        Metric::P50 | Metric::P90 => (by_chance(value.calls), LATENCY_FLOOR),
        // The noise of windows has that of their requests.
        Metric::Cost => (0.0, LATENCY_FLOOR),
        Metric::Errors | Metric::Refusals | Metric::SlowShare | Metric::Calls => (by_chance(value.calls), ERRORS_FLOOR),
    };
    let (noise, high) = match test.metric {
        Metric::Errors | Metric::Refusals | Metric::SlowShare | Metric::Calls => (usual.noise, usual.high),
        _ => {
            let noise = of_more_requests(usual.noise, by_chance(usual.calls), by_chance(value.calls));
            let narrower = if usual.noise > 0.0 { noise / usual.noise } else { 1.0 };
            (noise, usual.centre + (usual.high - usual.centre) * narrower)
        }
    };
    let wanted = if usual.is_young { test.wanted_young } else { test.wanted };
    // A nightly job that is always slow is twice as slow on one night.
    let margin = if test.metric == Metric::SlowShare { test.margin.max(2.0 * high) } else { test.margin };
    value.x >= high + margin && added / noise.max(floor).hypot(sample) >= wanted
}

/// The noise that windows would have with as many requests as the judged one, when they had fewer: `of_few` and
/// `of_more` are the noise by chance.
fn of_more_requests(noise: f64, of_few: f64, of_more: f64) -> f64 {
    if of_more >= of_few { noise } else { (noise * noise - of_few * of_few).max(0.0).sqrt().hypot(of_more).min(noise) }
}

/// The usual number of requests of the window when it has far fewer.
fn fallen(series: &Series, window: Window, wanted: f64, now: i64) -> Option<f64> {
    // The other days only lower what is expected.
    let (value, before) = fell_lately(series, window, wanted, now)?;
    let mut other_days = same_time(series, Metric::Calls, window, now, 10);
    let least = other_days.iter().copied().reduce(f64::min)?;
    let expected = before.min(median(&mut other_days)?);
    (is_far_below(value, expected, wanted) && value <= 0.8 * least).then_some(expected)
}

/// Requests of the window that ends at `now`, and of those of the last two hours, when they are far more.
fn fell_lately(series: &Series, window: Window, wanted: f64, now: i64) -> Option<(f64, f64)> {
    let calls = |end| series.window(Metric::Calls, window.length, window.left_out, end).map(|value| value.x);
    let value = calls(now)?;
    let recent = || ends(now, now - 120, 10).filter_map(calls);
    if !is_far_below(value, recent().fold(0.0, f64::max), wanted) {
        return None;
    }
    let before = median(&mut recent().collect::<Vec<f64>>())?;
    is_far_below(value, before, wanted).then_some((value, before))
}

fn is_far_below(value: f64, expected: f64, wanted: f64) -> bool {
    let noise = expected.sqrt().hypot(0.15 * expected);
    expected >= 15.0 && value <= 0.7 * expected && (expected - value) / noise >= wanted
}

/// Whether the last ten minutes are ordinary again.
fn is_calm(series: &Series, kind: Kind, open: &Open, now: i64) -> bool {
    if kind == Kind::Fewer {
        let short = DROPS[0].0;
        let value = series.window(Metric::Calls, short.length, short.left_out, now);
        let usual = usual_calls_a_minute(open) * (short.length - short.left_out as i64) as f64;
        return value.is_some_and(|value| value.x >= 0.85 * usual);
    }
    let half = least_of(metric_of(kind)) / 2.0;
    // Without its worst minutes a short window has none of few slow requests.
    let (length, left_out) = if kind == Kind::SlowShare { (20, 0) } else { (10, 4) };
    series.window(metric_of(kind), length, left_out, now).is_some_and(|value| value.x < open.centre + half)
}

fn describe(series: &Series, kind: Kind, open: &Open) -> Option<Change> {
    let back = if open.length >= 60 { 120 } else { 45 };
    let (from, to) = ((open.at - back).max(series.first()), open.recovered.unwrap_or(series.end()).max(open.at));
    let usual_end = open.at - open.length - STEP;
    let slow_ns = match kind {
        Kind::Slower | Kind::SlowerTail => {
            series.whole(Metric::P90, usual_end - DAY_MINUTES, usual_end).map_or(0.0, |value| value.x.exp())
        }
        Kind::SlowShare => series.slow_ns,
        _ => 0.0,
    };
    let dear = if kind == Kind::Dearer { between(series, open, to) } else { 0.0 };
    let bad = |from, to| match kind {
        Kind::Slower | Kind::SlowerTail | Kind::SlowShare => series.slow(slow_ns, from, to),
        Kind::Failing | Kind::Fewer => series.failures(from, to),
        Kind::Refusing => series.refusals(from, to),
        Kind::Dearer => series.dearer(dear, from, to),
    };
    let split = if kind == Kind::Fewer { split_calls } else { split };
    let (start, is_exact) = split(&bad(from, to))?;
    let since = from + start as i64;
    // The windows that tell that a change is over still have minutes of it: its end is found as its start is, backwards.
    let recovered = open.recovered.map(|end| {
        let calm = (end + RECOVERY).min(series.end());
        let mut minutes = bad(since, calm);
        minutes.reverse();
        split(&minutes).map_or(end, |(after, _)| (calm - after as i64).clamp(since + 1, end))
    });
    let to = recovered.unwrap_or(to);
    let after = series.whole(metric_of(kind), since, to).or_else(|| {
        // Shorter than the requests of a window.
        series.window(metric_of(kind), open.length, 0, open.at)
    })?;
    let length = (to - since).max(1);
    let minutes = length as f64;
    let calls_an_hour = series.whole(Metric::Calls, since, to).map_or(0.0, |value| value.calls * 60.0 / minutes);
    let (before, now) = match kind {
        Kind::Slower | Kind::SlowerTail => (open.centre.exp(), after.x.exp()),
        // The usual value of windows lacks their dearest minutes.
        Kind::Dearer => {
            let usual = series.whole(Metric::Cost, usual_end - 24 * 60, usual_end);
            (usual.map_or(open.centre, |value| value.x).exp(), after.x.exp())
        }
        Kind::Failing | Kind::Refusing | Kind::SlowShare => (open.centre, after.x),
        Kind::Fewer => (usual_calls(series, since, open), after.x / minutes),
    };
    let harm = match kind {
        Kind::Fewer => 0.5 * (before - now).max(0.0) * 60.0,
        Kind::Dearer => 10.0 * (now - before).max(0.0) * calls_an_hour,
        Kind::Failing => {
            let extra = (now - before).max(0.0);
            calls_an_hour * extra * (1.0 + 4.0 * extra)
        }
        // Refused callers are told so, and may mend their request.
        Kind::Refusing => {
            let extra = (now - before).max(0.0);
            REFUSAL * calls_an_hour * extra * (1.0 + 4.0 * extra)
        }
        Kind::Slower | Kind::SlowerTail | Kind::SlowShare => {
            let total = |index: fn(&(f64, f64)) -> f64| series.slow(slow_ns, since, to).iter().map(index).sum::<f64>();
            let share = total(|minute| minute.1) / total(|minute| minute.0).max(1.0);
            let (usual, ratio) = match kind {
                Kind::SlowShare => {
                    let long = |from, to| series.long_ns(from, to).unwrap_or(series.slow_ns);
                    (before, long(since, to) / long(usual_end - DAY_MINUTES, usual_end))
                }
                _ => (0.10, now / before),
            };
            let worse = (share - usual).max(0.0);
            let weight = (ratio.log2() / 3.0).clamp(0.1, 1.0);
            calls_an_hour * worse * weight * (1.0 + 4.0 * worse)
        }
    };
    let after = now;
    Some(Change { kind, since, is_exact, recovered, before, after, slow_ns, minutes: length, calls_an_hour, harm })
}

/// A cost between the usual one and that of the window of the alarm.
fn between(series: &Series, open: &Open, to: i64) -> f64 {
    let value =
        series.window(Metric::Cost, open.length, 0, open.at).or_else(|| series.whole(Metric::Cost, open.at, to));
    value.map_or(open.centre, |value| (value.x + open.centre) / 2.0).exp()
}

/// Requests a minute that the baselines of fallen traffic expect.
fn usual_calls_a_minute(open: &Open) -> f64 {
    let of = DROPS.iter().find(|(window, _)| window.length == open.length);
    of.map_or(0.0, |(window, _)| open.centre / (window.length - window.left_out as i64) as f64)
}

/// Requests a minute of the two hours before a change, at most as many as the baselines expect.
fn usual_calls(series: &Series, since: i64, open: &Open) -> f64 {
    let known = (since - 120).max(series.first());
    let before = series.whole(Metric::Calls, known, since).map_or(0.0, |value| value.calls);
    (before / (since - known).max(1) as f64).min(usual_calls_a_minute(open))
}
