//! Every scenario of `fixtures/otlp` through decode and project, against what its author wrote down.
//!
//! - [`scenario`]: the captured requests of a folder.
//! - [`stored`]: what a store holds after all of them: rows by row id, owners found across requests.
//! - [`damaged`]: the same requests with bytes changed.
//! - [`compare`]: `expected.json`, entry by entry; where a scenario tolerates two readings, the preferred one.

mod compare;
mod damaged;
mod scenario;
mod stored;

use scenario::{Scenario, scenarios};
use stored::Stored;

#[test]
fn every_scenario_gives_what_its_author_expects() {
    let mut failures = Vec::new();
    for scenario in scenarios() {
        let stored = Stored::after(&scenario);
        failures.extend(
            compare::differences(&scenario, &stored).into_iter().map(|line| format!("{}: {line}", scenario.name)),
        );
    }
    assert!(failures.is_empty(), "{} differences\n{}", failures.len(), failures.join("\n"));
}

// DECISIONS 11: retries store nothing twice.
#[test]
fn every_scenario_sent_twice_gives_the_same() {
    for scenario in scenarios() {
        let requests = scenario.requests.iter().chain(&scenario.requests).cloned().collect();
        let twice = Scenario { requests, ..scenario.clone() };
        assert_eq!(Stored::after(&scenario), Stored::after(&twice), "{}", scenario.name);
    }
}

#[test]
fn the_comparison_notices_what_is_missing() {
    for scenario in scenarios() {
        assert!(!compare::differences(&scenario, &Stored::default()).is_empty(), "{}", scenario.name);
    }
}
