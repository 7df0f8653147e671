//! What noise cannot hide: heap allocations and bytes in memory per record of the benchmark's exports. A regression gate:
//! the bounds are a little above what is measured, and every machine counts alike. Its own binary, for the counter
//! replaces the global allocator.

use std::io::Read;

use allocation_counter::measure;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, Signal};
use tidewatch_domain::project::IngestSettings;
use tidewatch_journal::Position;
use tidewatch_server::ingest::coding::Coding;
use tidewatch_server::ingest::knowledge::Knowledge;
use tidewatch_server::ingest::pipeline::prepare;
use tidewatch_server::ingest::record::Header;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::lake::{Lake, LakeOptions};

/// An export of `fixtures/bench`, and what it may cost.
struct Export {
    file: &'static str,
    signal: Signal,
    records: usize,
    /// Per record, from the body to rows.
    allocations_max: f64,
    /// Per record in the memtable, rows of all tables.
    memory_bytes_max: f64,
}

/// Of the traces' allocations most are three answers of models, read as JSON, and eight stack traces.
#[rustfmt::skip]
const EXPORTS: [Export; 3] = [
    Export { file: "traces512", signal: Signal::Traces, records: 512, allocations_max: 0.3, memory_bytes_max: 900.0 },
    Export { file: "logs512", signal: Signal::Logs, records: 512, allocations_max: 0.05, memory_bytes_max: 500.0 },
    Export { file: "metrics2k", signal: Signal::Metrics, records: 2040, allocations_max: 0.05, memory_bytes_max: 550.0 },
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
        signal,
        encoding: Encoding::Protobuf,
        coding: Coding::Identity,
        received_ns: 1_800_000_000_000_000_000,
        settings: IngestSettings::default(),
    }
}

const KNOWLEDGE: Knowledge = Knowledge { prices: &[], symbols: None };

/// One test: others in the process would take the memory that is to be reused.
#[test]
fn a_record_costs_hardly_an_allocation_and_is_small_in_memory() {
    assert_eq!([allocations(), memory()].concat(), [""; 0]);
}

/// Exports that allocate more than they may.
fn allocations() -> Vec<String> {
    let mut over = Vec::new();
    for export in EXPORTS {
        let (header, body) = (header(export.signal), body(&export));
        let prepare = || drop(prepare(&header, &body, usize::MAX, &KNOWLEDGE).map_err(|refused| refused.error));
        // The first requests of a thread make what later ones reuse.
        (0..3).for_each(|_| prepare());
        let counted = measure(prepare).count_total as f64 / export.records as f64;
        if counted > export.allocations_max {
            over.push(format!("{}: {counted:.3} allocations per record", export.file));
        }
    }
    over
}

/// Exports that take more in the memtable than they may.
fn memory() -> Vec<String> {
    let mut over = Vec::new();
    for export in EXPORTS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let lake = Lake::open(LakeOptions { background: false, ..LakeOptions::new(folder.path()) }).expect("it opens");
        let body = body(&export);
        for request in 1..=8 {
            // Another project each time: nothing is a retry.
            let header = Header { project_number: request, ..header(export.signal) };
            let prepared =
                prepare(&header, &body, usize::MAX, &KNOWLEDGE).map_err(|refused| refused.error).expect("valid");
            lake.apply(Position(request.into()), NO_KEY, header.received_ns, prepared.rows);
        }
        let bytes = lake.stats().memory_bytes as f64 / (8 * export.records) as f64;
        if bytes > export.memory_bytes_max {
            over.push(format!("{}: {bytes:.0} bytes per record in memory", export.file));
        }
    }
    over
}
