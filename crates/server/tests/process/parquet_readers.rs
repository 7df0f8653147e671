//! Parts are plain Parquet: pyarrow, DuckDB and Polars read the store's rows from every part.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use serde_json::{Value, json};
use tidewatch_bench::generate::{Generator, Kind, Period};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, RequestKind, Signal};
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::enrichment::{EnrichmentSource, GroupingSource};
use tidewatch_ingest::pipeline;
use tidewatch_ingest::prices::{NO_TABLE, PriceTable};
use tidewatch_ingest::record::Header;
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_journal::Position;
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::plan::{Filter, Plan, Shape};
use tidewatch_store::tables::Table;

use super::sdk::{installed, run};

/// 2026-11-19, 12:00 UTC.
const NOON: i64 = 1_795_089_600_000_000_000;

/// Where pyarrow, DuckDB and Polars are installed beside their programs.
pub fn python() -> PathBuf {
    // Several tests use the packages; one installs them.
    static INSTALLED: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let install = || {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/parquet-readers");
        installed("parquet-readers", &programs, |target| {
            run(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(target));
            run(Command::new("venv/bin/pip")
                .args(["install", "--quiet", "-r", "requirements.txt"])
                .current_dir(target));
        })
    };
    INSTALLED.get_or_init(install).clone()
}

fn apply(lake: &Lake, kind: impl Into<RequestKind>, encoding: Encoding, body: &[u8], position: u64) {
    let header = Header {
        project_number: 1 + (position % 2) as u32,
        project: ProjectId([7; 16]),
        kind: kind.into(),
        encoding,
        coding: Coding::Identity,
        received_ns: NOON,
        settings: IngestSettings::default(),
        prices: NO_TABLE,
        names_max: None,
        attributes: RequestAttributes::default(),
    };
    let enrichment = EnrichmentSource {
        prices: PriceTable { prices: &[], id: NO_TABLE },
        symbols: None,
        grouping: GroupingSource::BUILT_IN,
    };
    let prepared = pipeline::prepare(&header, body, usize::MAX, &enrichment);
    let prepared = prepared.map_err(|refused| refused.error).expect("an export that is understood");
    lake.apply(Position(position), NO_KEY, NOON, prepared.rows);
}

/// Spans with cells that encodings handle differently: absent, empty, long, and every type of attribute.
fn odd_spans(round: u64) -> Value {
    let attributes = |n: u64| {
        json!([
            {"key": "", "value": {"stringValue": "without a key"}},
            {"key": "array", "value": {"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "x"}]}}},
            {"key": "bytes", "value": {"bytesValue": "AAH/"}},
            {"key": "double", "value": {"doubleValue": -0.0}},
            {"key": "least", "value": {"intValue": i64::MIN.to_string()}},
            {"key": "mixed", "value": if n.is_multiple_of(2) { json!({"intValue": "7"}) } else { json!({"stringValue": "7"}) }},
            {"key": "flag", "value": {"boolValue": n.is_multiple_of(3)}},
            {"key": "twice", "value": {"stringValue": "first"}},
            {"key": "twice", "value": {"stringValue": "second"}},
            {"key": "größe", "value": {"stringValue": "日本\u{0}\"'\n".repeat(n as usize % 50)}},
        ])
    };
    let span = |n: u64| {
        json!({
            "traceId": format!("{:032x}", (round << 32) + 1 + n / 3), "spanId": format!("{:016x}", (round << 32) + 1 + n),
            "parentSpanId": if n.is_multiple_of(3) { String::new() } else { format!("{:016x}", n) },
            "kind": n % 6, "name": if n.is_multiple_of(5) { String::new() } else { format!("span {n}") },
            "startTimeUnixNano": (NOON as u64 + n).to_string(), "endTimeUnixNano": (NOON as u64 + 2 * n).to_string(),
            "attributes": attributes(n), "traceState": "a=b", "flags": u32::MAX, "droppedAttributesCount": n,
            "status": {"code": n % 3, "message": "x".repeat(n as usize)},
            "events": [{"name": "exception", "timeUnixNano": (NOON as u64 + n).to_string(), "attributes": [
                {"key": "exception.type", "value": {"stringValue": format!("Odd{}", n % 7)}},
                {"key": "exception.stacktrace", "value": {"stringValue": format!("Odd\n    at f (a.js:{n}:1)")}}]}],
            "links": [{"traceId": format!("{:032x}", n + 1), "spanId": format!("{:016x}", n + 1)}],
        })
    };
    json!({"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "odd"}}]},
        "scopeSpans": [{"scope": {"name": "s", "version": "1"}, "spans": (0..300).map(span).collect::<Vec<_>>()}],
    }]})
}

/// Profiles with samples with and without times and spans, and stacks that no other round has.
pub fn profiles(time_ns: u64, round: u64) -> Value {
    let profile = json!({
        "sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "timeUnixNano": time_ns.to_string(), "durationNano": "1000",
        "samples": [
            {"stackIndex": 1, "values": ["7"], "linkIndex": 1},
            {"stackIndex": 2, "values": ["1", "2"],
             "timestampsUnixNano": [(time_ns + 5).to_string(), (time_ns + 9).to_string()]},
        ],
    });
    let service = json!({"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]});
    json!({
        "resourceProfiles": [{"resource": service, "scopeProfiles": [{"profiles": [profile]}]}],
        "dictionary": {
            "stringTable": ["", "cpu", "nanoseconds", "main", format!("größe {round}"), "a.c"],
            "functionTable": [{}, {"nameStrindex": 3}, {"nameStrindex": 4, "filenameStrindex": 5}],
            "locationTable": [{}, {"lines": [{"functionIndex": 1}]}, {"address": "99", "lines": [{"functionIndex": 2}]}],
            "stackTable": [{}, {"locationIndices": [2]}, {"locationIndices": [2, 1]}],
            "linkTable": [{}, {"traceId": format!("{:032x}", 7), "spanId": format!("{:016x}", 7)}],
        },
    })
}

/// A report with sessions, with and without attributes, and segments of theirs.
pub fn sessions(time_ns: u64, round: u64) -> Value {
    let at = |second: i64| jiff::Timestamp::from_nanosecond(time_ns.into()).expect("a time").as_second() + second;
    let at = |second: i64| jiff::Timestamp::from_second(at(second)).expect("a time").to_string();
    let id = |n: u64| format!("{:08x}-0000-4000-8000-{n:012x}", round + 1);
    let attributes = json!({ "userId": "größe", "path": "/a", "userAgent": "Firefox/128.0" });
    let segment = |n: u64| {
        json!({ "sessionId": id(n), "segmentIndex": n, "events": [{ "n": "x".repeat(1000 * n as usize) }],
                "startedAt": at(1), "endedAt": at(n as i64 + 2) })
    };
    json!({ "collectionFrames": [{
        "sessions": [{ "id": id(1), "startedAt": at(0) }, { "id": id(2), "startedAt": at(0), "endedAt": at(5), "attributes": attributes }],
        "sessionRecordings": [segment(1), segment(2), segment(9)],
    }] })
}

/// Writes requests of all kinds and flushes them once.
fn fill(lake: &Lake, round: u64) {
    let mut generator = Generator::new(round);
    let mut body = Vec::new();
    let period = Period { from_ns: (NOON + round as i64 * HOUR_NS) as u64, length_ns: HOUR_NS as u64 / 2 };
    let mut position = 1000 * round;
    for kind in
        [Kind::Rich, Kind::Rich, Kind::Rich, Kind::Rich, Kind::Lean, Kind::Logs, Kind::Logs, Kind::Points, Kind::Points]
    {
        position += 1;
        generator.request(kind, 900, period, &mut body);
        apply(lake, kind.signal(), Encoding::Protobuf, &body, position);
    }
    apply(lake, Signal::Traces, Encoding::Json, odd_spans(round).to_string().as_bytes(), position + 1);
    // An integer that a double cannot represent: the only point with `int_value`.
    let points = json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "large", "sum": {
        "dataPoints": [{"timeUnixNano": NOON.to_string(), "asInt": i64::MAX.to_string()}],
        "aggregationTemporality": 2, "isMonotonic": true}}]}]}]});
    apply(lake, Signal::Metrics, Encoding::Json, points.to_string().as_bytes(), position + 2);
    let profiles = profiles(period.from_ns, round).to_string();
    apply(lake, RequestKind::OtlpProfiles, Encoding::Json, profiles.as_bytes(), position + 3);
    let sessions = sessions(period.from_ns, round).to_string();
    apply(lake, RequestKind::Report, Encoding::Json, sessions.as_bytes(), position + 4);
    lake.flush().expect("the disk takes it");
}

/// Every row of the table, as the store returns it.
fn rows(lake: &Lake, table: Table) -> RecordBatch {
    let columns = table.columns().iter().map(|column| column.name).collect();
    let shape = Shape::Rows { columns, order: Vec::new(), limit: usize::MAX, offset: 0 };
    let projects = vec![0, 1, 2];
    let plan = Plan { table, projects, from: i64::MIN, to: i64::MAX, filter: Filter::True, shape };
    lake.execute(&plan, Instant::now() + Duration::from_secs(300)).expect("an answer")
}

fn hex(bytes: &[u8]) -> Value {
    let mut text = String::new();
    bytes.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a text takes it"));
    Value::from(text)
}

/// The string of a cell, as `parts.py` formats it.
fn cell(array: &dyn Array, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string().into(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).to_string().into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).to_string().into(),
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).to_string().into(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string().into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string().into(),
        DataType::Float64 => hex(&array.as_primitive::<Float64Type>().value(row).to_be_bytes()),
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::Binary => hex(array.as_binary::<i32>().value(row)),
        DataType::FixedSizeBinary(_) => hex(array.as_fixed_size_binary().value(row)),
        other => panic!("no table has a column of {other}"),
    }
}

/// Writes the store's rows, compares them with the parts in all three readers, and returns the readers' counts.
fn compare(lake: &Lake, folder: &Path) -> Value {
    let answers = folder.join("answers");
    std::fs::create_dir_all(&answers).expect("a folder");
    for table in Table::ALL {
        let batch = rows(lake, table);
        assert!(batch.num_rows() > 0, "{} has rows", table.name());
        let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
        let mut text = format!("{}\n", python_json(&json!(names)));
        for row in 0..batch.num_rows() {
            let cells: Vec<Value> = batch.columns().iter().map(|column| cell(column, row)).collect();
            text += &python_json(&Value::from(cells));
            text.push('\n');
        }
        std::fs::write(answers.join(format!("{}.jsonl", table.name())), text).expect("a file");
    }
    let target = python();
    let output = Command::new(target.join("venv/bin/python"))
        .arg(target.join("parts.py"))
        .args([folder.join("data/parts"), answers])
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", said.lines().last().unwrap_or_default());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The JSON with the spaces that Python's `json` writes.
fn python_json(list: &Value) -> String {
    let cells = list.as_array().expect("a list").iter().map(Value::to_string);
    format!("[{}]", cells.collect::<Vec<_>>().join(", "))
}

/// Guarantee: pyarrow, DuckDB and Polars read flushed and merged parts (README.md).
#[test]
fn other_tools_read_every_part() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = LakeOptions { background: false, ..LakeOptions::new(folder.path().join("data")) };
    let lake = Lake::open(options).expect("an empty folder becomes a lake");
    for round in 1..=3 {
        fill(&lake, round);
    }
    let flushed = compare(&lake, folder.path());
    assert_eq!(flushed["parts"], 3 * Table::ALL.len(), "three flushes of one day");

    lake.merge(NOON + 72 * HOUR_NS).expect("the disk takes it");
    let merged = compare(&lake, folder.path());
    assert_eq!(merged["parts"], Table::ALL.len(), "a day that is over becomes one part");
    // Columns that share column chunks are read like others.
    assert!(flushed["sharedChunks"].as_u64() > Some(0) && merged["sharedChunks"].as_u64() > Some(0), "{merged}");
}
