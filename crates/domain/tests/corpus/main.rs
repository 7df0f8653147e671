//! Decodes and projects every scenario of `fixtures/otlp` and compares the rows with its `expected.json`.
//!
//! - [`scenario`]: the captured requests of a folder.
//! - [`stored`]: a model of the store: rows by row id, owners resolved across requests.
//! - [`damaged`]: the same requests with changed bytes.
//! - [`compare`]: compares with `expected.json`; where a scenario accepts two readings, with the preferred one.

mod compare;
mod damaged;
mod scenario;
mod stored;

use scenario::{Scenario, scenarios};
use stored::Stored;

#[test]
fn every_scenario_gives_the_expected_rows() {
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
fn the_comparison_detects_missing_rows() {
    for scenario in scenarios() {
        assert!(!compare::differences(&scenario, &Stored::default()).is_empty(), "{}", scenario.name);
    }
}
