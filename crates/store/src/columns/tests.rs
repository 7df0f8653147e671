//! Projections are converted to the expected columns.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use bumpalo::Bump;
use tidewatch_domain::model::{
    AnyValue, HistogramPoint, InvalidId, KeyValue, LogBatch, LogRecord, Metric, MetricBatch, MetricKind, NativeId,
    Point, PointData, ProjectId, Resource, RowId, Scope, Slice, Span, SpanId, SpanKind, StatusCode, Temporality,
    TraceBatch, TraceId,
};
use tidewatch_domain::project::{
    AiTrace, Dropped, Entity, EntityKind, Exception, IngestSettings, KeptLog, KeptSpan, LogProjection,
    MetricProjection, MetricValue, NativeSpanIds, Owner, ProjectContext, Promoted, TraceProjection,
};
use tidewatch_domain::rules::ai_trace::{Flag, Flags};
use tidewatch_domain::rules::exponential::ExplicitBuckets;
use tidewatch_domain::wire;

use super::attributes::{SharedAttributes, encode_sorted};
use super::*;

fn context() -> ProjectContext {
    ProjectContext { project: ProjectId([1; 16]), received_ns: 9, settings: IngestSettings::default() }
}

fn batch(rows: &Rows, table: Table) -> RecordBatch {
    let rows = rows.tables.iter().find(|rows| rows.buffer.table() == table).expect("the table has rows");
    tidewatch_columnar::materialize::plain(&rows.buffer.clone().into_batch())
}

/// One cell as a string: ids and bytes in hexadecimal, a null as `-`.
fn cell(batch: &RecordBatch, column: &str, row: usize) -> String {
    let array = batch.column_by_name(column).unwrap_or_else(|| panic!("there is no column {column}"));
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if array.is_null(row) {
        return "-".to_owned();
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).to_string(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).to_string(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::Binary => hex(array.as_binary::<i32>().value(row)),
        _ => hex(array.as_fixed_size_binary().value(row)),
    }
}

#[track_caller]
fn check(batch: &RecordBatch, row: usize, expected: &[(&str, &str)]) {
    for (column, text) in expected {
        assert_eq!(cell(batch, column, row), *text, "{column} of row {row}");
    }
}

fn attributes(batch: &RecordBatch, column: &str, row: usize) -> Vec<(String, String)> {
    let bytes = batch.column_by_name(column).expect("the column is there").as_binary::<i32>().value(row);
    let mut pairs = Vec::new();
    wire::for_each_attribute_text(bytes, |key, text| pairs.push((key.to_owned(), text.into_owned())));
    pairs
}

fn pair(key: &str, text: &str) -> (String, String) {
    (key.to_owned(), text.to_owned())
}

fn trace_batch<'a>() -> TraceBatch<'a> {
    let span = Span {
        trace_id: TraceId([0xaa; 16]),
        span_id: SpanId([0xbb; 8]),
        parent_span_id: SpanId([0xcc; 8]),
        name: "GET",
        kind: SpanKind::Server,
        status: StatusCode::Error,
        status_message: "boom",
        trace_state: "a=b",
        flags: 0x101,
        attributes: Slice { start: 0, end: 2 },
        dropped_attributes: 1,
        dropped_events: 2,
        dropped_links: 3,
        ..Span::default()
    };
    TraceBatch {
        resources: vec![Resource { attributes: Slice { start: 2, end: 4 }, ..Resource::default() }],
        scopes: vec![Scope { name: "tracer", version: "1.2", ..Scope::default() }],
        spans: vec![
            Span { invalid: Some(InvalidId::ZeroSpanId), ..span },
            span,
            Span { span_id: SpanId([0xdd; 8]), ..span },
        ],
        attributes: vec![
            KeyValue { key: "http.route", value: AnyValue::Str("/cart") },
            KeyValue { key: "n", value: AnyValue::Int(-4) },
            KeyValue { key: "service.name", value: AnyValue::Str("shop") },
            KeyValue { key: "deployment.environment", value: AnyValue::Str("staging") },
        ],
        ..TraceBatch::default()
    }
}

fn trace_projection<'a>() -> TraceProjection<'a> {
    let kept = |span: u32, promoted: Promoted| KeptSpan {
        span,
        start_ns: 1000 + i64::from(span),
        duration_ns: 50,
        server_name: "shop",
        app_version: "v1",
        promoted,
        http_status: 503,
        weight: 2.0,
        peer: None,
        is_error: false,
    };
    TraceProjection {
        spans: vec![
            kept(1, Promoted { endpoint: true, ai_trace: true, ..Promoted::default() }),
            kept(2, Promoted { task: true, ..Promoted::default() }),
        ],
        entities: vec![entity(EntityKind::Endpoint, 1, 0), entity(EntityKind::Task, 2, 1)],
        ai_traces: vec![AiTrace {
            span: 1,
            kept: 0,
            row_id: RowId([5; 16]),
            name: "chat",
            is_root: false,
            is_error: true,
            model: Some("m1"),
            response_model: None,
            provider: Some("p"),
            operation: None,
            input_tokens: Some(7),
            output_tokens: None,
            total_tokens: Some(7),
            cached_tokens: None,
            reasoning_tokens: None,
            cache_write_tokens: Some(2),
            input_cost: Some(0.5),
            output_cost: None,
            total_cost: Some(0.5),
            cost_estimated: true,
            finish_reason: None,
            user_id: Some("u"),
            conversation_id: "c",
            tool_call_count: 3,
            flags: Flags(Flag::Truncated.bit()),
            has_event_messages: true,
            flagged_terms: Some("\u{1f}acme\u{1f}"),
            call_id: Some("r-1"),
            repeats_usage: true,
        }],
        exceptions: vec![Exception {
            span: 1,
            row_id: RowId([6; 16]),
            time_ns: 1010,
            group: u64::MAX,
            group_version: 2,
            exception_type: "Oops",
            message: "no",
            stack_trace: "Oops: no\n at x",
            build: None,
            event_attributes: Slice { start: 1, end: 2 },
            server_name: "shop",
            app_version: "v1",
            owner: Owner::Above(SpanId([0xcc; 8])),
            weight: 2.0,
            is_message: true,
            session: NativeId([9; 16]),
        }],
        dropped: vec![Dropped { record: 0, reason: DropReason::InvalidId }],
        rejected: vec![(0, InvalidId::ZeroSpanId)],
        other_ai: 0,
        native_ids: vec![
            NativeSpanIds::default(),
            NativeSpanIds { span: NativeId([7; 16]), parent: NativeId([8; 16]) },
        ],
    }
}

fn entity<'a>(kind: EntityKind, span: u32, kept: u32) -> Entity<'a> {
    Entity {
        kind,
        span,
        kept,
        row_id: RowId([span as u8; 16]),
        name: "GET /cart",
        status_code: 503,
        is_root: true,
        is_stream: false,
        is_error: true,
        client_ip: "10.0.0.1",
        body_size: 99,
        linked_trace: TraceId([6; 16]),
    }
}

#[test]
fn spans_and_their_entities_have_rows() {
    let (source, projection) = (trace_batch(), trace_projection());
    let rows = Rows::traces(3, &context(), &source, &projection);
    assert_eq!((rows.records(), rows.rows()), (3, 6));
    assert_eq!(rows.fates, [Fate::Dropped(DropReason::InvalidId), Fate::Kept, Fate::Kept]);
    assert_eq!(rows.keys[0], NO_KEY, "an invalid span has no identity");
    assert!(
        rows.keys[1] != rows.keys[2]
            && rows.keys[1] == span_key(3, TraceId([0xaa; 16]), SpanId([0xbb; 8]), source.spans[1].kind)
    );

    let spans = batch(&rows, Table::Spans);
    let (trace, span, parent) = ("aa".repeat(16), "bb".repeat(8), "cc".repeat(8));
    let ids = [("trace_id", trace.as_str()), ("span_id", &span), ("parent_span_id", &parent)];
    check(&spans, 0, &ids);
    let first =
        [("project", "3"), ("time", "1001"), ("duration", "50"), ("name", "GET"), ("kind", "2"), ("status", "2")];
    check(&spans, 0, &first);
    let more = [("status_message", "boom"), ("http_status", "503"), ("server_name", "shop"), ("app_version", "v1")];
    check(&spans, 0, &more);
    let scope =
        [("scope", "tracer"), ("scope_version", "1.2"), ("trace_state", "a=b"), ("flags", "257"), ("weight", "2")];
    check(&spans, 0, &scope);
    check(&spans, 0, &[("dropped_attributes", "1"), ("dropped_events", "2"), ("dropped_links", "3"), ("events", "")]);
    check(&spans, 0, &[("promoted", "13")]);
    check(&spans, 1, &[("promoted", "2"), ("time", "1002")]);
    assert_eq!(attributes(&spans, "attributes", 1), [pair("http.route", "/cart"), pair("n", "-4")]);
    let resource = [pair("deployment.environment", "staging"), pair("service.name", "shop")];
    assert_eq!(attributes(&spans, "resource", 1), resource);
    for table in [Table::Endpoints, Table::Tasks, Table::AiTraces, Table::Exceptions] {
        let rows = batch(&rows, table);
        check(&rows, 0, &[("environment", "staging")]);
        assert_eq!(attributes(&rows, "resource", 0), resource, "{table:?}");
    }

    let endpoints = batch(&rows, Table::Endpoints);
    assert_eq!(endpoints.num_rows(), 1);
    check(&endpoints, 0, &[("name", "GET /cart"), ("time", "1001"), ("status_code", "503"), ("is_root", "true")]);
    check(
        &endpoints,
        0,
        &[("is_stream", "false"), ("is_error", "true"), ("client_ip", "10.0.0.1"), ("body_size", "99")],
    );
    check(&batch(&rows, Table::Tasks), 0, &[("time", "1002"), ("row_id", &"02".repeat(16))]);

    let ai = batch(&rows, Table::AiTraces);
    check(
        &ai,
        0,
        &[("name", "chat"), ("model", "m1"), ("response_model", "-"), ("input_tokens", "7"), ("output_tokens", "-")],
    );
    check(
        &ai,
        0,
        &[
            ("total_cost", "0.5"),
            ("output_cost", "-"),
            ("cost_estimated", "true"),
            ("tool_call_count", "3"),
            ("flags", "1"),
            ("call_id", "r-1"),
            ("cache_write_tokens", "2"),
            ("repeats_usage", "true"),
        ],
    );

    let exceptions = batch(&rows, Table::Exceptions);
    check(
        &exceptions,
        0,
        &[("group", &u64::MAX.to_string()), ("time", "1010"), ("exception_type", "Oops"), ("message", "no")],
    );
    check(&exceptions, 0, &[("owner_kind", "255"), ("owner_name", ""), ("owner_span_id", &parent), ("span_id", &span)]);
    assert_eq!(attributes(&exceptions, "event_attributes", 0), [pair("n", "-4")]);
    // SPEC span rule 2: the UUIDs of native reports.
    check(&spans, 0, &[("native_ids", &["07".repeat(16), "08".repeat(16)].concat())]);
    check(&spans, 1, &[("native_ids", "-")]);
    check(&endpoints, 0, &[("linked_trace_id", &"06".repeat(16))]);
    let native = [("native_ids", "07".repeat(16)), ("is_message", "true".to_owned()), ("session_id", "09".repeat(16))];
    native.iter().for_each(|(column, expected)| check(&exceptions, 0, &[(*column, expected)]));
}

#[test]
fn log_records() {
    let record = LogRecord {
        observed_time_ns: 8,
        trace_id: TraceId([1; 16]),
        event_name: "e",
        flags: 1,
        dropped_attributes: 4,
        attributes: Slice { start: 0, end: 1 },
        ..LogRecord::default()
    };
    let source = LogBatch {
        resources: vec![Resource { attributes: Slice { start: 1, end: 2 }, ..Resource::default() }],
        scopes: vec![Scope { name: "logger", attributes: Slice { start: 2, end: 3 }, ..Scope::default() }],
        records: vec![record],
        attributes: ["a", "b", "c"].map(|key| KeyValue { key, value: AnyValue::Bool(true) }).to_vec(),
        ..LogBatch::default()
    };
    let log =
        KeptLog { record: 0, time_ns: 7, server_name: "s", severity_text: "WARN", severity_number: 13, body: "hello" };
    let projection = LogProjection { logs: vec![log], ..LogProjection::default() };
    let rows = Rows::logs(2, &context(), &source, &projection);
    assert!(rows.keys.is_empty(), "logs are recognised by the whole request");
    let logs = batch(&rows, Table::Logs);
    check(
        &logs,
        0,
        &[("time", "7"), ("observed_time", "8"), ("severity", "13"), ("severity_text", "WARN"), ("body", "hello")],
    );
    check(&logs, 0, &[("event_name", "e"), ("flags", "1"), ("scope", "logger"), ("dropped_attributes", "4")]);
    for (column, key) in [("attributes", "a"), ("resource", "b"), ("scope_attributes", "c")] {
        assert_eq!(attributes(&logs, column, 0), [pair(key, "true")]);
    }
}

fn metric_batch<'a>(attributes: Vec<KeyValue<'a>>, histogram: HistogramPoint<'a>) -> MetricBatch<'a> {
    let point = Point { attributes: Slice { start: 0, end: 2 }, start_ns: 1, time_ns: 2, ..Point::default() };
    MetricBatch {
        resources: vec![Resource { attributes: Slice { start: 2, end: 3 }, ..Resource::default() }],
        scopes: vec![Scope { name: "meter", ..Scope::default() }],
        body: Default::default(),
        metrics: vec![Metric {
            name: "latency",
            unit: "s",
            description: "how long",
            kind: MetricKind::Histogram,
            temporality: Temporality::Cumulative,
            points: Slice { start: 0, end: 2 },
            ..Metric::default()
        }],
        points: vec![Point { data: PointData::Histogram(histogram), ..point }, point],
        attributes,
    }
}

#[test]
fn metric_values() {
    let text = |key, text| KeyValue { key, value: AnyValue::Str(text) };
    let pairs = vec![text("a", "1"), text("b", "2"), text("host", "h")];
    let histogram = HistogramPoint { count: 3, bounds: &[0.5], buckets: &[1, 2], ..HistogramPoint::default() };
    let source = metric_batch(pairs.clone(), histogram);
    let buckets = ExplicitBuckets { bounds: &[0.5], counts: &[1, 2] };
    let value = |name, buckets| MetricValue {
        point: 0,
        metric: 0,
        name,
        time_ns: 2,
        value: 1.5,
        integer: None,
        buckets,
        server_name: "s",
    };
    let projection = MetricProjection {
        values: vec![value("latency.avg", None), value("latency.count", Some(&buckets))],
        dropped: vec![Dropped { record: 1, reason: DropReason::EmptyPoint }],
    };
    let rows = Rows::metrics(2, &context(), &source, &projection);
    assert_eq!(rows.fates, [Fate::Kept, Fate::Dropped(DropReason::EmptyPoint)]);
    let points = batch(&rows, Table::MetricPoints);
    check(
        &points,
        0,
        &[("name", "latency.avg"), ("time", "2"), ("start_time", "1"), ("value", "1.5"), ("metric_kind", "3")],
    );
    check(&points, 0, &[("temporality", "2"), ("unit", "s"), ("bounds", "-"), ("buckets", "-"), ("scope", "meter")]);
    check(&points, 1, &[("bounds", "000000000000e03f"), ("buckets", "01000000000000000200000000000000")]);
    assert_eq!(attributes(&points, "resource", 0), [pair("host", "h")]);

    // One series per name, attributes and resource, whatever the order.
    let series = |attributes: Vec<KeyValue<'_>>| {
        let rows = Rows::metrics(2, &context(), &metric_batch(attributes, HistogramPoint::default()), &projection);
        cell(&batch(&rows, Table::MetricPoints), "series", 0)
    };
    let known = cell(&points, "series", 0);
    assert_eq!(series(vec![pairs[1], pairs[0], pairs[2]]), known);
    assert_ne!(series(vec![pairs[0], text("b", "3"), pairs[2]]), known);
    assert_ne!(series(vec![pairs[0], pairs[1], text("host", "i")]), known);
    assert_ne!(cell(&points, "series", 1), known);
}

#[test]
fn shared_attributes_have_a_bound() {
    let arena = Bump::new();
    for (bytes, repeats, kept) in [(20_000, 10, 2), (20_000, 100_000, 1), (40_000, 1, 1)] {
        let long = "x".repeat(bytes);
        let attributes =
            [KeyValue { key: "big", value: AnyValue::Str(&long) }, KeyValue { key: "small", value: AnyValue::Int(1) }];
        let shared = SharedAttributes::new(&attributes, repeats);
        assert_eq!(shared.is_trimmed, kept < 2, "{bytes} bytes, {repeats} times");
        assert_eq!(
            wire::decode_attributes(&shared.bytes, &arena),
            &attributes[2 - kept..],
            "{bytes} bytes, {repeats} times"
        );
    }
}

#[test]
fn attributes_are_stored_sorted_by_key() {
    let arena = Bump::new();
    let pairs = |keys: &[&'static str]| -> Vec<KeyValue<'static>> {
        keys.iter().enumerate().map(|(index, key)| KeyValue { key, value: AnyValue::Int(index as i64) }).collect()
    };
    let mut bytes = Vec::new();
    encode_sorted(&pairs(&["b", "a", "b", "c", ""]), &mut bytes);
    let stored: Vec<(&str, AnyValue<'_>)> =
        wire::decode_attributes(&bytes, &arena).iter().map(|kv| (kv.key, kv.value)).collect();
    let int = AnyValue::Int;
    assert_eq!(stored, [("", int(4)), ("a", int(1)), ("b", int(0)), ("b", int(2)), ("c", int(3))]);

    let many: Vec<KeyValue<'_>> = (0..300).map(|n| KeyValue { key: ["y", "x"][n % 2], value: int(n as i64) }).collect();
    bytes.clear();
    encode_sorted(&many, &mut bytes);
    let stored = wire::decode_attributes(&bytes, &arena);
    assert!(stored.len() == 300 && stored.is_sorted_by_key(|kv| (kv.key, kv.value.as_int())));
}

#[test]
fn picked_rows_are_appended() {
    let rows = Rows::traces(3, &context(), &trace_batch(), &trace_projection());
    let spans = &rows.tables[0].buffer;
    let mut all = TableBuffer::new(Table::Spans);
    all.append(spans, Pick::All);
    all.append(spans, Pick::Kept(&[false, true]));
    all.append(spans, Pick::Order(&[1, 0, 1]));
    assert_eq!(all.rows(), 6);
    let expected = batch(&rows, Table::Spans);
    let batch = tidewatch_columnar::materialize::plain(&all.into_batch());
    assert_eq!(batch.slice(0, 2), expected);
    for (row, span) in [1, 1, 0, 1].into_iter().enumerate() {
        assert_eq!(batch.slice(2 + row, 1), expected.slice(span, 1));
    }
}

/// A resource is stored once, however many rows and requests have it; every row reads its own value.
#[test]
fn dictionary_values_are_stored_once() {
    let resource = [7; 1000];
    let mut request = TableBuffer::new(Table::Logs);
    let mut expected = Vec::new();
    for row in 0..100_u8 {
        let value: &[u8] = if row % 10 == 3 { b"rare" } else { &resource };
        expected.push(value);
        let mut cells = request.row();
        cells.u32(1).text("s").i64(0).i64(0).u8(0).text("").text("").id(&[1; 16]).id(&[1; 8]).text("").u32(0);
        cells.text("").text("").bytes(b"").bytes(&[row]).bytes(value).u32(0);
    }
    let mut all = TableBuffer::new(Table::Logs);
    all.append(&request, Pick::All);
    let keep: Vec<bool> = (0..100).map(|row| row % 2 == 0).collect();
    all.append(&request, Pick::Kept(&keep));
    all.append(&request, Pick::Kept(&[false; 100]));
    assert_eq!((all.rows(), all.bytes() < 15_000), (150, true));
    expected.extend(expected.clone().into_iter().step_by(2));
    let batch = tidewatch_columnar::materialize::plain(&all.into_batch());
    let stored = batch.column_by_name("resource").expect("logs have a resource").as_binary::<i32>();
    assert_eq!(stored.iter().flatten().collect::<Vec<_>>(), expected);
}

/// Rows with distinct values keep them when they are appended twice.
#[test]
fn many_dictionary_values() {
    let mut request = TableBuffer::new(Table::Spans);
    let values: Vec<Vec<u8>> = (0..40).map(|number: u8| vec![number; 3]).collect();
    for value in &values {
        let mut cells = request.row();
        cells.u32(1).id(&[1; 16]).id(&[2; 8]).id(&[3; 8]).i64(0).i64(0).text("").u8(0).u8(0).text("").i16(0).u8(0);
        cells.text("").text("").text("").text("").text("").u32(0).f64(1.0).bytes(b"").bytes(value).bytes(b"");
        cells.bytes(b"").u32(0).u32(0).u32(0).optional_bytes(None);
        cells.optional_text(None).optional_u8(None).optional_text(None).optional_bool(None).optional_text(None);
    }
    let mut all = TableBuffer::new(Table::Spans);
    all.append(&request, Pick::All);
    all.append(&request, Pick::All);
    let batch = tidewatch_columnar::materialize::plain(&all.into_batch());
    let stored = batch.column_by_name("resource").expect("spans have a resource").as_binary::<i32>();
    let expected: Vec<&[u8]> = values.iter().chain(&values).map(Vec::as_slice).collect();
    assert_eq!(stored.iter().flatten().collect::<Vec<_>>(), expected);
}
