//! `tidewatch bench`: a load tool for any OTLP/HTTP server, timed reads of any HTTP API, and a data set to read from.
//!
//! - `ingest` ([`ingest`]): exports at full speed or at a rate. `query` ([`query`]): a list of reads, run in sequence.
//!   `fill` ([`fill`]): a data directory like that of a server after a busy month; [`reads`]: queries for its data.
//! - Building blocks: [`load`] (connections, pace, latencies), [`http`] (a client with little overhead), [`payload`]
//!   (bodies whose ids and times are fresh each time), [`generate`] (telemetry), [`process`] (CPU time and memory of a
//!   server).
//!
//! - [`demo`]: the traffic of a fictional shop. Its command is `tidewatch demo`.
//!
//! docs/develop/benchmarks.md describes how to use it and what its numbers mean.
//!
//! Only `fill` calls the ingest pipeline directly; everything else can measure other servers too.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod demo;
pub mod fill;
pub mod generate;
pub mod http;
pub mod ingest;
pub mod load;
pub mod payload;
pub mod process;
pub mod protobuf;
pub mod query;
pub mod reads;

/// The subcommands of `tidewatch bench`.
#[derive(Debug, clap::Subcommand)]
pub enum BenchCommand {
    /// Sends exports to an OTLP/HTTP server; prints throughput, latencies and, given its --pid, the server's CPU time.
    Ingest(ingest::IngestArgs),
    /// Times reads of an HTTP API, each on its own.
    Query(query::QueryArgs),
    /// Makes a data directory with months of generated telemetry, straight through the store.
    Fill(fill::FillArgs),
}

/// Runs the command until it is done. `print_line` is called with one line of output at a time.
pub fn run(command: &BenchCommand, print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    match command {
        BenchCommand::Ingest(arguments) => ingest::run(arguments, print_line),
        BenchCommand::Query(arguments) => query::run(arguments, print_line),
        BenchCommand::Fill(arguments) => fill::run(arguments, print_line),
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_in_threes() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
