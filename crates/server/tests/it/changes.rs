//! `POST /api/overview/changes`: what got worse, since when and with which version.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{Made, export, request};

/// Minutes of history before the release at 13:20 on the second day.
const RELEASE: u64 = 25 * 60 + 20;
pub const END: u64 = 26 * 60;

/// Sends requests of one minute each: two quiet Endpoints, and one that is slow and fails since the release.
pub async fn send(harness: &Harness, project: &Project) {
    let mut random = fastrand::Rng::with_seed(21);
    let mut spans: Vec<(bool, Made)> = Vec::new();
    for minute in 0..END {
        for call in 0..4 {
            let id = 3 * (minute * 4 + call) + 1;
            let second = (minute * 60 + call * 15) as f64 + random.f64();
            let usual = |random: &mut fastrand::Rng| 80.0 + 40.0 * random.f64();
            let is_new = minute >= RELEASE;
            let orders = match is_new {
                true if call == 0 => request(id, "/orders", 500, second, 800.0).exception("TotalMismatch", "declined"),
                true => request(id, "/orders", 200, second, 8.0 * usual(&mut random)),
                false => request(id, "/orders", 200, second, usual(&mut random)),
            };
            spans.push((is_new, orders));
            spans.push((is_new, request(id + 1, "/carts", 200, second, usual(&mut random))));
            if call == 0 {
                spans.push((is_new, request(id + 2, "/reports", 200, second, 3.0 * usual(&mut random))));
            }
        }
    }
    for (is_new, version) in [(false, "1.41.0"), (true, "1.42.0")] {
        let of_version: Vec<Made> =
            spans.iter().filter(|(new, _)| *new == is_new).map(|(_, made)| made.clone()).collect();
        for some in of_version.chunks(1000) {
            let mut body = export("checkout", some);
            let attributes = body["resourceSpans"][0]["resource"]["attributes"].as_array_mut().expect("a list");
            attributes.push(json!({ "key": "service.version", "value": { "stringValue": version } }));
            harness.post_json("traces", &project.token, &body).await.expect(200);
        }
    }
}

async fn changes(harness: &Harness, project: &Project, to: &str) -> Value {
    let body = json!({ "fromDate": "2026-06-01T14:00:00Z", "toDate": to });
    harness.query_json(project, "/api/overview/changes", body).await
}

// The Overview names the subject, since when and the version; subjects that did not change are not named.
#[tokio::test]
async fn a_release_that_slows_and_breaks_an_endpoint_is_named() {
    let (harness, project) = Harness::with_project().await;
    send(&harness, &project).await;

    let quiet = changes(&harness, &project, "2026-06-02T13:15:00Z").await;
    assert_eq!((&quiet["data"], &quiet["checked"]), (&json!([]), &json!(3)));

    let found = changes(&harness, &project, "2026-06-02T14:00:00Z").await;
    let cards = found["data"].as_array().expect("a list");
    assert_eq!(cards.len(), 1, "{found}");
    let card = &cards[0];
    assert_eq!((&card["kind"], &card["name"]), (&json!("endpoint"), &json!("GET /orders")));
    assert_eq!((&card["service"], &card["version"]), (&json!("checkout"), &json!("1.42.0")));
    assert_eq!(card["versionRelation"], "began_with");
    assert_eq!(card["newIssues"], json!(["TotalMismatch"]));
    assert_eq!(card["recovered"], Value::Null);
    let since = card["since"].as_str().expect("a time");
    assert!(("2026-06-02T13:15:00Z"..="2026-06-02T13:25:00Z").contains(&since), "{since}");
    let sentence = card["sentence"].as_str().expect("a sentence");
    for part in ["GET /orders is ", "times slower (P50 ", "fails in ", " since ", "13:2", "version 1.42.0 of checkout"]
    {
        assert!(sentence.contains(part), "{sentence}");
    }
    let metrics: Vec<&Value> = card["effects"].as_array().expect("a list").iter().map(|of| &of["metric"]).collect();
    assert!(metrics.contains(&&json!("p50")) && metrics.contains(&&json!("error_rate")), "{metrics:?}");
    assert!(card["score"].as_f64().expect("a number") > 60.0, "{card}");

    // The same rows give the same answer.
    assert_eq!(changes(&harness, &project, "2026-06-02T14:00:00Z").await, found);
}

#[tokio::test]
async fn nothing_changed_in_an_empty_project() {
    let (harness, project) = Harness::with_project().await;
    let found = harness.query_json(&project, "/api/overview/changes", json!({})).await;
    assert_eq!(found, json!({ "data": [], "checked": 0, "quiet": 0 }));
    let body = json!({ "fromDate": "2026-06-02T00:00:00Z", "toDate": "2026-06-01T00:00:00Z" });
    harness.query(&project, "/api/overview/changes", body).await.expect(422);
}
