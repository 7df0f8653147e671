//! Code that the measuring examples share.

use std::error::Error;
use std::time::{Duration, Instant};

use tidewatch_lake::Lake;
use tidewatch_store::answer::Answer;
use tidewatch_store::plan::Plan;

/// Executes the plan `runs` times and reports the best time, the first time and the mean processor time.
pub fn measure(lake: &Lake, name: &str, plan: &Plan, runs: u32) -> Result<(), Box<dyn Error>> {
    let execute = || lake.execute(plan, Instant::now() + Duration::from_secs(60)).map(Answer::new);
    let started = Instant::now();
    let rows = execute()?.rows();
    let first = started.elapsed();
    let mut best = first;
    let cpu_before = cpu_ticks();
    for _ in 0..runs {
        let started = Instant::now();
        execute()?;
        best = best.min(started.elapsed());
    }
    let cpu_ms = (cpu_ticks() - cpu_before) as f64 * 10.0 / f64::from(runs);
    report(&format!("{name} (first {:.1} ms, cpu {cpu_ms:.1} ms)", first.as_secs_f64() * 1e3), best, rows);
    Ok(())
}

/// Processor time of this process, in hundredths of a second; 0 where it is not available.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    stat.split(' ').skip(13).take(2).filter_map(|number| number.parse::<u64>().ok()).sum()
}

#[expect(clippy::print_stdout, reason = "the measurement is the output")]
pub fn report(name: &str, took: Duration, rows: usize) {
    println!("{:9.2} ms  {rows:7} rows  {name}", took.as_secs_f64() * 1e3);
}

/// A pseudo-random number derived from `number` alone.
pub fn mix(number: u64) -> u64 {
    fastrand::Rng::with_seed(number).u64(..)
}
