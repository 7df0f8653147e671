use bumpalo::Bump;
use proptest::prelude::*;

use crate::decode::report;
use crate::model::{AnyValue, InvalidItems, NativeId, ReportBatch};

const RUN: &str = r#"{"collectionFrames":[{"stackTraces":[],"metrics":[],"traces":[{"id":"0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f","endpoint":"GET /books/:id","duration":12500000,"recordedAt":"2026-03-01T09:00:00.125Z","statusCode":200,"bodySize":321,"clientIP":"203.0.113.9","attributes":{"tenant":"t1"},"spans":[{"id":"6d1f0a52-0a70-4b5f-8b6e-9a8b7c6d5e4f","name":"load books","startTime":"2026-03-01T09:00:00.126Z","duration":4000000}]}]}],"appVersion":"1.4.0","serverName":"api-1"}"#;

/// 2026-03-01T09:00:00Z.
const NINE_NS: i64 = 1_772_355_600_000_000_000;

fn id(text: &str) -> NativeId {
    NativeId(uuid::Uuid::parse_str(text).expect("a UUID").into_bytes())
}

#[track_caller]
fn read<'a>(body: &'a str, arena: &'a Bump) -> ReportBatch<'a> {
    report(body.as_bytes(), arena).expect("a report")
}

// WIRE 1.3, 1.8: an endpoint with a span.
#[test]
fn runs_and_spans() {
    let arena = Bump::new();
    let batch = read(RUN, &arena);
    assert_eq!((batch.app_version, batch.server_name), ("1.4.0", "api-1"));
    let [run] = batch.runs[..] else { panic!("{batch:?}") };
    assert_eq!(run.id, id("0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f"));
    assert_eq!((run.name, run.duration_ns, run.status, run.body_size), ("GET /books/:id", 12_500_000, 200, 321));
    assert_eq!((run.time_ns, run.client_ip, run.is_task), (NINE_NS + 125_000_000, "203.0.113.9", false));
    assert!(run.trace_id.is_none() && run.sample_rate == 1.0);
    assert_eq!(batch.attributes(run.attributes).text("tenant"), Some("t1"));
    let [span] = run.spans.of(&batch.spans) else { panic!("{batch:?}") };
    assert_eq!((span.name, span.time_ns, span.duration_ns), ("load books", NINE_NS + 126_000_000, 4_000_000));
    assert!(span.parent.is_none());
    assert_eq!(batch.invalid, InvalidItems::default());
}

// WIRE 1.9: the names of version 0.2 of the Go SDK.
#[test]
fn old_names() {
    let arena = Bump::new();
    let old = RUN.replace("\"traces\"", "\"transactions\"").replace("\"spans\"", "\"segments\"");
    let old = old.replace("\"attributes\"", "\"scope\"");
    let other = Bump::new();
    assert_eq!(read(&old, &arena), read(RUN, &other));
    let exception = r#"{"collectionFrames":[{"stackTraces":[{"transactionId":"0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f","stackTrace":"E: x","scope":{"a":"b"}}]}]}"#;
    let batch = read(exception, &other);
    assert_eq!(batch.exceptions[0].run, id("0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f"));
    assert_eq!(batch.attributes(batch.exceptions[0].attributes).text("a"), Some("b"));
}

// WIRE 1.4, 1.8.
#[test]
fn exceptions_and_messages() {
    let arena = Bump::new();
    let body = r#"{"collectionFrames":[{"stackTraces":[{"traceId":"0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f","isTask":true,"stackTrace":"TypeError: x is undefined\nrender()\n    app.js:1:4821\n","recordedAt":"2026-03-01T09:00:00.130Z","attributes":{"userId":"u7"},"isMessage":false,"sessionRecordingId":"r1","sessionId":"4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff","distributedTraceId":null,"debugIds":{"app.js":"d1"}},{"traceId":null,"stackTrace":"checkout finished","recordedAt":"2026-03-01T09:00:01Z","isMessage":true}],"metrics":[],"traces":[]}],"appVersion":"2.0.1","serverName":""}"#;
    let batch = read(body, &arena);
    let [exception, message] = batch.exceptions[..] else { panic!("{batch:?}") };
    assert!(exception.is_task && !exception.is_message && message.is_message && message.run.is_none());
    assert_eq!(exception.stack_trace, "TypeError: x is undefined\nrender()\n    app.js:1:4821\n");
    assert_eq!((exception.recording, exception.time_ns), ("r1", NINE_NS + 130_000_000));
    assert_eq!(exception.session, id("4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff"));
    assert_eq!(batch.attributes(exception.debug_ids).text("app.js"), Some("d1"));
    assert_eq!((message.stack_trace, message.time_ns), ("checkout finished", NINE_NS + 1_000_000_000));
}

// WIRE 1.5 to 1.8.
#[test]
fn metrics_sessions_and_recordings() {
    let arena = Bump::new();
    let body = r#"{"collectionFrames":[{"metrics":[{"name":"queue.length","value":12,"recordedAt":"2026-03-01T10:00:00+01:00","tags":{"queue":"mail"}},{"name":"big","value":9007199254740993}],
        "sessions":[{"id":"4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff","startedAt":"2026-03-01T09:00:00.000Z","endedAt":null,"attributes":{"n":1,"ok":true,"deep":{"a":[1]}}}],
        "sessionRecordings":[{"sessionId":"4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff","segmentIndex":3,"events":[ {"type":4,"data":{},"timestamp":1} ],"logs":[ ],"actions":{},"startedAt":"2026-03-01T09:00:00Z","endedAt":"2026-03-01T09:00:30Z"}]}]}"#;
    let batch = read(body, &arena);
    let [metric, big] = batch.metrics[..] else { panic!("{batch:?}") };
    assert_eq!((metric.name, metric.value, metric.int_value, metric.time_ns), ("queue.length", 12.0, None, NINE_NS));
    assert_eq!(batch.attributes(metric.tags).text("queue"), Some("mail"));
    assert_eq!(big.int_value, Some(9_007_199_254_740_993));
    let session = batch.sessions[0];
    assert_eq!((session.started_ns, session.ended_ns), (NINE_NS, 0));
    let attributes = batch.attributes(session.attributes);
    assert_eq!((attributes.get("n"), attributes.get("ok")), (Some(AnyValue::Int(1)), Some(AnyValue::Bool(true))));
    assert_eq!(attributes.text("deep"), Some(r#"{"a":[1]}"#));
    let recording = batch.recordings[0];
    assert_eq!((recording.session, recording.segment), (session.id, 3));
    assert_eq!(recording.events, r#"[ {"type":4,"data":{},"timestamp":1} ]"#);
    assert_eq!((recording.logs, recording.actions), ("", ""));
    assert_eq!(recording.ended_ns - recording.started_ns, 30_000_000_000);
}

// WIRE 1.1: unknown fields are ignored, and an item that cannot be read leaves the others alone.
#[test]
fn invalid_items_are_counted_alone() {
    let arena = Bump::new();
    let body = r#"{"unknown":[{}],"appVersion":7,"collectionFrames":[null,3,{"unknown":1,"metrics":null,"traces":[
        null, "x", {"endpoint":"a","spans":[{"name":"lost"}],"duration":"soon"}, {"endpoint":5}, {"endpoint":"b","recordedAt":"noon"},
        {"endpoint":"good","id":"not a UUID","duration":1.9,"statusCode":"404","spans":[{"name":3},{"name":"kept","unknown":{}}]}],
        "stackTraces":[{"stackTrace":[]},{"stackTrace":"E"}],
        "sessions":[null,{"id":"nil"},{"id":"00000000-0000-0000-0000-000000000000"}],
        "sessionRecordings":[{"segmentIndex":-1,"events":[]}]},
        {"metrics":[{"name":"m"},{"value":1},{"name":"m","value":"x"},{"name":"m","value":2}]}]}"#;
    let batch = read(body, &arena);
    assert_eq!(batch.app_version, "");
    assert_eq!(batch.runs.iter().map(|run| run.name).collect::<Vec<_>>(), ["good"]);
    assert_eq!((batch.runs[0].duration_ns, batch.runs[0].status, batch.runs[0].id.is_none()), (1, 404, true));
    assert_eq!(batch.runs[0].spans.of(&batch.spans).iter().map(|span| span.name).collect::<Vec<_>>(), ["kept"]);
    assert_eq!(batch.spans.len(), 1, "spans of an invalid run are not kept");
    assert_eq!((batch.exceptions.len(), batch.metrics.len(), batch.sessions.len()), (1, 1, 0));
    let expected = InvalidItems { frames: 2, runs: 5, spans: 1, exceptions: 1, metrics: 3, sessions: 3, recordings: 1 };
    assert_eq!(batch.invalid, expected);
    assert_eq!(expected.total(), 16);
}

// Issue 20: malformed JSON is refused with the position.
#[test]
fn malformed_bodies_are_refused_with_the_position() {
    for (body, expected) in [
        ("", "the JSON body is empty"),
        ("[]", "JSON: the report at byte 0 is not an object"),
        (r#"{"collectionFrames":[{]}"#, "JSON: a key at byte 22 is not a string"),
        (r#"{"collectionFrames":[{"traces":[{"id":}]}]}"#, "JSON: a value is expected at byte 38"),
        (r#"{"collectionFrames":[{"sessionRecordings":[{"events":[1,}]}]}"#, "JSON: a value is expected at byte 56"),
        (r#"{"appVersion":"1"} x"#, "JSON: unexpected characters after the request at byte 19"),
        (r#"{"appVersion":"1"#, "the JSON string before byte 16 is not closed"),
    ] {
        let error = report(body.as_bytes(), &Bump::new()).expect_err(body);
        assert_eq!(error.message, expected, "{body}");
    }
}

// A recorded DOM nests deeper than attributes may.
#[test]
fn recordings_nest_deeply() {
    let nested = |depth: usize| {
        let events = "[{\"childNodes\":".repeat(depth) + "[]" + &"}]".repeat(depth);
        format!(r#"{{"collectionFrames":[{{"sessionRecordings":[{{"exceptionId":"x","events":{events}}}]}}]}}"#)
    };
    let (arena, body) = (Bump::new(), nested(4000));
    assert_eq!(read(&body, &arena).recordings[0].events.len(), 4000 * 17 + 2);
    let error = report(nested(5000).as_bytes(), &arena).expect_err("too deep");
    assert!(error.message.starts_with("JSON nested deeper than 8192 levels at byte"), "{}", error.message);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(body: Vec<u8>) {
        let _ = report(&body, &Bump::new());
    }

    /// The grammar of opaque values agrees with serde_json's.
    #[test]
    fn changed_reports_are_read_or_refused(at in 0..RUN.len(), byte: u8) {
        let mut body = RUN.as_bytes().to_vec();
        body[at] = byte;
        let arena = Bump::new();
        let is_json = serde_json::from_slice::<serde_json::Value>(&body).is_ok();
        prop_assert!(report(&body, &arena).is_ok() >= is_json);
    }
}
