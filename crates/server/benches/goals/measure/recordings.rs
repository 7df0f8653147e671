//! G13: segments of session recordings, gzip, under sustained load until all flushes and merges have ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidewatch_bench::generate::native;
use tidewatch_bench::http::{self, Request, Target};
use tidewatch_bench::ingest::{CALM, CALM_AT_MOST, deflater};
use tidewatch_bench::load::{self, Pace, Plan};
use tidewatch_bench::process;
use tidewatch_limits::clock::Clock;

use super::{CONNECTIONS, bytes_of_tables};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

pub fn measure(settings: &Settings) -> Vec<Measured> {
    let folder = Scratch::new(&settings.folder, "recordings");
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &["--flush-seconds", "5"]);
    let (_, token) = server.sign_in();
    let target = Target::parse(&server.url).expect("our own address");
    let headers = ["Content-Type: application/json", "Content-Encoding: gzip"].map(str::to_owned);
    let headers = [&headers[..], &[format!("Authorization: Bearer {token}")]].concat();
    let head = http::head("POST", &target, "/api/report", &headers);
    let (clock, next, inflated) = (Clock::system(), AtomicU64::new(0), AtomicU64::new(0));
    let plan = Plan {
        target,
        connections: CONNECTIONS,
        pace: Pace::Closed,
        duration: settings.long(),
        warm_up: Duration::ZERO,
    };
    let used = || process::cpu_seconds(server.pid()).unwrap_or(f64::NAN);
    let before = used();
    let outcome = load::run(&plan, |_| {
        let (clock, next, inflated, head) = (clock.clone(), &next, &inflated, &head);
        let mut deflater = deflater();
        let mut text = String::new();
        move |request: &mut Request| {
            native::segment(next.fetch_add(1, Ordering::Relaxed), clock.now_ns().cast_unsigned(), &mut text);
            inflated.fetch_add(text.len() as u64, Ordering::Relaxed);
            request.head.clone_from(head);
            request.body.resize(deflater.gzip_compress_bound(text.len()), 0);
            let length = deflater.gzip_compress(text.as_bytes(), &mut request.body).expect("the bound is large enough");
            request.body.truncate(length);
        }
    });
    process::wait_quiet(server.pid(), CALM, CALM_AT_MOST);
    let (segments, seconds) = (outcome.accepted() as f64, outcome.elapsed.as_secs_f64());
    let each = inflated.load(Ordering::Relaxed) as f64 / next.load(Ordering::Relaxed).max(1) as f64;
    let note = format!(
        "of {:.1} kB, {:.1} with gzip; {:.0} a second of wall clock beside the client, {} of {} requests refused",
        each / 1e3,
        outcome.sent as f64 / segments / 1e3,
        segments / seconds,
        outcome.requests() - outcome.accepted(),
        outcome.requests()
    );
    let stored = bytes_of_tables(&folder.0, &["session_segments", "sessions"]) as f64 / segments;
    vec![
        Measured::new("G13a", segments / (used() - before), note),
        Measured::new("G13b", stored / each, format!("{:.1} kB a segment, sessions included", stored / 1e3)),
    ]
}
