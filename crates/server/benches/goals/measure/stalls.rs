//! G7: exports at half of saturation, alone and with reads beside them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tidewatch_bench::generate::Kind;
use tidewatch_bench::http::Connection;
use tidewatch_bench::ingest::{CALM, generated};
use tidewatch_bench::load::{Latencies, Outcome, Pace, Plan};
use tidewatch_bench::process;
use tidewatch_bench::query::{Read, Reader};
use tidewatch_bench::reads::reads;
use tidewatch_limits::clock::Clock;

use super::{closed, exports, machine, median};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

const FSYNC_BYTES: usize = 64 << 10;
/// Rounds of load and reads, alone and together. Each statistic is the median of the rounds; the longest stall is the maximum.
const ROUNDS: u32 = 3;
/// The requests of a dashboard over the last 24 hours.
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
    // The sustainable rate: the time until flushes and merges have ended counts.
    let begun = Instant::now();
    let accepted = exports.run(&closed(&exports, length)).accepted();
    process::wait_quiet(server.pid(), CALM, length * 10);
    let saturation = accepted as f64 / (begun.elapsed().saturating_sub(CALM)).as_secs_f64();
    let rate = saturation / 2.0;
    let never = AtomicBool::new(false);
    read_until(&reader, &list, until(Duration::from_secs(1)), &never);
    let count = if settings.quick { 1 } else { ROUNDS };
    let length = length / count;
    let round = |_| {
        let sync = machine::fdatasync(&folder.0, FSYNC_BYTES, settings.round());
        let plan = Plan { pace: Pace::PerSecond(rate), ..closed(&exports, length) };
        let alone = exports.run(&plan);
        process::wait_quiet(server.pid(), CALM, length * 10);
        let before = read_until(&reader, &list, until(length / 2), &never);
        let done = AtomicBool::new(false);
        let (beside, both) = std::thread::scope(|scope| {
            let reading = scope.spawn(|| read_until(&reader, &list, until(length * 10), &done));
            let acks = exports.run(&plan);
            done.store(true, Ordering::Relaxed);
            (acks, reading.join().expect("the reading thread"))
        });
        process::wait_quiet(server.pid(), CALM, length * 10);
        let after = read_until(&reader, &list, until(length / 2), &never);
        // Reads become slower with the rows of the load: the mean of the reads before and after it is compared.
        let lone = (before.quantile(0.99) + after.quantile(0.99)) / 2.0;
        Round { sync: sync.quantile(0.99), alone, beside, lone, both: both.quantile(0.99) }
    };
    let rounds: Vec<Round> = (0..count).map(round).collect();

    let of_rounds = |statistic: &dyn Fn(&Round) -> f64| median(rounds.iter().map(statistic).collect());
    let of_acks = |outcome: &dyn Fn(&Round) -> &Outcome| {
        let at = |share| of_rounds(&|round| outcome(round).latencies.quantile(share));
        let late = |outcome: &Outcome| outcome.requests() - outcome.accepted() + outcome.unsent;
        let late: u64 = rounds.iter().map(|round| late(outcome(round))).sum();
        format!("p50 {:.1}, p99 {:.1} ms, {late} refused or late", at(0.5), at(0.99))
    };
    let worst = |round: &Round| round.alone.latencies.quantile(1.0).max(round.beside.latencies.quantile(1.0));
    let note = format!(
        "{} at {rate:.0} requests of 512 spans a second; beside reads without a pause {}; fdatasync p99 {:.1}",
        of_acks(&|round| &round.alone),
        of_acks(&|round| &round.beside),
        of_rounds(&|round| round.sync)
    );
    let reads_note = format!(
        "{:.1} ms without, {:.1} with, five reads in turn",
        of_rounds(&|round| round.lone),
        of_rounds(&|round| round.both)
    );
    vec![
        Measured::new("G7a", of_rounds(&|round| round.alone.latencies.quantile(0.99) / (2.0 * round.sync + 5.0)), note),
        Measured::new("G7b", of_rounds(&|round| round.both / round.lone), reads_note),
        Measured::new(
            "G7c",
            rounds.iter().map(worst).fold(0.0, f64::max),
            "of all rounds, at the same rate, with reads beside and without",
        ),
    ]
}

/// Results of load and reads, each alone and both together.
struct Round {
    /// 99th percentile of a single fdatasync, ms.
    sync: f64,
    alone: Outcome,
    beside: Outcome,
    /// 99th percentile of the reads without load, ms.
    lone: f64,
    /// 99th percentile of the reads during the load, ms.
    both: f64,
}

/// Latencies of the reads, sent one after another.
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
