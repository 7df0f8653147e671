//! G5 and the peak memory of G9: sustained load until all flushes and merges have ended.

use tidewatch_bench::generate::Kind;
use tidewatch_bench::ingest::generated;

use super::{closed, exports};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

/// Number of distinct requests: enough for a realistic compression ratio of parts.
const DISTINCT: usize = 128;

pub fn measure(settings: &Settings) -> Vec<Measured> {
    let mut peaks = Vec::new();
    let mut measured = Vec::new();
    for (id, kind) in [("G5a", Kind::Rich), ("G5b", Kind::Logs), ("G5c", Kind::Points)] {
        if !settings.wants(id) && !settings.wants("G9b") {
            continue;
        }
        let folder = Scratch::new(&settings.folder, "sustained");
        // Rows left in the memtable at the end are flushed soon and counted.
        let server = Server::tidewatch(&settings.tidewatch, &folder.0, &["--flush-seconds", "5"]);
        let (_, token) = server.sign_in();
        let exports = exports(&server, &token, generated(kind, 512, DISTINCT, 1).expect("generated requests"), false);
        let plan =
            tidewatch_bench::load::Plan { warm_up: std::time::Duration::ZERO, ..closed(&exports, settings.long()) };
        let report = exports.send(&plan, Some(server.pid()), true).expect("the server runs");
        let rate = report.units_per_cpu_second().unwrap_or(f64::NAN);
        let (_, after) = report.server.expect("the process is known");
        peaks.push(after.resident_peak as f64 / 1e6);
        let wall = report.units / report.outcome.elapsed.as_secs_f64();
        let refused = report.outcome.requests() - report.outcome.accepted();
        let note = format!(
            "{:.1} million, {:.0} a second of wall clock beside the client, {refused} of {} requests refused",
            report.units / 1e6,
            wall,
            report.outcome.requests()
        );
        measured.push(Measured::new(id, rate, note));
    }
    let names: Vec<String> = peaks.iter().map(|peak| format!("{peak:.0}")).collect();
    let note = format!("greatest of the sustained loads (spans, records, points): {}", names.join(", "));
    measured.push(Measured::new("G9b", peaks.iter().copied().fold(f64::NAN, f64::max), note));
    measured
}
