//! Baselines of a subject at a time: the last day, and the same time of other days.

use super::series::{Metric, Series, Value, median};

/// Minutes of a day.
pub(super) const DAY_MINUTES: i64 = 24 * 60;
/// Days whose same time of day is compared.
pub(super) const DAYS: i64 = 7;
/// Windows that a baseline needs.
const WINDOWS: usize = 4;
/// Days of the same class, working day or weekend, from which on only these are compared.
const DAYS_OF_CLASS: usize = 4;

/// The quantile of a third of a day's windows that is below [`Usual::high`]: the fourth greatest of 48.
const HIGH_LATELY: f64 = 0.93;

/// A window: its minutes, and how many of the worst do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    pub length: i64,
    pub left_out: usize,
}

/// Usual values of windows of one length at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Usual {
    /// The greater of the two baselines' medians.
    pub centre: f64,
    /// The greatest of the median absolute deviations, in standard deviations; no floor.
    pub noise: f64,
    /// 98th percentile of the last day and of other days.
    pub high: f64,
    /// Requests of a typical window.
    pub calls: f64,
    /// Only the last hours are known: the subject is younger than a day.
    pub is_young: bool,
}

/// The median of the last six hours: [`Usual::centre`] is hardly lower. `None`: too few windows have enough requests.
pub(super) fn recent(series: &Series, metric: Metric, window: Window, now: i64) -> Option<f64> {
    let at = |end: i64| value(series, metric, window, end);
    let mut values: Vec<f64> = ends(now - window.length - 5, now - 6 * 60, 10).filter_map(at).collect();
    if values.len() < WINDOWS { None } else { median(&mut values) }
}

/// Usual value of a window that ends at `now`, from the known windows of the last day alone: hardly more than that of
/// [`usual`]. With too few windows, the last six hours together give it. `None`: they have too few requests.
pub(super) fn lately(series: &Series, metric: Metric, window: Window, now: i64) -> Option<Usual> {
    let last = now - window.length - 5;
    let known = |hours: i64| {
        let of = |end| series.window(metric, window.length, window.left_out, end);
        ends(last, now - hours * 60, 10).filter_map(of)
    };
    let mut recent: Vec<f64> = known(6).map(|value| value.x).collect();
    if recent.len() < WINDOWS {
        let Value { x: centre, calls, .. } = series.whole(metric, last - 6 * 60, last)?;
        return Some(Usual { centre, noise: 0.0, high: f64::MIN, calls, is_young: false });
    }
    let mut day: Vec<f64> = known(24).map(|value| value.x).collect();
    let mut calls: Vec<f64> = known(24).map(|value| value.calls).collect();
    let noise = deviation(&mut day)?.max(deviation(&mut recent)?);
    let high = percentile(&mut day, HIGH_LATELY)?;
    Some(Usual { centre: median(&mut recent)?, noise, high, calls: median(&mut calls)?, is_young: false })
}

/// The baselines of a window that ends at `now`; `None`: too few windows have enough requests.
pub(super) fn usual(series: &Series, metric: Metric, window: Window, now: i64) -> Option<Usual> {
    let last = now - window.length - 5;
    let at = |end: i64| value(series, metric, window, end);
    let calls = |end: i64| series.window(metric, window.length, window.left_out, end).map(|value| value.calls);
    let mut other_days = same_time(series, metric, window, now, 30);
    let has_days = other_days.len() >= WINDOWS;
    let every = if has_days { 10 } else { 5 };
    let back = |hours: i64| ends(last, now - hours * 60, every).filter_map(at).collect::<Vec<f64>>();
    let (mut recent, mut day) = (back(6), back(24));
    let has_recent = recent.len() >= WINDOWS;
    if !has_days && !has_recent {
        return None;
    }
    let mut values = day.clone();
    values.extend(&other_days);
    let high = percentile(&mut values, 0.98)?;
    let (mut centre, mut noise) = (f64::NEG_INFINITY, deviation(&mut day).unwrap_or(0.0));
    for (has, of) in [(has_recent, &mut recent), (has_days, &mut other_days)] {
        if has {
            centre = centre.max(median(of)?);
            noise = noise.max(deviation(of).unwrap_or(0.0));
        }
    }
    let mut calls: Vec<f64> = ends(last, now - DAY_MINUTES, every).filter_map(calls).collect();
    let calls = median(&mut calls).unwrap_or(1.0);
    Some(Usual { centre, noise, high, calls, is_young: !has_days })
}

/// The metric of all minutes of the day before the window that ends at `now`. Leaving out the worst minutes lowers
/// windows with few requests more than windows with many, so growing traffic alone lifts a window above the medians of
/// earlier ones, but not above the whole day.
pub(super) fn whole_day(series: &Series, metric: Metric, window: Window, now: i64) -> Option<f64> {
    let last = now - window.length - 5;
    series.whole(metric, last - DAY_MINUTES, last).map(|value| value.x)
}

/// Values of the windows that end within `around` minutes of this time on other days.
pub(super) fn same_time(series: &Series, metric: Metric, window: Window, now: i64, around: i64) -> Vec<f64> {
    let of_day = |days: &i64| -> Vec<f64> {
        let centre = now - days * DAY_MINUTES;
        let end = |offset: i64| value(series, metric, window, centre + offset);
        (0..=around / 5).map(|step| step * 10 - around).filter_map(end).collect()
    };
    let is_weekend = |minute: i64| (minute.div_euclid(DAY_MINUTES) + 3).rem_euclid(7) >= 5;
    let days: Vec<(bool, Vec<f64>)> = (1..=DAYS)
        .map(|days| (is_weekend(now - days * DAY_MINUTES) == is_weekend(now), of_day(&days)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    let of_class = days.iter().filter(|(same, _)| *same).count() >= DAYS_OF_CLASS;
    days.into_iter().filter(|(same, _)| *same || !of_class).flat_map(|(_, values)| values).collect()
}

fn value(series: &Series, metric: Metric, window: Window, end: i64) -> Option<f64> {
    series.window(metric, window.length, window.left_out, end).map(|Value { x, .. }| x)
}

/// Ends of windows from `last` down to `earliest`.
pub(super) fn ends(last: i64, earliest: i64, every: usize) -> impl Iterator<Item = i64> {
    (earliest..=last).rev().step_by(every)
}

fn deviation(values: &mut [f64]) -> Option<f64> {
    let centre = median(values)?;
    let mut distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&mut distances).map(|distance| 1.4826 * distance)
}

fn percentile(values: &mut [f64], q: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(values[(q * last as f64).ceil() as usize])
}
