//! Exports over HTTP: permissions and invalid requests. The contents of the files: `export_files.rs`.

use serde_json::{Value, json};

use crate::client;
use crate::harness::{Harness, Project, text};
use crate::requests::NOON_NS;

const RANGE: &str = "from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z";

async fn send(harness: &Harness, project: &Project, bodies: &[&str]) {
    let record = |body: &&str| json!({ "timeUnixNano": NOON_NS.to_string(), "body": { "stringValue": body } });
    let records: Vec<Value> = bodies.iter().map(record).collect();
    let export = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": records }] }] });
    harness.post_json("logs", &project.token, &export).await.expect(200);
}

/// Project and body of each exported log record, by body.
async fn logs(harness: &Harness, credential: &str, project: &Project, more: &str) -> Vec<(String, String)> {
    let path = format!("/api/export?projectId={}&table=logs&format=ndjson&{RANGE}{more}", project.id);
    let answer = harness.api_as(credential, "GET", &path, &Value::Null).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"logs.ndjson\""));
    let text_of = String::from_utf8(answer.body).expect("UTF-8");
    let rows = text_of.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON object"));
    let mut rows: Vec<_> = rows.map(|row| (text(&row["project"]), text(&row["body"]))).collect();
    rows.sort();
    rows
}

#[tokio::test]
async fn an_export_holds_the_rows_that_its_caller_may_read() {
    let (harness, first) = Harness::with_project().await;
    let second = harness.project("second").await;
    send(&harness, &first, &["one", "two"]).await;
    send(&harness, &second, &["three"]).await;
    let row = |project: &Project, body: &str| (project.id.clone(), body.to_owned());
    let of_first = vec![row(&first, "one"), row(&first, "two")];
    let mut of_both = [of_first.clone(), vec![row(&second, "three")]].concat();
    of_both.sort();

    let token = async |projects: Value| {
        let body = json!({ "name": "export", "scopes": ["read"], "projectIds": projects });
        text(&harness.api("POST", "/api/personal-access-tokens", &body).await.expect(201).json()["token"])
    };
    let (all, limited) = (token(Value::Null).await, token(json!([first.id])).await);
    assert_eq!(logs(&harness, &all, &first, "").await, of_first);
    assert_eq!(logs(&harness, &all, &first, "&allProjects=true").await, of_both);
    assert_eq!(logs(&harness, &limited, &first, "&allProjects=true").await, of_first);
    let path = format!("/api/export?projectId={}&table=logs&{RANGE}", second.id);
    harness.api_as(&limited, "GET", &path, &Value::Null).await.expect(403);
    let stranger = harness.stranger().await;
    harness.api_as(&stranger, "GET", &path, &Value::Null).await.expect(403);
    harness.api_as(&first.token, "GET", &path, &Value::Null).await.expect(401);

    // Rows stored later are in the next export; the end of a range is exclusive.
    send(&harness, &first, &["later"]).await;
    assert_eq!(logs(&harness, &all, &first, "").await.len(), 3);
}

#[tokio::test]
async fn invalid_exports_get_an_error_message() {
    let (harness, project) = Harness::with_project().await;
    let about = format!("/api/export?projectId={}", project.id);
    for (query, status, sentence) in [
        (format!("table=logs&{RANGE}"), 200, ""),
        ("table=logs&from=2020-01-01T00:00:00Z&to=2020-01-01T00:00:00Z".to_owned(), 200, ""),
        (RANGE.to_owned(), 400, "table"),
        (format!("table=users&{RANGE}"), 400, "table is not one of spans, endpoints,"),
        (format!("table=logs&format=xml&{RANGE}"), 400, "format is not one of parquet, ndjson, csv"),
        ("table=logs&from=2020-01-01T00:00:00Z".to_owned(), 400, "to"),
        ("table=logs&from=yesterday&to=2020-01-01T00:00:00Z".to_owned(), 400, "from is not an RFC 3339 time"),
        ("table=logs&from=2020-01-02T00:00:00Z&to=2020-01-01T00:00:00Z".to_owned(), 422, "to is before from"),
    ] {
        let answer = harness.api("GET", &format!("{about}&{query}"), &Value::Null).await.expect(status);
        assert!(status == 200 || text(&answer.json()["error"]).contains(sentence), "{query}: {:?}", answer.json());
    }
    let login = json!({ "email": "owner@example.com", "password": "correct horse" });
    let jwt = text(&harness.api_as("", "POST", "/api/login", &login).await.expect(200).json()["token"]);
    let request = format!("GET {about}&table=logs&{RANGE} HTTP/1.0\r\nHost: a\r\nAuthorization: Bearer {jwt}\r\n\r\n");
    let answer = client::raw(harness.address(), request.as_bytes()).await.expect(400);
    assert!(text(&answer.json()["error"]).contains("an export needs HTTP/1.1"), "its end could not be seen");
    // All permits are taken.
    let permits = harness.app().query.exports.clone();
    let held = permits.try_acquire_many(2).expect("nobody exports");
    let answer = harness.api("GET", &format!("{about}&table=logs&{RANGE}"), &Value::Null).await.expect(503);
    assert!(answer.header("retry-after").is_some());
    drop(held);
    harness.api("GET", &format!("{about}&table=logs&{RANGE}"), &Value::Null).await.expect(200);
}
