use super::*;
use crate::decode;
use crate::grouping::group_of_text;
use crate::model::ProjectId;
use crate::project::IngestSettings;

const RUN: &str = "0b6f7d0e-6f5e-4a53-9f3e-1a2b3c4d5e6f";
const CONTEXT: fn() -> ProjectContext =
    || ProjectContext { project: ProjectId([7; 16]), received_ns: 5_000, settings: IngestSettings::default() };

/// The projection of a report with one frame.
fn check(frame: &str, context: &ProjectContext, then: impl FnOnce(&ReportProjection<'_>)) {
    let arena = Bump::new();
    let body = format!(r#"{{"collectionFrames":[{frame}],"appVersion":"1.4.0","serverName":"api-1"}}"#);
    let batch = decode::report(body.as_bytes(), &arena).expect("a report");
    assert_eq!(batch.invalid.total(), 0);
    then(&report(&batch, "192.0.2.1", context, Enrichment::default(), &arena));
}

fn run(id: &str, name: &str, more: &str) -> String {
    format!(r#"{{"id":"{id}","endpoint":"{name}","duration":12,"recordedAt":"1970-01-01T00:00:00.000001Z"{more}}}"#)
}

// SPEC endpoint naming, rule 4: every 404 of a native report. WIRE 1.3.
#[test]
fn runs_become_endpoints_and_tasks() {
    for (name, more, expected) in [
        ("GET /books/:id", r#","statusCode":200"#, (EntityKind::Endpoint, "GET /books/:id", 200, false, false)),
        ("GET /books/:id", r#","statusCode":404"#, (EntityKind::Endpoint, "UNMATCHED", 404, false, false)),
        ("GET /x", r#","statusCode":500"#, (EntityKind::Endpoint, "GET /x", 500, true, false)),
        ("nightly", r#","isTask":true"#, (EntityKind::Task, "nightly", 0, false, false)),
        ("nightly", r#","isTask":true,"statusCode":404"#, (EntityKind::Task, "nightly", 0, false, false)),
        (
            "GET /s",
            r#","statusCode":200,"attributes":{"traceway.is_stream":"true"}"#,
            (EntityKind::Endpoint, "GET /s", 200, false, true),
        ),
    ] {
        check(&format!(r#"{{"traces":[{}]}}"#, run(RUN, name, more)), &CONTEXT(), |projected| {
            let [entity] = projected.rows.entities[..] else { panic!("{projected:?}") };
            let found = (entity.kind, entity.name, entity.status_code, entity.is_error, entity.is_stream);
            assert_eq!(found, expected);
            assert!(entity.is_root);
            // SPEC span rule 2: native occurrences keep their SDK UUIDs.
            assert_eq!(uuid::Uuid::from_bytes(entity.row_id.0).to_string(), RUN);
            let [kept] = projected.rows.spans[..] else { panic!("{projected:?}") };
            assert_eq!((kept.server_name, kept.app_version, kept.duration_ns), ("api-1", "1.4.0", 12));
            let span = &projected.traces.spans[0];
            assert_eq!(span.trace_id.to_string(), RUN.replace('-', ""));
            assert!(span.parent_span_id.is_none() && !span.span_id.is_none());
        });
    }
}

#[test]
fn spans_hang_below_their_run() {
    let spans = r#","distributedTraceId":"11111111-1111-4111-8111-111111111111","spans":[{"id":"22222222-2222-4222-8222-222222222222","name":"a","startTime":"1970-01-01T00:00:00.000001Z","duration":3},{"name":"b","parentSpanId":"22222222-2222-4222-8222-222222222222","startTime":"1970-01-01T00:00:00.000001Z"}]"#;
    check(&format!(r#"{{"traces":[{}]}}"#, run(RUN, "GET /", spans)), &CONTEXT(), |projected| {
        let [root, a, b] = projected.traces.spans[..] else { panic!("{projected:?}") };
        assert_eq!([a.parent_span_id, b.parent_span_id], [root.span_id, a.span_id]);
        assert!([root, a, b].iter().all(|span| span.trace_id.to_string() == "11111111111141118111111111111111"));
        assert_eq!(projected.rows.spans.len(), 3);
        assert!(!projected.rows.native_ids[2].span.is_none(), "a span without an id gets one");
    });
}

// WIRE 1.4.
#[test]
fn exceptions_and_messages_have_owners_and_groups() {
    let exceptions = format!(
        r#"{{"traces":[{}],"stackTraces":[
        {{"traceId":"{RUN}","stackTrace":"TypeError: x is 7\nf()\n    app.js:2:5\n","recordedAt":"1970-01-01T00:00:00.000002Z"}},
        {{"traceId":"{RUN}","stackTrace":" user 12345678 paid ","recordedAt":"1970-01-01T00:00:00.000003Z","isMessage":true}},
        {{"traceId":"33333333-3333-4333-8333-333333333333","stackTrace":"E","sessionId":"44444444-4444-4444-8444-444444444444","debugIds":{{"a.js":"d"}},"recordedAt":"1970-01-01T00:00:00.000003Z"}},
        {{"stackTrace":"","recordedAt":"1970-01-01T00:00:00.000003Z"}}]}}"#,
        run(RUN, "GET /", "")
    );
    check(&exceptions, &CONTEXT(), |projected| {
        let [first, message, elsewhere, empty] = projected.rows.exceptions[..] else { panic!("{projected:?}") };
        assert_eq!((first.exception_type, first.message, first.time_ns), ("TypeError", "x is 7", 2_000));
        assert!(matches!(first.owner, Owner::Known { kind: EntityKind::Endpoint, name: "GET /", .. }));
        assert_eq!(first.group, group_of_text("TypeError", "x is 7", "TypeError: x is 7\nf()\n    app.js:2:5"));
        assert_eq!((message.exception_type, message.stack_trace), ("", "user 12345678 paid"));
        assert_eq!(message.group, message_group("user 12345678 paid"));
        assert_ne!(message.group, message_group("user 87654321 paid"), "numbers of a message distinguish it");
        assert_eq!([first, message, elsewhere, empty].map(|one| one.is_message), [false, true, false, false]);
        // DECISIONS 14: the trace as sent, to symbolicate it again.
        let event = projected.traces.attributes(first.event_attributes);
        assert_eq!(event.text("exception.stacktrace"), Some("TypeError: x is 7\nf()\n    app.js:2:5"));
        assert_eq!(
            (event.text("exception.type"), event.text("exception.message")),
            (Some("TypeError"), Some("x is 7"))
        );
        assert!(message.event_attributes.is_empty());
        assert_eq!(
            elsewhere.session.0,
            [0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x84, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44, 0x44]
        );
        assert!(matches!(elsewhere.owner, Owner::Above(_)));
        let attributes = projected.traces.span_attributes(&projected.traces.spans[elsewhere.span as usize]);
        assert_eq!(attributes.text("session.id"), Some("44444444-4444-4444-8444-444444444444"));
        assert!(matches!(attributes.get("app.debug.source_map_uuids"), Some(AnyValue::Map([_]))));
        assert_eq!((empty.owner, empty.stack_trace), (Owner::None, "unknown exception"));
    });
}

// Issue 20: a retried report, or the same items in another body, changes nothing.
#[test]
fn items_have_the_same_ids_in_another_body() {
    let exception = r#"{"stackTrace":"E: x","recordedAt":"1970-01-01T00:00:00.000002Z"}"#;
    let ids = |frame: String| {
        let mut ids = Vec::new();
        check(&frame, &CONTEXT(), |projected| ids = projected.records.clone());
        ids
    };
    let first = ids(format!(r#"{{"stackTraces":[{exception},{exception}]}}"#));
    assert_ne!(first[0], first[1], "two equal exceptions are two occurrences");
    let second = ids(format!(r#"{{"traces":[{}],"stackTraces":[{exception},{exception}]}}"#, run(RUN, "GET /", "")));
    assert_eq!(first, second[1..]);
}

// Issue 20, 2: client-side sampling.
#[test]
fn the_sample_rate_of_a_client_is_a_weight() {
    for (rate, weight) in [("0.1", 10.0), ("1", 1.0), ("0", 1.0), ("7", 1.0)] {
        let more =
            format!(r#","sampleRate":{rate},"spans":[{{"name":"a","startTime":"1970-01-01T00:00:00.000001Z"}}]"#);
        check(&format!(r#"{{"traces":[{}]}}"#, run(RUN, "GET /", &more)), &CONTEXT(), |projected| {
            assert!(projected.rows.spans.iter().all(|kept| (kept.weight - weight).abs() < 1e-9), "{rate}");
        });
    }
}

#[test]
fn what_a_project_drops_is_counted() {
    let none = IngestSettings { sample_rate: 0.0, error_sample_rate: 1.0, ..IngestSettings::default() };
    let old = IngestSettings { oldest_ns: 1_500, ..IngestSettings::default() };
    let checks = IngestSettings { healthchecks: Some(std::sync::Arc::default()), ..IngestSettings::default() };
    let spans = r#","statusCode":200,"spans":[{"name":"a","startTime":"1970-01-01T00:00:00.000001Z"}]"#;
    let failed = r#","statusCode":500,"spans":[{"name":"a","startTime":"1970-01-01T00:00:00.000001Z"}]"#;
    for (settings, name, more, expected) in [
        (none.clone(), "GET /", spans, Some(DropReason::Sampled)),
        (none, "GET /", failed, None),
        (old, "GET /", spans, Some(DropReason::TooOld)),
        (checks.clone(), "GET /health", spans, Some(DropReason::Healthcheck)),
        (checks.clone(), "GET /health", failed, None),
        (checks, "GET /healthy", spans, None),
    ] {
        let context = ProjectContext { settings, ..CONTEXT() };
        check(&format!(r#"{{"traces":[{}]}}"#, run(RUN, name, more)), &context, |projected| {
            let reasons: Vec<_> = projected.rows.dropped.iter().map(|dropped| dropped.reason).collect();
            assert_eq!(reasons, expected.map_or(vec![], |reason| vec![reason; 2]), "{name} {more}");
            assert_eq!(projected.rows.spans.len() + reasons.len(), projected.traces.spans.len());
        });
    }
}

// WIRE 1.3, 8.6: an exception that names no run says nothing of the runs without an id.
#[test]
fn exceptions_without_a_run_fail_no_run() {
    let settings = IngestSettings {
        healthchecks: Some(std::sync::Arc::default()),
        error_sample_rate: 1.0,
        ..IngestSettings::default()
    };
    let context = ProjectContext { settings, ..CONTEXT() };
    let frame = format!(
        r#"{{"traces":[{},{}],"stackTraces":[{{"stackTrace":"E: x","recordedAt":"1970-01-01T00:00:00.000003Z"}}]}}"#,
        run("", "nightly", r#","isTask":true"#),
        run("", "GET /health", r#","statusCode":200"#)
    );
    check(&frame, &context, |projected| {
        let [task] = projected.rows.entities[..] else { panic!("{projected:?}") };
        assert!(!task.is_error);
        assert_eq!(projected.rows.dropped[0].reason, DropReason::Healthcheck);
    });
}

// WIRE 1.2, 1.5.
#[test]
fn metrics_are_gauges() {
    let metrics = r#"{"metrics":[{"name":"queue.length","value":12.5,"recordedAt":"1970-01-01T00:00:00.000002Z","tags":{"queue":"mail"}},{"name":"n","value":1}]}"#;
    check(metrics, &CONTEXT(), |projected| {
        let [length, untimed] = projected.metric_rows.values[..] else { panic!("{projected:?}") };
        assert_eq!(
            (length.name, length.value, length.time_ns, length.server_name),
            ("queue.length", 12.5, 2_000, "api-1")
        );
        assert_eq!((untimed.value, untimed.time_ns), (1.0, 5_000));
        assert!(projected.is_untimed);
        assert_eq!(projected.metrics.attributes(projected.metrics.points[0].attributes).text("queue"), Some("mail"));
    });
}

#[test]
fn headers_of_stack_traces() {
    for (stack, expected) in [
        ("TypeError: x\n  at", ("TypeError", "x")),
        ("*errors.errorString: a: b", ("*errors.errorString", "a: b")),
        ("Fatal Signal SIGSEGV (11)", ("", "Fatal Signal SIGSEGV (11)")),
        ("cannot open: no such file", ("", "cannot open: no such file")),
        ("Error", ("Error", "")),
        ("Error:", ("Error", "")),
        ("", ("", "")),
    ] {
        assert_eq!(header(stack), expected);
    }
}
