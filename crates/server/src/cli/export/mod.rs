//! `tidewatch export`: a table's rows as a file, from a running server or from a data directory that no server uses.
//!
//! - [`remote`]: from a server, through `GET /api/export`. [`directory`]: from a data directory, which is not changed.
//! - `request`: which rows. [`output`]: the file, which is renamed to its final name once it is complete.

mod directory;
mod output;
mod remote;
mod request;

use std::path::PathBuf;

use anyhow::{Context, ensure};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::cli::terminal::remark;
use crate::config::Config;
use output::Output;
use request::Request;
use tidewatch_query::export::{self, Format};
use tidewatch_query::time::Range;

/// Arguments of `tidewatch export`.
#[derive(Debug, Clone, clap::Args)]
pub struct ExportArgs {
    /// spans, endpoints, tasks, ai_traces, exceptions, logs, metric_points, ingest_counts, profiles, profile_samples or
    /// profile_stacks.
    #[arg(long)]
    pub table: String,
    /// The first moment: RFC 3339, or a day in UTC.
    #[arg(long)]
    pub from: String,
    /// The moment after the last: RFC 3339, or a day in UTC.
    #[arg(long)]
    pub to: String,
    /// The project's id. Every project that may be read when not given.
    #[arg(long)]
    pub project: Option<String>,
    /// parquet, ndjson or csv.
    #[arg(long, default_value = "parquet")]
    pub format: String,
    /// The file to write; standard output when not given.
    #[arg(long, short)]
    pub output: Option<PathBuf>,
    /// Base address of a running server, which TIDEWATCH_ACCESS_TOKEN (a personal access token with the scope read) is
    /// for. Without it the data directory is read, which no server may use meanwhile.
    #[arg(long)]
    pub url: Option<String>,
    /// Settings, for the data directory.
    #[command(flatten)]
    pub config: Config,
}

/// Writes the export. On error no file is left under the final name, and standard output is incomplete. `config`: the
/// effective settings. Blocks.
pub fn run(arguments: &ExportArgs, config: &Config) -> anyhow::Result<()> {
    let table = export::table(&arguments.table)
        .with_context(|| format!("there is no table {}; it is one of {}", arguments.table, export::table_names()))?;
    let format = Format::parse(&arguments.format)
        .with_context(|| format!("there is no format {}; it is one of parquet, ndjson, csv", arguments.format))?;
    let range = Range { from: moment(&arguments.from, "--from")?, to: moment(&arguments.to, "--to")? };
    ensure!(range.from <= range.to, "--to is before --from");
    let request = Request { table, range, project: arguments.project.as_deref(), format };
    let mut output = Output::create(arguments.output.as_deref())?;
    match &arguments.url {
        Some(url) => remote::export(&request, url, &mut output)?,
        None => directory::export(&request, config, &mut output)?,
    }
    let written = output.finish()?;
    remark(&format!("{written} bytes of {} written", table.name()));
    Ok(())
}

/// Parses a time or a day to nanoseconds since the epoch.
fn moment(text: &str, name: &str) -> anyhow::Result<i64> {
    let timestamp = match text.parse::<Timestamp>() {
        Ok(timestamp) => Some(timestamp),
        Err(_) => text.parse::<Date>().ok().and_then(|day| Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())),
    };
    let moment = timestamp.and_then(|timestamp| i64::try_from(timestamp.as_nanosecond()).ok());
    moment.with_context(|| format!("{name} is neither an RFC 3339 time nor a day: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_times_or_days() {
        for (text, expected) in [
            ("1970-01-02", Some(86_400_000_000_000)),
            ("1970-01-01T00:00:00.000000007Z", Some(7)),
            ("1970-01-01T01:00:00+01:00", Some(0)),
            ("1969-12-31T23:59:59Z", Some(-1_000_000_000)),
            ("yesterday", None),
            ("", None),
            ("9999-01-01", None),
        ] {
            assert_eq!(moment(text, "--from").ok(), expected, "{text}");
        }
    }
}
