//! One server process under all attacks at once, bounded in count and time: it stays within its memory limit,
//! well-behaved exporters are hardly affected, refusals have the right statuses, and soon afterwards it is idle again.

mod attackers;
mod exporter;
#[path = "../it/otlp.rs"]
#[expect(dead_code, reason = "made for another test binary, which uses all of it")]
mod otlp;
#[path = "../support/ports.rs"]
mod ports;
#[path = "../process/server.rs"]
#[expect(dead_code, reason = "made for another test binary, which uses all of it")]
mod server;

use std::time::{Duration, Instant};

use serde_json::json;
use server::Server;
use tidewatch_limits as limits;

/// Bodies and their rows, the memtable as set below, 2,300 connections with a head of at most 64 KiB each, and the
/// unoptimized process itself, with data that waits for the disk.
const MEMORY_KB_MAX: u64 = (limits::INGEST_BYTES_HELD_MAX >> 10) as u64 + MEMTABLE_MB * 1024 + 2300 * 64 + 80 * 1024;
const MEMTABLE_MB: u64 = 64;
/// Memory that an idle process may keep of the attack: the memtable, and two buffers, an arena and lists per workspace.
const IDLE_MEMORY_KB_MAX: u64 =
    MEMTABLE_MB * 1024 + (limits::INGEST_WORKSPACES_KEPT * 6 * (limits::INGEST_BUFFER_BYTES_KEPT >> 10)) as u64;

/// A value of `/proc/<id>/status` in kB.
fn status(id: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).expect("the process runs");
    let line = text.lines().find(|line| line.starts_with(name)).expect("a line of that name");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

fn open_files(id: u32) -> usize {
    std::fs::read_dir(format!("/proc/{id}/fd")).expect("the process runs").count()
}

/// CPU time in user and system mode, in ticks.
fn ticks(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("the process runs");
    let fields = text.rsplit(')').next().expect("a name in brackets");
    fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Ticks of all CPUs since the machine's start: total and busy.
fn machine_ticks() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/stat").expect("Linux");
    let line = text.lines().next().expect("a line for all CPUs");
    // user, nice, system, idle, iowait, irq, softirq, steal
    let fields: Vec<u64> = line.split_whitespace().skip(1).take(8).filter_map(|field| field.parse().ok()).collect();
    let all = fields.iter().sum::<u64>();
    (all, all - fields[3] - fields[4])
}

/// CPU time used by neither the server nor this test, in percent of the machine.
struct Others {
    server: u32,
    before: (u64, u64, u64),
}

impl Others {
    fn start(server: u32) -> Others {
        Others { server, before: Others::read(server) }
    }

    fn read(server: u32) -> (u64, u64, u64) {
        let (all, busy) = machine_ticks();
        (all, busy, ticks(server) + ticks(std::process::id()))
    }

    fn percent(&self) -> u64 {
        let (all, busy, ours) = Others::read(self.server);
        let (all, busy, ours) = (all - self.before.0, busy - self.before.1, ours - self.before.2);
        100 * busy.saturating_sub(ours) / all.max(1)
    }
}

/// If other processes use more, the measured throughput is not meaningful.
const OTHERS_PERCENT_MAX: u64 = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn well_behaved_exporters_continue_under_attack() {
    tidewatch_runtime::files::raise_open_file_limit();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(
        &folder.path().join("data"),
        &[("TIDEWATCH_MEMTABLE_MB", &MEMTABLE_MB.to_string()), ("RUST_LOG", "error")],
    );
    let account = server.register();
    let (made, noisy) = server.call("POST", "/api/projects", Some(&account.jwt), &json!({"name": "noisy"}));
    assert_eq!(made, 201, "{noisy}");
    let [noisy, uploading] = ["token", "sourceMapToken"].map(|name| noisy[name].as_str().expect("a token").to_owned());
    let address = server.base.trim_start_matches("http://").parse().expect("an address");

    let files_before = open_files(server.pid());
    let alone = exporter::run(address, &account.project_token, 1).await;
    assert_eq!(alone.refused, 0, "nobody else is there");
    let memory_before = status(server.pid(), "VmRSS");

    let attack = attackers::start(address, noisy, uploading).await;
    let others = Others::start(server.pid());
    let attacked = exporter::run(address, &account.project_token, 2).await;
    let others = others.percent();
    let seen = attack.stop().await;
    println!(
        "alone {alone:?}, attacked {attacked:?}, attackers heard {seen:?}, others took {others} %, peak {} kB",
        status(server.pid(), "VmHWM")
    );

    // On a busy machine, the test compares the exports accepted within the senders' timeout.
    let in_time = |outcome: &exporter::Outcome| outcome.accepted - outcome.late;
    assert!(5 * in_time(&attacked) >= 4 * in_time(&alone), "{attacked:?} instead of {alone:?}");
    assert!(
        others > OTHERS_PERCENT_MAX || attacked.accepted_per_second() >= 0.8 * alone.accepted_per_second(),
        "{attacked:?} instead of {alone:?}"
    );
    assert!(status(server.pid(), "VmHWM") <= MEMORY_KB_MAX, "peak {} kB", status(server.pid(), "VmHWM"));
    let overload = &seen.overload;
    assert!(overload.keys().all(|status| [200, 429, 503].contains(status)), "{overload:?}");
    assert!(overload.contains_key(&503), "it was no overload: {overload:?}");
    assert!(seen.bombs.keys().all(|status| [413, 429, 503].contains(status)), "{:?}", seen.bombs);
    // Spec: limits, row "Upload size": 1000 files; errors, row 422.
    assert!(seen.uploads.keys().all(|status| [422, 503].contains(status)), "{:?}", seen.uploads);
    assert!(seen.uploads.contains_key(&422), "{:?}", seen.uploads);
    assert!(!seen.bombs.is_empty() && seen.resets > 0 && seen.heads > 0, "every attacker was at work: {seen:?}");

    // Idle again: connections are closed, CPU time is low, memory is returned to the system, answers are immediate.
    // The memtable is flushed after half a minute.
    let deadline = Instant::now() + Duration::from_secs(180);
    loop {
        let before = ticks(server.pid());
        tokio::time::sleep(Duration::from_millis(500)).await;
        let used = ticks(server.pid()) - before;
        let (files, memory) = (open_files(server.pid()), status(server.pid(), "VmRSS"));
        if used <= 5 && files <= files_before + 8 && memory <= memory_before + IDLE_MEMORY_KB_MAX {
            println!("idle with {memory} kB, {memory_before} kB before");
            break;
        }
        assert!(
            Instant::now() < deadline,
            "{used} ticks; {files} files, {files_before} before; {memory} kB, {memory_before} kB before"
        );
    }
    let (healthy, _) = server.call("GET", "/health", None, &json!({}));
    assert_eq!(healthy, 200);
    let after = exporter::run(address, &account.project_token, 3).await;
    assert_eq!(after.refused, 0, "{after:?}");
}
