//! G10: time until a server on the large data set is ready, and the additional time of a journal replay.

use std::path::Path;
use std::time::Duration;

use tidewatch_bench::generate::Kind;
use tidewatch_bench::ingest::generated;
use tidewatch_bench::load::Plan;

use super::{closed, exports, median};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

/// Options that disable flushes, so that all rows are only in the journal.
const KEEP: [&str; 6] = ["--flush-rows", "100000000", "--flush-seconds", "100000", "--memtable-mb", "1024"];
const STARTS: usize = 3;

pub fn measure(settings: &Settings, data: &Path) -> Vec<Measured> {
    let folder = Scratch::clone_of(data, &settings.folder, "start");
    let first = Server::tidewatch(&settings.tidewatch, &folder.0, &KEEP);
    let (_, token) = first.sign_in();
    let starts = |server: Server| {
        server.stop();
        let again = || {
            let server = Server::tidewatch(&settings.tidewatch, &folder.0, &KEEP);
            let ready = server.ready_after.as_secs_f64();
            server.kill();
            ready
        };
        median((0..STARTS).map(|_| again()).collect())
    };
    let empty = starts(first);

    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &KEEP);
    let exports = exports(&server, &token, generated(Kind::Rich, 512, 64, 1).expect("generated requests"), false);
    let mut spans = 0.0;
    while spans < 200_000.0 {
        let duration = Duration::from_millis(200);
        let plan = Plan { warm_up: Duration::ZERO, connections: 2, ..closed(&exports, duration) };
        let accepted = exports.run(&plan).accepted() as f64;
        assert!(accepted > 0.0, "the server accepts nothing");
        spans += accepted * exports.units();
    }
    // Servers that end by SIGKILL replay the same records at each start.
    server.kill();
    let again = || {
        let server = Server::tidewatch(&settings.tidewatch, &folder.0, &KEEP);
        let ready = server.ready_after.as_secs_f64();
        server.kill();
        ready
    };
    let full = median((0..STARTS).map(|_| again()).collect());
    let note = format!("{:.0} thousand spans in {:.2} s more than without", spans / 1e3, full - empty);
    vec![
        Measured::new("G10a", empty, "process start to the first 200 of /health, nothing to replay"),
        Measured::new("G10b", spans / (full - empty).max(1e-3), note),
    ]
}
