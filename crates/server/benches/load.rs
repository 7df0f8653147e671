//! End to end: the real binary under load, beside "hyper + prost decode, discard" in the same run.
//!
//! CPU time of the server process per span is the figure that noise touches least; latencies are for orientation.
//! `LOAD_SECONDS` (default 4) is the length of a round, `LOAD_ROUNDS` (default 3) how many are alternated.
#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "a benchmark prints its table")]

#[path = "load/baseline.rs"]
mod baseline;
#[path = "load/client.rs"]
mod client;
mod support;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use client::{Outcome, Request, drive, free_address, register, wait_ready};
use support::{median, payloads, process_cpu_ns};

const CONNECTIONS: usize = 8;

fn main() {
    if std::env::var_os("LOAD_BASELINE").is_some() {
        return baseline::serve(&std::env::var("LOAD_LISTEN").expect("the parent sets LOAD_LISTEN"));
    }
    let round = Duration::from_secs(setting("LOAD_SECONDS", 4));
    let rounds = setting("LOAD_ROUNDS", 3) as usize;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let baseline = Server::baseline();
    let tidewatch = Server::tidewatch(folder.path());
    let token = register(&tidewatch.address);

    println!("\n# end to end, {CONNECTIONS} connections, {rounds} alternated rounds of {} s", round.as_secs());
    println!(
        "{:<34} {:>14} {:>12} {:>10} {:>10} {:>10}",
        "server and body", "CPU ns/unit", "units/CPU-s", "wall req/s", "p50 ms", "p99 ms"
    );
    for payload in payloads().into_iter().filter(|payload| payload.name != "traces8192") {
        for gzip in [false, true] {
            let request = |token: &str| Request::new(&payload, gzip, token);
            let mut lines = [Vec::new(), Vec::new()];
            for _ in 0..rounds {
                for (index, server) in [&baseline, &tidewatch].into_iter().enumerate() {
                    let before = process_cpu_ns(server.process.id());
                    let outcome = drive(&server.address, &request(&token), CONNECTIONS, round);
                    let spent = process_cpu_ns(server.process.id()) - before;
                    lines[index].push((spent as f64 / (outcome.accepted() * payload.units) as f64, outcome));
                }
            }
            for (name, line) in ["hyper + prost, discard", "tidewatch"].into_iter().zip(lines) {
                let label = format!("{name}: {}{}", payload.name, if gzip { ".gz" } else { "" });
                print_line(&label, line, round);
            }
        }
    }
    sustained(&tidewatch, &token, round);
    println!("\nserver memory at the end: {}", memory(tidewatch.process.id()));
}

/// Everything included: the ack path, flushes and merges, until the server is quiet again.
fn sustained(server: &Server, token: &str, round: Duration) {
    let payload = payloads().into_iter().next().expect("the first payload is traces512");
    let before = process_cpu_ns(server.process.id());
    let outcome = drive(&server.address, &Request::new(&payload, false, token), CONNECTIONS, round * 4);
    wait_quiet(server.process.id());
    let spent = process_cpu_ns(server.process.id()) - before;
    let spans = outcome.accepted() * payload.units;
    println!("\nsustained until quiet: {spans} spans, {:.0} spans per CPU-second", spans as f64 * 1e9 / spent as f64);
}

fn wait_quiet(pid: u32) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut last = process_cpu_ns(pid);
    while Instant::now() < deadline {
        std::thread::park_timeout(Duration::from_secs(2));
        let now = process_cpu_ns(pid);
        if now - last < 40_000_000 {
            return;
        }
        last = now;
    }
}

fn print_line(label: &str, line: Vec<(f64, Outcome)>, round: Duration) {
    let cpu = median(line.iter().map(|(cpu, _)| *cpu).collect());
    let per_second = median(line.iter().map(|(_, outcome)| outcome.accepted() as f64 / round.as_secs_f64()).collect());
    let p50 = median(line.iter().map(|(_, outcome)| outcome.quantile_ms(0.5)).collect());
    let p99 = median(line.iter().map(|(_, outcome)| outcome.quantile_ms(0.99)).collect());
    println!("{label:<34} {cpu:>14.1} {:>12.0} {per_second:>10.0} {p50:>10.2} {p99:>10.2}", 1e9 / cpu);
    let refused: usize = line.iter().map(|(_, outcome)| outcome.refused).sum();
    if refused > 0 {
        println!("{:<34} {refused} answers were not 200", "");
    }
}

fn memory(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A server process; killed when dropped.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn baseline() -> Self {
        let address = free_address();
        let myself = std::env::current_exe().expect("the path of this benchmark");
        let mut command = Command::new(myself);
        command.env("LOAD_BASELINE", "1").env("LOAD_LISTEN", &address);
        Self::start(command, address)
    }

    fn tidewatch(data: &std::path::Path) -> Self {
        let binary = std::env::var("TIDEWATCH_BIN").expect("TIDEWATCH_BIN names the release binary");
        let address = free_address();
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", &address, "--data-dir"]).arg(data);
        Self::start(command, address)
    }

    fn start(mut command: Command, address: String) -> Self {
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the server starts");
        wait_ready(&address);
        Server { process, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
