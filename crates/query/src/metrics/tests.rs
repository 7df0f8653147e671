//! Validation of `/api/metrics/query`, without a store.

use super::*;
use crate::error::QueryError;

fn request(queries: usize, filters: usize, from: &str, to: &str) -> MetricsRequest {
    let tag_filters = (0..filters).map(|index| (format!("k{index}"), "v".to_owned())).collect();
    let query = MetricQuery { name: "m".to_owned(), tag_filters, ..MetricQuery::default() };
    MetricsRequest { queries: vec![query; queries], from: from.to_owned(), to: to.to_owned(), interval_minutes: None }
}

// Spec: /api/metrics/query, rules 1 and 2.
#[test]
fn requests_out_of_bounds_are_refused() {
    let (from, hour) = ("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z");
    for (queries, filters, from, to, expected) in [
        (1, 0, from, hour, None),
        (50, 20, from, hour, None),
        (51, 0, from, hour, Some(422)),
        (1, 21, from, hour, Some(422)),
        (0, 0, from, hour, Some(422)),
        (1, 0, from, from, None),
        (1, 0, hour, from, Some(422)),
        (1, 0, "2024-01-01T00:00:00Z", "2026-01-01T00:00:00Z", None),
        (1, 0, "2024-01-01T00:00:00Z", "2026-01-01T00:00:00.000000001Z", Some(422)),
        (1, 0, "then", hour, Some(400)),
        (1, 0, from, "", Some(400)),
    ] {
        let checked = CheckedRequest::read(request(queries, filters, from, to), 0);
        let status = checked.err().map(|error| match error {
            QueryError::Malformed(_) => 400,
            QueryError::Unprocessable(_) => 422,
            other => panic!("{other:?}"),
        });
        assert_eq!(status, expected, "{queries} queries, {filters} filters, {from} to {to}");
    }
}

// Spec: /api/metrics/query, rule 3: the effective width is reported.
#[test]
fn bucket_widths_grow_with_the_range() {
    let mut two_weeks = request(1, 0, "2026-01-01T00:00:00Z", "2026-01-15T00:00:00Z");
    two_weeks.interval_minutes = Some(1);
    assert_eq!(CheckedRequest::read(two_weeks.clone(), 0).unwrap().interval_minutes, 11);
    two_weeks.interval_minutes = Some(366 * 24 * 60 + 1);
    assert!(matches!(CheckedRequest::read(two_weeks, 0), Err(QueryError::Unprocessable(_))));
}

// DECISIONS 16.
#[test]
fn histogram_buckets_are_stored_with_the_count_metric() {
    for name in ["http.duration", "http.duration.avg", "http.duration.count"] {
        assert_eq!(bucket_metric(name), "http.duration.count");
    }
}
