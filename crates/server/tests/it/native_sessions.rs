//! Sessions of native reports and their recordings. WIRE 1.6, 1.7, 8.7; DECISIONS 20; issue "native protocol", 3.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tidewatch_domain::units::{DAY_NS, MINUTE_NS};
use tidewatch_store::TelemetryStore;

use serde_json::{Value, json};
use tidewatch_store::tables::Table;

use crate::client::{self, Answer};
use crate::engines::On;
use crate::harness::{Harness, Project, text};
use crate::requests::{NOON_NS, at};

const SESSION: &str = "4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff";
const OTHER: &str = "5b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff";
const TRACE: &str = "0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f";

/// A server whose clock is at 12:01 of the day of the reports, and moves with the returned number.
async fn start() -> (Harness, Project, Arc<AtomicI64>) {
    let clock = Arc::new(AtomicI64::new(NOON_NS as i64 + MINUTE_NS));
    let (harness, project) = Harness::registered_at(&On::sqlite(), &clock, |config| config.retention_days = 0).await;
    (harness, project, clock)
}

async fn send_with(harness: &Harness, project: &Project, more: &[(&str, &str)], frame: Value) -> Answer {
    let authorization = format!("Bearer {}", project.token);
    let mut headers = vec![("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    headers.extend_from_slice(more);
    let body = json!({ "collectionFrames": [frame], "appVersion": "2.0.1", "serverName": "" });
    client::send(harness.address(), "POST", "/api/report", &headers, body.to_string().as_bytes()).await
}

async fn send(harness: &Harness, project: &Project, frame: Value) {
    let answer = send_with(harness, project, &[], frame).await.expect(200);
    assert_eq!(answer.json(), json!({}));
}

fn session(id: &str, user: &str, ended_at: Value) -> Value {
    json!({
        "id": id, "startedAt": "2026-06-01T12:00:00.000Z", "endedAt": ended_at, "clientIP": "203.0.113.9",
        "distributedTraceId": TRACE,
        "attributes": {
            "url": "https://shop.example/cart", "path": "/cart", "userId": user, "client.ip": "203.0.113.9",
            "userAgent": "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
        },
    })
}

fn segment(id: &str, index: u32) -> Value {
    json!({
        "sessionId": id, "segmentIndex": index, "events": [{ "type": 4, "data": {}, "timestamp": 1_772_355_600_000_u64 }],
        "logs": [{ "type": "log", "timestamp": "2026-06-01T12:00:02.000Z", "level": "info", "message": "hi" }],
        "actions": [], "startedAt": "2026-06-01T12:00:00.000Z", "endedAt": "2026-06-01T12:00:30.000Z",
    })
}

async fn list(harness: &Harness, project: &Project, more: Value) -> Vec<Value> {
    let page = harness.query_json(project, "/api/sessions", more).await;
    let data = page["data"].as_array().expect("a list").clone();
    assert_eq!(page["pagination"]["total"], data.len());
    data
}

async fn detail(harness: &Harness, project: &Project, id: &str) -> Value {
    let body = json!({ "startedAt": "2026-06-01T12:00:00Z" });
    harness.query_json(project, &format!("/api/sessions/{id}"), body).await
}

async fn drops(harness: &Harness, project: &Project) -> Vec<(String, u64)> {
    let found = harness.query_json(project, "/api/drops", json!({ "fromDate": null, "toDate": null })).await;
    let data = found["data"].as_array().expect("a list");
    data.iter().map(|drop| (text(&drop["reason"]), drop["count"].as_u64().expect("a count"))).collect()
}

// WIRE 1.6: upsert by id; 1.7: the stored document has events, logs, actions and times.
#[tokio::test]
async fn a_session_and_its_recording_are_stored_and_read() {
    let (mut harness, project, _) = start().await;
    let error = json!({
        "stackTrace": "TypeError: x is undefined\nrender()\n    app.js:1:4821\n", "recordedAt": "2026-06-01T12:00:20Z",
        "sessionId": SESSION, "distributedTraceId": TRACE, "traceId": null,
    });
    let frame = json!({
        "sessions": [session(SESSION, "u7", Value::Null)], "sessionRecordings": [segment(SESSION, 0)], "stackTraces": [error],
    });
    send(&harness, &project, frame).await;
    let mut moved = session(SESSION, "u7", Value::Null);
    moved["attributes"]["path"] = json!("/paid");
    send(&harness, &project, json!({ "sessions": [moved], "sessionRecordings": [segment(SESSION, 2)] })).await;
    assert!(drops(&harness, &project).await.is_empty(), "nothing is dropped");

    for round in ["in memory", "after a crash", "in parts"] {
        let sessions = list(&harness, &project, json!({})).await;
        let [row] = &sessions[..] else { panic!("{round}: one session: {sessions:?}") };
        assert_eq!((&row["id"], &row["startedAt"]), (&json!(SESSION), &json!("2026-06-01T12:00:00Z")), "{round}");
        assert_eq!((&row["endedAt"], &row["duration"]), (&Value::Null, &json!(0)), "it is open");
        assert_eq!((&row["attributes"]["path"], &row["pageCount"]), (&json!("/paid"), &json!(2)));
        assert_eq!(
            (&row["browser"], &row["os"], &row["userId"]),
            (&json!("Firefox 128"), &json!("Linux"), &json!("u7"))
        );
        assert_eq!(
            (&row["errorCount"], &row["hasRecording"], &row["appVersion"]),
            (&json!(1), &json!(true), &json!("2.0.1"))
        );

        let found = detail(&harness, &project, SESSION).await;
        assert_eq!(&found["session"], row);
        let indexes: Vec<_> =
            found["segments"].as_array().expect("a list").iter().map(|one| &one["segmentIndex"]).collect();
        assert_eq!(indexes, [0, 2]);
        assert_eq!(found["segments"][0]["endedAt"], "2026-06-01T12:00:30Z");
        assert!(found["segments"][0]["eventBytes"].as_u64() > Some(0));
        assert_eq!(found["errors"][0]["title"], "TypeError: x is undefined");
        assert_eq!(found["linkedTraceIds"], json!([TRACE.replace('-', "")]));

        let path = at(&format!("/api/sessions/{SESSION}/recording?segment=0"), &project);
        let answer = harness.api("GET", &path, &Value::Null).await.expect(200);
        assert_eq!(answer.header("Content-Type"), Some("application/json"));
        let (document, sent) = (answer.json(), segment(SESSION, 0));
        assert_eq!(
            (&document["events"], &document["logs"], &document["actions"]),
            (&sent["events"], &sent["logs"], &json!([]))
        );
        assert_eq!(document["startedAt"], "2026-06-01T12:00:00Z");
        for missing in ["segment=1", "segment=0"].iter().zip([SESSION, OTHER]) {
            let path = at(&format!("/api/sessions/{}/recording?{}", missing.1, missing.0), &project);
            harness.api("GET", &path, &Value::Null).await.expect(404);
        }
        match round {
            "in memory" => harness.crash().await,
            _ => harness.restart().await,
        }
    }
    let path = at(&format!("/api/sessions/{OTHER}"), &project);
    harness.api("POST", &path, &json!({})).await.expect(404);
}

// Spec: sessions whose `client.ip`; WIRE 1.6: what the client says about its address is ignored.
#[tokio::test]
async fn the_address_follows_the_rules_of_trusted_proxies() {
    let (harness, project, _) = start().await;
    let frame = |id: &str| json!({ "sessions": [session(id, "u7", Value::Null)] });
    send(&harness, &project, frame(SESSION)).await;
    send_with(&harness, &project, &[("X-Forwarded-For", "1.1.1.1, 198.51.100.7")], frame(OTHER)).await.expect(200);
    for (id, address) in [(SESSION, "127.0.0.1"), (OTHER, "198.51.100.7")] {
        let found = detail(&harness, &project, id).await["session"].clone();
        assert_eq!((&found["clientIP"], &found["attributes"]["client.ip"]), (&json!(address), &json!(address)));
    }
}

// WIRE 8.7: the server closes a session 15 min after the last segment, cap 65 min.
#[tokio::test]
async fn a_session_ends_without_activity() {
    let (harness, project, clock) = start().await;
    let sent_end = json!("2026-06-01T12:05:00Z");
    let frame = json!({
        "sessions": [session(SESSION, "u7", Value::Null), session(OTHER, "u8", Value::Null), session(OTHER, "u8", sent_end)],
        "sessionRecordings": [segment(SESSION, 0)],
    });
    send(&harness, &project, frame).await;
    let noon = NOON_NS as i64;
    for (minutes, expected) in [(1, Value::Null), (15, Value::Null), (17, json!("2026-06-01T12:01:00.000000002Z"))] {
        clock.store(noon + minutes * MINUTE_NS + 3, Ordering::Relaxed);
        let found = detail(&harness, &project, SESSION).await["session"]["endedAt"].clone();
        assert_eq!(found.is_null(), expected.is_null(), "after {minutes} minutes: {found}");
    }
    let closed = detail(&harness, &project, OTHER).await["session"].clone();
    assert_eq!((&closed["endedAt"], &closed["duration"]), (&json!("2026-06-01T12:05:00Z"), &json!(5 * MINUTE_NS)));
    // A state that only ends the session leaves what is known.
    let end = json!({ "id": OTHER, "startedAt": "2026-06-01T12:00:00Z", "endedAt": "2026-06-01T12:05:00Z" });
    send(&harness, &project, json!({ "sessions": [end] })).await;
    let closed = detail(&harness, &project, OTHER).await["session"].clone();
    assert_eq!((&closed["userId"], &closed["browser"]), (&json!("u8"), &json!("Firefox 128")));
    assert_eq!(closed["attributes"]["path"], "/cart");
    // A state that arrives late does not open it again.
    send(&harness, &project, json!({ "sessions": [session(OTHER, "u9", Value::Null)] })).await;
    let closed = detail(&harness, &project, OTHER).await["session"].clone();
    assert_eq!((&closed["endedAt"], &closed["userId"]), (&json!("2026-06-01T12:05:00Z"), &json!("u9")));
    assert_eq!(closed["attributes"]["userId"], "u9", "the newest state with attributes");
    // A segment keeps it open, up to 65 minutes.
    let mut late = segment(SESSION, 1);
    late["startedAt"] = json!("2026-06-01T12:58:00Z");
    late["endedAt"] = json!("2026-06-01T12:59:00Z");
    send(&harness, &project, json!({ "sessionRecordings": [late] })).await;
    for (minutes, expected) in
        [(60, Value::Null), (66, json!("2026-06-01T13:05:00Z")), (80, json!("2026-06-01T12:59:00Z"))]
    {
        clock.store(noon + minutes * MINUTE_NS, Ordering::Relaxed);
        assert_eq!(
            detail(&harness, &project, SESSION).await["session"]["endedAt"],
            expected,
            "after {minutes} minutes"
        );
    }
}

// DECISIONS 11, 20: a retry, with the same body or the same items in another, changes nothing; also after a crash.
#[tokio::test]
async fn a_retry_changes_nothing() {
    let (mut harness, project, _) = start().await;
    let frame =
        json!({ "sessions": [session(SESSION, "u7", Value::Null)], "sessionRecordings": [segment(SESSION, 0)] });
    let mut other_body = frame.clone();
    other_body["sessionRecordings"][0]["logs"] = json!([]);
    let rows = |harness: &Harness| [Table::Sessions, Table::SessionSegments].map(|table| harness.rows(table));
    for body in [&frame, &frame, &other_body] {
        send(&harness, &project, body.clone()).await;
        assert_eq!(rows(&harness), [1, 1]);
    }
    harness.crash().await;
    assert_eq!(rows(&harness), [1, 1]);
    send(&harness, &project, other_body).await;
    assert_eq!(rows(&harness), [1, 1]);
    let path = at(&format!("/api/sessions/{SESSION}/recording?segment=0"), &project);
    let document = harness.api("GET", &path, &Value::Null).await.expect(200).json();
    assert_eq!(document["logs"], segment(SESSION, 0)["logs"], "the first content stays");
}

#[tokio::test]
async fn two_projects_with_one_session_id_do_not_meet() {
    let (harness, first, _) = start().await;
    let second = harness.project("second").await;
    for (project, user) in [(&first, "u1"), (&second, "u2")] {
        let frame =
            json!({ "sessions": [session(SESSION, user, Value::Null)], "sessionRecordings": [segment(SESSION, 0)] });
        send(&harness, project, frame).await;
    }
    let path = at("/api/sessions?userId=u1", &first);
    assert_eq!(harness.api("DELETE", &path, &Value::Null).await.expect(200).json(), json!({ "deleted": 1 }));
    assert!(list(&harness, &first, json!({})).await.is_empty());
    assert_eq!(list(&harness, &second, json!({})).await[0]["userId"], "u2");
    let path = at(&format!("/api/sessions/{SESSION}/recording"), &second);
    harness.api("GET", &path, &Value::Null).await.expect(200);
}

// WIRE 1.7: what is dropped, and that it is counted.
#[tokio::test]
async fn recordings_that_are_not_stored_are_counted() {
    let (harness, project, _) = start().await;
    let with = |change: Value| {
        let mut segment = segment(SESSION, 0);
        for (key, value) in change.as_object().expect("an object") {
            segment[key] = value.clone();
        }
        segment
    };
    let large = "x".repeat(16 << 20);
    let frame = json!({
        "sessionRecordings": [
            with(json!({ "events": [], "logs": {}, "actions": null })),
            with(json!({ "sessionId": null })),
            with(json!({ "sessionId": null, "exceptionId": "e9" })),
            with(json!({ "events": [large] })),
            with(json!({ "startedAt": "2026-04-01T12:00:00Z" })),
            with(json!({ "startedAt": "1969-04-01T12:00:00Z" })),
            with(json!({ "startedAt": 7 })),
        ],
        "sessions": [{ "id": "no id" }, { "id": SESSION, "startedAt": "1960-01-01T00:00:00Z" }],
    });
    send(&harness, &project, frame).await;
    let path = at("/api/projects", &project);
    let changed = harness.api("PUT", &path, &json!({ "sessionRecordings": false })).await.expect(200).json();
    assert_eq!(changed["settings"]["sessionRecordings"], false);
    let frame =
        json!({ "sessions": [session(SESSION, "u7", Value::Null)], "sessionRecordings": [segment(SESSION, 0)] });
    send(&harness, &project, frame).await;
    assert_eq!([Table::Sessions, Table::SessionSegments].map(|table| harness.rows(table)), [1, 0]);
    let mut found = drops(&harness, &project).await;
    found.sort();
    let expected = [
        ("empty_recording", 1),
        ("invalid_item", 2),
        ("invalid_time", 2),
        ("recording_too_large", 1),
        ("recording_without_owner", 2),
        ("recordings_off", 1),
        ("too_old", 1),
    ];
    assert_eq!(found, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(list(&harness, &project, json!({})).await[0]["hasRecording"], false);
}

// WIRE 1.4, 1.7: `sessionRecordingId` links an exception to a recording of the same report.
#[tokio::test]
async fn an_exception_has_its_own_recording() {
    let (harness, project, _) = start().await;
    let exception = |recording: Value| {
        json!({ "stackTrace": format!("Error: {recording}\nf()\n    a.js:1:1"), "recordedAt": "2026-06-01T12:00:20Z",
                "sessionRecordingId": recording, "sessionId": SESSION })
    };
    let mut clip = segment(SESSION, 0);
    clip["sessionId"] = Value::Null;
    clip["exceptionId"] = json!("e1");
    let frame = json!({ "stackTraces": [exception(json!("e1")), exception(Value::Null)], "sessionRecordings": [clip] });
    for _ in 0..2 {
        send(&harness, &project, frame.clone()).await;
    }
    assert_eq!(harness.rows(Table::SessionSegments), 1);
    let issues = harness.query_json(&project, "/api/exception-stack-traces", json!({})).await;
    let mut occurrences = Vec::new();
    for issue in issues["data"].as_array().expect("a list") {
        let path = format!("/api/exception-stack-traces/{}", text(&issue["exceptionHash"]));
        let found = harness.query_json(&project, &path, json!({})).await;
        occurrences.extend(found["occurrences"].as_array().expect("a list").clone());
    }
    assert_eq!(occurrences.len(), 2);
    for occurrence in occurrences {
        let is_recorded = text(&occurrence["message"]).contains("e1");
        assert_eq!((&occurrence["hasRecording"], &occurrence["sessionId"]), (&json!(is_recorded), &json!(SESSION)));
        let path = at(&format!("/api/exception-stack-traces/by-id/{}/recording", text(&occurrence["id"])), &project);
        let answer = harness.api("GET", &path, &Value::Null).await;
        match is_recorded {
            true => assert_eq!(answer.expect(200).json()["events"], segment(SESSION, 0)["events"]),
            false => drop(answer.expect(404)),
        }
    }
    assert!(list(&harness, &project, json!({})).await.is_empty(), "no session was sent");
}

#[tokio::test]
async fn sessions_are_filtered_and_sorted() {
    let (harness, project, _) = start().await;
    let ended = |minutes: u32| json!(format!("2026-06-01T12:{minutes:02}:00Z"));
    let mut phone = session(OTHER, "grace", ended(1));
    phone["attributes"]["userAgent"] = json!("Mozilla/5.0 (iPhone) Version/17.5 Mobile/15E148 Safari/604.1");
    phone["attributes"]["path"] = json!("/orders");
    phone["attributes"]["plan"] = json!("Free Trial");
    let error = json!({ "stackTrace": "Error: x\nf()\n    a.js:1:1", "recordedAt": "2026-06-01T12:00:20Z", "sessionId": OTHER });
    send(&harness, &project, json!({ "sessions": [session(SESSION, "ada", ended(5)), phone], "stackTraces": [error] }))
        .await;
    let both = [SESSION, OTHER];
    for (body, expected) in [
        (json!({ "orderBy": "duration" }), &both[..]),
        (json!({ "orderBy": "duration", "sortDirection": "asc" }), &[OTHER, SESSION]),
        (json!({ "orderBy": "error_count" }), &[OTHER, SESSION]),
        (json!({ "user": "GRA" }), &[OTHER]),
        (json!({ "page": "/cart" }), &[SESSION]),
        (json!({ "browser": "safari" }), &[OTHER]),
        (json!({ "minDurationMs": 240_000 }), &[SESSION]),
        (json!({ "maxDurationMs": 240_000 }), &[OTHER]),
        (json!({ "hasErrors": true }), &[OTHER]),
        (json!({ "hasErrors": false }), &[SESSION]),
        (json!({ "search": OTHER }), &[OTHER]),
        (json!({ "search": "free" }), &[OTHER]),
        (json!({ "search": "nobody" }), &[]),
        (json!({ "attributeFilters": [{ "key": "plan", "value": "Free Trial" }] }), &[OTHER]),
        (json!({ "attributeFilters": [{ "key": "plan", "value": "free", "operator": "contains" }] }), &[OTHER]),
        (json!({ "attributeFilters": [{ "key": "path", "value": "free", "operator": "contains" }] }), &[]),
        (json!({ "toDate": "2026-06-01T12:00:00Z" }), &[]),
        // docs/use/query-language.md: duration and errors are computed.
        (json!({ "query": "duration>=4m" }), &[SESSION]),
        (json!({ "query": "-duration>=4m errors>0" }), &[OTHER]),
        (json!({ "query": "plan:\"Free Trial\" duration<4m" }), &[OTHER]),
        (json!({ "query": "user:ada errors>0" }), &[]),
        (json!({ "query": "(duration>4m OR errors=1) browser:*Safari*" }), &[OTHER]),
    ] {
        let found: Vec<String> =
            list(&harness, &project, body.clone()).await.iter().map(|row| text(&row["id"])).collect();
        assert_eq!(found, expected, "{body}");
    }
    let bad = harness.query(&project, "/api/sessions", json!({ "orderBy": "name" })).await;
    assert_eq!(bad.status, 400);
    for query in ["duration>4m OR user:ada", "errors:many", "duration>5MB"] {
        let refused = harness.query(&project, "/api/sessions", json!({ "query": query })).await.expect(400).json();
        assert!(refused["position"].is_u64(), "{query}: {refused}");
    }
    let facets = json!({ "rows": "session", "query": "duration>4m" });
    harness.query(&project, "/api/query/facets", facets).await.expect(400);
}

// Issue "native protocol", 3: deletion by user id, which no crash and no retry undoes.
#[tokio::test]
async fn sessions_of_a_user_are_deleted() {
    let (mut harness, project, _) = start().await;
    let exception = json!({ "stackTrace": "Error: x\nf()\n    a.js:1:1", "recordedAt": "2026-06-01T12:00:20Z",
                            "sessionRecordingId": "e1", "sessionId": SESSION });
    let mut clip = segment(SESSION, 0);
    clip["sessionId"] = Value::Null;
    clip["exceptionId"] = json!("e1");
    let frame = json!({
        "sessions": [session(SESSION, "u7", Value::Null), session(OTHER, "u8", Value::Null)], "stackTraces": [exception],
        "sessionRecordings": [segment(SESSION, 0), segment(OTHER, 0), clip],
    });
    send(&harness, &project, frame.clone()).await;
    harness.restart().await;
    // One part of the data is in parts, one in memory.
    send(&harness, &project, json!({ "sessionRecordings": [segment(SESSION, 1), segment(OTHER, 1)] })).await;
    assert_eq!([Table::Sessions, Table::SessionSegments].map(|table| harness.rows(table)), [2, 5]);
    let path = at("/api/sessions?userId=u7", &project);
    assert_eq!(harness.api("DELETE", &path, &Value::Null).await.expect(200).json(), json!({ "deleted": 1 }));
    for round in ["after the answer", "after a crash", "after a retry"] {
        let rows = [Table::Sessions, Table::SessionSegments].map(|table| harness.rows(table));
        assert_eq!(rows, [1, 2], "{round}");
        assert_eq!(list(&harness, &project, json!({})).await[0]["userId"], "u8", "{round}");
        match round {
            "after the answer" => harness.crash().await,
            _ => send(&harness, &project, frame.clone()).await,
        }
    }
    assert_eq!(harness.api("DELETE", &path, &Value::Null).await.expect(200).json(), json!({ "deleted": 0 }));
    harness.api("DELETE", &at("/api/sessions?userId=", &project), &Value::Null).await.expect(400);
    harness.api("DELETE", &at("/api/sessions", &project), &Value::Null).await.expect(400);
}

// Issue "native protocol", 3: recordings have a retention of 30 days of their own.
#[tokio::test(flavor = "multi_thread")]
async fn recordings_expire_after_thirty_days() {
    let (harness, project, clock) = start().await;
    // 30 days before.
    let (mut old, mut recording) = (session(SESSION, "u7", Value::Null), segment(SESSION, 0));
    (old["startedAt"], recording["startedAt"]) = (json!("2026-05-02T12:00:00Z"), json!("2026-05-02T12:00:00Z"));
    send(&harness, &project, json!({ "sessions": [old], "sessionRecordings": [recording] })).await;
    let path = at(&format!("/api/sessions/{SESSION}/recording"), &project);
    for (days, status, rows) in [(0, 200, [1, 1]), (1, 404, [1, 0])] {
        clock.store(NOON_NS as i64 + days * DAY_NS, Ordering::Relaxed);
        harness.api("GET", &path, &Value::Null).await.expect(status);
        let lake = harness.app().lake.clone();
        let now = clock.load(Ordering::Relaxed);
        let work = move || lake.flush().and_then(|()| lake.retain(now));
        tokio::task::spawn_blocking(work).await.expect("no panic").expect("the disk works");
        assert_eq!([Table::Sessions, Table::SessionSegments].map(|table| harness.rows(table)), rows, "{days} days");
    }
}
