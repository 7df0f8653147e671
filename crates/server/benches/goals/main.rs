//! `make bench`: measures every goal on the release binary and prints one table.
//!
//! - `goals`: target values. `measure/`: measurements, one file per group of goals. `table`: output.
//! - `server`: processes to measure. `baseline`: the server to compare with. `settings`: what to run.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::allow_attributes, reason = "a benchmark prints its table")]

mod baseline;
mod goals;
mod measure;
#[path = "../../tests/support/ports.rs"]
mod ports;
mod server;
mod settings;
mod table;

use std::time::Duration;

use goals::Measured;
use measure::{
    ack, data, grpc, live_tail, machine, memory, native, profiles, reads, recordings, stages, stalls, start, sustained,
};
use settings::Settings;
use tidewatch_limits::clock::Clock;
use tidewatch_query::time;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if let Ok(address) = std::env::var("BENCH_BASELINE") {
        return baseline::serve(&address);
    }
    let settings = Settings::read();
    std::fs::create_dir_all(&settings.folder).expect("the folder for benchmarks can be made");
    let begun = std::time::Instant::now();
    let doing = |what: &str| eprintln!("[{:>4.0} s] {what}", begun.elapsed().as_secs_f64());

    doing("the bare machine");
    let mut bare = machine::lines(&settings.folder, Duration::from_secs(1));
    let mut results: Vec<Measured> = Vec::new();
    if settings.wants("G1") || settings.wants("G4") {
        doing("stages, allocations, instructions");
        results.extend(stages::measure(&settings));
    }
    if settings.wants("G2") || settings.wants("G3") {
        doing("the ack path beside hyper + prost");
        results.extend(ack::measure(&settings));
    }
    if settings.wants("G11") {
        doing("gRPC beside HTTP");
        results.push(grpc::measure(&settings));
    }
    if settings.wants("G12") {
        doing("native reports beside OTLP JSON");
        results.push(native::measure(&settings));
    }
    if settings.wants("G13") {
        doing("recordings of sessions, until quiet");
        results.extend(recordings::measure(&settings));
    }
    if settings.wants("G14") {
        doing("a day of profiles, until quiet");
        results.extend(profiles::measure(&settings));
    }
    if settings.wants("G15g") || settings.wants("G15h") {
        doing("a live tail of logs");
        results.extend(live_tail::measure(&settings));
    }
    if settings.wants("G5") || settings.wants("G9b") {
        doing("sustained load, until quiet");
        results.extend(sustained::measure(&settings));
    }
    let mut lines = Vec::new();
    let reads = reads::are_wanted(&settings);
    if reads || ["G6", "G7", "G9a", "G10"].iter().any(|group| settings.wants(group)) {
        doing("the data set");
        let (folder, manifest) = data::large(&settings);
        if settings.wants("G6") {
            doing("bytes at rest");
            results.extend(data::weigh(&settings, &manifest));
        }
        if settings.wants("G9a") {
            doing("an idle server");
            results.push(memory::measure(&settings, &folder));
        }
        if settings.wants("G10") {
            doing("starting, with and without a replay");
            results.extend(start::measure(&settings, &folder));
        }
        if reads {
            doing("reads, cold and warm");
            let (measured, read) = reads::measure(&settings, &folder);
            results.extend(measured);
            lines = read;
        }
        if settings.wants("G7") {
            doing("half of saturation, reads beside");
            results.extend(stalls::measure(&settings, &folder));
        }
    }
    bare.push(format!("took {:.0} s", begun.elapsed().as_secs_f64()));
    report(&settings, bare, &results, &lines);
}

fn report(settings: &Settings, bare: Vec<String>, results: &[Measured], lines: &[reads::Line]) {
    let date = time::to_rfc3339(Clock::system().now_ns()).split('T').next().unwrap_or_default().to_owned();
    let run =
        table::Run { date, commit: settings.commit.clone(), machine: machine_shape(), shape: settings.shape(), bare };
    let mut text = table::markdown(&run, results);
    if !lines.is_empty() {
        text.push_str("\n| read | cold ms | p50 ms | p99 ms | CPU ms | bytes |\n|---|---|---|---|---|---|\n");
    }
    for line in lines {
        let at = |share| line.timed.warm.quantile(share);
        let (cpu, bytes) = (line.timed.cpu_ms.unwrap_or(f64::NAN), line.timed.bytes);
        let (p50, p99) = (at(0.5), at(0.99));
        text.push_str(&format!("| {} | {:.1} | {p50:.1} | {p99:.1} | {cpu:.1} | {bytes} |\n", line.name, line.cold_ms));
    }
    let write = |name: &str, content: &str| {
        let path = settings.folder.join(name);
        match std::fs::write(&path, content) {
            Ok(()) => eprintln!("written to {}", path.display()),
            Err(error) => eprintln!("cannot write {}: {error}", path.display()),
        }
    };
    write("last.md", &text);
    write("last.json", &table::json(&run, results).to_string());
    println!("\n{text}");
}

/// Cores and processor family, without anything that identifies the machine.
fn machine_shape() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split(':').nth(1));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{cores} cores, {}", model.unwrap_or("an unnamed processor").trim())
}
