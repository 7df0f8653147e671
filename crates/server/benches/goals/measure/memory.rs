//! G9a: memory of an idle server.

use std::path::Path;
use std::time::Duration;

use tidewatch_bench::process;

use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

pub fn measure(settings: &Settings, data: &Path) -> Measured {
    let empty = Scratch::new(&settings.folder, "empty");
    let large = Scratch::clone_of(data, &settings.folder, "idle");
    let idle = |folder: &Path| {
        let server = Server::tidewatch(&settings.tidewatch, folder, &[]);
        process::wait_quiet(server.pid(), Duration::from_secs(3), Duration::from_secs(60));
        process::usage(server.pid()).map_or(f64::NAN, |usage| usage.resident as f64 / 1e6)
    };
    let empty = idle(&empty.0);
    Measured::new("G9a", idle(&large.0), format!("{empty:.1} on an empty directory"))
}
