//! Test requests, a lake to apply them to, and the content of tables as comparable rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};
use tidewatch_store::TelemetryStore;

use arrow::array::{ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, UInt32Type, UInt64Type};
use arrow::row::{RowConverter, SortField};
use parking_lot::Mutex;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::TempDir;
use tidewatch_domain::model::{
    AnyValue, KeyValue, LogBatch, LogRecord, ProjectId, Resource, RowId, Scope, Slice, Span, SpanId, SpanKind,
    TraceBatch, TraceId,
};
use tidewatch_domain::project::{
    DropReason, Dropped, Entity, EntityKind, IngestSettings, KeptLog, KeptSpan, LogProjection, ProjectContext,
    Promoted, TraceProjection,
};
pub use tidewatch_domain::units::{DAY_NS, SECOND_NS};
use tidewatch_journal::disk::Disk;
use tidewatch_journal::disk::sim::SimDisk;

use crate::catalog::{Probe, Step};
use crate::{Clock, Lake, LakeOptions, MergeOptions, Part, RollupOptions, Source, scan};
use tidewatch_store::StoreError;
use tidewatch_store::answer::Answer;
use tidewatch_store::arrow_schema;
use tidewatch_store::columns::Rows;
use tidewatch_store::plan::{Filter, Function, Key, KeySource, Plan, Shape};
use tidewatch_store::tables::Table;

/// 2026-11-21 00:00 UTC.
pub const TODAY_NS: i64 = 20_778 * DAY_NS;

/// One span of a test request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestSpan {
    pub trace: u8,
    pub span: u8,
    pub time_ns: i64,
    /// A kept SERVER span is an Endpoint too; false: the rules drop it as an unmatched root.
    pub kept: bool,
}

pub fn span(trace: u8, span: u8, time_ns: i64) -> TestSpan {
    TestSpan { trace, span, time_ns, kept: true }
}

pub fn context() -> ProjectContext {
    ProjectContext { project: ProjectId([7; 16]), received_ns: TODAY_NS, settings: IngestSettings::default() }
}

/// The rows of a request with these spans, of kind SERVER.
pub fn request(project: u32, spans: &[TestSpan]) -> Rows {
    request_of(project, spans, SpanKind::Server)
}

/// The rows of a request with these spans, each an Endpoint.
pub fn request_of(project: u32, spans: &[TestSpan], kind: SpanKind) -> Rows {
    request_as(project, spans, &vec![("shop", "GET /cart"); spans.len()], kind)
}

/// Like [`request`], with the service and the Endpoint of each span.
pub fn request_named(project: u32, spans: &[TestSpan], names: &[(&str, &str)]) -> Rows {
    request_as(project, spans, names, SpanKind::Server)
}

fn request_as(project: u32, spans: &[TestSpan], names: &[(&str, &str)], kind: SpanKind) -> Rows {
    let attributes = vec![
        KeyValue { key: "service.name", value: AnyValue::Str("shop") },
        KeyValue { key: "http.request.method", value: AnyValue::Str("GET") },
        KeyValue { key: "size", value: AnyValue::Int(12) },
    ];
    let model = |span: &TestSpan| Span {
        trace_id: TraceId([span.trace; 16]),
        span_id: SpanId([span.span; 8]),
        name: "GET /cart",
        kind,
        start_ns: span.time_ns as u64,
        end_ns: span.time_ns as u64 + 5,
        attributes: Slice { start: 1, end: 3 },
        ..Span::default()
    };
    let batch = TraceBatch {
        resources: vec![Resource { attributes: Slice { start: 0, end: 1 }, ..Resource::default() }],
        scopes: vec![Scope { name: "test", ..Scope::default() }],
        spans: spans.iter().map(model).collect(),
        attributes,
        ..TraceBatch::default()
    };
    let mut projection = TraceProjection::default();
    for (index, span) in spans.iter().enumerate() {
        if !span.kept {
            projection.dropped.push(Dropped { record: index as u32, reason: DropReason::UnmatchedRoot });
            continue;
        }
        projection.entities.push(Entity {
            kind: EntityKind::Endpoint,
            span: index as u32,
            kept: projection.spans.len() as u32,
            row_id: RowId([span.trace, span.span, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            name: names[index].1,
            status_code: 200,
            is_root: true,
            is_stream: false,
            is_error: false,
            client_ip: "",
            body_size: 0,
            linked_trace: TraceId::default(),
        });
        projection.spans.push(KeptSpan {
            span: index as u32,
            start_ns: span.time_ns,
            duration_ns: 5,
            server_name: names[index].0,
            app_version: "",
            promoted: Promoted { endpoint: true, ..Promoted::default() },
            http_status: 200,
            weight: 1.0,
            peer: None,
            is_error: false,
        });
    }
    Rows::traces(project, &context(), &batch, &projection)
}

/// A log export with one record.
pub fn log_request(project: u32, body: &str) -> Rows {
    logs_request(project, &[(body, TODAY_NS)])
}

/// A log export: body and time of each record.
pub fn logs_request(project: u32, logs: &[(&str, i64)]) -> Rows {
    let batch = LogBatch {
        resources: vec![Resource::default()],
        scopes: vec![Scope::default()],
        records: logs.iter().map(|(_, time)| LogRecord { time_ns: *time as u64, ..LogRecord::default() }).collect(),
        ..LogBatch::default()
    };
    let log = |(record, &(body, time_ns))| KeptLog {
        record,
        time_ns,
        server_name: "shop",
        severity_text: "",
        severity_number: 0,
        body,
    };
    let projection = LogProjection { logs: (0..).zip(logs).map(log).collect(), ..LogProjection::default() };
    Rows::logs(project, &context(), &batch, &projection)
}

/// A wall clock and a monotonic clock under the control of the test; both in nanoseconds.
#[derive(Debug, Default)]
pub struct TestClock {
    wall: AtomicI64,
    uptime: AtomicI64,
}

impl TestClock {
    pub fn at(wall: i64) -> Arc<TestClock> {
        Arc::new(TestClock { wall: AtomicI64::new(wall), uptime: AtomicI64::new(0) })
    }

    /// Advances both clocks.
    pub fn pass(&self, time: i64) {
        self.jump(time);
        self.uptime.fetch_add(time, Ordering::Relaxed);
    }

    /// Moves the wall clock only.
    pub fn jump(&self, by: i64) {
        self.wall.fetch_add(by, Ordering::Relaxed);
    }

    pub fn now(&self) -> i64 {
        self.wall.load(Ordering::Relaxed)
    }
}

impl Clock for TestClock {
    fn now_ns(&self) -> i64 {
        self.now()
    }

    fn uptime(&self) -> Duration {
        Duration::from_nanos(self.uptime.load(Ordering::Relaxed) as u64)
    }
}

/// A lake on a simulated disk with its catalog in a temporary folder and without background threads.
pub struct Bench {
    folder: TempDir,
    pub disk: SimDisk,
    pub catalog_probe: Option<Probe>,
}

impl Bench {
    pub fn new(seed: u64) -> Bench {
        Bench { folder: TempDir::new().expect("a temporary folder"), disk: SimDisk::new(seed), catalog_probe: None }
    }

    pub fn options(&self) -> LakeOptions {
        LakeOptions {
            catalog: self.folder.path().join("catalog.sqlite"),
            disk: Arc::new(self.disk.clone()),
            flush_age: Duration::from_secs(3600),
            merge: MergeOptions { fan_in: 3, rows_max: 1000, ..MergeOptions::default() },
            attr_columns_from: Some(2),
            rollups: RollupOptions::ALWAYS,
            catalog_probe: self.catalog_probe.clone(),
            background: false,
            ..LakeOptions::new("/data")
        }
    }

    pub fn open(&self) -> Lake {
        Lake::open(self.options()).expect("the lake opens")
    }

    /// A bench with a catalog whose steps can fail.
    pub fn failing(seed: u64) -> (Bench, CatalogFault) {
        let fault = CatalogFault::default();
        let bench = Bench { catalog_probe: Some(fault.probe()), ..Bench::new(seed) };
        (bench, fault)
    }

    /// Parts and key files that the lake lists.
    pub fn registered(lake: &Lake) -> usize {
        let stats = lake.stats();
        stats.tables.iter().map(|table| table.parts).sum::<usize>() + stats.key_files
    }

    /// Every file of the lake except its lock.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        collect(&self.disk, Path::new("/data"), &mut files);
        files.retain(|path| !path.ends_with("lake.lock"));
        files
    }
}

/// The steps of the catalog that fail, and how often.
#[derive(Clone, Default)]
pub struct CatalogFault(Arc<Mutex<Vec<(Step, usize)>>>);

impl CatalogFault {
    /// Makes subsequent steps fail this often.
    pub fn set(&self, faults: &[(Step, usize)]) {
        *self.0.lock() = faults.to_vec();
    }

    fn probe(&self) -> Probe {
        let faults = Arc::clone(&self.0);
        Arc::new(move |step| {
            let mut faults = faults.lock();
            let Some((_, left)) = faults.iter_mut().find(|(at, left)| *at == step && *left > 0) else { return Ok(()) };
            *left -= 1;
            let error = rusqlite::ffi::Error { code: rusqlite::ErrorCode::SystemIoFailure, extended_code: 10 };
            Err(rusqlite::Error::SqliteFailure(error, Some(format!("injected at {step:?}"))))
        })
    }
}

fn collect(disk: &SimDisk, folder: &Path, files: &mut Vec<PathBuf>) {
    files.extend(disk.list(folder).expect("folders can be listed").into_iter().map(|(path, _)| path));
    for folder in disk.list_dirs(folder).expect("folders can be listed") {
        collect(disk, &folder, files);
    }
}

pub fn everything(table: Table) -> Plan {
    Plan {
        table,
        projects: (0..10).collect(),
        from: i64::MIN,
        to: i64::MAX,
        filter: Filter::True,
        shape: Shape::Rows { columns: vec!["time"], order: Vec::new(), limit: usize::MAX, offset: 0 },
    }
}

/// The part's rows with all of their attributes.
pub fn try_read(part: &Part) -> Result<Vec<RecordBatch>, StoreError> {
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(part.file()?, part.metadata()?);
    let columns = part.attr_columns()?;
    let reader = builder.build().map_err(|e| crate::error::parquet(part.path(), e))?;
    reader.map(|batch| columns.fold(&batch.map_err(|e| part.damaged(&e))?)).collect()
}

/// Every row of the table as batches.
pub fn batches(lake: &Lake, table: Table) -> Vec<RecordBatch> {
    let read = |source: Source| match source {
        Source::Memory(batch) => vec![tidewatch_columnar::materialize::plain(&batch)],
        Source::Part(part) => try_read(&part).expect("the part is readable"),
    };
    lake.sources(&everything(table)).into_iter().flat_map(read).collect()
}

/// Every row of the table as bytes that are equal when the rows are, sorted.
pub fn contents(lake: &Lake, table: Table) -> Vec<Vec<u8>> {
    let fields = arrow_schema(table).fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
    let converter = RowConverter::new(fields).expect("every column can be compared");
    let mut rows = Vec::new();
    for batch in batches(lake, table) {
        let columns: Vec<ArrayRef> = batch.columns().to_vec();
        let converted = converter.convert_columns(&columns).expect("the batch has the table's columns");
        rows.extend(converted.iter().map(|row| row.data().to_vec()));
    }
    rows.sort();
    rows
}

/// (project, trace, span, time) of every stored span, sorted.
pub fn stored_spans(lake: &Lake) -> Vec<(u32, u8, u8, i64)> {
    let mut spans = Vec::new();
    for batch in batches(lake, Table::Spans) {
        let column = |name: &str| batch.column_by_name(name).expect("spans have the column").clone();
        let (project, time) = (column("project"), column("time"));
        let (trace, span) = (column("trace_id"), column("span_id"));
        for row in 0..batch.num_rows() {
            spans.push((
                project.as_primitive::<UInt32Type>().value(row),
                trace.as_fixed_size_binary().value(row)[0],
                span.as_fixed_size_binary().value(row)[0],
                time.as_primitive::<Int64Type>().value(row),
            ));
        }
    }
    spans.sort_unstable();
    spans
}

/// The number of Endpoint rows from roll-ups; asserts that the roll-ups agree with the rows.
pub fn rolled_endpoints(lake: &Lake) -> u64 {
    let aggregates = vec![
        Function::Count.named("count"),
        Function::Max("time").named("latest"),
        Function::Sum("duration").named("total"),
        // Small numbers are exact in a sketch.
        Function::Quantiles { column: "duration", qs: vec![0.5] }.named("median"),
    ];
    let execute = |from, keys: Vec<Key>| {
        let shape =
            Shape::Groups { keys, aggregates: aggregates.clone(), order: Vec::new(), limit: usize::MAX, offset: 0 };
        let plan = Plan { from, shape, ..everything(Table::Endpoints) };
        let deadline = Instant::now() + Duration::from_secs(60);
        let rolled = lake.execute(&plan, deadline).expect("the plan is good");
        assert!(scan::can_use_rollups(&plan).expect("the plan is good"));
        assert_eq!(rolled, scan::run(&plan, &lake.sources(&plan), deadline).expect("the plan is good"));
        Answer::new(rolled)
    };
    let hours = KeySource::TimeBucket { origin: 0, width: 3600 * SECOND_NS }.named("hour");
    execute(i64::MIN, vec![hours, Key::column("name")]);
    execute(TODAY_NS - 3 * DAY_NS + 7, vec![Key::column("project")]);
    execute(i64::MIN, Vec::new()).u64("count").expect("a count").at(0)
}

/// The sum of the counts with this outcome and reason.
pub fn counted(lake: &Lake, outcome: &str, reason: &str) -> u64 {
    let mut sum = 0;
    for batch in batches(lake, Table::IngestCounts) {
        let text = |name: &str| batch.column_by_name(name).expect("counts have the column").as_string::<i32>().clone();
        let (outcomes, reasons) = (text("outcome"), text("reason"));
        let counts = batch.column_by_name("count").expect("counts have a count").as_primitive::<UInt64Type>();
        sum += (0..batch.num_rows())
            .filter(|row| outcomes.value(*row) == outcome && reasons.value(*row) == reason)
            .map(|row| counts.value(row))
            .sum::<u64>();
    }
    sum
}
