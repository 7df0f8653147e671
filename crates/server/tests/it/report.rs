//! Native reports: `POST /api/report`. Spec: endpoints, span rule 2; WIRE 1; DECISIONS 20.

use serde_json::{Value, json};
use tidewatch_domain::model::NativeId;
use tidewatch_domain::rules::native_ids::span_id_of;
use tidewatch_store::tables::Table;

use crate::client::{self, Answer};
use crate::harness::{Harness, Project, text};

const RUN: &str = "0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f";

async fn send(harness: &Harness, project: &Project, body: &Value) -> Answer {
    let authorization = format!("Bearer {}", project.token);
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    client::send(harness.address(), "POST", "/api/report", &headers, body.to_string().as_bytes()).await
}

/// A request with a span, a failed task, an exception, a message and a metric.
fn report() -> Value {
    json!({
        "collectionFrames": [{
            "traces": [
                {
                    "id": RUN, "endpoint": "GET /books/:id", "duration": 12_500_000, "recordedAt": "2026-06-01T12:00:00.125Z",
                    "statusCode": 200, "bodySize": 321, "clientIP": "203.0.113.9", "attributes": { "tenant": "t1" },
                    "spans": [{
                        "id": "6d1f0a52-0a70-4b5f-8b6e-9a8b7c6d5e4f", "name": "load books",
                        "startTime": "2026-06-01T12:00:00.126Z", "duration": 4_000_000,
                    }],
                },
                { "id": "7c1d2e3f-1111-4222-8333-944455556666", "endpoint": "nightly.report", "duration": 2_100_000_000_u64,
                  "recordedAt": "2026-06-01T12:00:00Z", "statusCode": 0, "isTask": true },
                { "endpoint": "GET /nowhere", "duration": 1, "recordedAt": "2026-06-01T12:00:00Z", "statusCode": 404 },
            ],
            "stackTraces": [
                { "traceId": RUN, "stackTrace": "TypeError: x is undefined\nrender()\n    app.js:1:4821\n",
                  "recordedAt": "2026-06-01T12:00:00.130Z", "attributes": { "userId": "u7" } },
                { "traceId": null, "stackTrace": "checkout finished", "recordedAt": "2026-06-01T12:00:01Z", "isMessage": true },
            ],
            "metrics": [{ "name": "queue.length", "value": 12, "recordedAt": "2026-06-01T12:00:00Z", "tags": { "queue": "mail" } }],
        }],
        "appVersion": "1.4.0",
        "serverName": "api-1",
    })
}

// SPEC span rule 2: native occurrences keep their SDK UUIDs; endpoint naming, rule 4: every 404 is UNMATCHED.
#[tokio::test]
async fn a_report_becomes_rows() {
    let (harness, project) = Harness::with_project().await;
    let answer = send(&harness, &project, &report()).await;
    assert_eq!((answer.status, answer.json()), (200, json!({})));
    assert_eq!(answer.header("Access-Control-Allow-Origin"), Some("*"));

    let endpoints = harness.query_json(&project, "/api/endpoints", json!({})).await;
    let row = endpoints["data"].as_array().expect("a list").iter().find(|row| row["id"] == RUN).expect("the request");
    assert_eq!(
        (&row["endpoint"], &row["statusCode"], &row["duration"]),
        (&json!("GET /books/:id"), &json!(200), &json!(12_500_000))
    );
    assert_eq!(
        (&row["serverName"], &row["appVersion"], &row["clientIP"]),
        (&json!("api-1"), &json!("1.4.0"), &json!("203.0.113.9"))
    );
    assert_eq!((&row["attributes"]["tenant"], &row["isRoot"]), (&json!("t1"), &json!(true)));
    assert!(endpoints["data"].as_array().expect("a list").iter().any(|row| row["endpoint"] == "UNMATCHED"));
    let tasks = harness.query_json(&project, "/api/tasks", json!({})).await;
    assert_eq!(tasks["data"][0]["id"], "7c1d2e3f-1111-4222-8333-944455556666");
    let detail = harness
        .query_json(&project, &format!("/api/endpoints/{RUN}"), json!({ "recordedAt": row["recordedAt"] }))
        .await;
    assert_eq!(detail["spans"].as_array().map(Vec::len), Some(2), "{detail}");
    let issues = harness.query_json(&project, "/api/exception-stack-traces", json!({})).await;
    assert_eq!(issues["pagination"]["total"], 2);
    assert!(
        issues["data"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|issue| text(&issue["stackTrace"]).starts_with("TypeError: x"))
    );
    assert_eq!((harness.rows(Table::Spans), harness.rows(Table::MetricPoints)), (4, 1));
}

// Issue "native protocol": a retried report, or the same ids in another body, changes nothing, before and after a crash.
#[tokio::test]
async fn a_retried_report_changes_nothing() {
    let (mut harness, project) = Harness::with_project().await;
    let rows = |harness: &Harness| {
        [Table::Spans, Table::Endpoints, Table::Tasks, Table::Exceptions].map(|table| harness.rows(table))
    };
    let mut other_body = report();
    other_body["unknown"] = json!("another body with the same items");
    send(&harness, &project, &report()).await.expect(200);
    let before = rows(&harness);
    assert_eq!(before, [4, 2, 1, 2]);
    for body in [&report(), &other_body] {
        send(&harness, &project, body).await.expect(200);
        assert_eq!(rows(&harness), before);
    }
    harness.crash().await;
    assert_eq!(rows(&harness), before);
    send(&harness, &project, &other_body).await.expect(200);
    assert_eq!(rows(&harness), before);
}

// WIRE 1.1: an item that cannot be read leaves the others alone and is counted.
#[tokio::test]
async fn items_that_cannot_be_read_are_counted() {
    let (harness, project) = Harness::with_project().await;
    let mut body = report();
    body["collectionFrames"][0]["traces"][0]["duration"] = json!("soon");
    body["collectionFrames"][0]["metrics"][0]["value"] = json!(null);
    body["collectionFrames"][0]["sessions"] = json!([{ "id": RUN, "startedAt": "2026-06-01T12:00:00Z" }]);
    body["collectionFrames"][0]["sessionRecordings"] = json!([{ "sessionId": RUN, "events": [] }]);
    send(&harness, &project, &body).await.expect(200);
    let last_24_hours = json!({ "fromDate": null, "toDate": null });
    let drops = harness.query_json(&project, "/api/drops", last_24_hours).await.to_string();
    assert!(drops.contains("invalid_item") && drops.contains("empty_recording"), "{drops}");
    assert_eq!((harness.rows(Table::Endpoints), harness.rows(Table::MetricPoints)), (1, 0));
}

// WIRE 1.1: 400 with the position, 401, 405; a preflight needs no token.
#[tokio::test]
async fn refusals() {
    let (harness, project) = Harness::with_project().await;
    let authorization = format!("Bearer {}", project.token);
    let headers = [("Authorization", authorization.as_str())];
    let malformed =
        client::send(harness.address(), "POST", "/api/report", &headers, b"{\"collectionFrames\":[{]}").await;
    assert_eq!(malformed.status, 400);
    assert_eq!(malformed.json(), json!({ "error": "JSON: a key at byte 22 is not a string" }));
    client::send(harness.address(), "POST", "/api/report", &[], b"{}").await.expect(401);
    client::send(harness.address(), "GET", "/api/report", &headers, b"").await.expect(405);
    let preflight =
        client::send(harness.address(), "OPTIONS", "/api/report", &[("Origin", "https://shop.example")], b"").await;
    assert_eq!((preflight.status, preflight.header("Access-Control-Allow-Origin")), (204, Some("*")));
}

// SPEC span rule 2: ids of UUID width work in every route, and a span leads to its Endpoint. WIRE 9.
#[tokio::test]
async fn ids_of_uuid_width_work_in_every_route() {
    let (harness, project) = Harness::with_project().await;
    send(&harness, &project, &report()).await.expect(200);
    let (run, child) = (RUN.replace('-', ""), "6d1f0a520a704b5f8b6e9a8b7c6d5e4f");
    let path = format!("/api/distributed-traces/{RUN}");
    let trace = harness.query_json(&project, &path, json!({})).await;
    let [root, span] = trace["spans"].as_array().expect("spans").as_slice() else { panic!("{trace}") };
    assert_eq!((&root["spanId"], &root["parentSpanId"]), (&json!(run), &json!("")));
    assert_eq!((&span["spanId"], &span["parentSpanId"]), (&json!(child), &json!(run)));
    assert_eq!((&root["entityId"], &root["entityName"]), (&json!(RUN), &json!("GET /books/:id")));
    assert_eq!((&trace["nodes"][0]["spanId"], &trace["nodes"][0]["endpoint"]["spanId"]), (&json!(run), &json!(run)));
    assert!(text(&trace["nodes"][0]["exception"]["stackTrace"]).starts_with("TypeError"), "{trace}");

    for id in [child.to_owned(), "6d1f0a52-0a70-4b5f-8b6e-9a8b7c6d5e4f".to_owned()] {
        let path = format!("/api/spans/{run}/{id}?projectId={}", project.id);
        let one = harness.api("GET", &path, &Value::Null).await.expect(200).json();
        assert_eq!((&one["name"], &one["spanId"]), (&json!("load books"), &json!(child)));
    }
    let exception = &trace["exceptions"][0];
    assert_eq!((&exception["ownerId"], &exception["spanId"]), (&json!(RUN), &json!(run)));
    let hash = text(&exception["exceptionHash"]);
    let issue = harness.query_json(&project, &format!("/api/exception-stack-traces/{hash}"), json!({})).await;
    assert_eq!(
        (&issue["relatedEntity"]["id"], &issue["relatedEntity"]["name"]),
        (&json!(RUN), &json!("GET /books/:id"))
    );
    let detail = harness.query_json(&project, &format!("/api/endpoints/{RUN}"), json!({})).await;
    assert_eq!(detail["exception"]["exceptionHash"], json!(hash));
}

// WIRE 1.4, 8.8: messages are a type of their own in the list.
#[tokio::test]
async fn messages_are_a_type_of_issues() {
    let (harness, project) = Harness::with_project().await;
    send(&harness, &project, &report()).await.expect(200);
    for (search_type, search, expected) in [
        ("all", "", &[false, true][..]),
        ("", "", &[false, true]),
        ("issues", "", &[false]),
        ("messages", "", &[true]),
        ("messages", "checkout", &[true]),
        ("messages", "TypeError", &[]),
        ("issues", "checkout", &[]),
    ] {
        let body =
            json!({ "searchType": search_type, "search": search, "orderBy": "first_seen", "sortDirection": "asc" });
        let issues = harness.query_json(&project, "/api/exception-stack-traces", body).await;
        let found: Vec<bool> =
            issues["data"].as_array().expect("a list").iter().map(|issue| issue["isMessage"] == json!(true)).collect();
        assert_eq!(found, expected, "{search_type} {search}");
    }
    let body = json!({ "searchType": "messages" });
    let issues = harness.query_json(&project, "/api/exception-stack-traces", body).await;
    let hash = text(&issues["data"][0]["exceptionHash"]);
    let issue = harness.query_json(&project, &format!("/api/exception-stack-traces/{hash}"), json!({})).await;
    assert_eq!(issue["occurrences"][0]["isMessage"], json!(true));
    assert_eq!(issue["group"]["title"], json!("checkout finished"));
}

// WIRE 9: a native SDK sends the hash of its span's UUID as the parent of spans that OpenTelemetry makes below it.
#[tokio::test]
async fn otlp_spans_below_a_native_span_name_it_as_shown() {
    let (harness, project) = Harness::with_project().await;
    let trace_id = "22222222222242228222222222222222";
    let mut body = report();
    body["collectionFrames"][0]["traces"][0]["distributedTraceId"] = json!(trace_id);
    send(&harness, &project, &body).await.expect(200);
    let parent = span_id_of(NativeId(uuid::Uuid::parse_str(RUN).expect("a UUID").into_bytes())).to_string();
    let start = 1_780_315_200_126_000_000_u64;
    let export = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [{
        "traceId": trace_id, "spanId": "b7ad6b7169203331", "parentSpanId": parent, "name": "SELECT books", "kind": 3,
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 1_000_000).to_string(),
    }] }] }] });
    harness.post_json("traces", &project.token, &export).await.expect(200);
    let trace = harness.query_json(&project, &format!("/api/distributed-traces/{trace_id}"), json!({})).await;
    let spans = trace["spans"].as_array().expect("spans");
    let child = spans.iter().find(|span| span["name"] == "SELECT books").expect("the child");
    assert_eq!((&child["parentSpanId"], &child["depth"]), (&json!(RUN.replace('-', "")), &json!(1)), "{trace}");
}

// WIRE 1.10: a back end names the trace of the page that called it; both are shown together, from either side.
#[tokio::test]
async fn the_trace_of_a_page_is_linked_with_that_of_its_back_end() {
    let (harness, project) = Harness::with_project().await;
    let page = "11111111-1111-4111-8111-111111111111";
    let exception = json!({ "collectionFrames": [{ "stackTraces": [{
        "stackTrace": "TypeError: cart is undefined\nrender()\n    app.js:1:4821\n", "recordedAt": "2026-06-01T12:00:00.500Z",
        "distributedTraceId": page,
    }] }] });
    send(&harness, &project, &exception).await.expect(200);
    let start = 1_780_315_200_000_000_000_u64;
    let export = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [{
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "GET /cart", "kind": 2,
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 1_000_000).to_string(),
        "attributes": [
            { "key": "http.request.method", "value": { "stringValue": "GET" } },
            { "key": "http.route", "value": { "stringValue": "/cart" } },
            { "key": "traceway.distributed_trace_id", "value": { "stringValue": page } },
        ],
    }] }] }] });
    harness.post_json("traces", &project.token, &export).await.expect(200);
    let back_end = "0af7651916cd43dd8448eb211c80319c";
    let page = page.replace('-', "");
    for (id, other, own_spans) in [(back_end, page.as_str(), 1), (&page, back_end, 0)] {
        let trace = harness.query_json(&project, &format!("/api/distributed-traces/{id}"), json!({})).await;
        assert_eq!(trace["linkedTraceIds"], json!([other]), "{id}");
        assert_eq!(trace["nodes"][0]["endpoint"]["linkedTraceId"], json!(page), "{id}");
        assert!(text(&trace["exceptions"][0]["message"]).starts_with("cart is"), "{id}");
        assert_eq!(trace["spans"].as_array().map(Vec::len), Some(own_spans), "{id}");
        assert_eq!(trace["nodes"][0]["spans"].as_array().map(Vec::len), Some(own_spans), "{id}");
        let state = if own_spans == 0 { "unavailable" } else { "complete" };
        assert_eq!(trace["nodes"][0]["spanGraphStatus"]["state"], state, "{id}");
    }
}
