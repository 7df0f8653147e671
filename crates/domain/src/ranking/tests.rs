use super::*;

fn healthy() -> EndpointAggregate {
    EndpointAggregate {
        total: 100.0,
        timed: 100.0,
        satisfied: 100.0,
        p99_ns: Some(1.0e8),
        ..EndpointAggregate::default()
    }
}

#[track_caller]
fn check(endpoint: EndpointAggregate, score: f64, level: ImpactLevel, reason: &str) {
    let actual = impact(&endpoint);
    assert!((actual.score - score).abs() < 1e-9, "{} instead of {score}", actual.score);
    assert_eq!((actual.level, actual.reason.as_str()), (level, reason));
}

// Spec: entity rows, Endpoint ranking; WIRE 8.1.
#[test]
fn impact_table() {
    use ImpactLevel::{Critical, Good, High, Medium};
    check(healthy(), 0.0, Good, "");
    check(EndpointAggregate::default(), 0.0, Good, "");
    // 1. Apdex deficit.
    check(EndpointAggregate { satisfied: 50.0, tolerating: 20.0, ..healthy() }, 0.4, Medium, "Apdex is 0.60");
    check(EndpointAggregate { satisfied: 90.0, tolerating: 10.0, ..healthy() }, 0.05, Good, "");
    // 2. Bad rate, above the Apdex deficit.
    check(EndpointAggregate { bad: 34.0, ..healthy() }, 0.75, Critical, "34.0 % of requests are bad");
    check(EndpointAggregate { bad: 33.0, ..healthy() }, 0.50, High, "33.0 % of requests are bad");
    check(EndpointAggregate { bad: 11.0, ..healthy() }, 0.25, Medium, "11.0 % of requests are bad");
    check(EndpointAggregate { bad: 10.0, ..healthy() }, 0.0, Good, "");
    // 3. P99 minus the slow offset.
    check(EndpointAggregate { p99_ns: Some(8.5e9), ..healthy() }, 0.75, Critical, "P99 is 8.5 s");
    check(EndpointAggregate { p99_ns: Some(6.5e9), ..healthy() }, 0.50, High, "P99 is 6.5 s");
    check(EndpointAggregate { p99_ns: Some(3.5e9), ..healthy() }, 0.25, Medium, "P99 is 3.5 s");
    check(
        EndpointAggregate { p99_ns: Some(8.5e9), slow_offset_ns: 2_000_000_000, ..healthy() },
        0.50,
        High,
        "P99 is 8.5 s",
    );
    check(EndpointAggregate { p99_ns: Some(3.0e9), ..healthy() }, 0.0, Good, "");
    // 4. Client errors, only above 10 requests, never for UNMATCHED.
    check(EndpointAggregate { client_errors: 51.0, ..healthy() }, 0.75, Critical, "51.0 % client errors");
    check(EndpointAggregate { client_errors: 26.0, ..healthy() }, 0.50, High, "26.0 % client errors");
    check(EndpointAggregate { client_errors: 100.0, is_unmatched: true, ..healthy() }, 0.0, Good, "");
    let ten = EndpointAggregate { total: 10.0, timed: 10.0, satisfied: 10.0, client_errors: 10.0, ..healthy() };
    check(ten, 0.0, Good, "");
    check(
        EndpointAggregate { total: 11.0, timed: 11.0, satisfied: 11.0, client_errors: 11.0, ..ten },
        0.75,
        Critical,
        "100.0 % client errors",
    );
    // 5. Volume.
    let many = EndpointAggregate { total: 100_000.0, timed: 100_000.0, satisfied: 100_000.0, ..healthy() };
    check(EndpointAggregate { bad: 1_999.0, ..many }, 0.25, Medium, "1999 bad requests (2.0 %)");
    check(EndpointAggregate { bad: 2_000.0, ..many }, 0.50, High, "2000 bad requests (2.0 %)");
    check(EndpointAggregate { bad: 5_001.0, ..many }, 0.75, Critical, "5001 bad requests (5.0 %)");
    check(EndpointAggregate { bad: 1_000.0, ..many }, 0.0, Good, "");
    // Ties: P99, volume, client errors, bad rate, Apdex.
    let all = EndpointAggregate {
        total: 1_000.0,
        timed: 1_000.0,
        satisfied: 250.0,
        bad: 600.0,
        client_errors: 600.0,
        p99_ns: Some(9.0e9),
        ..healthy()
    };
    check(all, 0.75, Critical, "P99 is 9.0 s");
    check(EndpointAggregate { p99_ns: None, ..all }, 0.75, Critical, "600 bad requests (60.0 %)");
    check(EndpointAggregate { p99_ns: None, bad: 0.0, ..all }, 0.75, Critical, "60.0 % client errors");
}

// Spec: entity rows: streaming responses are excluded from latency components.
#[test]
fn an_endpoint_of_streams_has_no_latency_score() {
    let streams = EndpointAggregate { total: 100.0, ..EndpointAggregate::default() };
    check(streams, 0.0, ImpactLevel::Good, "");
    check(EndpointAggregate { bad: 40.0, ..streams }, 0.75, ImpactLevel::Critical, "40.0 % of requests are bad");
}

#[test]
fn bands_and_apdex() {
    assert_eq!(ApdexBands::impact(0), ApdexBands { satisfied_ns: 750_000_000, tolerated_ns: 1_500_000_000 });
    assert_eq!(ApdexBands::impact(1_000_000_000).satisfied_ns, 1_750_000_000);
    assert_eq!(ApdexBands::detail(), ApdexBands { satisfied_ns: 500_000_000, tolerated_ns: 2_000_000_000 });
    for (satisfied, tolerating, total, expected) in
        [(10.0, 0.0, 10.0, Some(1.0)), (5.0, 4.0, 10.0, Some(0.7)), (0.0, 0.0, 0.0, None)]
    {
        assert_eq!(apdex(satisfied, tolerating, total), expected);
    }
}

// Spec: entity rows, Task and AI Trace ranking.
#[test]
fn task_and_cost_ranks() {
    assert_eq!(task_rank(10.0, 100.0, 400.0), 3_000.0);
    assert_eq!(task_rank(10.0, 400.0, 100.0), 0.0);
    let mut costs = [None, Some(0.5), Some(2.0), None, Some(1.0)];
    costs.sort_by(|left, right| by_total_cost(*left, *right));
    assert_eq!(costs, [Some(2.0), Some(1.0), Some(0.5), None, None]);
}

// WIRE 8.1: linear interpolation, index p * (n - 1).
#[test]
fn percentiles() {
    let values = [10.0, 20.0, 30.0, 40.0];
    for (share, expected) in [(0.0, 10.0), (0.5, 25.0), (1.0, 40.0), (0.95, 38.5), (7.0, 40.0)] {
        let actual = percentile(&values, share).expect("there are values");
        assert!((actual - expected).abs() < 1e-9, "{share}: {actual}");
    }
    assert_eq!(percentile(&[], 0.5), None);
    assert_eq!(percentile(&[7.0], 0.99), Some(7.0));
}
