//! Costs without measurement noise: instructions, heap allocations, bytes in memory and bytes at rest per record of the
//! benchmark's exports. A regression gate: the bounds are slightly above the measured values, which are the same on
//! every machine. It is a separate binary, because the counter replaces the global allocator. Instructions are those of
//! the unoptimized test build as counted by callgrind: only their change is meaningful.

use std::io::Read;
use std::path::Path;
use std::process::Command;
use tidewatch_store::TelemetryStore;

use allocation_counter::measure;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, Signal};
use tidewatch_domain::project::IngestSettings;
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::enrichment::{EnrichmentSource, GroupingSource};
use tidewatch_ingest::pipeline::prepare;
use tidewatch_ingest::prices::{NO_TABLE, PriceTable};
use tidewatch_ingest::record::Header;
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_journal::Position;
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_store::columns::NO_KEY;

/// An export of `fixtures/bench` with its maximum costs.
struct Export {
    file: &'static str,
    signal: Signal,
    records: usize,
    /// Per record, from the body to rows.
    allocations_max: f64,
    /// Per record in the memtable, rows of all tables.
    memory_bytes_max: f64,
    /// Per record in parts of eight requests, files of all tables whole.
    rest_bytes_max: f64,
    /// Per record, from the body to rows, in the test build.
    instructions_max: f64,
}

/// Nearly all allocations of traces are lists of the request.
#[rustfmt::skip]
const EXPORTS: [Export; 3] = [
    Export { file: "traces512", signal: Signal::Traces, records: 512, allocations_max: 0.10, memory_bytes_max: 825.0, rest_bytes_max: 42.4, instructions_max: 41_500.0 },
    Export { file: "logs512", signal: Signal::Logs, records: 512, allocations_max: 0.05, memory_bytes_max: 470.0, rest_bytes_max: 19.0, instructions_max: 30_000.0 },
    Export { file: "metrics2k", signal: Signal::Metrics, records: 2040, allocations_max: 0.05, memory_bytes_max: 240.0, rest_bytes_max: 15.8, instructions_max: 27_900.0 },
];

fn body(export: &Export) -> Vec<u8> {
    let path = format!("{}/../../fixtures/bench/{}.pb.gz", env!("CARGO_MANIFEST_DIR"), export.file);
    let gzip = std::fs::File::open(path).expect("the payload is in fixtures/bench");
    let mut body = Vec::new();
    flate2::read::GzDecoder::new(gzip).read_to_end(&mut body).expect("a gzip fixture");
    body
}

fn header(signal: Signal) -> Header {
    Header {
        project_number: 1,
        project: ProjectId([7; 16]),
        kind: signal.into(),
        encoding: Encoding::Protobuf,
        coding: Coding::Identity,
        received_ns: 1_800_000_000_000_000_000,
        settings: IngestSettings::default(),
        prices: NO_TABLE,
        names_max: None,
        attributes: RequestAttributes::default(),
    }
}

const ENRICHMENT: EnrichmentSource = EnrichmentSource {
    prices: PriceTable { prices: &[], id: NO_TABLE },
    symbols: None,
    grouping: GroupingSource::BUILT_IN,
};

/// The environment variable with the export that a child process prepares, and the number of times.
const COUNTED: &str = "TIDEWATCH_COUNTED_EXPORT";

/// A single test: other tests in the process would take the memory that is to be reused.
#[test]
fn a_record_costs_hardly_an_allocation_and_is_small() {
    if let Ok(counted) = std::env::var(COUNTED) {
        return prepare_repeatedly(&counted);
    }
    assert_eq!([allocations(), sizes(), instructions()].concat(), [""; 0]);
}

fn prepare_repeatedly(counted: &str) {
    let (file, times) = counted.split_once(' ').expect("a name and a number");
    let export = EXPORTS.into_iter().find(|export| export.file == file).expect("an export");
    let (header, body) = (header(export.signal), body(&export));
    for _ in 0..times.parse::<u32>().expect("a number") {
        drop(prepare(&header, &body, usize::MAX, &ENRICHMENT).map_err(|refused| refused.error));
    }
}

/// Exports that exceed their maximum of instructions.
fn instructions() -> Vec<String> {
    let mut over = Vec::new();
    for export in EXPORTS {
        // Both counts include the cost of the start.
        let count = |times: u32| collected(&format!("{} {times}", export.file)) as f64;
        let counted = (count(4) - count(2)) / (2 * export.records) as f64;
        if counted > export.instructions_max {
            over.push(format!("{}: {counted:.0} instructions per record", export.file));
        }
    }
    over
}

/// The instructions of this test in a child process that prepares an export repeatedly.
fn collected(counted: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("a test is a program"))
        .arg("a_record_costs")
        .env(COUNTED, counted)
        .output()
        .expect("valgrind is installed (scripts/test.sh does it)");
    let report = String::from_utf8_lossy(&output.stderr);
    let line = report.lines().find_map(|line| line.split_once("Collected :")).map(|(_, count)| count.trim().to_owned());
    line.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("valgrind counts nothing: {report}"))
}

/// Exports that exceed their maximum of allocations.
fn allocations() -> Vec<String> {
    let mut over = Vec::new();
    for export in EXPORTS {
        let (header, body) = (header(export.signal), body(&export));
        let prepare = || drop(prepare(&header, &body, usize::MAX, &ENRICHMENT).map_err(|refused| refused.error));
        // The first requests of a thread allocate memory that later ones reuse.
        (0..3).for_each(|_| prepare());
        let counted = measure(prepare).count_total as f64 / export.records as f64;
        if counted > export.allocations_max {
            over.push(format!("{}: {counted:.3} allocations per record", export.file));
        }
    }
    over
}

/// Exports that exceed their maximum of bytes in the memtable or at rest.
fn sizes() -> Vec<String> {
    let mut over = Vec::new();
    for export in EXPORTS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lake = Lake::open(LakeOptions { background: false, ..LakeOptions::new(folder.path()) }).expect("it opens");
        let body = body(&export);
        for request in 1..=8 {
            // Each request is of another project, so that none is a retry.
            let header = Header { project_number: request, ..header(export.signal) };
            let prepared =
                prepare(&header, &body, usize::MAX, &ENRICHMENT).map_err(|refused| refused.error).expect("valid");
            lake.apply(Position(request.into()), NO_KEY, header.received_ns, prepared.rows);
        }
        let bytes = lake.stats().memory_bytes as f64 / (8 * export.records) as f64;
        if bytes > export.memory_bytes_max {
            over.push(format!("{}: {bytes:.0} bytes per record in memory", export.file));
        }
        lake.flush().expect("the disk works");
        let bytes = bytes_below(&folder.path().join("parts")) as f64 / (8 * export.records) as f64;
        if bytes > export.rest_bytes_max {
            over.push(format!("{}: {bytes:.1} bytes per record at rest", export.file));
        }
    }
    over
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let bytes = entries.map(|entry| match entry.file_type().expect("a type").is_dir() {
        true => bytes_below(&entry.path()),
        false => entry.metadata().expect("a size").len(),
    });
    bytes.sum()
}
