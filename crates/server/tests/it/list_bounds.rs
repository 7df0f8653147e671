//! Long strings: lists have the beginning of them and say so, details have them whole. Limits: "a text in a row of a list".

use serde_json::{Value, json};
use tidewatch_limits as limits;

use crate::harness::{Harness, Project, text};
use crate::requests::{CONSUMER, FROM, NOON_NS, TO, made, request, resource};

/// Bytes of a stack trace, a body or an attribute. Ends with [`END`].
const LONG: usize = 300_000;
/// The end of a long text.
const END: &str = "the end of it";
/// Bytes of the picture of an AI call.
const PICTURE: usize = 3_000_000;
const ISSUES: u64 = 6;

fn long() -> String {
    format!("{}{END}", "long text, ".repeat(LONG / 11))
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// A span with an event of an exception with a long stack trace.
fn failing(number: u64) -> Value {
    let time = (NOON_NS + number).to_string();
    let kind = format!("Error{number}");
    let stack = format!("{kind}: failed\n    at work{number} (app.js:1:2)\n{}", long());
    json!({
        "traceId": format!("{number:032x}"), "spanId": format!("{number:016x}"), "name": "GET", "kind": 2,
        "startTimeUnixNano": time, "endTimeUnixNano": time,
        "attributes": [
            attribute("http.request.method", "GET"), attribute("http.route", "/pay"), attribute("long", &long()),
        ],
        "events": [{ "name": "exception", "timeUnixNano": time, "attributes": [
            attribute("exception.type", &kind), attribute("exception.message", "failed"),
            attribute("exception.stacktrace", &stack),
        ] }],
    })
}

async fn shop() -> (Harness, Project) {
    let (harness, project) = Harness::with_project().await;
    let spans: Vec<Value> = (1..=ISSUES).map(failing).collect();
    let export = json!({ "resourceSpans": [{ "resource": resource("shop"), "scopeSpans": [{ "spans": spans }] }] });
    harness.post_json("traces", &project.token, &export).await.expect(200);
    let picture = format!("{}{END}", "A".repeat(PICTURE));
    let part = json!({ "type": "blob", "mime_type": "image/png", "data": picture });
    let messages = json!([{ "role": "user", "parts": [{ "type": "text", "content": "What is this?" }, part] }]);
    let call = made(20, 20, 1, "chat", 1.0, 5.0)
        .with("gen_ai.operation.name", "chat")
        .with("gen_ai.input.messages", &messages.to_string())
        .with("gen_ai.completion", "A wave.");
    let task = made(21, 21, CONSUMER, "mail.send", 1.0, 5.0).with("long", &long());
    harness.send(&project, &[call, task, request(22, "/short", 200, 1.0, 5.0)]).await;
    let record = json!({
        "timeUnixNano": NOON_NS.to_string(), "severityNumber": 9, "body": { "stringValue": long() },
        "attributes": [attribute("long", &long())], "traceId": format!("{:032x}", 1), "spanId": format!("{:016x}", 1),
    });
    let logs = json!({ "resourceLogs": [{ "resource": resource("shop"), "scopeLogs": [{ "logRecords": [record] }] }] });
    harness.post_json("logs", &project.token, &logs).await.expect(200);
    (harness, project)
}

/// The rows of an answer that say that they are cut, with the names of the fields.
fn cut_rows(answer: &Value, found: &mut Vec<Vec<String>>) {
    match answer {
        Value::Array(values) => values.iter().for_each(|value| cut_rows(value, found)),
        Value::Object(fields) => {
            if let Some(names) = fields.get("truncatedFields") {
                found.push(names.as_array().expect("names").iter().map(text).collect());
            }
            fields.values().for_each(|value| cut_rows(value, found));
        }
        _ => {}
    }
}

/// The greatest length of a text in an answer.
fn longest(answer: &Value) -> usize {
    match answer {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(longest).max().unwrap_or(0),
        Value::Object(fields) => fields.values().map(longest).max().unwrap_or(0),
        _ => 0,
    }
}

#[tokio::test]
async fn every_list_has_the_beginning_of_long_strings_and_says_so() {
    let (harness, project) = shop().await;
    let ids = harness.query_json(&project, "/api/exception-stack-traces", json!({})).await;
    let hash = text(&ids["data"][0]["exceptionHash"]);
    let logs = harness.query_json(&project, "/api/logs", json!({})).await;
    let around =
        json!({ "id": logs["data"][0]["id"], "timestamp": logs["data"][0]["timestamp"], "serviceName": "shop" });
    let trace = format!("{:032x}", 1);
    let mut wrong = Vec::new();
    for (path, body, rows, fields) in [
        ("/api/exception-stack-traces".to_owned(), json!({}), ISSUES as usize, &["stackTrace"][..]),
        (format!("/api/exception-stack-traces/{hash}"), json!({}), 2, &["attributes", "stackTrace"]),
        ("/api/endpoints".to_owned(), json!({}), ISSUES as usize, &["attributes"]),
        ("/api/endpoints/endpoint?endpoint=GET%20%2Fpay".to_owned(), json!({}), ISSUES as usize, &["attributes"]),
        ("/api/endpoints/grouped".to_owned(), json!({}), 0, &[]),
        ("/api/tasks".to_owned(), json!({}), 1, &["attributes"]),
        ("/api/tasks/task?task=mail.send".to_owned(), json!({}), 1, &["attributes"]),
        ("/api/tasks/grouped".to_owned(), json!({}), 0, &[]),
        ("/api/ai-traces".to_owned(), json!({}), 1, &["attributes"]),
        ("/api/ai-traces/trace?trace=chat".to_owned(), json!({}), 1, &["attributes"]),
        ("/api/ai-traces/grouped".to_owned(), json!({}), 0, &[]),
        ("/api/ai-conversations/grouped".to_owned(), json!({}), 0, &[]),
        ("/api/ai-users/grouped".to_owned(), json!({}), 0, &[]),
        ("/api/logs".to_owned(), json!({}), 1, &["body", "logAttributes"]),
        (
            "/api/logs/of-entity".to_owned(),
            json!({ "entity": "endpoint", "name": "GET /pay" }),
            1,
            &["body", "logAttributes"],
        ),
        ("/api/logs/patterns".to_owned(), json!({}), 0, &[]),
        ("/api/logs/histogram".to_owned(), json!({}), 0, &[]),
        ("/api/traces/search".to_owned(), json!({}), 0, &[]),
        ("/api/spans".to_owned(), json!({}), ISSUES as usize + 2, &["attributes"]),
        (format!("/api/distributed-traces/{trace}"), json!({}), 5, &[]),
        (format!("/api/traces/{trace}/columns"), json!({}), 1, &["attributes", "stackTrace"]),
        ("/api/query/facets".to_owned(), json!({ "rows": "log", "fields": ["long"] }), 1, &["value"]),
        ("/api/query/complete".to_owned(), json!({ "rows": "log", "field": "long", "prefix": "" }), 1, &["text"]),
        ("/api/overview/changes".to_owned(), json!({}), 0, &[]),
        ("/api/overview/answers".to_owned(), json!({}), 0, &[]),
        ("/api/sessions".to_owned(), json!({}), 0, &[]),
        ("/api/services/map".to_owned(), json!({}), 0, &[]),
        ("/api/deploys/list".to_owned(), json!({}), 0, &[]),
    ] {
        let answer = harness.query(&project, &path, body.clone()).await.expect(200);
        let shown = answer.json();
        let mut found = Vec::new();
        cut_rows(&shown, &mut found);
        let is_named = fields.is_empty() || found.iter().any(|names| names == fields);
        if found.len() != rows || !is_named {
            wrong.push(format!("{path}: {found:?}"));
        }
        // The Issue itself is whole in its details.
        let is_detail = path.contains(&hash);
        let max = if is_detail { LONG + 1000 } else { limits::LIST_TEXT_BYTES_MAX };
        assert!(longest(&shown) <= max, "{path}: {} bytes in a text", longest(&shown));
        let bytes_max = if is_detail { LONG + 50_000 } else { 100_000 };
        assert!(answer.body.len() < bytes_max, "{path}: {} bytes", answer.body.len());
    }
    assert_eq!(wrong, Vec::<String>::new());
    let overview = harness.got(&project, &format!("/api/dashboard/overview?from={FROM}&to={TO}")).await;
    assert!(longest(&overview) <= limits::LIST_TEXT_BYTES_MAX, "{} bytes", longest(&overview));
    let similar = harness.got(&project, &format!("/api/exception-stack-traces/{hash}/similar")).await;
    assert!(longest(&similar) <= limits::LIST_TEXT_BYTES_MAX);
    // The record that the others are around is a detail.
    let around = harness.query_json(&project, "/api/logs/around", around).await;
    assert!(text(&around["record"]["body"]).ends_with(END));
    assert!(text(&around["record"]["logAttributes"]["long"]).ends_with(END));
}

#[tokio::test]
async fn details_have_whole_strings() {
    let (harness, project) = shop().await;
    let issues = harness.query_json(&project, "/api/exception-stack-traces", json!({})).await;
    let hash = text(&issues["data"][0]["exceptionHash"]);
    let issue = harness.query_json(&project, &format!("/api/exception-stack-traces/{hash}"), json!({})).await;
    assert!(text(&issue["group"]["stackTrace"]).ends_with(END));
    let id = text(&issue["occurrences"][0]["id"]);
    let one = harness.query_json(&project, &format!("/api/exception-stack-traces/by-id/{id}"), json!({})).await;
    assert!(text(&one["exception"]["stackTrace"]).ends_with(END));
    assert!(text(&one["exception"]["attributes"]["long"]).ends_with(END));
    for (list, path, field) in [("/api/endpoints", "/api/endpoints", "endpoint"), ("/api/tasks", "/api/tasks", "task")]
    {
        let rows = harness.query_json(&project, list, json!({ "query": "long:*" })).await;
        let path = format!("{path}/{}", text(&rows["data"][0]["id"]));
        let detail = harness.query_json(&project, &path, json!({})).await;
        assert!(text(&detail[field]["attributes"]["long"]).ends_with(END), "{list}");
    }
    let span = format!("/api/spans/{:032x}/{:016x}?at=2026-06-01T12:00:00Z", 1, 1);
    assert!(text(&harness.got(&project, &span).await["attributes"]["long"]).ends_with(END));
}

// An answer with a picture has it once, in the messages; the recorded input is a document of its own.
#[tokio::test]
async fn the_picture_of_an_ai_call_comes_once() {
    let (harness, project) = shop().await;
    let calls = harness.query_json(&project, "/api/ai-traces", json!({})).await;
    let id = text(&calls["data"][0]["id"]);
    let answer = harness.query(&project, &format!("/api/ai-traces/{id}"), json!({})).await.expect(200);
    assert!(answer.body.len() < PICTURE + 100_000, "{} bytes", answer.body.len());
    let detail = answer.json();
    let message = text(&detail["conversation"]["messages"][0]["content"]);
    assert!(message.starts_with("What is this?") && message.contains(END));
    assert_eq!(detail["conversation"]["truncatedFields"], json!(["input"]));
    assert_eq!(detail["aiTrace"]["truncatedFields"], json!(["attributes"]));
    assert_eq!(detail["conversation"]["output"], "A wave.");
    let stored = harness.got(&project, &format!("/api/ai-traces/{id}/conversation")).await;
    assert!(text(&stored["input"]).contains(END));
}
