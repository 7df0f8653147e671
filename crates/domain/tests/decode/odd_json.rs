//! Unusual JSON and its result. OTLP/JSON; rows "JSON ids", "JSON enums", "JSON int64", "JSON keys", "JSON other" of the
//! OTLP notes.

use bumpalo::Bump;
use tidewatch_domain::decode::{self, Encoding, VALUE_DEPTH_MAX};
use tidewatch_domain::model::{
    AnyValue, ExponentialBuckets, ExponentialHistogramPoint, HistogramPoint, InvalidId, LogRecord, MetricKind,
    PointData, Quantile, SpanKind, StatusCode, SummaryPoint, Temporality, TraceBatch,
};
use tidewatch_domain::wire::{value_json, value_text};

const IDS: &str = r#""traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174""#;

/// Decodes a request with one span of these fields and passes the batch to `show`.
#[track_caller]
fn span<T>(fields: &str, show: impl FnOnce(&TraceBatch<'_>) -> T) -> T {
    any_span(fields, |batch| {
        assert_eq!(batch.spans.len(), 1);
        show(batch)
    })
}

/// Like [`span`], for a span that may be refused.
#[track_caller]
fn any_span<T>(fields: &str, show: impl FnOnce(&TraceBatch<'_>) -> T) -> T {
    let body = format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{{fields}}}]}}]}}]}}"#);
    let arena = Bump::new();
    let batch = decode::traces(Encoding::Json, body.as_bytes(), &arena).expect(fields);
    show(&batch)
}

/// The error of a request with one span of these fields.
#[track_caller]
fn refusal(fields: &str) -> String {
    let body = format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{{fields}}}]}}]}}]}}"#);
    let arena = Bump::new();
    decode::traces(Encoding::Json, body.as_bytes(), &arena).expect_err(fields).message
}

// DECISIONS 5: an invalid id rejects its span and not the batch.
#[test]
fn ids() {
    const TRACE: &str = r#""traceId": "5b8efff798038103d269b633813fc60c""#;
    const SPAN: &str = r#""spanId": "eee19b7ec3c1b174""#;
    for (fields, expected) in [
        (format!("{TRACE}, {SPAN}"), None),
        (r#""traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174""#.to_owned(), None),
        (format!(r#"{TRACE}, {SPAN}, "parentSpanId": """#), None),
        (format!(r#"{TRACE}, {SPAN}, "parentSpanId": null"#), None),
        (format!(r#"{TRACE}, {SPAN}, "parentSpanId": "0000000000000000""#), None),
        (format!(r#"{TRACE}, {SPAN}, "parentSpanId": "EEE19B7EC3C1B173""#), None),
        (format!(r#"{TRACE}, {SPAN}, "parentSpanId": "EEE19B7EC3C1B1""#), Some(InvalidId::ParentSpanId)),
        (format!(r#"{TRACE}, {SPAN}, "parentSpanId": "7uGbfsPBsXQ=""#), Some(InvalidId::ParentSpanId)),
        (SPAN.to_owned(), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": null"#), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": """#), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": "5b8efff798038103d269b633813fc60""#), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": "5b8efff798038103d269b633813fc60g""#), Some(InvalidId::TraceId)),
        // Base64 of the 16 bytes, and base64 of the hexadecimal digits: 24 and 44 characters.
        (format!(r#"{SPAN}, "traceId": "W47/95gDgQPSabYzgT/GDA==""#), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": "NWI4ZWZmZjc5ODAzODEwM2QyNjliNjMzODEzZmM2MGM=""#), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": [91, 142, 255]"#), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": 5"#), Some(InvalidId::TraceId)),
        (format!(r#"{SPAN}, "traceId": "00000000000000000000000000000000""#), Some(InvalidId::ZeroTraceId)),
        (TRACE.to_owned(), Some(InvalidId::SpanId)),
        (format!(r#"{TRACE}, "spanId": "7uGbfsPBsXQ=""#), Some(InvalidId::SpanId)),
        (format!(r#"{TRACE}, "spanId": "0000000000000000""#), Some(InvalidId::ZeroSpanId)),
    ] {
        any_span(&fields, |batch| {
            assert_eq!(batch.refused, Vec::from_iter(expected), "{fields}");
            if expected.is_none() {
                assert_eq!(batch.spans[0].trace_id.to_string(), "5b8efff798038103d269b633813fc60c");
                assert_eq!(batch.spans[0].span_id.to_string(), "eee19b7ec3c1b174");
            }
        });
    }
}

#[test]
fn a_bad_span_leaves_the_others() {
    let body = format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{"name": "bad"}}, {{{IDS}}}]}}]}}]}}"#);
    let arena = Bump::new();
    let batch = decode::traces(Encoding::Json, body.as_bytes(), &arena).expect("valid");
    assert_eq!((batch.refused.as_slice(), batch.spans.len()), (&[InvalidId::TraceId][..], 1));
}

#[test]
fn parents() {
    for (fields, is_root) in [
        (r#""parentSpanId": """#, true),
        (r#""parentSpanId": "0000000000000000""#, true),
        (r#""name": "no parent""#, true),
        (r#""parentSpanId": "EEE19B7EC3C1B173""#, false),
    ] {
        span(&format!("{IDS}, {fields}"), |batch| {
            assert_eq!(batch.spans[0].parent_span_id.is_none(), is_root, "{fields}")
        });
    }
}

#[test]
fn numbers() {
    for (json, expected) in [
        (r#""1795219200050000001""#, 1_795_219_200_050_000_001),
        ("1795219200050000001", 1_795_219_200_050_000_001),
        ("1.7e18", 1_700_000_000_000_000_000),
        (r#""1.7e18""#, 1_700_000_000_000_000_000),
        ("1795219200050000001.0", 1_795_219_200_050_000_001),
        ("18446744073709551615", u64::MAX),
        ("0", 0),
        ("null", 0),
    ] {
        span(&format!(r#"{IDS}, "startTimeUnixNano": {json}"#), |batch| {
            assert_eq!(batch.spans[0].start_ns, expected, "{json}");
        });
    }
    for json in
        ["-1", "0.5", "18446744073709551616", "1e30", r#""""#, r#""now""#, "true", "{}", "[1]", "01", "+1", "NaN"]
    {
        let message = refusal(&format!(r#"{IDS}, "startTimeUnixNano": {json}"#));
        assert!(
            message.contains("startTimeUnixNano at byte") || message.contains("expected at byte"),
            "{json}: {message}"
        );
    }
    for (json, fits) in [("4294967295", true), (r#""257""#, true), ("4294967296", false), ("-1", false), ("1.5", false)]
    {
        let fields = format!(r#"{IDS}, "flags": {json}"#);
        if fits {
            span(&fields, |_| {});
        } else {
            assert!(refusal(&fields).contains("span.flags"), "{json}");
        }
    }
}

// OTLP/JSON requires numbers; names are accepted too.
#[test]
fn enums() {
    for (json, kind) in [
        ("2", SpanKind::Server),
        (r#""2""#, SpanKind::Server),
        (r#""SPAN_KIND_SERVER""#, SpanKind::Server),
        (r#""SPAN_KIND_CONSUMER""#, SpanKind::Consumer),
        ("0", SpanKind::Unspecified),
        ("99", SpanKind::Unspecified),
        ("-1", SpanKind::Unspecified),
        (r#""SPAN_KIND_SOMETHING""#, SpanKind::Unspecified),
        ("null", SpanKind::Unspecified),
    ] {
        span(&format!(r#"{IDS}, "kind": {json}"#), |batch| assert_eq!(batch.spans[0].kind, kind, "{json}"));
    }
    for (json, status) in [
        (r#"{"code": 2, "message": "m"}"#, (StatusCode::Error, "m")),
        (r#"{"code": "STATUS_CODE_OK"}"#, (StatusCode::Ok, "")),
        ("{}", (StatusCode::Unset, "")),
        ("null", (StatusCode::Unset, "")),
        (r#"{"code": 7}"#, (StatusCode::Unset, "")),
    ] {
        span(&format!(r#"{IDS}, "status": {json}"#), |batch| {
            assert_eq!((batch.spans[0].status, batch.spans[0].status_message), status, "{json}");
        });
    }
}

/// Decodes one attribute value and returns it as JSON.
#[track_caller]
fn value_of(json: &str) -> String {
    span(&format!(r#"{IDS}, "attributes": [{{"key": "k", "value": {json}}}]"#), |batch| {
        assert_eq!(batch.attributes.len(), 1);
        value_json(batch.attributes[0].value)
    })
}

#[test]
fn values() {
    for (json, expected) in [
        (r#"{"stringValue": "a"}"#, r#""a""#),
        (r#"{"stringValue": ""}"#, r#""""#),
        (r#"{"boolValue": false}"#, "false"),
        (r#"{"intValue": "9007199254740993"}"#, "9007199254740993"),
        (r#"{"intValue": 9007199254740993}"#, "9007199254740993"),
        (r#"{"intValue": "-9223372036854775808"}"#, "-9223372036854775808"),
        (r#"{"intValue": 2e2}"#, "200"),
        (r#"{"doubleValue": 1.5}"#, "1.5"),
        (r#"{"doubleValue": 1}"#, "1"),
        (r#"{"doubleValue": "0.1"}"#, "0.1"),
        (r#"{"doubleValue": "NaN"}"#, r#""NaN""#),
        (r#"{"doubleValue": "Infinity"}"#, r#""Infinity""#),
        (r#"{"doubleValue": "-Infinity"}"#, r#""-Infinity""#),
        (r#"{"bytesValue": "AAEC"}"#, r#""AAEC""#),
        (r#"{"bytesValue": "-_8"}"#, r#""+/8=""#),
        (r#"{"bytesValue": "+/8="}"#, r#""+/8=""#),
        (r#"{"bytesValue": ""}"#, r#""""#),
        ("{}", "null"),
        ("null", "null"),
        (r#"{"stringValue": null}"#, "null"),
        (r#"{"unknownValue": {"x": [1]}}"#, "null"),
        (r#"{"intValue": 1, "stringValue": "last"}"#, r#""last""#),
        (r#"{"arrayValue": {}}"#, "[]"),
        (
            r#"{"arrayValue": {"values": [{"intValue": "1"}, {}, null, {"arrayValue": {"values": [{}]}}]}}"#,
            "[1,null,null,[null]]",
        ),
        (
            r#"{"kvlistValue": {"values": [{"key": "a", "value": {"intValue": 1}}, {"key": "n"}, {"key": "n", "value": {}}]}}"#,
            r#"{"a":1,"n":null,"n":null}"#,
        ),
        (r#"{"kvlistValue": {"values": [{"key": "a", "value": {"kvlistValue": {"values": []}}}]}}"#, r#"{"a":{}}"#),
    ] {
        assert_eq!(value_of(json), expected, "{json}");
    }
    for json in [
        r#"{"stringValue": 5}"#,
        r#"{"boolValue": "true"}"#,
        r#"{"boolValue": 1}"#,
        r#"{"intValue": "1.5"}"#,
        r#"{"intValue": "9223372036854775808"}"#,
        r#"{"doubleValue": "inf"}"#,
        r#"{"doubleValue": "nan"}"#,
        r#"{"doubleValue": 1e999}"#,
        r#"{"doubleValue": NaN}"#,
        r#"{"bytesValue": "A"}"#,
        r#"{"bytesValue": [1, 2]}"#,
        r#"{"arrayValue": [{}]}"#,
        r#""bare""#,
        "5",
        "[]",
    ] {
        let message = refusal(&format!(r#"{IDS}, "attributes": [{{"key": "k", "value": {json}}}]"#));
        assert!(message.contains("at byte"), "{json}: {message}");
    }
}

#[test]
fn strings() {
    for (json, expected) in [
        (r#""plain""#, "plain"),
        (r#""""#, ""),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
        (r#""\u00fcber \u20ac""#, "über €"),
        (r#""\ud83d\ude00!""#, "😀!"),
        (r#""😀 as it is""#, "😀 as it is"),
        // A lone surrogate is not a character.
        (r#""a\ud83d!""#, "a\u{fffd}!"),
        (r#""a\ude00!""#, "a\u{fffd}!"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\u0000""#, "\0"),
        ("\"a\nb\"", "a\nb"),
        (
            r#""a long text, searched eight bytes at a time for an escape \u2014 twice""#,
            "a long text, searched eight bytes at a time for an escape — twice",
        ),
    ] {
        span(&format!(r#"{IDS}, "name": {json}"#), |batch| assert_eq!(batch.spans[0].name, expected, "{json}"));
    }
    for json in [r#""\x""#, r#""\u12""#, r#""\u12g4""#, r#""\u+123""#, r#""\ü""#, "'a'", "5", "nul", r#""\ud83d\u""#] {
        let message = refusal(&format!(r#"{IDS}, "name": {json}"#));
        assert!(message.contains("at byte"), "{json}: {message}");
    }
    // A key may be escaped.
    span(&format!(r#"{IDS}, "n\u0061me": "x""#), |batch| assert_eq!(batch.spans[0].name, "x"));
}

// Unknown fields are skipped at every depth, `null` means absent, snake_case keys are unknown.
#[test]
fn unknown_and_null_fields() {
    let odd = r#""x": {"a": [1, -2.5e-3, "s\"\\", true, false, null, {"b": {}}, []]}, "y": null"#;
    let body = format!(
        r#" {{{odd}, "resourceSpans": [null, {{{odd}, "resource": {{{odd}, "attributes": [null, {{{odd}, "key": "k", "value": {{{odd}}}}}]}},
            "instrumentationLibrarySpans": [{{"spans": [1]}}], "resource_spans": 1,
            "scopeSpans": [{{{odd}, "scope": {{{odd}, "name": "s"}}, "spans": [{{{IDS}, {odd}, "span_id": "no", "name": null, "events": null,
                "links": [{{{odd}, "traceId": null}}], "status": {{{odd}}}}}], "schemaUrl": null}}]}}]}}"#
    ) + "\n\t ";
    let arena = Bump::new();
    let batch = decode::traces(Encoding::Json, body.as_bytes(), &arena).expect("valid");
    assert_eq!((batch.resources.len(), batch.scopes.len(), batch.spans.len()), (1, 1, 1));
    assert_eq!((batch.attributes.len(), batch.events.len(), batch.links.len()), (1, 0, 1));
    assert_eq!((batch.scopes[0].name, batch.spans[0].name, batch.spans[0].invalid), ("s", "", None));
}

#[test]
fn envelopes() {
    for (body, spans) in [
        ("{}", 0),
        (" {\n}\r\n", 0),
        ("\u{feff}{}", 0),
        (r#"{"resourceSpans": []}"#, 0),
        (r#"{"resourceSpans": null}"#, 0),
        (r#"{"resourceSpans": [{}]}"#, 0),
        (
            r#"{"resourceSpans": [{"scopeSpans": [{"spans": []}, {}, {"spans": [{}]}]}, {"scopeSpans": [{"spans": [{}, {}]}]}]}"#,
            3,
        ),
        // Duplicate lists of records are all read.
        (r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{}], "spans": [{}]}]}], "resourceSpans": []}"#, 2),
    ] {
        let arena = Bump::new();
        let batch = decode::traces(Encoding::Json, body.as_bytes(), &arena).expect(body);
        assert_eq!(batch.spans.len() + batch.refused.len(), spans, "{body}");
    }
}

#[test]
fn refused_bodies() {
    let deep_unknown = format!(r#"{{"x": {}{}}}"#, "[".repeat(200), "]".repeat(200));
    for (body, message) in [
        ("", "the JSON body is empty"),
        ("  \n", "the JSON body is empty"),
        ("\u{feff}", "the JSON body is empty"),
        ("null", "JSON: the request at byte 0 is not an object"),
        ("[]", "JSON: the request at byte 0 is not an object"),
        ("{}x", "JSON: unexpected characters after the request at byte 2"),
        ("{} {}", "JSON: unexpected characters after the request at byte 3"),
        ("{\"a\":1,}", "JSON: a key at byte 7 is not a string"),
        ("{\"a\" 1}", "JSON: ':' is expected at byte 5"),
        ("{\"a\":[1,]}", "JSON: a value is expected at byte 8"),
        ("{\"a\":[1 2]}", "JSON: ',' is expected at byte 8"),
        ("{\"a\":1", "the JSON body ends where ',' is expected (byte 6)"),
        ("{\"a\":", "the JSON body ends where a value is expected (byte 5)"),
        ("{\"a\":\"b", "the JSON string before byte 7 is not closed"),
        ("{\"a\":tru}", "JSON: a value is expected at byte 5"),
        ("{'a':1}", "JSON: a key at byte 1 is not a string"),
        (r#"{"resourceSpans": {}}"#, "JSON: resourceSpans at byte 18 is not an array"),
        (r#"{"resourceSpans": [1]}"#, "JSON: resource block at byte 19 is not an object"),
        (&deep_unknown, "JSON nested deeper than 128 levels at byte 134"),
    ] {
        let arena = Bump::new();
        let refused = decode::traces(Encoding::Json, body.as_bytes(), &arena).expect_err(body);
        assert_eq!(refused.message, message, "{body}");
    }
    let arena = Bump::new();
    let refused = decode::traces(Encoding::Json, b"{\"a\":\"\xff\"}", &arena).expect_err("no UTF-8");
    assert_eq!(refused.message, "the JSON body is not valid UTF-8 at byte 6");
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| {
        let (open, close) = (r#"{"arrayValue": {"values": ["#.repeat(levels - 1), "]}}".repeat(levels - 1));
        format!(r#"{IDS}, "attributes": [{{"key": "k", "value": {open}{{}}{close}}}]"#)
    };
    span(&nested(VALUE_DEPTH_MAX as usize), |batch| assert_eq!(batch.attributes.len(), 1));
    let message = refusal(&nested(VALUE_DEPTH_MAX as usize + 1));
    assert!(message.ends_with("is nested deeper than 32 levels"), "{message}");
}

/// Decodes a request with one log record of these fields.
#[track_caller]
fn log<T>(fields: &str, show: impl FnOnce(&LogRecord<'_>) -> T) -> T {
    let body = format!(r#"{{"resourceLogs": [{{"scopeLogs": [{{"logRecords": [{{{fields}}}]}}]}}]}}"#);
    let arena = Bump::new();
    let batch = decode::logs(Encoding::Json, body.as_bytes(), &arena).expect(fields);
    show(&batch.records[0])
}

#[test]
fn log_records() {
    // Ids of the wrong length read as none; the record is kept.
    for (fields, has_trace, has_span) in [
        (IDS, true, true),
        (r#""traceId": "5b8e", "spanId": "eee19b7ec3c1b174""#, false, true),
        (r#""traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "7uGbfsPBsXQ=""#, true, false),
        (r#""traceId": null, "spanId": [1]"#, false, false),
    ] {
        log(fields, |record| {
            assert_eq!((!record.trace_id.is_none(), !record.span_id.is_none()), (has_trace, has_span), "{fields}");
        });
    }
    for (json, number) in [
        ("9", 9),
        (r#""SEVERITY_NUMBER_INFO""#, 9),
        (r#""SEVERITY_NUMBER_TRACE""#, 1),
        (r#""SEVERITY_NUMBER_FATAL4""#, 24),
        ("25", 0),
        ("-3", 0),
        ("1000", 0),
    ] {
        log(&format!(r#""severityNumber": {json}"#), |record| assert_eq!(record.severity_number, number, "{json}"));
    }
    for (json, text) in [
        (r#"{"stringValue": "hello"}"#, "hello"),
        (r#"{"kvlistValue": {"values": [{"key": "a", "value": {"boolValue": true}}]}}"#, r#"{"a":true}"#),
        ("{}", ""),
        ("null", ""),
    ] {
        log(&format!(r#""body": {json}"#), |record| assert_eq!(value_text(record.body), text, "{json}"));
    }
    log(
        r#""timeUnixNano": "1", "observedTimeUnixNano": 2, "severityText": "warn", "eventName": "e", "flags": 1"#,
        |record| {
            assert_eq!((record.time_ns, record.observed_time_ns, record.flags), (1, 2, 1));
            assert_eq!((record.severity_text, record.event_name), ("warn", "e"));
            assert_eq!(record.body, AnyValue::Empty);
        },
    );
}

#[test]
fn metrics() {
    let body = r#"{"resourceMetrics": [{"scopeMetrics": [{"metrics": [
        {"sum": {"dataPoints": [{"asInt": "-3", "timeUnixNano": "7"}, {"asInt": 4}, {"asDouble": "NaN"}, {}],
            "aggregationTemporality": "AGGREGATION_TEMPORALITY_DELTA", "isMonotonic": true}, "name": "s", "unit": "By"},
        {"name": "g", "gauge": {"dataPoints": [{"asDouble": 1.5, "flags": 1, "exemplars": [{"traceId": "bad", "asInt": {}}]}]}},
        {"name": "h", "histogram": {"aggregationTemporality": 2, "dataPoints": [
            {"count": "4", "sum": 2.5, "min": 0.1, "max": 1e3, "bucketCounts": ["1", 3], "explicitBounds": [0.5]},
            {"count": 1, "bucketCounts": [1, 0], "explicitBounds": [0.5, 1]}]}},
        {"name": "e", "exponentialHistogram": {"dataPoints": [{"timeUnixNano": 9, "attributes": [{"key": "a"}],
            "scale": -1, "zeroCount": "2", "positive": {"offset": -3, "bucketCounts": ["1", 0]}, "negative": null}]}},
        {"name": "q", "summary": {"dataPoints": [{"sum": 1, "quantileValues": [{}, {"quantile": 0.5, "value": "NaN"}]}, null]}},
        {"name": "n"}, {"name": "two", "gauge": {"dataPoints": [{}]}, "sum": {"dataPoints": [{}, {}]}}
    ]}]}]}"#;
    let arena = Bump::new();
    let batch = decode::metrics(Encoding::Json, body.as_bytes(), &arena).expect("valid");
    let kinds: Vec<_> =
        batch.metrics.iter().map(|metric| (metric.name, metric.kind, metric.points.of(&batch.points).len())).collect();
    assert_eq!(
        kinds,
        [
            ("s", MetricKind::Sum, 4),
            ("g", MetricKind::Gauge, 1),
            ("h", MetricKind::Histogram, 2),
            ("e", MetricKind::ExponentialHistogram, 1),
            ("q", MetricKind::Summary, 1),
            ("n", MetricKind::Empty, 0),
            ("two", MetricKind::Sum, 2),
        ]
    );
    assert_eq!((batch.metrics[0].temporality, batch.metrics[0].monotonic), (Temporality::Delta, true));
    assert_eq!((batch.metrics[2].temporality, batch.metrics[2].monotonic), (Temporality::Cumulative, false));
    assert_eq!((batch.points[0].data, batch.points[0].time_ns), (PointData::Int(-3), 7));
    assert_eq!(batch.points[1].data, PointData::Int(4));
    assert!(matches!(batch.points[2].data, PointData::Double(value) if value.is_nan()));
    assert_eq!(batch.points[3].data, PointData::Empty);
    assert_eq!((batch.points[4].data, batch.points[4].flags), (PointData::Double(1.5), 1));
    let full =
        HistogramPoint { count: 4, sum: Some(2.5), min: Some(0.1), max: Some(1e3), bounds: &[0.5], buckets: &[1, 3] };
    assert_eq!(batch.points[5].data, PointData::Histogram(full));
    // Buckets that are inconsistent with their bounds are dropped.
    assert_eq!(batch.points[6].data, PointData::Histogram(HistogramPoint { count: 1, ..HistogramPoint::default() }));
    let exponential = ExponentialHistogramPoint {
        scale: -1,
        zero_count: 2,
        positive: ExponentialBuckets { offset: -3, counts: &[1, 0] },
        ..ExponentialHistogramPoint::default()
    };
    assert_eq!((batch.points[7].data, batch.points[7].time_ns), (PointData::ExponentialHistogram(&exponential), 9));
    let PointData::Summary(SummaryPoint { sum: 1.0, quantiles, .. }) = batch.points[8].data else {
        panic!("a summary: {:?}", batch.points[8])
    };
    assert_eq!(quantiles.len(), 2);
    assert!(quantiles[0] == Quantile::default() && quantiles[1].quantile == 0.5 && quantiles[1].value.is_nan());
    assert_eq!(batch.attributes(batch.points[7].attributes).0.len(), 1);
}
