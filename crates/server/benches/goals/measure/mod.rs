//! One file per group of goals. Each returns numbers and prints only its progress.

pub mod ack;
pub mod data;
pub mod grpc;
pub mod machine;
pub mod memory;
pub mod reads;
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

/// Closed-loop load after a short warm-up.
pub fn closed(exports: &Exports, duration: Duration) -> Plan {
    let warm_up = Duration::from_millis(300);
    Plan { target: exports.target.clone(), connections: CONNECTIONS, pace: Pace::Closed, duration, warm_up }
}
