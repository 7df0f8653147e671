//! G12: spans per CPU-second until the durable ack in native reports, beside the same spans as OTLP JSON, in alternating
//! rounds. CPU time of flush and merge threads is excluded, as in `ack`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidewatch_bench::generate::native::{self, Protocol};
use tidewatch_bench::http::{self, Request, Target};
use tidewatch_bench::load::{self, Pace, Plan};
use tidewatch_bench::process;
use tidewatch_limits::clock::Clock;

use super::ack::{BACKGROUND, RATE};
use super::{CONNECTIONS, median};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

const SPANS: usize = 512;

pub fn measure(settings: &Settings) -> Measured {
    let folder = Scratch::new(&settings.folder, "native");
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &[]);
    let (_, token) = server.sign_in();
    let target = Target::parse(&server.url).expect("our own address");
    let pid = server.pid();
    let used = || process::cpu_seconds(pid).unwrap_or(f64::NAN) - process::thread_cpu_seconds(pid, BACKGROUND);
    // The nonce starts with the time, so rounds share no ids.
    let (clock, nonce) = (Clock::system(), AtomicU64::new(Clock::system().now_ns().cast_unsigned()));
    let (mut rates, mut bytes, mut problems) = ([Vec::new(), Vec::new()], [0.0; 2], Vec::new());
    for _ in 0..settings.rounds() {
        for (index, protocol) in [Protocol::OtlpJson, Protocol::Report].into_iter().enumerate() {
            let path = match protocol {
                Protocol::Report => "/api/report",
                Protocol::OtlpJson => "/api/otel/v1/traces",
            };
            let headers = [format!("Authorization: Bearer {token}"), "Content-Type: application/json".to_owned()];
            let head = http::head("POST", &target, path, &headers);
            let plan = Plan {
                target: target.clone(),
                connections: CONNECTIONS,
                pace: Pace::PerSecond(RATE),
                duration: settings.round(),
                warm_up: Duration::ZERO,
            };
            let before = used();
            let outcome = load::run(&plan, |_| {
                let (clock, nonce, head) = (clock.clone(), &nonce, &head);
                let mut text = String::new();
                move |request: &mut Request| {
                    let seed = nonce.fetch_add(1, Ordering::Relaxed);
                    native::traces(protocol, SPANS, seed, clock.now_ns().cast_unsigned(), &mut text);
                    request.head.clone_from(head);
                    request.body.clear();
                    request.body.extend_from_slice(text.as_bytes());
                }
            });
            let spans = outcome.accepted() as f64 * SPANS as f64;
            rates[index].push(spans / (used() - before));
            bytes[index] = outcome.sent as f64 / spans;
            problems.extend(outcome.problem);
        }
    }
    let [otlp, report] = rates.map(median);
    let problem = problems.first().map(|problem| format!("; {problem}")).unwrap_or_default();
    let note = format!(
        "{:.0} ns a span of {:.0} bytes, OTLP JSON {:.0} ns, {:.0} bytes{problem}",
        1e9 / report,
        bytes[1],
        1e9 / otlp,
        bytes[0]
    );
    Measured::new("G12", report / otlp, note)
}
