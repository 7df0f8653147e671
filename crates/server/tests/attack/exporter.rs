//! Well-behaved exporters: one batch every 200 ms, one persistent connection each.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::MissedTickBehavior;

use super::otlp::{span, traces};

const EXPORTERS: u64 = 5;
const BATCHES: u64 = 40;
/// The default timeout of OpenTelemetry SDKs.
const PATIENCE: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Outcome {
    pub accepted: u64,
    /// Accepted after more than [`PATIENCE`].
    pub late: u64,
    pub refused: u64,
    pub elapsed: Duration,
    pub slowest: Duration,
}

impl Outcome {
    pub fn accepted_per_second(&self) -> f64 {
        self.accepted as f64 / self.elapsed.as_secs_f64()
    }
}

/// Runs all exporters. `run` makes the spans of each run different.
pub async fn run(address: SocketAddr, token: &str, run: u64) -> Outcome {
    let start = Instant::now();
    let exporters: Vec<_> =
        (0..EXPORTERS).map(|number| tokio::spawn(exporter(address, token.to_owned(), run, number))).collect();
    let mut outcome = Outcome { accepted: 0, late: 0, refused: 0, elapsed: Duration::ZERO, slowest: Duration::ZERO };
    for exporter in exporters {
        let one = exporter.await.expect("no panic");
        outcome.accepted += one.accepted;
        outcome.late += one.late;
        outcome.refused += one.refused;
        outcome.slowest = outcome.slowest.max(one.slowest);
    }
    outcome.elapsed = start.elapsed();
    outcome
}

async fn exporter(address: SocketAddr, token: String, run: u64, number: u64) -> Outcome {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let begun = Instant::now();
    let mut outcome = Outcome { accepted: 0, late: 0, refused: 0, elapsed: Duration::ZERO, slowest: Duration::ZERO };
    for batch in 0..BATCHES {
        ticks.tick().await;
        let first = (run << 16) + (number * BATCHES + batch) * 50;
        let body = traces((first..first + 50).map(span).collect());
        let start = Instant::now();
        match post(&mut stream, &token, "", &body).await {
            200 => {
                outcome.accepted += 1;
                outcome.late += u64::from(start.elapsed() > PATIENCE);
            }
            _ => outcome.refused += 1,
        }
        outcome.slowest = outcome.slowest.max(start.elapsed());
    }
    outcome.elapsed = begun.elapsed();
    outcome
}

/// Sends one export on a persistent connection; returns the status.
pub async fn post(stream: &mut TcpStream, token: &str, headers: &str, body: &[u8]) -> u16 {
    try_post(stream, token, headers, body).await.expect("an answer")
}

/// Like [`post`]; `None` if the connection broke.
pub async fn try_post(stream: &mut TcpStream, token: &str, headers: &str, body: &[u8]) -> Option<u16> {
    let headers = format!("Authorization: Bearer {token}\r\n{headers}Content-Type: application/x-protobuf\r\n");
    try_send(stream, "/api/otel/v1/traces", &headers, body).await
}

/// Like [`try_post`], to any path.
pub async fn try_send(stream: &mut TcpStream, path: &str, headers: &str, body: &[u8]) -> Option<u16> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\n{headers}Content-Length: {length}\r\n\r\n");
    // The server does not read all of a refused body: write errors are ignored.
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body).await;
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        if bytes.len() >= end + 4 + length.unwrap_or(0) {
            return head.split(' ').nth(1).and_then(|status| status.parse().ok());
        }
    }
}
