//! G2 and G3: server CPU per span until the durable ack, against the baseline, in alternating rounds.
//!
//! CPU time of flush and merge threads is identified by thread name and excluded (G5 includes it).

use std::time::Duration;

use tidewatch_bench::load::{Pace, Plan};
use tidewatch_bench::process;
use tidewatch_domain::model::Signal;

use super::{closed, exports, fixture, median};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

/// Names of the threads of flushes and merges start with this.
pub const BACKGROUND: &str = "lake-";
/// Requests of 512 spans per second for either server: about the sustainable rate on two cores shared with the client.
/// Refused requests would cost CPU time without counting as spans.
pub const RATE: f64 = 120.0;

/// CPU nanoseconds per span.
#[derive(Default)]
struct Cpu {
    ack: Vec<f64>,
    whole: Vec<f64>,
}

pub fn measure(settings: &Settings) -> Vec<Measured> {
    let folder = Scratch::new(&settings.folder, "ack");
    let baseline = Server::baseline();
    let tidewatch = Server::tidewatch(&settings.tidewatch, &folder.0, &[]);
    let (_, token) = tidewatch.sign_in();
    let payload = fixture("traces512", Signal::Traces);
    let mut cpu: [[Cpu; 2]; 2] = Default::default();
    let mut problems = Vec::new();
    for _ in 0..settings.rounds() {
        for gzip in [false, true] {
            for (index, server) in [&baseline, &tidewatch].into_iter().enumerate() {
                let exports = exports(server, &token, vec![payload.clone()], gzip);
                let background = process::thread_cpu_seconds(server.pid(), BACKGROUND);
                let pace = Pace::PerSecond(RATE);
                // The warm-up would count as CPU time but not as spans.
                let plan = Plan { pace, warm_up: Duration::ZERO, ..closed(&exports, settings.round()) };
                let report = exports.send(&plan, Some(server.pid()), false).expect("the server runs");
                let background = process::thread_cpu_seconds(server.pid(), BACKGROUND) - background;
                let whole = report.cpu_seconds().unwrap_or(f64::NAN);
                let cpu = &mut cpu[index][usize::from(gzip)];
                cpu.ack.push((whole - background) * 1e9 / report.units);
                cpu.whole.push(whole * 1e9 / report.units);
                problems.extend(report.outcome.problem.filter(|_| index == 1));
            }
        }
    }
    let [[base, _], [plain, gzip]] = cpu.map(|pair| pair.map(|cpu| (median(cpu.ack), median(cpu.whole))));
    let problem = problems.first().map(|problem| format!("; {problem}")).unwrap_or_default();
    let note =
        format!("{:.0} ns a span ({:.0} with flush and merge), hyper + prost {:.0}{problem}", plain.0, plain.1, base.0);
    vec![
        Measured::new("G2", plain.0 / base.0, note),
        Measured::new("G3", gzip.0 / plain.0, format!("{:.0} ns a span", gzip.0)),
    ]
}
