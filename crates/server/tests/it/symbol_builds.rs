//! Several builds of one program: each stack trace is resolved with the symbols of its own build, at receipt and later.
//! DECISIONS 14.

use std::collections::HashMap;

use serde_json::{Value, json};
use tidewatch_server::jobs::resymbolicate::resolve_again;

use crate::harness::text;
use crate::symbol_uploads::{SOURCE_MAPS, SYMBOLS, Uploads, fixture};

const ONE: &str = "6c2f7a3e-93a1-4c60-b6a7-0d6f5a3d1c11";
const OTHER: &str = "7d307b4f-a4b2-4d71-87b8-1e706b4e2d22";

const MAPPING_ONE: &[u8] =
    b"com.shop.Cart -> a.a:\n    1:5:void pay():10:14 -> b\ncom.shop.Failure -> c.g:\n    void <init>() -> <init>\n";
const MAPPING_OTHER: &[u8] =
    b"com.shop.Order -> a.a:\n    1:5:void send():30:34 -> b\ncom.shop.Refused -> c.g:\n    void <init>() -> <init>\n";

/// The minified stack trace is the same in both builds.
const STACK: &str = "c.g: boom\n\tat a.a.b(SourceFile:2)";
const BY_ONE: &str = "com.shop.Failure: boom\n\tat com.shop.Cart.pay(Cart.java:11)";
const BY_OTHER: &str = "com.shop.Refused: boom\n\tat com.shop.Order.send(Order.java:31)";

/// Where the id of the build is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Resource,
    Scope,
    Span,
    Exception,
}

const PLACES: [Place; 4] = [Place::Resource, Place::Scope, Place::Span, Place::Exception];

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// One exception; all builds have the same service and version. `is_root`: a span that is not stored (DECISIONS 4).
fn failed(number: u64, place: Place, uuid: &str, message: &str, stack: &str, is_root: bool) -> Value {
    let at = |here: Place| if place == here { vec![attribute("app.debug.proguard_uuid", uuid)] } else { Vec::new() };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let start = now.as_nanos() as u64 - number * 1_000_000_000;
    let resource = [
        vec![
            attribute("telemetry.sdk.language", "java"),
            attribute("service.name", "shop"),
            attribute("service.version", "1.0"),
        ],
        at(Place::Resource),
    ]
    .concat();
    let exception = [
        vec![
            attribute("exception.type", "c.g"),
            attribute("exception.message", message),
            attribute("exception.stacktrace", stack),
        ],
        at(Place::Exception),
    ]
    .concat();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{
            "scope": { "name": "android", "attributes": at(Place::Scope) },
            "spans": [{
                "traceId": format!("{number:032x}"), "spanId": format!("{number:016x}"),
                "parentSpanId": if is_root { "" } else { "cdcdcdcdcdcdcdcd" },
                "name": "checkout", "kind": 1, "attributes": at(Place::Span),
                "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 1_000_000).to_string(),
                "events": [{ "name": "exception", "timeUnixNano": start.to_string(), "attributes": exception }],
            }],
        }],
    }]})
}

impl Uploads {
    /// Stack traces and counts of the project's Issues.
    async fn issues(&self) -> Vec<(String, u64)> {
        let path = format!("/api/exception-stack-traces?projectId={}", self.project);
        let answer = self.harness.api("POST", &path, &json!({})).await.expect(200).json();
        let rows = answer["data"].as_array().expect("rows").iter();
        let mut issues: Vec<(String, u64)> =
            rows.map(|row| (text(&row["stackTrace"]), row["count"].as_u64().unwrap_or(0))).collect();
        issues.sort();
        issues
    }

    async fn mapping(&self, uuid: &str, mapping: &[u8]) {
        assert_eq!(self.accepted(SYMBOLS, &[("proguard_uuid", uuid)], &[("mapping.txt", mapping)]).await, 1);
    }

    /// Resolves all stored exceptions again, as after an upload. Returns the number of changed exceptions.
    async fn look_again(&self) -> usize {
        self.settle().await;
        let (app, project) = (self.harness.app().clone(), self.project);
        let work = move || {
            let project = app.accounts.control.projects.project_by_id(project).expect("the project is there");
            resolve_again(&app.query, &app.ingest, &project, &|| false).expect("the disk works")
        };
        tokio::task::spawn_blocking(work).await.expect("no panic")
    }

    async fn runtime_token(&self) -> String {
        let projects = self.harness.api("GET", "/api/projects", &Value::Null).await.expect(200).json();
        text(&projects[0]["token"])
    }
}

// Every later upload resolves all traces again: each keeps the names of its own build.
#[tokio::test(flavor = "multi_thread")]
async fn two_builds_of_one_version_are_resolved_separately() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    uploads.mapping(ONE, MAPPING_ONE).await;
    uploads.mapping(OTHER, MAPPING_OTHER).await;
    uploads.settle().await;
    for (number, place) in (0..).zip(PLACES) {
        for (build, uuid) in [(0, ONE), (1, OTHER)] {
            let body = failed(1 + 2 * number + build, place, uuid, "boom", STACK, false);
            uploads.harness.post_json("traces", &token, &body).await.expect(200);
        }
    }
    let expected = [(BY_ONE.to_owned(), 4), (BY_OTHER.to_owned(), 4)];
    assert_eq!(uploads.issues().await, expected);
    let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA"}"#;
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("any.js.map", map)]).await, 1);
    assert_eq!(uploads.look_again().await, 0, "nothing is worked out anew");
    assert_eq!(uploads.issues().await, expected);
}

// The row of a raw trace has the id of its build, whether or not the span is stored.
#[tokio::test(flavor = "multi_thread")]
async fn raw_traces_wait_for_their_own_build() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    let mut number = 0;
    for place in PLACES {
        for is_root in [false, true] {
            for uuid in [ONE, OTHER] {
                number += 1;
                let body = failed(number, place, uuid, "boom", STACK, is_root);
                uploads.harness.post_json("traces", &token, &body).await.expect(200);
            }
        }
    }
    assert_eq!(uploads.issues().await, [(STACK.to_owned(), 16)]);
    uploads.mapping(OTHER, MAPPING_OTHER).await;
    uploads.look_again().await;
    assert_eq!(uploads.issues().await, [(STACK.to_owned(), 8), (BY_OTHER.to_owned(), 8)]);
    uploads.mapping(ONE, MAPPING_ONE).await;
    uploads.look_again().await;
    assert_eq!(uploads.issues().await, [(BY_ONE.to_owned(), 8), (BY_OTHER.to_owned(), 8)]);
}

// The exception is in the span's attributes, without an event: the build's id is in the resource or scope.
#[tokio::test(flavor = "multi_thread")]
async fn exceptions_without_an_event_wait_for_their_own_build() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    let mut number = 0;
    for place in [Place::Resource, Place::Scope] {
        for is_root in [false, true] {
            for uuid in [ONE, OTHER] {
                number += 1;
                let mut body = failed(number, place, uuid, "boom", STACK, is_root);
                let span = body.pointer_mut("/resourceSpans/0/scopeSpans/0/spans/0").expect("a span");
                span["attributes"] = span["events"][0]["attributes"].take();
                span["events"] = json!([]);
                uploads.harness.post_json("traces", &token, &body).await.expect(200);
            }
        }
    }
    assert_eq!(uploads.issues().await, [(STACK.to_owned(), 8)]);
    uploads.mapping(OTHER, MAPPING_OTHER).await;
    uploads.look_again().await;
    assert_eq!(uploads.issues().await, [(STACK.to_owned(), 4), (BY_OTHER.to_owned(), 4)]);
    uploads.mapping(ONE, MAPPING_ONE).await;
    uploads.look_again().await;
    assert_eq!(uploads.issues().await, [(BY_ONE.to_owned(), 4), (BY_OTHER.to_owned(), 4)]);
}

// The next build reuses script names: frames that were resolved with an earlier map stay.
#[tokio::test(flavor = "multi_thread")]
async fn a_resolved_frame_is_never_replaced_by_another_builds() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    let map = |source: &str| {
        format!(r#"{{"version":3,"sources":["{source}"],"names":[],"mappings":"AAAA;EAEE"}}"#).into_bytes()
    };
    uploads.accepted(SOURCE_MAPS, &[], &[("app.min.js.map", &map("old.ts"))]).await;
    uploads.settle().await;
    let two = "E: x\n    at t (https://shop.example/app.min.js:2:5)\n    at u (https://shop.example/vendor.js:2:5)";
    uploads.occurrence(1, "webjs", ["E", "x", two], &token).await;
    uploads.accepted(SOURCE_MAPS, &[], &[("app.min.js.map", &map("new.ts"))]).await;
    assert_eq!(uploads.look_again().await, 0);
    let half = "E: x\n    at t (old.ts:3:3)\n    at u (https://shop.example/vendor.js:2:5)".to_owned();
    assert_eq!(uploads.issues().await, [(half.clone(), 1)]);
    // The rest of the trace cannot be resolved without the old map.
    uploads.accepted(SOURCE_MAPS, &[], &[("vendor.js.map", &map("vendor.ts"))]).await;
    assert_eq!(uploads.look_again().await, 0);
    assert_eq!(uploads.issues().await, [(half, 1)]);
}

// The title is resolved like the frames; the message then does not separate Issues.
#[tokio::test(flavor = "multi_thread")]
async fn type_and_title_are_resolved_before_grouping() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    let send = async |number: u64| {
        let message = format!("boom {number}");
        let stack = format!("c.g: {message}\n\tat a.a.b(SourceFile:2)");
        let body = failed(number, Place::Resource, ONE, &message, &stack, false);
        uploads.harness.post_json("traces", &token, &body).await.expect(200);
    };
    send(1).await;
    uploads.mapping(ONE, MAPPING_ONE).await;
    uploads.settle().await;
    send(2).await;
    uploads.look_again().await;
    let path = format!("/api/exception-stack-traces?projectId={}", uploads.project);
    let answer = uploads.harness.api("POST", &path, &json!({})).await.expect(200).json();
    let issues = answer["data"].as_array().expect("rows");
    assert_eq!(issues.len(), 1, "raw at first or not: {answer}");
    let all = issues[0].to_string();
    assert!(all.contains("com.shop.Failure: boom") && !all.contains("c.g"), "{all}");
    for number in [1, 2] {
        let path = format!("/api/distributed-traces/{number:032x}?projectId={}", uploads.project);
        let found = uploads.harness.api("POST", &path, &json!({})).await.expect(200).json();
        let shown = &found["exceptions"][0];
        assert_eq!(shown["exceptionType"], "com.shop.Failure");
        let raw = format!("c.g: boom {number}\n\tat a.a.b(SourceFile:2)");
        assert_eq!(shown["rawStackTrace"], json!(raw), "as it was sent");
    }
}

// If the first class in the trace is not the exception's, the type stays as sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_the_trace_does_not_name_is_unchanged() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    uploads.mapping(ONE, MAPPING_ONE).await;
    uploads.settle().await;
    let mut body = failed(1, Place::Resource, ONE, "boom", STACK, false);
    let attributes = "/resourceSpans/0/scopeSpans/0/spans/0/events/0/attributes/0";
    *body.pointer_mut(attributes).expect("the type") = attribute("exception.type", "HandledError");
    uploads.harness.post_json("traces", &token, &body).await.expect(200);
    let path = format!("/api/distributed-traces/{:032x}?projectId={}", 1, uploads.project);
    let found = uploads.harness.api("POST", &path, &json!({})).await.expect(200).json();
    let shown = &found["exceptions"][0];
    assert_eq!(shown["exceptionType"], "HandledError");
    assert!(text(&shown["stackTrace"]).contains("com.shop.Failure: boom\n\tat com.shop.Cart.pay"), "{shown}");
}

/// A fat file of two slices with the UUID of the first. Returns the file and the UUID in hexadecimal.
fn fat_with_one_uuid() -> (Vec<u8>, String) {
    let (arm64, mut x64) = (fixture("macho/AcmeKit.arm64.dwarf"), fixture("macho/AcmeKit.x86_64.dwarf"));
    let uuid_at = |bytes: &[u8]| {
        let command = [0x1b, 0, 0, 0, 24, 0, 0, 0];
        bytes.windows(8).position(|window| window == command).expect("LC_UUID") + 8
    };
    let uuid = arm64[uuid_at(&arm64)..][..16].to_vec();
    let at = uuid_at(&x64);
    x64[at..at + 16].copy_from_slice(&uuid);
    let aligned = |len: usize| len.div_ceil(1 << 14) << 14;
    let (first, second) = (1 << 14, (1 << 14) + aligned(arm64.len()));
    let mut fat: Vec<u8> = Vec::new();
    let arm64_arch = [0x0100_000c, 0, first as u32, arm64.len() as u32, 14];
    let x64_arch = [0x0100_0007, 3, second as u32, x64.len() as u32, 14];
    for number in [0xcafe_babe_u32, 2].into_iter().chain(arm64_arch).chain(x64_arch) {
        fat.extend_from_slice(&number.to_be_bytes());
    }
    fat.resize(first, 0);
    fat.extend_from_slice(&arm64);
    fat.resize(second, 0);
    fat.extend_from_slice(&x64);
    (fat, uuid.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The expected end of the innermost frame, `:line:column)`, by hexadecimal offset.
fn answers(arch: &str) -> HashMap<String, String> {
    let answers: Value = serde_json::from_slice(&fixture(&format!("macho/AcmeKit.{arch}.answers.json"))).expect("JSON");
    let rows = answers["answers"].as_array().expect("answers").iter();
    let with_line = rows.filter(|row| row[1][0][2].as_u64() > Some(0));
    let ends = with_line.map(|row| (text(&row[0]), format!(":{}:{})", row[1][0][2], row[1][0][3])));
    ends.collect()
}

// SYMBOLS, "decided" 4: the id comes first; the architecture chooses between slices that share it.
#[tokio::test(flavor = "multi_thread")]
async fn slices_that_share_a_uuid_are_distinguished_by_the_arch_line() {
    let uploads = Uploads::start().await;
    let (fat, id) = fat_with_one_uuid();
    for _ in 0..2 {
        assert_eq!(uploads.accepted(SYMBOLS, &[], &[("AcmeKit", &fat)]).await, 1);
        assert_eq!(uploads.kept(), [format!("iossymbols/{id}-x64.dsym"), format!("iossymbols/{id}.dsym")]);
    }
    uploads.settle().await;
    for (arch, name) in [("arm64", "arm64"), ("x64", "x86_64")] {
        let answers = answers(name);
        let (offset, expected) = answers.iter().next().expect("an answer");
        let number = offset.trim_start_matches("0x");
        let trace = format!("boom\n\n  in Kit\n\n*** ***\nos: ios arch: {arch}\n#00 {id} 0x{number} AcmeKit");
        let path = format!("/api/symbols/resolve?projectId={}", uploads.project);
        let tried = uploads.harness.api("POST", &path, &json!({"stackTrace": trace})).await.expect(200).json();
        let shown = text(&tried["stackTrace"]);
        assert!(
            shown.lines().any(|line| line.starts_with("#0 ") && line.ends_with(expected.as_str())),
            "{arch}: {shown}"
        );
        // Spec: symbolication, rule 3: the lines above the separator stay, including blank lines.
        assert!(shown.starts_with("boom\n\n  in Kit\n\n#0 "), "{arch}: {shown}");
    }
}

// Crashlytics, tombstones and `app.debug.build_id` name a build and no architecture.
#[tokio::test(flavor = "multi_thread")]
async fn dart_traces_without_an_architecture_find_their_build() {
    let uploads = Uploads::start().await;
    let cases: Value = serde_json::from_slice(&fixture("dart/dart_traces.json")).expect("JSON");
    for arch in ["arm", "arm64", "x64"] {
        let name = format!("app.android-{arch}.symbols");
        assert_eq!(uploads.accepted(SYMBOLS, &[], &[(&name, &fixture(&format!("dart/{name}")))]).await, 1);
    }
    uploads.settle().await;
    let mut without = 0;
    for case in cases["traces"].as_array().or(cases.as_array()).expect("traces") {
        let trace = text(&case["trace"]);
        if trace.contains("arch") || !(trace.contains("BuildId") || trace.contains("build_id")) {
            continue;
        }
        without += 1;
        let path = format!("/api/symbols/resolve?projectId={}", uploads.project);
        let tried = uploads.harness.api("POST", &path, &json!({"stackTrace": trace})).await.expect(200).json();
        assert!(tried["resolved"].as_u64() > Some(0), "{trace}\n{tried}");
    }
    assert!(without > 0, "some traces name no architecture");
}

// DECISIONS 14: an exception of a native report, which no span belongs to, is resolved when its symbols arrive.
#[tokio::test(flavor = "multi_thread")]
async fn native_exceptions_are_resolved_when_their_symbols_arrive() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    let stack = "Error: empty\n    at t (https://shop.example/app.min.js:2:5)";
    let report = json!({ "collectionFrames": [{ "stackTraces": [{ "stackTrace": stack }] }] });
    let authorization = format!("Bearer {token}");
    let headers = [("Authorization", authorization.as_str())];
    let address = uploads.harness.address();
    crate::client::send(address, "POST", "/api/report", &headers, report.to_string().as_bytes()).await.expect(200);
    assert_eq!(uploads.issues().await, [(stack.to_owned(), 1)]);

    let map = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}"#;
    assert_eq!(uploads.accepted(SOURCE_MAPS, &[], &[("app.min.js.map", map)]).await, 1);
    uploads.look_again().await;
    assert_eq!(uploads.issues().await, [("Error: empty\n    at t (cart.ts:3:3)".to_owned(), 1)]);
    let path = format!("/api/exception-stack-traces?projectId={}", uploads.project);
    let issues = uploads.harness.api("POST", &path, &json!({})).await.expect(200).json();
    let path = format!(
        "/api/exception-stack-traces/{}?projectId={}",
        text(&issues["data"][0]["exceptionHash"]),
        uploads.project
    );
    let issue = uploads.harness.api("POST", &path, &json!({})).await.expect(200).json();
    assert_eq!(issue["occurrences"][0]["rawStackTrace"], json!(stack));
}

// WIRE 1.7: stack traces of errors in a recording's console are resolved on arrival; those that came before their source
// map are resolved when they are read, and none is resolved twice.
#[tokio::test(flavor = "multi_thread")]
async fn the_console_of_a_recording_is_symbolic() {
    let uploads = Uploads::start().await;
    let token = uploads.runtime_token().await;
    let map = |source: &str| {
        format!(r#"{{"version":3,"sources":["{source}"],"names":[],"mappings":"AAAA;EAEE"}}"#).into_bytes()
    };
    let session = "4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff";
    let now = tidewatch_query::time::to_rfc3339(uploads.harness.app().process.clock.now_ns());
    let stack = |place: &str| format!("Error: empty\n    at t ({place})");
    let raw = stack("https://shop.example/app.min.js:2:5");
    let send = async |segment: u32| {
        let log = |level: &str| json!({"type": "log", "timestamp": now, "level": level, "message": raw});
        let recording = json!({ "sessionId": session, "segmentIndex": segment, "startedAt": now, "endedAt": now,
            "events": [{"type": 4, "data": {}, "timestamp": 1}], "logs": [log("error"), log("info")], "actions": [] });
        let body = json!({ "collectionFrames": [{ "sessionRecordings": [recording] }] }).to_string();
        let authorization = format!("Bearer {token}");
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
        let address = uploads.harness.address();
        crate::client::send(address, "POST", "/api/report", &headers, body.as_bytes()).await.expect(200);
    };
    let messages = async |segment: u32| {
        let path = format!("/api/sessions/{session}/recording?projectId={}&segment={segment}", uploads.project);
        let document = uploads.harness.api("GET", &path, &Value::Null).await.expect(200).json();
        assert_eq!(document["events"], json!([{"type": 4, "data": {}, "timestamp": 1}]));
        [text(&document["logs"][0]["message"]), text(&document["logs"][1]["message"])]
    };
    send(0).await;
    assert_eq!(messages(0).await, [raw.clone(), raw.clone()]);
    uploads.accepted(SOURCE_MAPS, &[], &[("app.min.js.map", &map("old.ts"))]).await;
    uploads.settle().await;
    send(1).await;
    for segment in [0, 1] {
        assert_eq!(messages(segment).await, [stack("old.ts:3:3"), raw.clone()], "segment {segment}");
    }
    // The next build has a script of the same name.
    uploads.accepted(SOURCE_MAPS, &[], &[("app.min.js.map", &map("new.ts"))]).await;
    uploads.settle().await;
    assert_eq!(messages(1).await, [stack("old.ts:3:3"), raw.clone()], "resolved on arrival");
}
