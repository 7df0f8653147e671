//! G1 and G4, from the benches `stages` and `allocations`, and instructions from callgrind.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use crate::goals::Measured;
use crate::settings::Settings;

const WHOLE: &str = "decode + rules + columns";

/// Values by `payload/stage`.
type Numbers = HashMap<String, f64>;

pub fn measure(settings: &Settings) -> Vec<Measured> {
    let rounds = if settings.quick { "5" } else { "15" };
    let cpu = numbers(&settings.stages, &["--numbers", "--rounds", rounds]);
    let traces =
        |numbers: &Numbers, stage: &str| numbers.get(&format!("traces512/{stage}")).copied().unwrap_or(f64::NAN);
    let (prost, whole) = (traces(&cpu, "prost decode"), traces(&cpu, WHOLE));
    let (serde, json) = (traces(&cpu, "serde_json into generated types"), traces(&cpu, "decode JSON"));
    let decode = traces(&cpu, "decode protobuf");
    let note = format!("{whole:.0} ns a span ({decode:.0} decoding), prost {prost:.0}");
    let mut measured = vec![
        Measured::new("G1a", prost / whole, note),
        Measured::new("G4", serde / json, format!("{json:.0} ns a span, serde_json {serde:.0}")),
    ];
    let allocations = numbers(&settings.allocations, &["--numbers"]);
    measured.push(Measured::new("G1c", traces(&allocations, WHOLE), ""));
    if let Some(instructions) = instructions(&settings.stages, WHOLE) {
        let prost = super::stages::instructions(&settings.stages, "prost decode").unwrap_or(f64::NAN);
        measured.push(Measured::new("G1b", instructions, format!("prost decode {prost:.0}")));
    }
    measured
}

/// Runs a bench that prints lines of `payload/stage<tab>number`.
fn numbers(bench: &Path, arguments: &[&str]) -> Numbers {
    let output = Command::new(bench).args(arguments).output().expect("the bench runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let line =
        |line: &str| line.rsplit_once('\t').and_then(|(name, number)| Some((name.to_owned(), number.parse().ok()?)));
    text.lines().filter_map(line).collect()
}

/// Instructions per span: the difference between many runs and few, which excludes one-time work.
fn instructions(stages: &Path, stage: &str) -> Option<f64> {
    let count = |repeat: &str| {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(stages);
        let output = command.args(["--only", &format!("traces512/{stage}"), "--repeat", repeat]).output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = text.lines().find(|line| line.contains("Collected :"))?;
        line.split(':').nth(1)?.trim().parse::<f64>().ok()
    };
    Some((count("12")? - count("2")?) / 10.0 / 512.0)
}
