//! Exports hold the stored rows, in every format.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Field, Float64Type, Int16Type, Int64Type, Schema, TimeUnit, UInt8Type, UInt32Type, UInt64Type,
};
use bumpalo::Bump;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use serde_json::{Value, json};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, RequestKind};
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::rules::profile_stack;
use tidewatch_domain::units::HOUR_NS;
use tidewatch_domain::wire;
use tidewatch_journal::Position;
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_store::columns::NO_KEY;
use uuid::Uuid;

use tidewatch_bench::generate::{Generator, Kind, Period};
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::enrichment::{EnrichmentSource, GroupingSource};
use tidewatch_ingest::pipeline::prepare;
use tidewatch_ingest::prices::{NO_TABLE, PriceTable};
use tidewatch_ingest::record::Header;
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_query::export::columns::ProjectIds;
use tidewatch_query::export::{Export, Format, plan};
use tidewatch_query::time::Range;
use tidewatch_store::TelemetryStore as _;
use tidewatch_store::plan::Plan;
use tidewatch_store::tables::Table;

/// 2026-11-19, 12:00 UTC.
const NOON: i64 = 1_795_089_600_000_000_000;
const FIRST: Uuid = Uuid::from_u128(0x1111_2222);

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

fn apply(lake: &Lake, kind: Kind, encoding: Encoding, body: &[u8], position: u64, project: u32) {
    let header = Header {
        project_number: project,
        project: ProjectId([7; 16]),
        kind: kind.signal().into(),
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
    let prepared = prepare(&header, body, usize::MAX, &enrichment).map_err(|refused| refused.error).expect("an export");
    lake.apply(Position(position), NO_KEY, NOON, prepared.rows);
}

/// A profile of project 1.
fn apply_profile(lake: &Lake, position: u64) {
    let body = std::fs::read("../../fixtures/profiles/go-cpu.pprof").expect("a fixture");
    let attributes = RequestAttributes { service: "shop".to_owned(), ..RequestAttributes::default() };
    apply_other(lake, RequestKind::Profile, attributes, &body, position);
}

/// A session of project 1 with a segment of its recording.
fn apply_session(lake: &Lake, position: u64) {
    let id = Uuid::from_u128(7);
    let (now, ended) = (time(NOON), time(NOON + 9));
    let frame = json!({
        "sessions": [{ "id": id, "startedAt": now, "attributes": { "userId": "u7" } }, { "id": id, "startedAt": now, "endedAt": ended }],
        "sessionRecordings": [{ "sessionId": id, "segmentIndex": 3, "events": [1], "startedAt": now, "endedAt": ended }],
    });
    let body = json!({ "collectionFrames": [frame] }).to_string();
    apply_other(lake, RequestKind::Report, RequestAttributes::default(), body.as_bytes(), position);
}

fn apply_other(lake: &Lake, kind: RequestKind, attributes: RequestAttributes, body: &[u8], position: u64) {
    let header = Header {
        project_number: 1,
        project: ProjectId([7; 16]),
        kind,
        encoding: Encoding::Protobuf,
        coding: Coding::Identity,
        received_ns: NOON,
        settings: IngestSettings::default(),
        prices: NO_TABLE,
        names_max: None,
        attributes,
    };
    let enrichment = EnrichmentSource {
        prices: PriceTable { prices: &[], id: NO_TABLE },
        symbols: None,
        grouping: GroupingSource::BUILT_IN,
    };
    let prepared = prepare(&header, body, usize::MAX, &enrichment).map_err(|refused| refused.error);
    lake.apply(Position(position), NO_KEY, NOON, prepared.expect("a good body").rows);
}

/// A span with attributes of every type, an event and a link.
fn odd_span() -> String {
    let attributes = json!([
        {"key": "", "value": {"stringValue": "without a key"}},
        {"key": "array", "value": {"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "x,\"y\"\r\n"}]}}},
        {"key": "bytes", "value": {"bytesValue": "AAH/"}},
        {"key": "double", "value": {"doubleValue": 0.5}},
        {"key": "twice", "value": {"stringValue": "first"}},
        {"key": "flag", "value": {"boolValue": true}},
        {"key": "twice", "value": {"stringValue": "=second"}},
        {"key": "größe", "value": {"stringValue": "日本\u{0}\"'\n,;"}},
    ]);
    let span = json!({
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "parentSpanId": "00f067aa0ba902b7",
        "kind": 3, "name": "=odd, \"name\"\n", "startTimeUnixNano": (NOON + 1).to_string(),
        "endTimeUnixNano": (NOON + 3).to_string(), "attributes": attributes,
        "events": [{"name": "e", "timeUnixNano": (NOON + 2).to_string(), "attributes": attributes}, {"name": "timeless"}],
        "links": [{"traceId": "0af7651916cd43dd8448eb211c80319d", "spanId": "b7ad6b7169203332", "traceState": "a=b"}],
    });
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string()
}

/// Random telemetry of two projects: in flushed parts, merged parts and memory.
fn lake(folder: &std::path::Path, seed: u64, rounds: usize) -> Lake {
    let options = LakeOptions { background: false, attr_columns_from: Some(64), ..LakeOptions::new(folder) };
    let lake = Lake::open(options).expect("an empty folder becomes a lake");
    let (mut generator, mut body, mut position) = (Generator::new(seed), Vec::new(), 0);
    for round in 0..rounds {
        let period = Period { from_ns: (NOON + round as i64 * 7 * HOUR_NS) as u64, length_ns: HOUR_NS as u64 };
        for (kind, count) in [(Kind::Rich, 400), (Kind::Lean, 20), (Kind::Logs, 60), (Kind::Points, 150)] {
            position += 1;
            generator.request(kind, count, period, &mut body);
            apply(&lake, kind, Encoding::Protobuf, &body, position, 1 + (seed + position) as u32 % 2);
        }
        if round == 0 {
            position += 1;
            apply(&lake, Kind::Rich, Encoding::Json, odd_span().as_bytes(), position, 1);
            position += 1;
            apply_profile(&lake, position);
            position += 1;
            apply_session(&lake, position);
        }
        if seed >> round & 1 == 1 {
            lake.flush().expect("the disk takes it");
        }
    }
    if seed.is_multiple_of(3) {
        lake.merge(NOON + 96 * HOUR_NS).expect("the disk takes it");
    }
    lake
}

fn export(lake: &Lake, plan: &Plan, format: Format) -> Vec<u8> {
    let projects = ProjectIds::new([(1, FIRST)]);
    let cursor = lake.cursor(plan).expect("a plan of all rows");
    let mut export = Export::start(cursor, plan.table, format, projects).expect("it begins");
    let mut file = Vec::new();
    while let Some(bytes) = export.next(&lake.request_memory(), deadline()).expect("it goes on") {
        file.extend(bytes);
    }
    assert!(matches!(export.next(&lake.request_memory(), deadline()), Ok(None)), "it has ended");
    file
}

fn attributes(bytes: &[u8]) -> Value {
    let mut map = BTreeMap::new();
    wire::for_each_attribute_text(bytes, |key, text| drop(map.insert(key.to_owned(), text.into_owned())));
    json!(map)
}

fn listed(list: &[tidewatch_domain::model::KeyValue<'_>]) -> Value {
    json!(list.iter().map(|pair| (pair.key, wire::value_text(pair.value))).collect::<BTreeMap<_, _>>())
}

fn time(time: i64) -> Value {
    Value::from(
        jiff::Timestamp::from_nanosecond(time.into()).expect("a time").strftime("%Y-%m-%dT%H:%M:%S.%9fZ").to_string(),
    )
}

fn hex(bytes: &[u8]) -> Value {
    match bytes.iter().all(|byte| *byte == 0) {
        true => Value::Null,
        false => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into(),
    }
}

/// The JSON that an export holds for a stored cell.
fn expected(name: &str, array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    let arena = Bump::new();
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::UInt8 => array.as_primitive::<UInt8Type>().value(row).into(),
        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
        DataType::UInt32 if name == "project" => match array.as_primitive::<UInt32Type>().value(row) {
            1 => FIRST.to_string().into(),
            other => other.to_string().into(),
        },
        DataType::UInt32 => array.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 if matches!(name, "count" | "event_bytes" | "document_bytes") => {
            array.as_primitive::<UInt64Type>().value(row).into()
        }
        DataType::UInt64 => format!("{:016x}", array.as_primitive::<UInt64Type>().value(row)).into(),
        DataType::Int64 => match (name, array.as_primitive::<Int64Type>().value(row)) {
            ("observed_time" | "start_time" | "end_time", 0) => Value::Null,
            ("time" | "observed_time" | "start_time" | "end_time", at) => time(at),
            (_, number) => number.into(),
        },
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into(),
        DataType::Utf8 => array.as_string::<i32>().value(row).into(),
        DataType::FixedSizeBinary(_) => match (name, hex(array.as_fixed_size_binary().value(row))) {
            ("row_id", Value::String(text)) => Uuid::parse_str(&text).expect("16 bytes").to_string().into(),
            (_, text) => text,
        },
        DataType::Binary => {
            let bytes = array.as_binary::<i32>().value(row);
            let words = || bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
            match name {
                "bounds" => words().map(f64::from_bits).collect(),
                "buckets" => words().collect(),
                "events" => wire::decode_events(bytes, &arena)
                    .iter()
                    .map(|event| {
                        let at = if event.time_ns == 0 { Value::Null } else { time(event.time_ns as i64) };
                        json!({"time": at, "name": event.name, "attributes": listed(event.attributes),
                               "dropped_attributes": event.dropped_attributes})
                    })
                    .collect(),
                "links" => wire::decode_links(bytes, &arena)
                    .iter()
                    .map(|link| {
                        json!({"trace_id": hex(&link.trace_id.0), "span_id": hex(&link.span_id.0),
                               "trace_state": link.trace_state, "attributes": listed(link.attributes),
                               "dropped_attributes": link.dropped_attributes, "flags": link.flags})
                    })
                    .collect(),
                "frames" => profile_stack::frames(bytes)
                    .map(|frame| {
                        json!({"function": frame.function, "file": frame.file, "build_id": frame.build_id,
                               "address": frame.address})
                    })
                    .collect(),
                "native_ids" | "linked_trace_id" | "session_id" | "document" => hex(bytes),
                _ => attributes(bytes),
            }
        }
        other => panic!("no table has a column of {other}"),
    }
}

/// The store's rows as sorted lines of NDJSON.
fn stored(lake: &Lake, plan: &Plan) -> Vec<String> {
    let batch = lake.execute(plan, deadline()).expect("an answer");
    let name = |name: &str| if name == "duration" { "duration_ns".to_owned() } else { name.to_owned() };
    let row = |row: usize| {
        let schema = batch.schema_ref();
        let cells = schema.fields().iter().zip(batch.columns());
        let cells = cells.map(|(field, array)| (name(field.name()), expected(field.name(), array, row)));
        Value::Object(cells.collect()).to_string()
    };
    let mut rows: Vec<String> = (0..batch.num_rows()).map(row).collect();
    rows.sort_unstable();
    rows
}

fn lines(file: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(file).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object")).collect()
}

/// The rows of a Parquet file as lines of NDJSON.
fn parquet_lines(file: Vec<u8>) -> Vec<Value> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).expect("Parquet").build().expect("rows");
    let mut out = Vec::new();
    for batch in reader {
        let batch = batch.expect("rows");
        let mut writer = arrow_json::WriterBuilder::new()
            .with_explicit_nulls(true)
            .with_timestamp_tz_format("%Y-%m-%dT%H:%M:%S%.9fZ".to_owned())
            .build::<_, arrow_json::writer::LineDelimited>(&mut out);
        writer.write(&with_offsets(&batch)).expect("JSON");
        writer.finish().expect("JSON");
    }
    lines(&out)
}

/// The type with time zones as offsets, which arrow formats as strings.
fn with_offset(kind: &DataType) -> DataType {
    let field = |field: &Arc<Field>| Arc::new(field.as_ref().clone().with_data_type(with_offset(field.data_type())));
    match kind {
        DataType::Timestamp(..) => DataType::Timestamp(TimeUnit::Nanosecond, Some("+00:00".into())),
        DataType::List(element) => DataType::List(field(element)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        other => other.clone(),
    }
}

fn with_offsets(batch: &RecordBatch) -> RecordBatch {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns()).map(|(field, array)| {
        let kind = with_offset(field.data_type());
        let array = arrow::compute::cast(array, &kind).expect("the same times");
        (Field::new(field.name(), kind, true), array)
    });
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("the same rows")
}

/// Asserts that a cell of CSV equals the value in the line of NDJSON.
fn assert_cell(cell: &str, value: &Value, at: &str) {
    match value {
        Value::Null => assert_eq!(cell, "", "{at}"),
        Value::String(text) => assert_eq!(cell, text, "{at}"),
        Value::Number(number) if number.is_f64() => {
            assert_eq!(cell.parse::<f64>().ok(), number.as_f64(), "{at}");
        }
        Value::Number(_) | Value::Bool(_) => assert_eq!(cell, value.to_string(), "{at}"),
        Value::Array(_) | Value::Object(_) => {
            assert_eq!(&serde_json::from_str::<Value>(cell).expect("JSON"), value, "{at}");
        }
    }
}

fn check(lake: &Lake, plan: &Plan) -> usize {
    let rows = lines(&export(lake, plan, Format::Ndjson));
    let mut found: Vec<String> = rows.iter().map(Value::to_string).collect();
    found.sort_unstable();
    assert_eq!(found, stored(lake, plan), "{}", plan.table.name());
    assert_eq!(parquet_lines(export(lake, plan, Format::Parquet)), rows, "{}", plan.table.name());
    let file = export(lake, plan, Format::Csv);
    let mut reader = csv::Reader::from_reader(file.as_slice());
    let names = reader.headers().expect("names").clone();
    let cells: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(cells.len(), rows.len());
    for (cells, row) in cells.iter().zip(&rows) {
        for (name, cell) in names.iter().zip(cells) {
            assert_cell(cell, &row[name], name);
        }
    }
    rows.len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_exported_as_they_are_stored(seed in any::<u64>(), rounds in 1..4_usize, cut in 0..20_i64) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lake = lake(folder.path(), seed, rounds);
        for table in Table::ALL {
            let all = plan(table, vec![0, 1, 2], Range::ALL);
            let count = check(&lake, &all);
            prop_assert!(count > 0 || matches!(table, Table::AiTraces | Table::Exceptions | Table::Tasks), "{}", table.name());
            // Each row is before or after the cut, and of one project.
            let moment = NOON + cut * HOUR_NS;
            let before = check(&lake, &plan(table, vec![0, 1, 2], Range { to: moment, ..Range::ALL }));
            let after = check(&lake, &plan(table, vec![0, 1, 2], Range { from: moment, ..Range::ALL }));
            prop_assert_eq!(before + after, count);
            let one = [0, 1, 2].map(|project| check(&lake, &plan(table, vec![project], Range::ALL)));
            prop_assert_eq!(one.iter().sum::<usize>(), count);
        }
    }
}

/// Inserts, flushes and merges during an export do not change it.
#[test]
fn an_export_is_a_snapshot() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lake = lake(folder.path(), 1, 2);
    let plan = plan(Table::Spans, vec![1, 2], Range::ALL);
    let before = stored(&lake, &plan);
    let cursor = lake.cursor(&plan).expect("a plan of all rows");
    let mut export =
        Export::start(cursor, Table::Spans, Format::Ndjson, ProjectIds::new([(1, FIRST)])).expect("it begins");
    let mut file = export.next(&lake.request_memory(), deadline()).expect("a piece").expect("there is one");
    let (mut generator, mut body) = (Generator::new(99), Vec::new());
    generator.request(Kind::Rich, 100, Period { from_ns: NOON as u64, length_ns: HOUR_NS as u64 }, &mut body);
    apply(&lake, Kind::Rich, Encoding::Protobuf, &body, 1000, 1);
    lake.flush().expect("the disk takes it");
    lake.merge(NOON + 96 * HOUR_NS).expect("the disk takes it");
    assert!(stored(&lake, &plan).len() > before.len());
    while let Some(bytes) = export.next(&lake.request_memory(), deadline()).expect("it goes on") {
        file.extend(bytes);
    }
    let mut found: Vec<String> = lines(&file).iter().map(Value::to_string).collect();
    found.sort_unstable();
    assert_eq!(found, before);
}
