//! Sends every scenario of `fixtures/otlp` to the real server, each into its own project, and compares the API's
//! answers with the scenario's expectations.
//!
//! - [`scenario`]: the captured requests of a folder, as captured or in another content encoding.
//! - [`observed`]: the API's answers for a project.
//! - [`compare`]: the comparison with `expected.json`, entry by entry; where a scenario tolerates two readings, either
//!   matches.

mod compare;
mod observed;
mod scenario;

use std::collections::BTreeMap;

use crate::harness::{Harness, Project};
use observed::Observed;
use scenario::{Coding, Scenario, scenarios};

/// Settings of a scenario's requests.
#[derive(Clone, Copy)]
struct Mode {
    coding: Coding,
    /// Number of times that each request is sent consecutively.
    times: usize,
}

/// Sends every scenario into its own project.
async fn send_all(harness: &Harness, mode: Mode) -> Vec<(Scenario, Project)> {
    let mut sent = Vec::new();
    for scenario in scenarios() {
        let project = harness.project(&scenario.name).await;
        for request in &scenario.requests {
            let (body, headers) = request.encoded(mode.coding);
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            for _ in 0..mode.times {
                harness.post_otlp(&request.signal, &project.token, &headers, &body).await.expect(200);
            }
        }
        sent.push((scenario, project));
    }
    sent
}

/// Reads everything and compares. `times`: how often each request was sent.
async fn check_all(harness: &Harness, sent: &[(Scenario, Project)], times: usize) {
    let mut failures = BTreeMap::new();
    for (scenario, project) in sent {
        let observed = Observed::of(harness, project, scenario).await;
        let differences = compare::differences(scenario, &observed, times);
        if !differences.is_empty() {
            failures.insert(&scenario.name, differences);
        }
    }
    let lines: Vec<String> =
        failures.iter().map(|(name, lines)| format!("{name}:\n  {}", lines.join("\n  "))).collect();
    assert!(failures.is_empty(), "{} of {} scenarios differ\n{}", failures.len(), sent.len(), lines.join("\n"));
}

async fn check(mode: Mode) {
    let mut harness = Harness::start().await;
    harness.register().await;
    let sent = send_all(&harness, mode).await;
    check_all(&harness, &sent, mode.times).await;
    harness.stop().await;
}

#[tokio::test]
async fn every_scenario_as_captured() {
    check(Mode { coding: Coding::AsCaptured, times: 1 }).await;
}

// DECISIONS 11: retries are stored once.
#[tokio::test]
async fn every_scenario_with_every_request_sent_twice() {
    check(Mode { coding: Coding::AsCaptured, times: 2 }).await;
}

#[tokio::test]
async fn every_scenario_compressed() {
    check(Mode { coding: Coding::Gzip, times: 1 }).await;
}

#[tokio::test]
async fn every_scenario_uncompressed() {
    check(Mode { coding: Coding::Plain, times: 1 }).await;
}

#[tokio::test]
async fn every_scenario_after_a_crash_and_after_a_restart() {
    let mut harness = Harness::start().await;
    harness.register().await;
    let sent = send_all(&harness, Mode { coding: Coding::AsCaptured, times: 1 }).await;
    harness.crash().await;
    check_all(&harness, &sent, 1).await;
    // A clean restart: all rows are flushed to parts.
    harness.restart().await;
    check_all(&harness, &sent, 1).await;
    harness.stop().await;
}
