//! `/api/drops` and the home page: counts of received records by outcome.

use serde_json::{Value, json};
use tidewatch_store::tables::Table;

use crate::client;
use crate::harness::{Harness, text};
use crate::requests::{FROM, TO, made, request};

/// Counts are stored by the time of receipt, which is now: without a range, the last 24 hours are returned.
const LAST_24_HOURS: Value = Value::Null;

async fn drops(harness: &Harness, project: &crate::harness::Project) -> Value {
    harness.query_json(project, "/api/drops", json!({ "fromDate": LAST_24_HOURS, "toDate": LAST_24_HOURS })).await
}

#[tokio::test]
async fn every_record_is_accounted_for() {
    let (harness, project) = Harness::with_project().await;
    let empty = drops(&harness, &project).await;
    assert_eq!(empty, json!({ "data": [], "requests": [], "kept": [], "series": [], "unpromotedAiSpans": 0 }));

    let spans = [
        request(1, "/cart", 200, 0.0, 5.0),
        made(1, 2, 1, "render", 0.1, 1.0).parent(1),
        made(3, 3, 1, "cron", 1.0, 1.0),
        made(4, 0, 1, "no id", 2.0, 1.0),
    ];
    harness.send(&project, &spans).await;
    harness.post_otlp("logs", &project.token, &[("Content-Type", "application/json")], b"{").await.expect(400);

    let found = drops(&harness, &project).await;
    let data = found["data"].as_array().unwrap();
    for (signal, reason) in [("traces", "unmatched_root"), ("traces", "invalid_id"), ("logs", "malformed")] {
        assert!(data.contains(&json!({ "signal": signal, "reason": reason, "count": 1 })), "{reason}: {data:?}");
    }
    assert_eq!(data.len(), 3);
    assert_eq!(found["kept"], json!([{ "signal": "traces", "count": 2 }]));
    let accepted = json!({ "signal": "traces", "outcome": "accepted", "reason": "", "count": 1 });
    let requests = found["requests"].as_array().unwrap();
    assert!(requests.contains(&accepted), "{requests:?}");
    let rejected = requests.iter().find(|request| request["outcome"] == "rejected").expect("a refused request");
    assert_eq!(
        (&rejected["signal"], &rejected["reason"], &rejected["count"]),
        (&json!("logs"), &json!("malformed"), &json!(1))
    );
    assert_eq!(found["series"].as_array().unwrap().len(), 5);
    let last = &found["lastSpan"];
    assert_eq!((&last["name"], &last["serviceName"]), (&json!("render"), &json!("shop")));
    assert_eq!(last["traceId"], json!(format!("{:032x}", 1)));
}

/// A resource that is too large to be stored with each record: the records are stored, and the loss is reported.
#[tokio::test]
async fn records_stored_without_all_attributes_are_counted() {
    let (harness, project) = Harness::with_project().await;
    let large = "x".repeat(40_000);
    let attributes = json!([
        { "key": "service.name", "value": { "stringValue": "shop" } },
        { "key": "large", "value": { "stringValue": large } },
    ]);
    let log = |body| json!({ "body": { "stringValue": body } });
    let body = json!({ "resourceLogs": [{
        "resource": { "attributes": attributes },
        "scopeLogs": [{ "logRecords": [log("one"), log("two")] }],
    }] });
    let body = body.to_string();
    let json = [("Content-Type", "application/json")];
    let answer = harness.post_otlp("logs", &project.token, &json, body.as_bytes()).await.expect(200).json();
    let sentence = "2 log records stored without some resource or scope attributes: too large";
    assert_eq!(answer, json!({ "partialSuccess": { "rejectedLogRecords": "0", "errorMessage": sentence } }));
    harness.post_otlp("logs", &project.token, &json, body.as_bytes()).await.expect(200);

    let found = drops(&harness, &project).await;
    let count = |reason| json!({ "signal": "logs", "reason": reason, "count": 2 });
    let data = found["data"].as_array().unwrap();
    assert_eq!(data.len(), 2, "{data:?}");
    assert!(data.contains(&count("shared_attributes_too_large")) && data.contains(&count("duplicate")), "{data:?}");
    assert_eq!(found["kept"], json!([{ "signal": "logs", "count": 2 }]));
}

#[tokio::test]
async fn the_home_page_shows_the_worst_and_the_latest_rows() {
    let (harness, project) = Harness::with_project().await;
    let path = format!("/api/dashboard/overview?from={FROM}&to={TO}");
    let empty = harness.got(&project, &path).await;
    assert_eq!(
        (&empty["hasData"], &empty["recentIssues"], &empty["worstEndpoints"]),
        (&json!(false), &json!([]), &json!([]))
    );
    let spans = [
        request(1, "/cart", 200, 0.0, 5.0),
        request(2, "/slow", 200, 0.0, 9000.0),
        request(3, "/pay", 500, 1.0, 5.0).exception("PayError", "declined"),
    ];
    harness.send(&project, &spans).await;
    let found = harness.got(&project, &path).await;
    assert_eq!(found["recentIssues"][0]["exceptionType"], "PayError");
    assert_eq!(found["worstEndpoints"].as_array().unwrap().len(), 3);
    assert_eq!(found["worstEndpoints"][2]["endpoint"], "GET /cart");
    let counts =
        json!({ "endpoints": 3, "tasks": 0, "aiTraces": 0, "issues": 1, "spans": 3, "logs": 0, "metricPoints": 0 });
    assert_eq!(found["counts"], counts);
    let later =
        harness.got(&project, "/api/dashboard/overview?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z").await;
    assert_eq!((&later["hasData"], &later["counts"]["spans"]), (&json!(true), &json!(0)));
}

// WIRE 8.6. Dropping is decided once, at receipt: a replay drops the same records, whatever the setting is by then.
#[tokio::test]
async fn healthy_checks_are_dropped_and_counted() {
    let (mut harness, project) = Harness::with_project().await;
    let path = format!("/api/projects?projectId={}", project.id);
    let set = async |harness: &Harness, change: Value| harness.api("PUT", &path, &change).await.expect(200);
    let spans = |trace| {
        [
            request(trace, "/healthz", 200, 0.0, 5.0),
            made(trace, 2, 1, "check db", 0.1, 1.0).parent(trace),
            request(trace + 1, "/own/probe", 204, 1.0, 5.0),
            request(trace + 2, "/healthz", 503, 2.0, 5.0),
        ]
    };
    harness.send(&project, &spans(10)).await;
    assert_eq!(harness.rows(Table::Endpoints), 3, "off: everything is stored");
    set(&harness, json!({ "dropHealthyHealthchecks": true, "healthcheckPaths": ["/own/*"] })).await;
    harness.send(&project, &spans(20)).await;
    set(&harness, json!({ "healthcheckPaths": [] })).await;
    harness.send(&project, &spans(30)).await;
    set(&harness, json!({ "dropHealthyHealthchecks": false })).await;
    harness.send(&project, &spans(40)).await;

    let stored = (3 + 1 + 2 + 3, 4 + 1 + 2 + 4);
    for round in ["as received", "replayed", "replayed again"] {
        assert_eq!((harness.rows(Table::Endpoints), harness.rows(Table::Spans)), stored, "{round}");
        let found = drops(&harness, &project).await;
        let dropped = json!({ "signal": "traces", "reason": "healthcheck", "count": 3 + 2 });
        assert!(found["data"].as_array().unwrap().contains(&dropped), "{round}: {found}");
        harness.crash().await;
    }
}

/// The server's owner sees senders with a wrong token; nobody else sees other people's addresses and tokens.
#[tokio::test]
async fn refusals_without_a_project_are_shown_to_owners() {
    let (harness, project) = Harness::with_project().await;
    let headers = [("Content-Type", "application/json"), ("User-Agent", "exporter/1.0\t")];
    harness.post_otlp("traces", "0123456789abcdef", &headers, b"{}").await.expect(401);
    client::send(harness.address(), "POST", "/v1/logs", &headers[..1], b"{}").await.expect(401);
    let path = format!("/api/projects/source-map-token?projectId={}", project.id);
    let upload = harness.api("POST", &path, &json!({})).await.expect(200).json();
    harness.post_otlp("metrics", &text(&upload["token"]), &headers[..1], b"{}").await.expect(401);

    let found = harness.api("GET", "/api/refusals", &Value::Null).await.expect(200).json();
    let shown: Vec<Value> = found["data"].as_array().unwrap().clone();
    let of = |at: usize, field: &str| shown[at][field].as_str().unwrap_or_default().to_owned();
    assert_eq!(shown.len(), 3, "newest first: {shown:?}");
    let upload_token = "the token is a project's upload token, not its project token";
    for (at, path, message) in [
        (0, "/api/otel/v1/metrics", upload_token),
        (1, "/v1/logs", "there is no Authorization header"),
        (2, "/api/otel/v1/traces", "the token belongs to no project"),
    ] {
        assert_eq!((of(at, "path"), of(at, "message")), (path.to_owned(), message.to_owned()));
        assert_eq!((of(at, "reason"), of(at, "address")), ("bad_token".to_owned(), "127.0.0.1".to_owned()));
    }
    assert_eq!((of(2, "tokenStart"), of(2, "userAgent")), ("0123".to_owned(), "exporter/1.0".to_owned()));
    assert_eq!(of(1, "tokenStart"), "");
    assert!(!found.to_string().contains("01234"), "no more of the token than its start");
    harness.api_as("", "GET", "/api/refusals", &Value::Null).await.expect(401);

    // The owner of another organization sees refusals from their own address only.
    let stranger = harness.stranger().await;
    let elsewhere = [("X-Forwarded-For", "198.51.100.7"), ("Content-Type", "application/json")];
    harness.post_otlp("traces", "fedcba9876543210", &elsewhere, b"{}").await.expect(401);
    let theirs = harness.api_as(&stranger, "GET", "/api/refusals", &Value::Null).await.expect(200).json();
    assert_eq!(theirs["data"].as_array().unwrap().len(), 3);
    assert!(!theirs.to_string().contains("198.51.100.7"), "{theirs}");
    let all = harness.api("GET", "/api/refusals", &Value::Null).await.expect(200).json();
    assert_eq!((&all["data"][0]["address"], &all["data"][0]["tokenStart"]), (&json!("198.51.100.7"), &json!("fedc")));
}

/// The reason shown is the message that the sender received, not a guess such as "Is a proxy changing the body?".
#[tokio::test]
async fn a_refused_body_is_shown_with_the_message_its_sender_received() {
    let (harness, project) = Harness::with_project().await;
    let json = [("Content-Type", "application/json")];
    let answer = harness.post_otlp("logs", &project.token, &json, b"{\"resourceLogs\": 7}").await.expect(400);
    let heard = text(&answer.json()["message"]);
    harness.post_otlp("traces", &project.token, &[("Content-Type", "text/plain")], b"x").await.expect(415);
    let found = drops(&harness, &project).await;
    let last = |reason: &str| {
        let requests = found["requests"].as_array().unwrap();
        requests.iter().find(|one| one["reason"] == reason).expect("counted")["lastMessage"].clone()
    };
    assert_eq!(last("malformed"), json!(heard));
    let sentence = "the content type must be application/x-protobuf or application/json";
    assert_eq!(last("unsupported_media_type"), json!(sentence));
}
