//! Measures the findings of Explain and Changes in generated incidents and in quiet days: the tables of
//! docs/develop/answers.md. Everything is drawn from seeds: the same code prints the same tables.
//!
//! `--only explain`, `--only incidents` or `--only quiet` prints one part. `--seeds N`: runs of each kind of incident.
//! `--days N`: quiet days.
//!
//! - `requests`, `explained`: the requests of an entry point, and how often Explain names the cause.
//! - `minutes`, `changed`: the minutes of an endpoint, and how often Changes finds the incident or a false one.
#![allow(clippy::print_stdout, clippy::allow_attributes, reason = "a benchmark prints its tables")]

mod changed;
mod explained;
mod minutes;
mod requests;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1)
    };
    let count = |flag: &str, usual| after(flag).and_then(|given| given.parse().ok()).unwrap_or(usual);
    let wants = |part: &str| after("--only").is_none_or(|only| only == part);
    if wants("explain") {
        explained::print(count("--seeds", 6));
    }
    if wants("incidents") {
        changed::print_incidents(count("--seeds", 8));
    }
    if wants("quiet") {
        changed::print_quiet(count("--days", 300));
    }
}
