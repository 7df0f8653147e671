//! One file per group of goals. Each returns numbers and prints only its progress.

pub mod ack;
pub mod data;
pub mod grpc;
pub mod live_tail;
pub mod machine;
pub mod memory;
pub mod native;
pub mod profiles;
pub mod reads;
pub mod recordings;
pub mod stages;
pub mod stalls;
pub mod start;
pub mod sustained;

use std::path::Path;
use std::time::Duration;

use tidewatch_bench::ingest::Exports;
use tidewatch_bench::load::{Pace, Plan};
use tidewatch_bench::payload::Payload;
use tidewatch_domain::model::Signal;

use crate::server::Server;

pub const CONNECTIONS: usize = 8;

pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A payload of `fixtures/bench`.
pub fn fixture(name: &str, signal: Signal) -> Payload {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bench");
    Payload::read(Path::new(&format!("{folder}/{name}.pb.gz")), signal).expect("the payload is in fixtures/bench")
}

pub fn exports(server: &Server, token: &str, payloads: Vec<Payload>, gzip: bool) -> Exports {
    let headers = vec![format!("Authorization: Bearer {token}")];
    Exports::new(&server.otlp(), payloads, gzip, headers).expect("our own address")
}

/// Bytes of the parts of these tables in a data directory.
pub fn bytes_of_tables(data: &Path, tables: &[&str]) -> u64 {
    tables.iter().map(|table| bytes(&data.join("parts").join(table))).sum()
}

fn bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    entries.map(|entry| entry.path()).map(|path| if path.is_dir() { bytes(&path) } else { size(&path) }).sum()
}

/// Closed-loop load after a short warm-up.
pub fn closed(exports: &Exports, duration: Duration) -> Plan {
    let warm_up = Duration::from_millis(300);
    Plan { target: exports.target.clone(), connections: CONNECTIONS, pace: Pace::Closed, duration, warm_up }
}
