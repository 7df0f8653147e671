//! Which subjects may have changed: quarters of an hour, which are far fewer than minutes.
//!
//! A change of [`super::changes`] shows in a quarter or in an hour too, but weaker: its window is not aligned with
//! quarters, and leaves out its worst minutes. A hiccup of a few minutes shows as well. The thresholds are tuned by the
//! tables of docs/develop/answers.md: every incident that the minutes show is above them.

use super::detect::STEPS;
use super::series::median;

/// Minutes of a [`Quarter`].
pub const QUARTER: i64 = 15;
/// Minutes of the quarters that [`suspicion`] reads: those in which changes begin, and the hours before.
pub const SCREENED: i64 = STEPS + RECENT as i64 * QUARTER + 2 * QUARTER;
/// The quantiles of [`Quarter::durations`].
pub const QUANTILES: [f64; 4] = [0.5, 0.9, 0.96, 0.98];

/// Quarters of the time that is usual: six hours.
const RECENT: usize = 24;
/// Windows that the usual value needs.
const WINDOWS: usize = 4;
/// Quarters of a fall of traffic, and the usual calls of one: the fewer calls, the longer none must come until chance is
/// ruled out.
const FALLS: [(usize, f64); 3] = [(1, 26.0), (2, 18.0), (3, 13.0)];
/// Share of the usual calls that is left.
const FALLEN: f64 = 0.6;
/// Quarters of the time before a fall of traffic: two hours.
const BEFORE_FALL: usize = 8;
/// Windows: changes that are short and strong, or long and weak. A quarter differs by a hiccup.
const LENGTHS: [Length; 2] =
    [Length { quarters: 1, wanted: 7.0, wanted_cost: 9.0 }, Length { quarters: 4, wanted: 5.0, wanted_cost: 7.0 }];
/// Calls of a window whose durations or errors are compared; whose quantiles above P90 are.
const CALLS: f64 = 10.0;
const CALLS_OF_LONG: f64 = 100.0;
/// Standard deviations of failures from the usual share.
const WANTED_ERRORS: f64 = 4.0;
/// The suspicion of a subject with calls in few quarters.
const NIGHTLY: f64 = 1.0;
/// Standard deviations of a fall of traffic: with these, 6.7 are no calls at all.
const WANTED_FALL: f64 = 3.0;
/// Noise that every subject has, of logarithms and of shares.
const FLOOR: f64 = 0.04;
const ERRORS_FLOOR: f64 = 0.0005;
/// The noise of windows without their worst minutes, per noise of whole ones.
const OF_NOISE: f64 = 0.7;
/// Logarithms of a rise.
const LN_LEAST: f64 = 0.1;
const ERRORS_LEAST: f64 = 0.0012;
const REFUSALS_LEAST: f64 = 0.02;
const DOLLARS_LEAST: f64 = 0.2;
/// Standard deviation of the logarithm of a quantile of one call, per spread of the durations; and the least rise, ns.
const OF_QUANTILE: [(f64, f64); 4] = [(1.25, 3e6), (2.2, 6e6), (2.5, 6e6), (2.9, 6e6)];
/// Half the distance between P10 and P90 of a normal distribution.
const P90_OF_NORMAL: f64 = 1.281_552;

/// Length of a window, and the standard deviations of durations and of costs from the usual value.
#[derive(Clone, Copy)]
struct Length {
    quarters: usize,
    wanted: f64,
    wanted_cost: f64,
}

/// Fifteen minutes of a subject; the default has no calls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quarter {
    /// Calls.
    pub calls: f64,
    /// Failed calls.
    pub failed: f64,
    /// Refused calls.
    pub refused: f64,
    /// Durations in nanoseconds at [`QUANTILES`]; 0: none is timed.
    pub durations: [f64; 4],
    /// Calls with a cost.
    pub priced: f64,
    /// Sum of their costs, US dollars.
    pub cost: f64,
}

/// Consecutive quarters together.
struct Window {
    calls: f64,
    failed: f64,
    refused: f64,
    priced: f64,
}

/// Compared values of a [`Window`], by place: logarithms of durations at [`QUANTILES`], failed share, logarithm of the
/// cost of a call, refused share; NaN: too few calls.
type Values = [f64; PLACES];

const PLACES: usize = QUANTILES.len() + 3;
const LONG: usize = QUANTILES.len() - 1;
const FAILED: usize = LONG + 1;
const PRICE: usize = LONG + 2;
const REFUSED: usize = LONG + 3;

/// A quarter, and the logarithms of its durations, which several windows use.
struct Logarithms<'a> {
    quarter: &'a Quarter,
    durations: [f64; QUANTILES.len()],
}

impl Logarithms<'_> {
    fn of(quarter: &Quarter) -> Logarithms<'_> {
        Logarithms { quarter, durations: quarter.durations.map(|ns| ns.max(1.0).ln()) }
    }
}

impl Window {
    fn of(quarters: &[Logarithms<'_>]) -> (Window, Values) {
        let sum = |of: fn(&Quarter) -> f64| quarters.iter().map(|one| of(one.quarter)).sum::<f64>();
        let timed = || quarters.iter().filter(|one| one.quarter.durations[0] > 0.0);
        let of_timed: f64 = timed().map(|one| one.quarter.calls).sum();
        let mean = |place: usize| timed().map(|one| one.durations[place] * one.quarter.calls).sum::<f64>() / of_timed;
        let (calls, failed) = (sum(|quarter| quarter.calls), sum(|quarter| quarter.failed));
        let refused = sum(|quarter| quarter.refused);
        let (priced, cost) = (sum(|quarter| quarter.priced), sum(|quarter| quarter.cost));
        let mut values = [f64::NAN; PLACES];
        if calls >= CALLS {
            if of_timed > 0.0 {
                (0..=LONG).for_each(|place| values[place] = mean(place));
            }
            values[FAILED] = failed / calls;
            values[REFUSED] = refused / calls;
            if priced >= CALLS && cost > 0.0 {
                values[PRICE] = (cost / priced).ln();
            }
        }
        (Window { calls, failed, refused, priced }, values)
    }
}

/// The windows of one length.
struct Windows {
    windows: Vec<Window>,
    /// Of all windows, by place.
    values: [Vec<f64>; PLACES],
    length: Length,
}

impl Windows {
    fn of(quarters: &[Logarithms<'_>], length: Length) -> Windows {
        let (windows, values): (Vec<Window>, Vec<Values>) = quarters.windows(length.quarters).map(Window::of).unzip();
        let of_place = |place: usize| values.iter().map(|values| values[place]).collect();
        Windows { values: std::array::from_fn(of_place), windows, length }
    }

    /// The values of the last hours before a window, NaN among them.
    fn before(&self, at: usize, place: usize) -> &[f64] {
        let end = (at + 1).saturating_sub(self.length.quarters);
        &self.values[place][end.saturating_sub(RECENT)..end]
    }

    fn known(&self, at: usize, place: usize) -> impl Iterator<Item = f64> {
        self.before(at, place).iter().copied().filter(|value| !value.is_nan())
    }

    /// The median of the last hours; NaN: too few values.
    fn usual(&self, at: usize, place: usize) -> f64 {
        let mut values: Vec<f64> = self.known(at, place).collect();
        median(&mut values).filter(|_| values.len() >= WINDOWS).unwrap_or(f64::NAN)
    }

    /// Whether [`Windows::usual`] may be at most `most`. Most windows end here.
    fn may_be_usual(&self, at: usize, place: usize, most: f64) -> bool {
        // Sums and differences of values round.
        let most = most + 1e-9;
        let below = self.before(at, place).iter().filter(|value| **value <= most).count();
        below >= WINDOWS / 2 && 2 * below >= self.known(at, place).count()
    }

    /// The median distance from the usual value, in standard deviations.
    fn noise(&self, at: usize, place: usize, usual: f64) -> f64 {
        let mut distances: Vec<f64> = self.known(at, place).map(|value| (value - usual).abs()).collect();
        1.4826 * median(&mut distances).unwrap_or(0.0)
    }

    fn mean(&self, at: usize, place: usize) -> f64 {
        let (count, sum) = self.known(at, place).fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        sum / f64::max(count, 1.0)
    }
}

/// Distance of the worst window from the values usual before it, in standard deviations; 0: [`super::changes`] probably
/// finds nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspicion {
    /// Durations, failures or costs.
    pub risen: f64,
    /// Traffic.
    pub fallen: f64,
}

impl Suspicion {
    /// The greater one.
    pub fn worst(self) -> f64 {
        self.risen.max(self.fallen)
    }
}

/// Suspicion from the windows of the last [`STEPS`] minutes. `quarters` are [`SCREENED`] minutes; the last one
/// `is_whole` when it is over.
pub fn suspicion(quarters: &[Quarter], is_whole: bool) -> Suspicion {
    let first = quarters.len().saturating_sub((STEPS / QUARTER) as usize + 1);
    let mut worst = 0.0_f64;
    let active = quarters.iter().filter(|quarter| quarter.calls > 0.0);
    if active.clone().count() <= 2 * WINDOWS && active.map(|quarter| quarter.calls).sum::<f64>() >= CALLS {
        // Other days may tell what is usual; these quarters cannot.
        worst = worst.max(NIGHTLY);
    }
    let logarithms: Vec<Logarithms<'_>> = quarters.iter().map(Logarithms::of).collect();
    for length in LENGTHS {
        let windows = Windows::of(&logarithms, length);
        for at in (first + 1).saturating_sub(length.quarters)..windows.windows.len() {
            worst = worst.max(risen(&windows, at));
        }
    }
    Suspicion { risen: worst, fallen: fallen(quarters, first, is_whole) }
}

/// Standard deviations of the durations, failures or costs of a window above those before it; 0: not enough.
fn risen(windows: &Windows, at: usize) -> f64 {
    let (window, length) = (&windows.windows[at], windows.length);
    let value = |place: usize| windows.values[place][at];
    let usual = |place| windows.usual(at, place);
    let noise = |place, usual, floor: f64| floor.max(OF_NOISE * windows.noise(at, place, usual));
    let mut worst = 0.0_f64;
    let mut add = |deviations: f64, wanted: f64| {
        if deviations >= wanted {
            worst = worst.max(deviations);
        }
    };
    // Comparisons with values that are not known are false.
    for (place, (by_chance, least_ns)) in OF_QUANTILE.into_iter().enumerate() {
        let value = value(place);
        let has_calls = place <= 1 || window.calls >= CALLS_OF_LONG;
        if !has_calls || !windows.may_be_usual(at, place, value - length.wanted * FLOOR) {
            continue;
        }
        // A larger share is slow when a lower quantile is as long as the highest one was.
        let exceeded = usual(if place == LONG - 1 { LONG } else { place });
        if value - exceeded >= LN_LEAST && value.exp() - exceeded.exp() >= least_ns {
            let (own, spread) = (usual(place), ((usual(1) - usual(0)) / P90_OF_NORMAL).max(0.0));
            let chance = by_chance * spread / window.calls.sqrt();
            add((value - own) / noise(place, own, FLOOR).hypot(chance), length.wanted);
        }
    }
    for (place, count, least) in [(FAILED, window.failed, ERRORS_LEAST), (REFUSED, window.refused, REFUSALS_LEAST)] {
        let share = value(place);
        if count >= 2.0 && windows.may_be_usual(at, place, share - WANTED_ERRORS * ERRORS_FLOOR) {
            let usual = usual(place);
            if share - usual >= least && share >= 1.4 * usual {
                // Counts of few failures are far from normal; their square roots are not.
                let root = |count: f64| 2.0 * (count + 0.375).sqrt();
                let by_chance = root(count) - root(windows.mean(at, place) * window.calls);
                add(by_chance.min((share - usual) / noise(place, usual, ERRORS_FLOOR)), WANTED_ERRORS);
            }
        }
    }
    let price = value(PRICE);
    if windows.may_be_usual(at, PRICE, price - length.wanted_cost * FLOOR) {
        let cost = usual(PRICE);
        let an_hour = window.priced * 4.0 / length.quarters as f64;
        if price - cost >= LN_LEAST && (price.exp() - cost.exp()) * an_hour >= DOLLARS_LEAST {
            add((price - cost) / noise(PRICE, cost, FLOOR), length.wanted_cost);
        }
    }
    worst
}

/// Standard deviations of the calls of some quarters below those of the two hours before; 0: not enough. The last quarter
/// counts when it `is_whole`.
fn fallen(quarters: &[Quarter], first: usize, is_whole: bool) -> f64 {
    let mut worst = 0.0_f64;
    let end = quarters.len() - usize::from(!is_whole && !quarters.is_empty());
    for at in first..end {
        for (length, usual_min) in FALLS {
            let Some(from) = (at + 1).checked_sub(length) else { continue };
            let before = quarters[from.saturating_sub(BEFORE_FALL)..from].iter().map(|quarter| quarter.calls);
            let calls: f64 = quarters[from..=at].iter().map(|quarter| quarter.calls).sum();
            let most = before.clone().fold(0.0, f64::max);
            if most < usual_min || calls > FALLEN * length as f64 * most {
                continue;
            }
            let usual = median(&mut before.collect::<Vec<f64>>()).filter(|usual| *usual >= usual_min);
            let Some(usual) = usual else { continue };
            let expected = length as f64 * usual;
            let deviations = (expected - calls) / expected.sqrt().hypot(0.15 * expected);
            if calls <= FALLEN * expected && deviations >= WANTED_FALL {
                worst = worst.max(deviations);
            }
        }
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quarters that differ a little, of `calls` calls each.
    fn usual_day(calls: f64) -> Vec<Quarter> {
        let mut random = fastrand::Rng::with_seed(7);
        let quarter = |_| {
            let mut drawn = |width: f64| 1.0 + width * (random.f64() - 0.5);
            let calls = (calls * drawn(0.1)).round();
            let durations = [0.1e9, 0.3e9, 0.45e9, 0.6e9].map(|ns| ns * drawn(0.08));
            let failed = (calls * 0.01 * drawn(0.5)).round();
            let refused = (calls * 0.02 * drawn(0.5)).round();
            Quarter { calls, failed, refused, durations, priced: calls, cost: 0.02 * calls * drawn(0.05) }
        };
        (0..SCREENED / QUARTER + 1).map(quarter).collect()
    }

    /// The suspicion when the quarters `from..to`, counted from the end, are different.
    fn with(calls: f64, (from, to): (usize, usize), change: impl Fn(&mut Quarter)) -> f64 {
        let mut quarters = usual_day(calls);
        let length = quarters.len();
        quarters[length - from..length - to].iter_mut().for_each(change);
        suspicion(&quarters, true).worst()
    }

    fn slower(factor: f64, first: usize) -> impl Fn(&mut Quarter) {
        move |quarter| quarter.durations[first..].iter_mut().for_each(|ns| *ns *= factor)
    }

    #[test]
    fn what_got_worse_is_suspected() {
        for (what, found) in [
            ("an hour, slower", with(300.0, (30, 26), slower(1.5, 0))),
            ("the last quarter, much slower", with(300.0, (1, 0), slower(4.0, 0))),
            ("an hour, a slower tail", with(300.0, (4, 0), slower(2.0, 1))),
            ("an hour, a share of 4 % slower", with(600.0, (4, 0), slower(2.5, 2))),
            ("an hour, 3 points failing", with(600.0, (4, 0), |quarter| quarter.failed += 0.03 * quarter.calls)),
            ("an hour, 10 points refused", with(600.0, (4, 0), |quarter| quarter.refused += 0.1 * quarter.calls)),
            ("a quarter, half of it failing", with(40.0, (9, 8), |quarter| quarter.failed = 0.5 * quarter.calls)),
            ("no traffic", with(60.0, (3, 0), |quarter| *quarter = Quarter::default())),
            ("no traffic for a quarter", with(300.0, (20, 19), |quarter| *quarter = Quarter::default())),
            ("rare traffic ends", with(16.0, (3, 0), |quarter| *quarter = Quarter::default())),
            ("an hour, dearer", with(60.0, (4, 0), |quarter| quarter.cost *= 1.5)),
        ] {
            assert!(found > 0.0, "{what}");
        }
        let weak = with(300.0, (4, 0), slower(1.5, 0));
        assert!(weak < with(300.0, (4, 0), slower(3.0, 0)), "more is more suspicious");
    }

    #[test]
    fn what_is_usual_or_better_is_not_suspected() {
        let half = |quarter: &mut Quarter| quarter.calls /= 2.0;
        for (what, found) in [
            ("nothing", suspicion(&[], true).worst()),
            ("a usual day", with(300.0, (1, 0), |_| {})),
            ("rare calls", with(2.0, (1, 0), slower(4.0, 0))),
            ("faster", with(300.0, (4, 0), slower(0.5, 0))),
            ("a twentieth slower", with(300.0, (4, 0), slower(1.05, 0))),
            ("two more failures", with(300.0, (4, 3), |quarter| quarter.failed += 2.0)),
            ("a fifth less traffic", with(300.0, (4, 0), |quarter| quarter.calls *= 0.8)),
            ("more traffic", with(300.0, (4, 0), |quarter| quarter.calls *= 3.0)),
            ("rare traffic pauses", with(12.0, (4, 2), |quarter| *quarter = Quarter::default())),
            ("rare failures, once five", with(60.0, (4, 0), |quarter| quarter.failed += 1.0)),
            ("cheap, and dearer by cents", with(12.0, (4, 0), |quarter| quarter.cost *= 1.2)),
            // Changes of the time before the last day only tell what is usual.
            ("before the last day", with(300.0, (122, 110), slower(4.0, 0))),
            ("half the traffic before the last day", with(300.0, (122, 110), half)),
        ] {
            assert_eq!(found, 0.0, "{what}");
        }
    }

    #[test]
    fn a_quarter_that_is_not_over_is_no_fall() {
        let mut quarters = usual_day(300.0);
        let last = quarters.len() - 1;
        quarters[last].calls = 20.0;
        assert_eq!(suspicion(&quarters, false).worst(), 0.0);
        let whole = suspicion(&quarters, true);
        assert!(whole.fallen > 0.0 && whole.risen == 0.0, "{whole:?}");
    }

    #[test]
    fn a_subject_with_few_windows_needs_other_days() {
        let nightly = |quarter: &mut Quarter| *quarter = Quarter::default();
        let mut quarters = usual_day(300.0);
        let length = quarters.len();
        quarters[..length - 1].iter_mut().for_each(nightly);
        assert_eq!(suspicion(&quarters, true), Suspicion { risen: NIGHTLY, fallen: 0.0 });
        quarters.iter_mut().for_each(nightly);
        assert_eq!(suspicion(&quarters, true).worst(), 0.0, "no calls at all");
    }
}
