//! Shared by the benchmarks: payloads, the clock, the stages, the table.
#![allow(dead_code, clippy::print_stdout, clippy::allow_attributes, reason = "each bench uses its part")]

use std::hint::black_box;
use std::io::Read;

use bumpalo::Bump;
use opentelemetry_proto::tonic::collector::{
    logs::v1::ExportLogsServiceRequest, metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest,
};
use prost::Message;
use tidewatch_domain::decode::{self, Encoding};
use tidewatch_domain::model::{LogBatch, MetricBatch, ProjectId, Signal, TraceBatch};
use tidewatch_domain::project::{self, IngestSettings, ProjectContext};
use tidewatch_store::columns::Rows;

pub struct Payload {
    pub name: &'static str,
    pub signal: Signal,
    /// Number of spans, log records or points.
    pub units: usize,
    pub protobuf: Vec<u8>,
    pub gzip: Vec<u8>,
    pub json: Option<Vec<u8>>,
}

pub struct Row<'a> {
    pub name: &'a str,
    pub ns_per_unit: f64,
}

/// CPU time of this thread in nanoseconds.
pub fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with schedstat");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("schedstat starts with a number")
}

/// CPU time of all threads of a process in nanoseconds.
pub fn process_cpu_ns(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a running process");
    tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split(' ').next()?.parse::<u64>().ok())
        .sum()
}

pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

pub fn payloads() -> Vec<Payload> {
    vec![
        payload("traces512", Signal::Traces, 512),
        payload("traces8192", Signal::Traces, 8192),
        payload("logs512", Signal::Logs, 512),
        payload("metrics2k", Signal::Metrics, 2040),
    ]
}

fn payload(name: &'static str, signal: Signal, units: usize) -> Payload {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bench");
    let gzip = std::fs::read(format!("{folder}/{name}.pb.gz")).expect("the payload is in fixtures/bench");
    let json = std::fs::read(format!("{folder}/{name}.json.gz")).ok().map(|bytes| gunzip(&bytes));
    Payload { name, signal, units, protobuf: gunzip(&gzip), gzip, json }
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut out).expect("a gzip fixture");
    out
}

pub type Stage<'p> = (&'static str, Box<dyn FnMut() + 'p>);

/// All stages of a payload. Ratios are relative to `prost decode`.
pub fn stages(payload: &Payload) -> Vec<Stage<'_>> {
    let context = ProjectContext {
        project: ProjectId([7; 16]),
        received_ns: 1_800_000_000_000_000_000,
        settings: IngestSettings::default(),
    };
    let mut stages: Vec<Stage<'_>> = vec![
        ("prost decode", Box::new(|| prost_decode(payload))),
        ("decode protobuf", {
            let mut workspace = Workspace::default();
            Box::new(move || decode_only(payload, Encoding::Protobuf, &payload.protobuf, &mut workspace))
        }),
    ];
    let (with_rules, mut workspace) = (context.clone(), Workspace::default());
    stages.push(("decode + rules", Box::new(move || decode_and_rules(payload, &with_rules, &mut workspace))));
    let mut workspace = Workspace::default();
    stages.push(("decode + rules + columns", Box::new(move || whole(payload, &context, &mut workspace))));
    if let Some(json) = &payload.json {
        stages.push(("serde_json into generated types", Box::new(|| serde_decode(payload, json))));
        let mut workspace = Workspace::default();
        let decode = move || decode_only(payload, Encoding::Json, json, &mut workspace);
        stages.push(("decode JSON", Box::new(decode)));
    }
    let mut inflated = vec![0; payload.protobuf.len()];
    let mut inflater = libdeflater::Decompressor::new();
    stages.push((
        "gunzip (libdeflate)",
        Box::new(move || {
            black_box(inflater.gzip_decompress(&payload.gzip, &mut inflated).expect("a gzip fixture"));
        }),
    ));
    stages.push((
        "crc32c of the body",
        Box::new(|| {
            black_box(crc32c::crc32c(&payload.protobuf));
        }),
    ));
    stages
}

fn prost_decode(payload: &Payload) {
    let body = payload.protobuf.as_slice();
    match payload.signal {
        Signal::Traces => drop(black_box(ExportTraceServiceRequest::decode(body).expect("a valid fixture"))),
        Signal::Logs => drop(black_box(ExportLogsServiceRequest::decode(body).expect("a valid fixture"))),
        Signal::Metrics => drop(black_box(ExportMetricsServiceRequest::decode(body).expect("a valid fixture"))),
    }
}

fn serde_decode(payload: &Payload, json: &[u8]) {
    match payload.signal {
        Signal::Traces => drop(black_box(serde_json::from_slice::<ExportTraceServiceRequest>(json))),
        Signal::Logs => drop(black_box(serde_json::from_slice::<ExportLogsServiceRequest>(json))),
        Signal::Metrics => drop(black_box(serde_json::from_slice::<ExportMetricsServiceRequest>(json))),
    }
}

/// The memory that a server thread reuses between requests.
#[derive(Default)]
struct Workspace {
    arena: Bump,
    traces: TraceBatch<'static>,
    logs: LogBatch<'static>,
    metrics: MetricBatch<'static>,
}

/// Decodes into reused lists, then evaluates `$then` with the batch and the arena.
macro_rules! decoded {
    ($decode:path, $workspace:ident.$signal:ident, $encoding:expr, $body:expr, |$batch:ident, $arena:ident| $then:expr) => {{
        let Workspace { arena: $arena, $signal: kept, .. } = &mut *$workspace;
        let mut $batch = std::mem::take(kept).recycle();
        $decode($encoding, $body, usize::MAX, $arena, &mut $batch).expect("a valid fixture");
        black_box($then);
        *kept = $batch.recycle();
        $arena.reset();
    }};
}

fn decode_only(payload: &Payload, encoding: Encoding, body: &[u8], workspace: &mut Workspace) {
    match payload.signal {
        Signal::Traces => decoded!(decode::traces_into, workspace.traces, encoding, body, |batch, arena| &batch),
        Signal::Logs => decoded!(decode::logs_into, workspace.logs, encoding, body, |batch, arena| &batch),
        Signal::Metrics => decoded!(decode::metrics_into, workspace.metrics, encoding, body, |batch, arena| &batch),
    }
}

fn decode_and_rules(payload: &Payload, context: &ProjectContext, workspace: &mut Workspace) {
    let (encoding, body) = (Encoding::Protobuf, payload.protobuf.as_slice());
    match payload.signal {
        Signal::Traces => {
            decoded!(decode::traces_into, workspace.traces, encoding, body, |batch, arena| project::traces(
                &batch, context, arena
            ));
        }
        Signal::Logs => decoded!(decode::logs_into, workspace.logs, encoding, body, |batch, arena| project::logs(
            &batch, context, arena
        )),
        Signal::Metrics => {
            decoded!(decode::metrics_into, workspace.metrics, encoding, body, |batch, arena| project::metrics(
                &batch, context, arena
            ));
        }
    }
}

fn whole(payload: &Payload, context: &ProjectContext, workspace: &mut Workspace) {
    let (encoding, body) = (Encoding::Protobuf, payload.protobuf.as_slice());
    match payload.signal {
        Signal::Traces => decoded!(decode::traces_into, workspace.traces, encoding, body, |batch, arena| {
            Rows::traces(1, context, &batch, &project::traces(&batch, context, arena))
        }),
        Signal::Logs => decoded!(decode::logs_into, workspace.logs, encoding, body, |batch, arena| {
            Rows::logs(1, context, &batch, &project::logs(&batch, context, arena))
        }),
        Signal::Metrics => decoded!(decode::metrics_into, workspace.metrics, encoding, body, |batch, arena| {
            Rows::metrics(1, context, &batch, &project::metrics(&batch, context, arena))
        }),
    }
}

pub fn print_table(payload: &Payload, rows: &[Row<'_>]) {
    let base = rows.iter().find(|row| row.name == "prost decode").map_or(f64::NAN, |row| row.ns_per_unit);
    println!("\n# {}: {} units, {} bytes of protobuf", payload.name, payload.units, payload.protobuf.len());
    println!("{:<34} {:>12} {:>14} {:>9}", "stage", "CPU ns/unit", "units/CPU-s", "x prost");
    for row in rows {
        let per_second = 1e9 / row.ns_per_unit;
        println!("{:<34} {:>12.1} {:>14.0} {:>9.2}", row.name, row.ns_per_unit, per_second, base / row.ns_per_unit);
    }
}
