//! G14: a day of profiles, gzip, one every ten seconds: samples per CPU-second with flushes and merges, bytes at rest, and
//! the flame graph of that day.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tidewatch_bench::generate::profiles::{PROFILES_PER_DAY, SAMPLES, profile};
use tidewatch_bench::http::{self, Connection, Request, Target};
use tidewatch_bench::ingest::{CALM, CALM_AT_MOST, deflater};
use tidewatch_bench::process;
use tidewatch_bench::query::{Read, Repeats};
use tidewatch_domain::units::DAY_NS;
use tidewatch_limits::clock::Clock;
use tidewatch_query::time::to_rfc3339;

use super::bytes_of_tables;
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

const SENDERS: usize = 4;
/// Pause after a refusal.
const BACK_OFF: Duration = Duration::from_millis(100);

pub fn measure(settings: &Settings) -> Vec<Measured> {
    let folder = Scratch::new(&settings.folder, "profiles");
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &["--flush-seconds", "5"]);
    let (reader, token) = server.sign_in();
    let target = Target::parse(&server.url).expect("our own address");
    // Yesterday, a whole day.
    let start = (Clock::system().now_ns() / DAY_NS - 1) * DAY_NS;
    let used = || process::cpu_seconds(server.pid()).unwrap_or(f64::NAN);
    let before = used();
    let sent = send(&target, &token, start);
    process::wait_quiet(server.pid(), CALM, CALM_AT_MOST);
    let spent = used() - before;
    let samples = (PROFILES_PER_DAY * SAMPLES) as f64;
    let of = |tables: &[&str]| bytes_of_tables(&folder.0, tables) as f64 / samples;
    let (rows, stacks) = (of(&["profile_samples"]), of(&["profile_stacks", "profiles"]));

    let day = json!({
        "serviceName": "shop", "type": "go:profile_cpu:nanoseconds",
        "fromDate": to_rfc3339(start), "toDate": to_rfc3339(start + DAY_NS),
    });
    let path = "/api/profiles/flamegraph?projectId={project}".to_owned();
    let read = Read { name: "flame graph".to_owned(), method: None, path, body: Some(day) };
    let (count, seconds) = if settings.quick { (15, 5) } else { (60, 20) };
    let repeats = Repeats { warm_up: 2, count, at_most: Duration::from_secs(seconds) };
    let timed = reader.time(&read, repeats, Some(server.pid())).expect("the server answers");
    let graph: serde_json::Value = serde_json::from_slice(&timed.answer).unwrap_or_default();
    let is_whole = timed.status == 200 && graph["profileCount"] == PROFILES_PER_DAY;
    let milliseconds = if is_whole { timed.warm.quantile(0.5) } else { f64::NAN };
    let flame = format!(
        "p50; p99 {:.0}, CPU {:.0}, first {:.0}; {:.0} kB, {} profiles, status {}",
        timed.warm.quantile(0.99),
        timed.cpu_ms.unwrap_or(f64::NAN),
        timed.first_ms,
        timed.bytes as f64 / 1e3,
        graph["profileCount"],
        timed.status
    );
    let each = format!("{PROFILES_PER_DAY} profiles of {SAMPLES} samples, {:.0} kB with gzip", sent / 1e3);
    vec![
        Measured::new("G14a", samples / spent, each),
        Measured::new("G14b", rows + stacks, format!("{rows:.2} of samples, {stacks:.2} of stacks and profiles")),
        Measured::new("G14c", milliseconds, flame),
    ]
}

/// Sends every profile of the day until it is accepted. Returns the average size of a body in bytes.
fn send(target: &Target, token: &str, start: i64) -> f64 {
    let head =
        http::head("POST", target, "/api/profiles/ingest?service=shop", &[format!("Authorization: Bearer {token}")]);
    let (next, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let sender = || {
        let mut connection = Connection::new(target.clone());
        let mut deflater = deflater();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= PROFILES_PER_DAY {
                return;
            }
            let plain = profile(number, start);
            let mut body = vec![0; deflater.gzip_compress_bound(plain.len())];
            let length = deflater.gzip_compress(&plain, &mut body).expect("the bound is large enough");
            body.truncate(length);
            bytes.fetch_add(length as u64, Ordering::Relaxed);
            let request = Request { head: head.clone(), body };
            loop {
                match connection.send(&request).expect("the server runs") {
                    200 => break,
                    429 | 503 => process::pause(BACK_OFF),
                    status => panic!("{status}: {}", String::from_utf8_lossy(&connection.answer)),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(sender);
        }
    });
    bytes.into_inner() as f64 / PROFILES_PER_DAY as f64
}
