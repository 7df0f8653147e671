//! `POST /api/compare`: statistics of names in another period.

use serde_json::json;

use crate::harness::Harness;
use crate::requests::request;

// Issue 21, item 4: the sample counts and values of another period, of the given names and rows only.
#[tokio::test]
async fn names_are_compared_with_another_period() {
    let (harness, project) = Harness::with_project().await;
    let spans = [
        request(1, "/a", 200, 0.0, 100.0),
        request(2, "/a", 500, 1.0, 300.0),
        request(3, "/b", 200, 2.0, 10.0),
        request(4, "/a", 200, 7200.0, 900.0),
    ];
    harness.send(&project, &spans).await;
    let body = |query: &str| {
        json!({
            "kind": "endpoint", "names": ["GET /a", "GET /none"], "query": query,
            "fromDate": "2026-06-01T12:00:00Z", "toDate": "2026-06-01T13:00:00Z",
        })
    };
    let found = harness.query_json(&project, "/api/compare", body("")).await;
    let rows = found["data"].as_array().expect("a list");
    assert_eq!(rows.len(), 1, "{found}");
    assert_eq!(
        (&rows[0]["name"], &rows[0]["count"], &rows[0]["storedCount"]),
        (&json!("GET /a"), &json!(2), &json!(2))
    );
    assert_eq!((&rows[0]["p50Duration"], &rows[0]["errorCount"]), (&json!(200e6), &json!(1)));
    let failed = harness.query_json(&project, "/api/compare", body("status>=500")).await;
    assert_eq!(failed["data"][0]["count"], 1);
    harness.query(&project, "/api/compare", body("status>=")).await.expect(400);
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    harness.query(&project, "/api/compare", json!({ "names": many })).await.expect(422);
    assert_eq!(harness.query_json(&project, "/api/compare", json!({})).await["data"], json!([]));
}
