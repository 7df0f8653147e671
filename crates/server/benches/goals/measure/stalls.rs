//! G7: exports at half of saturation, alone and with reads beside them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tidewatch_server::bench::generate::Kind;
use tidewatch_server::bench::http::Connection;
use tidewatch_server::bench::ingest::{CALM, generated};
use tidewatch_server::bench::load::{Latencies, Outcome, Pace, Plan};
use tidewatch_server::bench::process;
use tidewatch_server::bench::query::{Read, Reader};
use tidewatch_server::bench::reads::reads;
use tidewatch_server::clock::Clock;

use super::{closed, exports, machine};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

const FSYNC_BYTES: usize = 64 << 10;
/// What a dashboard asks for, over the last 24 hours.
const READS: [&str; 5] =
    ["ranking: endpoints, 1 d", "chart: p95, 1 d", "issues: list, 1 d", "attribute: promoted, 1 d", "logs: latest"];

pub fn measure(settings: &Settings, data: &Path) -> Vec<Measured> {
    let folder = Scratch::clone_of(data, &settings.folder, "stalls");
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &[]);
    let (reader, token) = server.sign_in();
    let now = Clock::system().now_ns() as u64;
    let hour = Duration::from_secs(3600).as_nanos() as u64;
    let list: Vec<Read> = reads(now + hour, None)
        .into_iter()
        .filter(|read| READS.iter().any(|name| read.name.starts_with(name)))
        .collect();
    assert_eq!(list.len(), READS.len(), "every read is in the list");

    let exports = exports(&server, &token, generated(Kind::Rich, 512, 64, 1).expect("generated requests"), false);
    let until = |duration: Duration| Instant::now() + duration;
    let length = settings.long();
    // What it can go on with, not what fits into memory: the time until it is quiet again counts.
    let begun = Instant::now();
    let accepted = exports.run(&closed(&exports, length)).accepted();
    process::wait_quiet(server.pid(), CALM, length * 10);
    let saturation = accepted as f64 / (begun.elapsed().saturating_sub(CALM)).as_secs_f64();
    let before = machine::fdatasync(&folder.0, FSYNC_BYTES, settings.round());
    let rate = saturation / 2.0;
    let plan = Plan { pace: Pace::PerSecond(rate), ..closed(&exports, length) };
    let undisturbed = exports.run(&plan);
    process::wait_quiet(server.pid(), CALM, length * 10);
    let never = AtomicBool::new(false);
    read_until(&reader, &list, until(Duration::from_secs(1)), &never);
    let reads_before = read_until(&reader, &list, until(length / 2), &never);
    let done = AtomicBool::new(false);
    let (acks, beside) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| read_until(&reader, &list, until(length * 10), &done));
        let acks = exports.run(&plan);
        done.store(true, Ordering::Relaxed);
        (acks, reading.join().expect("the reading thread"))
    });
    process::wait_quiet(server.pid(), CALM, length * 10);
    let reads_after = read_until(&reader, &list, until(length / 2), &never);
    let after = machine::fdatasync(&folder.0, FSYNC_BYTES, settings.round());

    let sync = before.quantile(0.99).max(after.quantile(0.99));
    let of_acks = |outcome: &Outcome| {
        let (p50, p99) = (outcome.latencies.quantile(0.5), outcome.latencies.quantile(0.99));
        let refused = outcome.requests() - outcome.accepted() + outcome.unsent;
        (p99, format!("p50 {p50:.1}, p99 {p99:.1} ms, {refused} refused or late"))
    };
    let ((p99, alone_note), (_, beside_note)) = (of_acks(&undisturbed), of_acks(&acks));
    let worst = undisturbed.latencies.quantile(1.0).max(acks.latencies.quantile(1.0));
    // What came meanwhile is among what they read: the one time there is less of it, the other more.
    let (lone, both) = ((reads_before.quantile(0.99) + reads_after.quantile(0.99)) / 2.0, beside.quantile(0.99));
    let note = format!(
        "{alone_note} at {rate:.0} requests of 512 spans a second; beside reads without a pause {beside_note}; fdatasync p99 {sync:.1}"
    );
    vec![
        Measured::new("G7a", p99 / (2.0 * sync + 5.0), note),
        Measured::new("G7b", both / lone, format!("{lone:.1} ms without, {both:.1} with, five reads in turn")),
        Measured::new("G7c", worst, "at the same rate, with reads beside and without"),
    ]
}

/// Latencies of the reads, in turn.
fn read_until(reader: &Reader, list: &[Read], end: Instant, done: &AtomicBool) -> Latencies {
    let mut connection = Connection::new(reader.target.clone());
    let mut latencies = Latencies::default();
    for read in list.iter().cycle() {
        if Instant::now() >= end || done.load(Ordering::Relaxed) {
            break;
        }
        let request = reader.request(read);
        let start = Instant::now();
        let status = connection.send(&request).expect("the server answers");
        latencies.add(start.elapsed());
        assert_eq!(status, 200, "{}: {}", read.name, String::from_utf8_lossy(&connection.answer));
    }
    latencies.sort();
    latencies
}
