//! Measures interactive queries over a few million synthetic rows in a real lake.
//!
//! ```text
//! cargo run --release -p tidewatch-lake --example hot_shapes -- <folder> [traces in thousands] [parts: flushed|merged]
//! ```
//!
//! A trace is one Endpoint, seven more spans and four log records. A folder that already has a lake is not filled
//! again.

mod support;

use std::path::PathBuf;
use std::time::Instant;

use tidewatch_domain::model::{
    AnyValue, KeyValue, LogBatch, LogRecord, ProjectId, Resource, RowId, Scope, Slice, Span, SpanId, SpanKind,
    TraceBatch, TraceId,
};
use tidewatch_domain::project::{
    Entity, EntityKind, IngestSettings, KeptLog, KeptSpan, LogProjection, ProjectContext, Promoted, TraceProjection,
};
use tidewatch_domain::units::DAY_NS;
use tidewatch_journal::Position;
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_store::TelemetryStore;
use tidewatch_store::columns::Rows;
use tidewatch_store::plan::{
    AttributeScope, Filter, Function, GroupOrder, Key, KeySource, Op, Order, Plan, Shape, Value,
};
use tidewatch_store::tables::Table;

use support::{measure, mix, report};

/// 2026-11-21 00:00 UTC.
const TODAY: i64 = 20_778 * DAY_NS;
const PROJECTS: u64 = 2;
const ENDPOINTS: u64 = 200;
const SPANS_PER_TRACE: u64 = 8;
const LOGS_PER_TRACE: u64 = 4;
const TRACES_PER_REQUEST: u64 = 128;

const RUNS: u32 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("the first argument is a folder")?);
    let traces: u64 = arguments.next().map_or(Ok(500), |count| count.parse())? * 1000;
    let merged = arguments.next().is_some_and(|parts| parts == "merged");
    let options = || LakeOptions { background: false, attr_columns_from: Some(1), ..LakeOptions::new(&folder) };
    std::fs::create_dir_all(&folder)?;
    if !folder.join("catalog.sqlite").exists() {
        let started = Instant::now();
        let lake = Lake::open(options())?;
        fill(&lake, traces)?;
        if merged {
            lake.merge(TODAY + 5 * DAY_NS)?;
        }
        report(&format!("filled: {} spans", traces * SPANS_PER_TRACE), started.elapsed(), 0);
    }
    let lake = Lake::open(options())?;
    for (name, plan) in queries(traces) {
        measure(&lake, name, &plan, RUNS)?;
    }
    Ok(())
}

fn trace_id(trace: u64) -> TraceId {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&mix(trace).to_be_bytes());
    id[8..].copy_from_slice(&mix(trace ^ 0xFFFF_FFFF).to_be_bytes());
    TraceId(id)
}

/// Traces are spread over one day in their order.
fn time_of(trace: u64, traces: u64) -> i64 {
    TODAY + (DAY_NS as i128 * i128::from(trace) / i128::from(traces)) as i64
}

fn endpoint_of(trace: u64) -> u64 {
    // Some endpoints are much more frequent than others.
    let draw = mix(trace ^ 1) % (ENDPOINTS * ENDPOINTS);
    (draw as f64).sqrt() as u64
}

fn fill(lake: &Lake, traces: u64) -> Result<(), Box<dyn std::error::Error>> {
    let context =
        ProjectContext { project: ProjectId([7; 16]), received_ns: TODAY, settings: IngestSettings::default() };
    let mut offset = 0;
    for first in (0..traces).step_by(TRACES_PER_REQUEST as usize) {
        let last = (first + TRACES_PER_REQUEST).min(traces);
        let project = 1 + (first / TRACES_PER_REQUEST % PROJECTS) as u32;
        for rows in [spans(project, &context, first..last, traces), logs(project, &context, first..last, traces)] {
            offset += 1;
            lake.apply(Position(offset), offset.into(), TODAY, rows);
            if lake.is_behind() || offset % 600 == 0 {
                lake.flush()?;
            }
        }
    }
    Ok(lake.flush()?)
}

fn spans(project: u32, context: &ProjectContext, range: std::ops::Range<u64>, traces: u64) -> Rows {
    let text: Vec<[String; 5]> = range
        .clone()
        .map(|trace| {
            let endpoint = endpoint_of(trace);
            [
                format!("GET /shop/{}/items/{endpoint}", endpoint % 7),
                format!("/shop/{}/items/{}", endpoint % 7, mix(trace) % 100_000),
                format!("user-{}", mix(trace ^ 2) % 5_000),
                format!("10.{}.{}.{}", mix(trace) % 256, mix(trace ^ 3) % 256, mix(trace ^ 4) % 256),
                format!("SELECT * FROM items WHERE id = {}", mix(trace) % 100_000),
            ]
        })
        .collect();
    let mut batch = TraceBatch {
        scopes: vec![Scope { name: "io.opentelemetry.http", version: "1.2.3", ..Scope::default() }],
        ..TraceBatch::default()
    };
    let mut projection = TraceProjection::default();
    let services = ["shop", "stock", "payment", "search"];
    for service in services {
        let start = batch.attributes.len() as u32;
        batch.attributes.extend([
            KeyValue { key: "service.name", value: AnyValue::Str(service) },
            KeyValue { key: "service.version", value: AnyValue::Str("1.0.3") },
            KeyValue { key: "telemetry.sdk.language", value: AnyValue::Str("rust") },
        ]);
        let attributes = Slice { start, end: batch.attributes.len() as u32 };
        batch.resources.push(Resource { attributes, ..Resource::default() });
    }
    for (trace, text) in range.zip(&text) {
        for number in 0..SPANS_PER_TRACE {
            let draw = mix(trace * SPANS_PER_TRACE + number);
            let index = batch.spans.len() as u32;
            let start = batch.attributes.len() as u32;
            let status = if draw.is_multiple_of(50) { 500 } else { 200 };
            if number == 0 {
                batch.attributes.extend([
                    KeyValue { key: "http.request.method", value: AnyValue::Str("GET") },
                    KeyValue { key: "http.response.status_code", value: AnyValue::Int(status) },
                    KeyValue { key: "url.path", value: AnyValue::Str(&text[1]) },
                    KeyValue { key: "user.id", value: AnyValue::Str(&text[2]) },
                    KeyValue { key: "client.address", value: AnyValue::Str(&text[3]) },
                    KeyValue { key: "server.port", value: AnyValue::Int(443) },
                ]);
            } else {
                batch.attributes.extend([
                    KeyValue { key: "db.system.name", value: AnyValue::Str("postgresql") },
                    KeyValue { key: "db.query.text", value: AnyValue::Str(&text[4]) },
                    KeyValue { key: "thread.id", value: AnyValue::Int((draw % 64) as i64) },
                ]);
            }
            let begin = time_of(trace, traces) + number as i64 * 1_000_000;
            // A long tail.
            let duration = 1_000_000 + (1e8 / (1.0 + (draw % 1_000) as f64)) as i64;
            batch.spans.push(Span {
                resource: (draw % services.len() as u64) as u32,
                trace_id: trace_id(trace),
                span_id: SpanId(mix(draw).to_be_bytes()),
                parent_span_id: if number == 0 { SpanId::default() } else { SpanId([1; 8]) },
                name: if number == 0 { &text[0] } else { "SELECT shop.items" },
                kind: if number == 0 { SpanKind::Server } else { SpanKind::Client },
                start_ns: begin as u64,
                end_ns: (begin + duration) as u64,
                attributes: Slice { start, end: batch.attributes.len() as u32 },
                ..Span::default()
            });
            if number == 0 {
                let mut row_id = trace_id(trace).0;
                row_id[0] ^= 1;
                projection.entities.push(Entity {
                    kind: EntityKind::Endpoint,
                    span: index,
                    kept: index,
                    row_id: RowId(row_id),
                    name: &text[0],
                    status_code: status as i16,
                    is_root: true,
                    is_stream: false,
                    is_error: status == 500,
                    client_ip: &text[3],
                    body_size: 0,
                    linked_trace: TraceId::default(),
                });
            }
            projection.spans.push(KeptSpan {
                span: index,
                start_ns: begin,
                duration_ns: duration,
                server_name: services[(draw % services.len() as u64) as usize],
                app_version: "1.0.3",
                promoted: Promoted { endpoint: number == 0, ..Promoted::default() },
                http_status: if number == 0 { status as i16 } else { 0 },
                weight: 1.0,
                peer: None,
                is_error: false,
            });
        }
    }
    Rows::traces(project, context, &batch, &projection)
}

fn logs(project: u32, context: &ProjectContext, range: std::ops::Range<u64>, traces: u64) -> Rows {
    let bodies: Vec<(u64, String)> = range
        .flat_map(|trace| (0..LOGS_PER_TRACE).map(move |number| (trace, number)))
        .map(|(trace, number)| {
            let draw = mix(trace * LOGS_PER_TRACE + number + 77);
            let rare = if draw.is_multiple_of(100_000) { " ConnectionResetByPeer" } else { "" };
            (trace, format!("request {draw:016x} for item {} finished in {} ms{rare}", draw % 100_000, draw % 997))
        })
        .collect();
    let mut batch = LogBatch {
        resources: vec![Resource::default()],
        scopes: vec![Scope { name: "app", ..Scope::default() }],
        ..LogBatch::default()
    };
    let mut projection = LogProjection::default();
    for (index, (trace, body)) in bodies.iter().enumerate() {
        let severity = if index % 20 == 0 { 17 } else { 9 };
        batch.records.push(LogRecord {
            trace_id: trace_id(*trace),
            severity_number: severity,
            body: AnyValue::Str(body),
            ..LogRecord::default()
        });
        projection.logs.push(KeptLog {
            record: index as u32,
            time_ns: time_of(*trace, traces) + index as i64,
            server_name: "shop",
            severity_text: if severity == 17 { "ERROR" } else { "INFO" },
            severity_number: severity,
            body,
        });
    }
    Rows::logs(project, context, &batch, &projection)
}

fn queries(traces: u64) -> Vec<(&'static str, Plan)> {
    let plan = |table, filter, shape| Plan { table, projects: vec![1], from: TODAY, to: TODAY + DAY_NS, filter, shape };
    let newest = |columns: &[&'static str], limit| Shape::Rows {
        columns: columns.to_vec(),
        order: vec![Order { column: "time", descending: true }],
        limit,
        offset: 0,
    };
    let whole = |table: Table| -> Vec<&'static str> { table.columns().iter().map(|column| column.name).collect() };
    let count = || vec![Function::Count.named("count")];
    let groups = |keys: Vec<Key>, aggregates, limit| {
        let order = vec![GroupOrder { by: keys[0].name, descending: false }];
        Shape::Groups { keys, aggregates, order, limit, offset: 0 }
    };
    // The traces of a request belong to one project.
    let some_trace = traces / 2 / (TRACES_PER_REQUEST * PROJECTS) * (TRACES_PER_REQUEST * PROJECTS) + 5;
    let by_trace = Filter::eq("trace_id", Value::Bytes(trace_id(some_trace).0.to_vec()));
    let attribute = |key: &str, value: String| Filter::Attribute {
        scope: AttributeScope::Record,
        key: key.to_owned(),
        op: Op::Eq,
        value,
    };
    let endpoint = endpoint_of(some_trace);
    let name = format!("GET /shop/{}/items/{endpoint}", endpoint % 7);
    let stats = vec![
        Function::Count.named("count"),
        Function::Weight.named("errors").only(Filter::eq("is_error", Value::Bool(true))),
        Function::Sum("duration").named("duration"),
        Function::Quantiles { column: "duration", qs: vec![0.5, 0.95, 0.99] }.named("quantiles"),
        Function::Max("time").named("latest"),
    ];
    let contains = |needle: &str| Filter::Contains { column: "body", needle: needle.to_owned(), ignore_case: true };
    let mut timeless = plan(Table::Spans, by_trace.clone(), newest(&whole(Table::Spans), 10_000));
    (timeless.from, timeless.to) = (i64::MIN, i64::MAX);
    let mut near = timeless.clone();
    (near.from, near.to) = (TODAY + DAY_NS / 2 - DAY_NS / 24, TODAY + DAY_NS / 2 + DAY_NS / 24);
    let bucket = KeySource::TimeBucket { origin: TODAY, width: DAY_NS / 60 }.named("start");
    let user = KeySource::Attribute { scope: AttributeScope::Record, key: "user.id".to_owned() }.named("user");
    vec![
        (
            "endpoints 24 h, stats",
            plan(Table::Endpoints, Filter::True, groups(vec![Key::column("name")], stats.clone(), 1000)),
        ),
        (
            "endpoint chart, 60 buckets, p95",
            plan(Table::Endpoints, Filter::True, groups(vec![bucket.clone()], stats[..4].to_vec(), 1000)),
        ),
        (
            "one endpoint, 60 buckets",
            plan(
                Table::Endpoints,
                Filter::eq("name", Value::Text(name.clone())),
                groups(vec![bucket.clone()], stats, 1000),
            ),
        ),
        ("trace by id, any time, whole spans", timeless),
        ("trace by id, +-1 h, whole spans", near),
        (
            "latest 50 of an endpoint, whole",
            plan(Table::Endpoints, Filter::eq("name", Value::Text(name)), newest(&whole(Table::Endpoints), 50)),
        ),
        ("latest 50 spans, whole", plan(Table::Spans, Filter::True, newest(&whole(Table::Spans), 50))),
        (
            "spans by attribute user.id, 50 newest",
            plan(Table::Spans, attribute("user.id", "user-77".to_owned()), newest(&["time", "name", "trace_id"], 50)),
        ),
        (
            "spans by attribute thread.id, count",
            plan(
                Table::Spans,
                attribute("thread.id", "7".to_owned()),
                groups(vec![Key::column("name")], count(), 1000),
            ),
        ),
        (
            "endpoints by attribute user.id (key), top",
            plan(Table::Endpoints, Filter::True, groups(vec![user], count(), 50)),
        ),
        (
            "logs with a rare text, 50 newest",
            plan(Table::Logs, contains("connectionreset"), newest(&whole(Table::Logs), 50)),
        ),
        (
            "logs with a frequent text, 50 newest",
            plan(Table::Logs, contains("finished in 99"), newest(&whole(Table::Logs), 50)),
        ),
        ("logs of a trace", plan(Table::Logs, by_trace, newest(&whole(Table::Logs), 1000))),
        (
            "log histogram by severity",
            plan(Table::Logs, Filter::True, groups(vec![bucket, Key::column("severity_text")], count(), 10_000)),
        ),
    ]
}
