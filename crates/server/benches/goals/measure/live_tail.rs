//! G15g, G15h: a live tail of 20,000 log records a second that all pass, and acknowledgements with and without it.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidewatch_bench::generate::Kind;
use tidewatch_bench::http;
use tidewatch_bench::ingest::{CALM, generated};
use tidewatch_bench::load::{Outcome, Pace, Plan};
use tidewatch_bench::process;
use tidewatch_bench::query::Reader;
use tidewatch_limits as limits;

use super::{closed, exports, median};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

/// Log records per request.
const BATCH: usize = 512;
const RECORDS_PER_SECOND: f64 = 20_000.0;

/// Counts of the events of a tail.
#[derive(Default)]
struct Tailed {
    sent: u64,
    left_out: u64,
    seconds: f64,
}

pub fn measure(settings: &Settings) -> Vec<Measured> {
    let folder = Scratch::new(&settings.folder, "tail");
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &[]);
    let (reader, token) = server.sign_in();
    let exports = exports(&server, &token, generated(Kind::Logs, BATCH, 64, 1).expect("generated requests"), false);
    let pace = Pace::PerSecond(RECORDS_PER_SECOND / BATCH as f64);
    let plan = Plan { pace, ..closed(&exports, settings.round()) };
    let calm = || process::wait_quiet(server.pid(), CALM, Duration::from_secs(60));
    let (mut alone, mut beside): (Vec<Outcome>, Vec<Outcome>) = Default::default();
    let mut tailed = Tailed::default();
    for _ in 0..settings.rounds() {
        alone.push(exports.run(&plan));
        calm();
        let connection = connect(&reader);
        let ended = connection.try_clone().expect("a second handle of the connection");
        std::thread::scope(|scope| {
            let counting = scope.spawn(|| count(connection));
            beside.push(exports.run(&plan));
            // The last records arrive with the next event.
            process::pause(4 * limits::LIVE_TAIL_PAUSE);
            ended.shutdown(Shutdown::Both).ok();
            let Tailed { sent, left_out, seconds } = counting.join().expect("the counting thread");
            tailed.sent += sent;
            tailed.left_out += left_out;
            tailed.seconds += seconds;
        });
        calm();
    }
    let p99 = |outcomes: &[Outcome]| median(outcomes.iter().map(|outcome| outcome.latencies.quantile(0.99)).collect());
    let late = |outcome: &Outcome| outcome.requests() - outcome.accepted() + outcome.unsent;
    let late: u64 = alone.iter().chain(&beside).map(late).sum();
    let (without, with) = (p99(&alone), p99(&beside));
    let note = format!("p99 {without:.1} ms without, {with:.1} with, {late} refused or late");
    let bound = limits::LIVE_TAIL_RECORDS_MAX as f64 / limits::LIVE_TAIL_PAUSE.as_secs_f64();
    let rate = |count: u64| count as f64 / tailed.seconds;
    let counts =
        format!("{:.0} records a second sent, {:.0} counted as left out", rate(tailed.sent), rate(tailed.left_out));
    vec![Measured::new("G15g", with / without, note), Measured::new("G15h", rate(tailed.sent) / bound, counts)]
}

/// Opens a live tail of all records.
fn connect(reader: &Reader) -> TcpStream {
    let mut stream = TcpStream::connect(&reader.target.authority).expect("the server listens");
    let path = format!("/api/logs/tail?projectId={}", reader.project.as_deref().unwrap_or_default());
    let mut headers = reader.headers.clone();
    headers.push("Accept: text/event-stream".to_owned());
    let head = http::head("GET", &reader.target, &path, &headers);
    stream.write_all(format!("{head}\r\n").as_bytes()).expect("the request is sent");
    stream
}

/// Reads the events until the connection is closed.
fn count(stream: TcpStream) -> Tailed {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a status line");
    assert!(line.contains(" 200 "), "the tail answered {line}");
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line).expect("a header");
    }
    let begun = Instant::now();
    let (mut tailed, mut events) = (Tailed::default(), Vec::new());
    while let Some(()) = chunk(&mut reader, &mut events) {
        let Some(end) = events.iter().rposition(|byte| *byte == b'\n') else { continue };
        let whole: Vec<u8> = events.drain(..=end).collect();
        for data in whole.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data: ")) {
            let event: Value = serde_json::from_slice(data).expect("an event is JSON");
            let number = |name: &str| event[name].as_u64().unwrap_or(0);
            tailed.sent += event["data"].as_array().map_or(0, Vec::len) as u64;
            tailed.left_out += number("skipped") + number("missed");
        }
        // The first event has the records of a pause before it.
        tailed.seconds = (begun.elapsed() + limits::LIVE_TAIL_PAUSE).as_secs_f64();
    }
    tailed
}

/// Appends the next chunk of a chunked body. `None` when there is none.
fn chunk(reader: &mut BufReader<TcpStream>, out: &mut Vec<u8>) -> Option<()> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let size = u64::from_str_radix(line.trim_end(), 16).ok().filter(|size| *size > 0)?;
    (reader.by_ref().take(size).read_to_end(out).ok()? as u64 == size).then_some(())?;
    line.clear();
    reader.read_line(&mut line).ok()?;
    Some(())
}
