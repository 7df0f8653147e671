//! The minutes of an endpoint over nine days: waves of the day and the week, drifting durations, a nightly batch,
//! hiccups, bursts of errors, deploys without harm, waves of traffic and gaps; and an incident at the end.

use std::f64::consts::TAU;

use fastrand::Rng;
use tidewatch_domain::changes::{
    LAST_MINUTES, LOOKED_BACK, Minute, QUANTILES, QUARTER, Quarter, SCREENED, STEPS, Series,
};

use crate::requests::normal;

pub const DAY: i64 = 24 * 60;
/// Points of a minute's distribution, as the roll-ups answer them.
const POINTS: usize = 20;
/// A Monday.
const MONDAY: i64 = 20_598 * DAY;

/// An endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    pub seed: u64,
    /// Requests a minute, on average.
    pub rate: f64,
    /// Whether its requests have costs.
    pub is_priced: bool,
}

/// Effect of an incident on requests from its start on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Factor of durations, and the share of requests with it.
    pub slower: (f64, f64),
    /// Added failed share.
    pub failing: f64,
    /// Added refused share.
    pub refusing: f64,
    /// Factor of traffic.
    pub traffic: f64,
    /// Factor of costs.
    pub dearer: f64,
}

pub const NONE: Effect = Effect { slower: (1.0, 1.0), failing: 0.0, refusing: 0.0, traffic: 1.0, dearer: 1.0 };

/// Consecutive minutes, the first one since the epoch.
pub struct Minutes {
    pub first: i64,
    minutes: Vec<Minute<'static>>,
}

impl Minutes {
    /// The minute after the last.
    pub fn end(&self) -> i64 {
        self.first + self.minutes.len() as i64
    }

    /// The series of the minutes before `end`.
    pub fn until(&self, end: i64) -> Series {
        Series::new(self.first, &self.minutes[..(end - self.first) as usize])
    }

    /// The series of the second look before `end`.
    pub fn last(&self, end: i64) -> Series {
        let first = end - LAST_MINUTES;
        Series::new(first, &self.minutes[(first - self.first) as usize..(end - self.first) as usize])
    }

    /// The quarters of the first look before `end`.
    pub fn quarters(&self, end: i64) -> Vec<Quarter> {
        let from = (end - SCREENED).div_euclid(QUARTER) * QUARTER;
        let place = |minute: i64| (minute.clamp(self.first, end) - self.first) as usize;
        let starts = (from..end).step_by(QUARTER as usize);
        starts.map(|start| quarter(&self.minutes[place(start)..place(start + QUARTER)])).collect()
    }
}

/// These minutes together.
fn quarter(minutes: &[Minute<'_>]) -> Quarter {
    // Each point of a minute stands for as many calls.
    let each = |minute: &Minute<'_>| minute.calls / minute.durations.len() as f64;
    let mut points: Vec<(f64, f64)> =
        minutes.iter().flat_map(|minute| minute.durations.iter().map(move |ns| (*ns, each(minute)))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let all: f64 = points.iter().map(|(_, calls)| calls).sum();
    let at = |q: f64| {
        let mut below = 0.0;
        let is_there = |(_, calls): &&(f64, f64)| {
            below += calls;
            below >= q * all
        };
        points.iter().find(is_there).or(points.last()).map_or(0.0, |(ns, _)| *ns)
    };
    let sum = |of: fn(&Minute<'_>) -> f64| minutes.iter().map(of).sum();
    Quarter {
        calls: sum(|minute| minute.calls),
        failed: sum(|minute| minute.failed),
        refused: sum(|minute| minute.refused),
        durations: QUANTILES.map(at),
        priced: sum(|minute| minute.priced),
        cost: sum(|minute| minute.cost),
    }
}

/// A state that lasts some minutes: until when, and how strongly.
#[derive(Clone, Copy)]
struct Spell {
    end: i64,
    strength: f64,
}

impl Spell {
    fn none(strength: f64) -> Spell {
        Spell { end: i64::MIN, strength }
    }

    fn at(self, minute: i64, usual: f64) -> f64 {
        if minute < self.end { self.strength } else { usual }
    }
}

impl Endpoint {
    /// Nine days of minutes up to `end`, less than a week after [`MONDAY`] and a week; `effect` holds from `start` on.
    pub fn minutes(self, end: i64, start: i64, effect: Effect) -> Minutes {
        let mut random = Rng::with_seed(self.seed);
        let end = MONDAY + 7 * DAY + end;
        let (first, start) = (end - STEPS - LOOKED_BACK, MONDAY + 7 * DAY + start);
        let typical_ns = 1e6 * (20.0_f64.ln() + random.f64() * 50.0_f64.ln()).exp();
        let (spread, failing) = (0.3 + 0.4 * random.f64(), 0.004 * random.f64() * random.f64());
        let (wave, phase) = (0.3 + 0.4 * random.f64(), 90.0 * normal(&mut random));
        let weekend = 0.4 + 0.5 * random.f64();
        let has_batch = random.f64() < 0.5;
        // Numbers of their own, so that the other measures stay what they are without refusals.
        let mut refusals = Rng::with_seed(!self.seed);
        let refusing = 0.03 * refusals.f64() * refusals.f64();
        let mut drift = 0.0_f64;
        let mut hiccup = Spell::none(1.0);
        let mut burst = Spell::none(0.0);
        let mut deploy = Spell::none(1.0);
        let mut crowd = Spell::none(1.0);
        let mut gap = Spell::none(0.0);
        let mut minutes = Vec::with_capacity((end - first) as usize);
        for minute in first..end {
            let of_day = minute.rem_euclid(DAY);
            let mut begins = |a_day: f64, longest: std::ops::RangeInclusive<i64>, spell: &mut Spell, strength: f64| {
                if random.f64() < a_day / DAY as f64 {
                    *spell = Spell { end: minute + random.i64(longest), strength };
                }
            };
            let (one, other) = (fraction(minute, self.seed, 1), fraction(minute, self.seed, 2));
            begins(2.5, 1..=4, &mut hiccup, 1.5 + 4.0 * one);
            begins(1.5, 1..=2, &mut burst, 0.05 + 0.4 * other);
            begins(0.7, 2..=5, &mut deploy, 1.3 + one);
            begins(1.5, 20..=90, &mut crowd, 1.2 + 1.3 * other);
            begins(0.3, 1..=10, &mut gap, 1.0);
            drift = 0.999 * drift + 0.002 * normal(&mut random);
            let is_batch = has_batch && (125..165).contains(&of_day);
            let traffic = (1.0 + wave * (TAU * (of_day as f64 - 540.0 + phase) / DAY as f64).sin())
                * if (minute - MONDAY).rem_euclid(7 * DAY) >= 5 * DAY { weekend } else { 1.0 }
                * crowd.at(minute, 1.0)
                * (1.0 - gap.at(minute, 0.0));
            let now = if minute >= start { effect } else { NONE };
            let slower = hiccup.at(minute, 1.0)
                * deploy.at(minute, 1.0)
                // Crowded hours are a little slower.
                * crowd.at(minute, 1.0).powf(0.1)
                * if is_batch { 1.5 } else { 1.0 }
                * drift.exp();
            let failing = failing + now.failing + burst.at(minute, 0.0) + if is_batch { 0.003 } else { 0.0 };
            let calls = poisson(&mut random, self.rate * traffic * now.traffic);
            // Bots come in bursts.
            let refusing = refusing + now.refusing + 0.5 * burst.at(minute, 0.0);
            let refused = (0..calls).filter(|_| refusals.f64() < refusing).count() as f64;
            let (mut durations, mut failed, mut cost) = (Vec::with_capacity(calls), 0, 0.0);
            for _ in 0..calls {
                let hit = if random.f64() < now.slower.1 { now.slower.0 } else { 1.0 };
                let mut ns = typical_ns * slower * hit * (spread * normal(&mut random)).exp();
                if random.f64() < 0.01 {
                    ns *= (1.0 - random.f64()).powf(-1.0 / 1.5);
                }
                durations.push(ns);
                failed += u32::from(random.f64() < failing);
                if self.is_priced {
                    cost += 0.03 * now.dearer * (0.7 * normal(&mut random)).exp();
                }
            }
            durations.sort_by(f64::total_cmp);
            let calls = calls as f64;
            let priced = if self.is_priced { calls } else { 0.0 };
            minutes.push(Minute {
                calls,
                failed: f64::from(failed),
                refused,
                durations: points(&durations).into(),
                priced,
                cost,
            });
        }
        Minutes { first, minutes }
    }
}

/// A number below 1 of a minute, always the same.
fn fraction(minute: i64, seed: u64, property: u64) -> f64 {
    Rng::with_seed(minute as u64 ^ seed.rotate_left(32) ^ property.rotate_left(52)).f64()
}

fn points(sorted: &[f64]) -> Vec<f64> {
    let at = |point: usize| {
        let rank = (point as f64 + 0.5) / POINTS as f64 * sorted.len() as f64;
        sorted[(rank.ceil() as usize).clamp(1, sorted.len()) - 1]
    };
    if sorted.is_empty() { Vec::new() } else { (0..POINTS).map(at).collect() }
}

fn poisson(random: &mut Rng, mean: f64) -> usize {
    if mean > 30.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0) as usize;
    }
    let (limit, mut product, mut count) = ((-mean).exp(), 1.0, 0);
    loop {
        product *= random.f64();
        if product <= limit {
            return count;
        }
        count += 1;
    }
}
