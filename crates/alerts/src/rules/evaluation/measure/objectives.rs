//! Objectives: how fast error budgets burn. SRE workbook, "Alerting on SLOs": two windows each, so that an alert begins
//! when it matters and ends soon after the cause.

use std::collections::BTreeMap;

use tidewatch_domain::units::{HOUR_NS, MINUTE_NS};
use tidewatch_query::error::QueryError;
use tidewatch_query::time_windows::{ServedKind, Windows};

use super::source::Source;
use crate::rules::config::{SloBurn, SloKind};
use crate::rules::evaluation::Measured;
use crate::rules::severity::{FAST_BURN, SLOW_BURN};
use crate::rules::words::{escaped, number};

/// Width of the windows that the others are sums of.
const STEP: i64 = 5 * MINUTE_NS;
/// Long and short windows in steps, with the rate at which both must burn: 1 h and 5 min, 6 h and 30 min.
const PAIRS: [(i64, i64, f64); 2] = [(HOUR_NS / STEP, 1, FAST_BURN), (6 * HOUR_NS / STEP, 6, SLOW_BURN)];

/// Good and all requests of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Step {
    total: f64,
    bad: f64,
}

/// Measures an objective at the end of each window, whose width is five minutes.
pub(super) async fn measure(
    source: &mut Source,
    rule: &SloBurn,
    windows: Windows,
) -> Result<Vec<Measured>, QueryError> {
    let before = PAIRS[1].0 - 1;
    let (kind, page) = match rule.kind {
        SloKind::Endpoint => (ServedKind::Endpoints, "endpoints"),
        SloKind::Task => (ServedKind::Tasks, "tasks"),
    };
    let found = source.served(kind, windows.and_before(before), &rule.name).await?;
    let mut names: BTreeMap<String, BTreeMap<i64, Step>> = BTreeMap::new();
    for served in found {
        let bad = if rule.kind == SloKind::Endpoint { served.server_errors } else { served.errors };
        names.entry(served.name).or_default().insert(served.window - before, Step { total: served.total, bad });
    }
    let budget = 1.0 - rule.objective_percent / 100.0;
    let mut measured = Vec::new();
    for (name, steps) in &names {
        for window in 0..windows.count {
            let hour = sum(steps, window, PAIRS[0].0);
            let value = (hour.total >= rule.min_requests.max(1.0)).then(|| burn_rate(steps, window, budget));
            let burns = value.unwrap_or_default();
            measured.push(Measured {
                window,
                subject: name.clone(),
                value: value.map(|burns| burns.rate),
                breaches: burns.breaches,
                title: format!("{name}: the error budget burns {} times too fast", number(burns.rate)),
                body: format!(
                    "{} of {} failed in the last hour. The objective is {} % good ones.",
                    number(hour.bad),
                    number(hour.total),
                    number(rule.objective_percent)
                ),
                page: format!("/{page}/{}", escaped(name)),
            });
        }
    }
    Ok(measured)
}

/// Burn rates of an error budget.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Burns {
    /// Times the sustainable rate: of the pair that breaches, else of the last hour.
    rate: f64,
    breaches: bool,
}

fn burn_rate(steps: &BTreeMap<i64, Step>, window: i64, budget: f64) -> Burns {
    let rate = |count: i64| {
        let Step { total, bad } = sum(steps, window, count);
        if total > 0.0 { bad / total / budget } else { 0.0 }
    };
    for (long, short, least) in PAIRS {
        let both = rate(long).min(rate(short));
        if both >= least {
            return Burns { rate: both, breaches: true };
        }
    }
    // Below the fast rate, so that its severity is not that of the fast pair.
    Burns { rate: rate(PAIRS[0].0).min(rate(PAIRS[0].1)), breaches: false }
}

/// The last `count` steps up to a window.
fn sum(steps: &BTreeMap<i64, Step>, window: i64, count: i64) -> Step {
    let within = steps.range(window - count + 1..=window);
    within.fold(Step::default(), |sum, (_, step)| Step { total: sum.total + step.total, bad: sum.bad + step.bad })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps up to window 0, the last one first: bad ones of 100.
    #[track_caller]
    fn check(bad: &[f64], expected: (bool, f64)) {
        let steps = (0..72).map(|back| {
            let bad = bad.get(back as usize).copied().unwrap_or(0.0);
            (-back, Step { total: 100.0, bad })
        });
        // An objective of 99 %: a burn rate of 1 is one bad request in 100.
        let burns = burn_rate(&steps.collect(), 0, 0.01);
        assert_eq!((burns.breaches, (burns.rate * 10.0).round() / 10.0), expected);
    }

    #[test]
    fn both_windows_of_a_pair_must_burn() {
        check(&[], (false, 0.0));
        // Five bad minutes of an hour.
        check(&[100.0], (false, 8.3));
        // The hour and its last five minutes.
        check(&[20.0; 12], (true, 20.0));
        check(&[100.0, 100.0], (true, 16.7));
        // The hour was bad, and the last five minutes are good: the alert ends.
        check(&[[0.0; 1].as_slice(), &[20.0; 11]].concat(), (false, 0.0));
        // Six hours at 7 times the rate.
        check(&[7.0; 72], (true, 7.0));
        check(&[[0.0; 6].as_slice(), &[7.0; 66]].concat(), (false, 0.0));
        check(&[5.9; 72], (false, 5.9));
    }
}
