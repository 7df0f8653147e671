//! `tidewatch bench ingest`: sends exports to any OTLP/HTTP server.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tidewatch_domain::model::Signal;
use tidewatch_domain::units::SECOND_NS;

use super::digits::grouped;
use super::generate::{self, Generator, Kind, Period};
use super::http::{self, Request, Target};
use super::load::{self, Outcome, Pace, Plan};
use super::payload::Payload;
use super::process::{self, Usage};
use tidewatch_limits::clock::Clock;

/// Idle time of a server after which its background work counts as done.
pub const CALM: Duration = Duration::from_secs(7);
/// Maximum wait for an idle server.
pub const CALM_AT_MOST: Duration = Duration::from_secs(900);

/// Arguments of `tidewatch bench ingest`.
#[derive(Debug, Clone, clap::Args)]
pub struct IngestArgs {
    /// Base address; `/v1/traces`, `/v1/logs` or `/v1/metrics` is added unless it already ends so.
    #[arg(long, env = "TIDEWATCH_BENCH_URL", default_value = "http://127.0.0.1:4318")]
    pub url: String,
    /// Sent as `Authorization: Bearer TOKEN`.
    #[arg(long, env = "TIDEWATCH_TOKEN")]
    pub token: Option<String>,
    /// Another header, `Name: value`; may be repeated.
    #[arg(long = "header", short = 'H')]
    pub headers: Vec<String>,
    /// Telemetry to generate.
    #[arg(long, value_enum, default_value = "rich")]
    pub generate: Kind,
    /// Send this export request instead (protobuf or JSON, may be gzip); ids and times of protobuf are made fresh.
    #[arg(long)]
    pub payload: Option<PathBuf>,
    /// Signal of the payload.
    #[arg(long, value_enum, default_value = "traces")]
    pub signal: SignalName,
    /// Spans, records or points in a generated request.
    #[arg(long, default_value_t = 512)]
    pub batch: usize,
    /// Different requests to generate; sent in turn, with fresh ids and times.
    #[arg(long, default_value_t = 64)]
    pub distinct: usize,
    /// The same seed generates the same requests.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Compress bodies with gzip.
    #[arg(long)]
    pub gzip: bool,
    /// Connections to send over.
    #[arg(long, default_value_t = 8)]
    pub connections: usize,
    /// Requests per second over all connections; without it each connection sends as soon as it is answered.
    #[arg(long)]
    pub rate: Option<f64>,
    /// Seconds to send for.
    #[arg(long, default_value_t = 10.0)]
    pub seconds: f64,
    /// Seconds sent before, counted nowhere.
    #[arg(long, default_value_t = 1.0)]
    pub warm_up: f64,
    /// The server's process on this machine: print its CPU time and memory.
    #[arg(long)]
    pub pid: Option<u32>,
    /// With --pid: wait until the server uses less than 2 % of a core for seven seconds, and count that too.
    #[arg(long, requires = "pid")]
    pub until_quiet: bool,
    /// Print one line of JSON instead.
    #[arg(long)]
    pub json: bool,
}

/// A signal, as the command line names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SignalName {
    /// Spans.
    Traces,
    /// Log records.
    Logs,
    /// Metric points.
    Metrics,
}

impl From<SignalName> for Signal {
    fn from(name: SignalName) -> Signal {
        match name {
            SignalName::Traces => Signal::Traces,
            SignalName::Logs => Signal::Logs,
            SignalName::Metrics => Signal::Metrics,
        }
    }
}

/// Requests that are ready to be sent.
pub struct Exports {
    /// The server.
    pub target: Target,
    /// Requests to send, in turn.
    pub payloads: Vec<Payload>,
    /// Whether bodies are compressed.
    pub gzip: bool,
    head: String,
}

/// The results of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// Counts and latencies of requests.
    pub outcome: Outcome,
    /// Signal that was sent.
    pub signal: Signal,
    /// Number of spans, records or points in the accepted requests.
    pub units: f64,
    /// Whether bodies were compressed.
    pub gzip: bool,
    /// Usage of the server's process before and after, when its id is known.
    pub server: Option<(Usage, Usage)>,
}

/// Runs the load and prints the results with `print_line`. An error if no request was accepted.
pub fn run(arguments: &IngestArgs, mut print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let exports = Exports::prepare(arguments)?;
    let report = exports.send(&arguments.plan(&exports.target), arguments.pid, arguments.until_quiet)?;
    if arguments.json {
        print_line(&report.to_json().to_string());
    } else {
        report.lines().iter().for_each(|line| print_line(line));
    }
    if report.outcome.accepted() == 0 {
        bail!("no request was accepted: {}", report.outcome.problem.unwrap_or_default());
    }
    Ok(())
}

impl IngestArgs {
    fn plan(&self, target: &Target) -> Plan {
        Plan {
            target: target.clone(),
            connections: self.connections,
            pace: self.rate.map_or(Pace::Closed, Pace::PerSecond),
            duration: Duration::from_secs_f64(self.seconds.clamp(0.001, 1e6)),
            warm_up: Duration::from_secs_f64(self.warm_up.clamp(0.0, 1e6)),
        }
    }
}

impl Exports {
    /// Reads or generates the requests. An error for invalid arguments or an invalid payload.
    pub fn prepare(arguments: &IngestArgs) -> anyhow::Result<Exports> {
        if arguments.rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            bail!("--rate is a positive number of requests per second");
        }
        let payloads = match &arguments.payload {
            Some(path) => vec![Payload::read(path, arguments.signal.into())?],
            None => generated(arguments.generate, arguments.batch, arguments.distinct, arguments.seed)?,
        };
        let signal = payloads[0].signal;
        let mut headers = arguments.headers.clone();
        headers.extend(arguments.token.iter().map(|token| format!("Authorization: Bearer {token}")));
        Exports::new(&arguments.url, payloads, arguments.gzip, headers)
            .with_context(|| format!("cannot send {}", signal.as_str()))
    }

    /// `url`: a base address or the whole URL. `headers`: each `Name: value`. All payloads have the first one's signal
    /// and encoding.
    pub fn new(url: &str, payloads: Vec<Payload>, gzip: bool, mut headers: Vec<String>) -> anyhow::Result<Exports> {
        let first = payloads.first().context("there is nothing to send")?;
        let target = Target::parse(url)?;
        let end = format!("/v1/{}", first.signal.as_str());
        let path = if target.path.ends_with(&end) { target.path.clone() } else { format!("{}{end}", target.path) };
        let kind = if first.is_json { "application/json" } else { "application/x-protobuf" };
        headers.push(format!("Content-Type: {kind}"));
        if gzip {
            headers.push("Content-Encoding: gzip".to_owned());
        }
        let head = http::head("POST", &target, &path, &headers);
        Ok(Exports { target, payloads, gzip, head })
    }

    /// Average number of spans, records or points per request.
    pub fn units(&self) -> f64 {
        self.payloads.iter().map(|payload| payload.units).sum::<usize>() as f64 / self.payloads.len() as f64
    }

    /// Runs the plan. `pid`: the server's process; with `until_quiet` its background work after the run counts too.
    pub fn send(&self, plan: &Plan, pid: Option<u32>, until_quiet: bool) -> anyhow::Result<Report> {
        let usage = |pid: u32| process::usage(pid).with_context(|| format!("there is no process {pid} to look at"));
        let before = pid.map(usage).transpose()?;
        let outcome = self.run(plan);
        if let (Some(pid), true) = (pid, until_quiet) {
            process::wait_quiet(pid, CALM, CALM_AT_MOST);
        }
        let after = pid.map(usage).transpose()?;
        let units = self.units() * outcome.accepted() as f64;
        let signal = self.payloads[0].signal;
        Ok(Report { outcome, signal, units, gzip: self.gzip, server: before.zip(after) })
    }

    /// Runs the plan without watching a process.
    pub fn run(&self, plan: &Plan) -> Outcome {
        let clock = Clock::system();
        // The nonce starts with the time, so runs against one server share no ids.
        let nonce = AtomicU64::new(clock.now_ns() as u64);
        load::run(plan, |_| {
            let (nonce, clock) = (&nonce, clock.clone());
            let mut deflater = deflater();
            let mut plain = Vec::new();
            move |request: &mut Request| {
                let number = nonce.fetch_add(1, Ordering::Relaxed);
                let payload = &self.payloads[(number % self.payloads.len() as u64) as usize];
                request.head.clone_from(&self.head);
                if !self.gzip {
                    return payload.fresh(number, clock.now_ns() as u64, &mut request.body);
                }
                payload.fresh(number, clock.now_ns() as u64, &mut plain);
                request.body.resize(deflater.gzip_compress_bound(plain.len()), 0);
                let length = deflater.gzip_compress(&plain, &mut request.body).expect("the bound is large enough");
                request.body.truncate(length);
            }
        })
    }
}

/// A compressor of bodies. Its level 0, `fastest`, only stores.
pub fn deflater() -> libdeflater::Compressor {
    libdeflater::Compressor::new(libdeflater::CompressionLvl::new(1).expect("a level"))
}

/// Generates `distinct` requests of `batch` records.
pub fn generated(kind: Kind, batch: usize, distinct: usize, seed: u64) -> anyhow::Result<Vec<Payload>> {
    let mut generator = Generator::new(seed);
    let period = Period { from_ns: 1_800_000_000_000_000_000, length_ns: SECOND_NS as u64 };
    let make = |_| {
        let mut body = Vec::new();
        generator.request(kind, batch.max(1), period, &mut body);
        Payload::protobuf(kind.signal(), body)
    };
    (0..distinct.max(1)).map(make).collect()
}

impl Report {
    /// CPU seconds of the server.
    pub fn cpu_seconds(&self) -> Option<f64> {
        self.server.map(|(before, after)| after.cpu_seconds - before.cpu_seconds)
    }

    /// Accepted records per CPU second of the server.
    pub fn units_per_cpu_second(&self) -> Option<f64> {
        self.cpu_seconds().map(|seconds| self.units / seconds.max(1e-9))
    }

    fn lines(&self) -> Vec<String> {
        let outcome = &self.outcome;
        let seconds = outcome.elapsed.as_secs_f64();
        let unit = generate::unit(self.signal);
        let count = |number: f64| grouped(number.round() as u64);
        let mut lines = vec![
            format!(
                "{:<14}{} accepted, {} refused, {} failed, {} not sent in time; {} per second",
                "requests",
                count(outcome.accepted() as f64),
                count((outcome.requests() - outcome.accepted() - outcome.failed) as f64),
                count(outcome.failed as f64),
                count(outcome.unsent as f64),
                count(outcome.per_second())
            ),
            format!("{:<14}{}, {} per second", unit, count(self.units), count(self.units / seconds)),
            format!(
                "{:<14}{:.1} MB{}, {:.1} MB/s; {:.0} bytes per {}; answers {:.2} MB",
                "sent",
                outcome.sent as f64 / 1e6,
                if self.gzip { " of gzip" } else { "" },
                outcome.sent as f64 / 1e6 / seconds,
                outcome.sent as f64 / (self.units.max(1.0)),
                unit.trim_end_matches('s'),
                outcome.received as f64 / 1e6
            ),
            format!("{:<14}{}", "latency ms", quantiles(outcome)),
        ];
        if let Some((before, after)) = self.server {
            let cpu = after.cpu_seconds - before.cpu_seconds;
            let rate = self.units / cpu.max(1e-9);
            lines.push(format!("{:<14}{cpu:.2} s, {} {unit} per CPU-second", "server CPU", count(rate)));
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            let (now, peak) = (megabytes(after.resident), megabytes(after.resident_peak));
            lines.push(format!("{:<14}{now:.0} MB, peak {peak:.0} MB", "server memory"));
        }
        lines.extend(outcome.problem.iter().map(|problem| format!("{:<14}{problem}", "first problem")));
        lines
    }

    /// The results as JSON.
    pub fn to_json(&self) -> Value {
        let outcome = &self.outcome;
        let at = |share| outcome.latencies.quantile(share);
        json!({
            "signal": self.signal.as_str(), "seconds": outcome.elapsed.as_secs_f64(), "gzip": self.gzip,
            "requests": {
                "accepted": outcome.accepted(), "failed": outcome.failed, "unsent": outcome.unsent,
                "statuses": outcome.statuses.iter().map(|(status, count)| (status.to_string(), json!(count))).collect::<serde_json::Map<_, _>>(),
            },
            "units": self.units, "sentBytes": outcome.sent, "receivedBytes": outcome.received,
            "latencyMs": {"p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p999": at(0.999), "max": at(1.0)},
            "serverCpuSeconds": self.cpu_seconds(),
            "serverResidentBytes": self.server.map(|(_, after)| after.resident),
            "serverResidentPeakBytes": self.server.map(|(_, after)| after.resident_peak),
            "problem": outcome.problem,
        })
    }
}

/// The latencies as one line.
pub(super) fn quantiles(outcome: &Outcome) -> String {
    let at = |share| outcome.latencies.quantile(share);
    format!("p50 {:.2}  p90 {:.2}  p99 {:.2}  p99.9 {:.2}  max {:.2}", at(0.5), at(0.9), at(0.99), at(0.999), at(1.0))
}
