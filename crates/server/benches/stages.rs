//! CPU time of the in-process stages of the ingest path on one thread: medians of alternating rounds.
//!
//! `stages` prints the table, `stages --numbers` one line `PAYLOAD/STAGE<tab>NANOSECONDS` per stage; `--rounds N` sets
//! the number of rounds. `stages --only PAYLOAD/STAGE --repeat N` runs one stage N times without output, for callgrind
//! (see `goals`).
#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "a benchmark prints its table")]

mod support;

use support::{Payload, Row, cpu_ns, median, payloads};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 9;
const ROUND_NS: u64 = 120_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(position) = arguments.iter().position(|argument| argument == "--only") {
        let stage = arguments.get(position + 1).expect("--only takes a stage");
        let repeat = arguments.last().and_then(|text| text.parse().ok()).unwrap_or(10);
        return run_one(stage, repeat);
    }
    let has = |flag: &str| arguments.iter().position(|argument| argument == flag);
    let rounds = has("--rounds").and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(ROUNDS);
    for payload in payloads() {
        report(&payload, rounds, has("--numbers").is_some());
    }
}

/// Runs one stage of one payload `repeat` times, for example `traces512/decode protobuf`.
fn run_one(stage: &str, repeat: usize) {
    let (file, name) = stage.split_once('/').expect("PAYLOAD/STAGE");
    let payload = payloads().into_iter().find(|payload| payload.name == file).expect("a payload of that name");
    let mut stages = support::stages(&payload);
    let (_, run) = stages.iter_mut().find(|(stage, _)| *stage == name).expect("a stage of that name");
    (0..repeat).for_each(|_| run());
}

fn report(payload: &Payload, rounds: usize, numbers: bool) {
    let mut stages = support::stages(payload);
    let repeats: Vec<usize> = stages.iter_mut().map(|(_, run)| repeats_for_a_round(run.as_mut())).collect();
    let mut samples = vec![Vec::new(); stages.len()];
    for _ in 0..rounds.max(1) {
        for (index, (_, run)) in stages.iter_mut().enumerate() {
            let start = cpu_ns();
            (0..repeats[index]).for_each(|_| run());
            let spent = cpu_ns() - start;
            samples[index].push(spent as f64 / (repeats[index] * payload.units) as f64);
        }
    }
    let rows: Vec<Row> =
        stages.iter().zip(samples).map(|((name, _), samples)| Row { name, ns_per_unit: median(samples) }).collect();
    match numbers {
        true => rows.iter().for_each(|row| println!("{}/{}\t{}", payload.name, row.name, row.ns_per_unit)),
        false => support::print_table(payload, &rows),
    }
}

/// Number of repetitions, doubled until the duration is measurable with the clock's resolution.
fn repeats_for_a_round(run: &mut dyn FnMut()) -> usize {
    let mut repeats = 1;
    loop {
        let start = cpu_ns();
        (0..repeats).for_each(|_| run());
        if cpu_ns() - start >= ROUND_NS / 2 {
            return repeats;
        }
        repeats *= 2;
    }
}
