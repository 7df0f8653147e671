//! G8, G15: every read of the list over the large data set, warm, and cold on a new server with an empty page cache.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tidewatch_bench::fill::READS;
use tidewatch_bench::query::{Read, Repeats, Timed};

use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

/// Goals with the name prefix of their reads.
const GROUPS: &[(&str, &str)] = &[
    ("G8a", "ranking"),
    ("G8b", "chart"),
    ("G8c", "one endpoint"),
    ("G8d", "trace: within"),
    ("G8e", "trace: any"),
    ("G8f", "attribute: promoted"),
    ("G8g", "attribute: rare"),
    ("G8h", "issues"),
    ("G8i", "logs: rare"),
    ("G8j", "logs: latest"),
    ("G8k", "metric"),
    ("G15b", "heatmap"),
    ("G15c", "explain"),
    ("G15d", "trace search"),
    ("G15e", "services"),
    ("G15f", "completion"),
];

/// The goal that is the sum of its reads, which one page sends, with their name prefix.
const TOGETHER: (&str, &str) = ("G15a", "overview");

/// Lower bound of the warm duration in the ratio: below it scheduling dominates.
const COLD_LEAST_MS: f64 = 1.0;

pub struct Line {
    pub name: String,
    pub timed: Timed,
    pub cold_ms: f64,
}

pub fn list(data: &Path) -> Vec<Read> {
    let text = std::fs::read_to_string(data.join(READS)).expect("bench fill leaves a list of reads");
    serde_json::from_str(&text).expect("a list of reads")
}

/// Whether a goal of these is to be measured.
pub fn are_wanted(settings: &Settings) -> bool {
    GROUPS.iter().chain([&TOGETHER]).any(|(goal, _)| settings.wants(goal))
}

/// Results of the goals, and one line per read.
pub fn measure(settings: &Settings, data: &Path) -> (Vec<Measured>, Vec<Line>) {
    let folder = Scratch::clone_of(data, &settings.folder, "reads");
    let mut reads = list(data);
    let goals = || GROUPS.iter().chain([&TOGETHER]);
    reads.retain(|read| goals().any(|(goal, prefix)| read.name.starts_with(prefix) && settings.wants(goal)));
    // The first start creates the journal and the account, which are not measured.
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &[]);
    server.sign_in();
    server.stop();
    let cold: Vec<f64> = reads.iter().map(|read| cold(settings, &folder.0, read)).collect();
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &[]);
    let (reader, _) = server.sign_in();
    let (count, seconds) = if settings.quick { (15, 1) } else { (60, 5) };
    let repeats = Repeats { warm_up: 2, count, at_most: Duration::from_secs(seconds) };
    let lines: Vec<Line> = reads
        .iter()
        .zip(cold)
        .map(|(read, cold_ms)| {
            let timed = reader.time(read, repeats, Some(server.pid())).expect("the server answers");
            Line { name: read.name.clone(), timed, cold_ms }
        })
        .collect();
    (results(&lines), lines)
}

fn results(lines: &[Line]) -> Vec<Measured> {
    let worst = |group: &(&'static str, &str)| {
        let of_group = lines.iter().filter(|line| line.name.starts_with(group.1));
        let worst = of_group.max_by(|a, b| a.timed.warm.quantile(0.5).total_cmp(&b.timed.warm.quantile(0.5)))?;
        let refused = lines.iter().find(|line| line.name.starts_with(group.1) && line.timed.status != 200);
        let p50 = worst.timed.warm.quantile(0.5);
        let p99 = worst.timed.warm.quantile(0.99);
        let cpu = worst.timed.cpu_ms.unwrap_or(f64::NAN);
        let note = format!("{}: p50; p99 {p99:.1}, CPU {cpu:.1}, cold {:.1}", worst.name, worst.cold_ms);
        Some(match refused {
            Some(line) => Measured::new(group.0, f64::NAN, format!("{} answered {}", line.name, line.timed.status)),
            None => Measured::new(group.0, p50, note),
        })
    };
    let mut measured: Vec<Measured> = GROUPS.iter().filter_map(worst).collect();
    measured.extend(together(lines));
    let ratio = |line: &Line| line.cold_ms / line.timed.warm.quantile(0.5).max(COLD_LEAST_MS);
    if let Some(line) = lines.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b))) {
        let warm = line.timed.warm.quantile(0.5);
        let note = format!("worst: {}, {:.1} ms cold, {warm:.1} warm", line.name, line.cold_ms);
        measured.push(Measured::new("G8l", ratio(line), note));
    }
    measured
}

/// The sum of the durations of the reads of [`TOGETHER`].
fn together(lines: &[Line]) -> Option<Measured> {
    let (goal, prefix) = TOGETHER;
    let of_goal: Vec<&Line> = lines.iter().filter(|line| line.name.starts_with(prefix)).collect();
    if let Some(refused) = of_goal.iter().find(|line| line.timed.status != 200) {
        return Some(Measured::new(goal, f64::NAN, format!("{} answered {}", refused.name, refused.timed.status)));
    }
    let p50 = |line: &Line| line.timed.warm.quantile(0.5);
    let each =
        |line: &&Line| format!("{} {:.1}, CPU {:.1}", line.name, p50(line), line.timed.cpu_ms.unwrap_or(f64::NAN));
    let note = of_goal.iter().map(each).collect::<Vec<String>>().join("; ");
    (!of_goal.is_empty()).then(|| Measured::new(goal, of_goal.iter().map(|line| p50(line)).sum(), note))
}

/// Duration of the first read of a new server with an empty page cache, in milliseconds.
fn cold(settings: &Settings, folder: &Path, read: &Read) -> f64 {
    evict(folder);
    let server = Server::tidewatch(&settings.tidewatch, folder, &[]);
    let (reader, _) = server.sign_in();
    let once = Repeats { warm_up: 0, count: 1, at_most: Duration::ZERO };
    reader.time(read, once, None).expect("the server answers").first_ms
}

/// Drops the files of the folder from the page cache. Needs no privileges and does not affect other files.
fn evict(folder: &Path) {
    let script =
        "find \"$0\" -type f -exec sh -c 'for f; do dd if=\"$f\" iflag=nocache count=0 2>/dev/null; done' sh {} +";
    Command::new("sh").args(["-c", script]).arg(folder).status().expect("sh, find and dd");
}
