//! Issues from log records: a setting of the project; the same exception counts once. DECISIONS 9.

use serde_json::{Value, json};

use crate::harness::{Harness, Project};
use crate::requests::{at, request, resource};

const LIST: &str = "/api/exception-stack-traces";

/// A log record of trace and span `id` with exception attributes.
fn log(id: u64, kind: &str, message: &str, body: &str) -> Value {
    let text = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let record = json!({
        "timeUnixNano": crate::requests::NOON_NS.to_string(), "severityNumber": 17, "body": { "stringValue": body },
        "traceId": format!("{id:032x}"), "spanId": format!("{id:016x}"),
        "attributes": [text("exception.type", kind), text("exception.message", message)],
    });
    json!({ "resourceLogs": [{ "resource": resource("shop"), "scopeLogs": [{ "logRecords": [record] }] }] })
}

async fn count(harness: &Harness, project: &Project) -> Vec<u64> {
    let list = harness.query_json(project, LIST, json!({ "orderBy": "count" })).await;
    let mut counts: Vec<u64> =
        list["data"].as_array().expect("a list").iter().map(|row| row["count"].as_u64().expect("a count")).collect();
    counts.sort_unstable();
    counts
}

#[tokio::test]
async fn a_log_exception_makes_an_issue_only_where_the_project_enables_it() {
    let (harness, project) = Harness::with_project().await;
    harness.post_json("logs", &project.token, &log(1, "PayError", "declined", "a")).await.expect(200);
    assert!(count(&harness, &project).await.is_empty());
}

#[tokio::test]
async fn the_same_exception_on_span_and_log_counts_once_whichever_comes_first() {
    let (harness, project) = Harness::with_project().await;
    harness.api("PUT", &at("/api/projects", &project), &json!({ "issuesFromLogs": true })).await.expect(200);
    // The span comes first; the log record has the same type and message.
    harness.send(&project, &[request(1, "/pay", 500, 0.0, 5.0).exception("PayError", "declined")]).await;
    harness.post_json("logs", &project.token, &log(1, "PayError", "declined", "a")).await.expect(200);
    let total = |counts: Vec<u64>| counts.iter().sum::<u64>();
    assert_eq!(total(count(&harness, &project).await), 1, "span, then log");
    // The log comes first, then a span with two equal events: two occurrences, as without the log.
    harness.post_json("logs", &project.token, &log(2, "PayError", "declined", "b")).await.expect(200);
    let twice = request(2, "/pay", 500, 1.0, 5.0).exception("PayError", "declined").exception("PayError", "declined");
    harness.send(&project, &[twice]).await;
    assert_eq!(total(count(&harness, &project).await), 3, "log, then two events of its span");
    // A different message is a different exception.
    harness.post_json("logs", &project.token, &log(1, "PayError", "expired", "c")).await.expect(200);
    assert_eq!(total(count(&harness, &project).await), 4);
}
