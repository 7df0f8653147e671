//! `tidewatch symbols`: debug files, mappings and source maps from the command line of a developer or of CI.
//!
//! - [`upload`]: sends usable files; [`batch`] groups them into requests, [`send`] sends these, [`progress`] draws the
//!   bar.
//! - [`inspect`]: shows what a file is and where it would be stored. [`resolve`]: resolves a stack trace with local
//!   files or by a server.
//! - [`find`]: finds symbol files in folders, with the server's classification (`symbols::classify_upload`).
//!
//! Results go to standard output; progress and one sentence per refused file to standard error.

mod batch;
mod find;
mod inspect;
mod progress;
mod resolve;
pub mod send;
mod upload;

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use tidewatch_symbols::DebugId;

/// The subcommands of `tidewatch symbols`.
#[derive(Debug, clap::Subcommand)]
pub enum SymbolsCommand {
    /// Sends debug files, R8 mappings and source maps to a server.
    Upload(upload::UploadArgs),
    /// Says what files are: ids, architectures, debug information, and what they would be kept as.
    Inspect(inspect::InspectArgs),
    /// Resolves a stack trace, with local files or by a server.
    Resolve(resolve::ResolveArgs),
}

/// Runs the subcommand. `print_line` is called with each line of the result. An error: the exit code is not 0.
pub fn run(command: &SymbolsCommand, print_line: impl FnMut(&str)) -> anyhow::Result<()> {
    match command {
        SymbolsCommand::Upload(arguments) => upload::run(arguments, print_line),
        SymbolsCommand::Inspect(arguments) => inspect::run(arguments, print_line),
        SymbolsCommand::Resolve(arguments) => resolve::run(arguments, print_line),
    }
}

/// Metadata that files may lack.
#[derive(Debug, Default, clap::Args)]
struct FileOptions {
    /// The id that an Android app reports for its R8 mapping.
    #[arg(long, value_name = "UUID")]
    proguard_uuid: Option<String>,
    /// Of Dart `.symbols` files whose name does not end in it: arm64, x64, arm or ia32.
    #[arg(long)]
    arch: Option<String>,
    /// Of Dart `.symbols` files without a build id.
    #[arg(long, value_name = "HEX")]
    debug_id: Option<String>,
    /// Of the app, shown beside the files.
    #[arg(long = "version", id = "app_version", value_name = "TEXT")]
    app_version: Option<String>,
}

impl FileOptions {
    fn fields(&self) -> tidewatch_ingest::symbols::classify_upload::Fields<'_> {
        tidewatch_ingest::symbols::classify_upload::Fields {
            arch: self.arch.as_deref(),
            debug_id: self.debug_id.as_deref(),
            proguard_uuid: self.proguard_uuid.as_deref(),
            version: self.app_version.as_deref(),
        }
    }
}

/// The server's base URL: the flag (or `TIDEWATCH_URL`), else `TRACEWAY_URL`, which may end in `/api/report` in SDK
/// set-ups.
pub fn base_url(given: Option<&str>) -> anyhow::Result<String> {
    let url = given.map(str::to_owned).or_else(|| environment("TRACEWAY_URL"));
    let url = url.context("which server? give --url, or set TIDEWATCH_URL or TRACEWAY_URL")?;
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix("/api/report").unwrap_or(url);
    anyhow::ensure!(url.starts_with("http://") || url.starts_with("https://"), "not an http(s) address: {url}");
    Ok(url.to_owned())
}

/// An environment variable; `None`: not set, or blank.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Parses a hexadecimal debug id, with or without dashes.
fn debug_id(text: &str) -> anyhow::Result<DebugId> {
    DebugId::parse(text).with_context(|| format!("not a hexadecimal debug id: {text}"))
}

/// Prints a line to standard error.
fn remark(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints skipped files of folders and why. Build folders may have thousands: some are listed, the rest is counted.
fn remark_skipped(files: &[find::Refused]) {
    for file in files.iter().take(SKIPPED_SHOWN) {
        remark(&format!("passed over: {}: {}", file.name, file.why));
    }
    if let Some(rest) = files.len().checked_sub(SKIPPED_SHOWN).filter(|rest| *rest > 0) {
        remark(&format!("passed over: {} more", counted(rest, "file")));
    }
}

/// Number of skipped files to list.
const SKIPPED_SHOWN: usize = 50;

/// Whether it has the format of a project's upload or telemetry token, which cannot be used for anything else.
pub fn is_project_token(token: &str) -> bool {
    token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A size for display: `12.3 MB`, in powers of 1000.
fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// `1 file`, `2 files`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Timeout of one call: a large upload over a slow line takes long.
const CALL_MAX: Duration = Duration::from_secs(1800);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers() {
        for (given, expected) in [
            ("https://t.example/", Some("https://t.example")),
            ("http://127.0.0.1:8080/api/report", Some("http://127.0.0.1:8080")),
            ("t.example", None),
        ] {
            assert_eq!(base_url(Some(given)).ok().as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!([999, 1_500, 14_500_000].map(megabytes), ["999 bytes", "1.5 kB", "14.5 MB"]);
        assert_eq!((counted(1, "file"), counted(0, "file")), ("1 file".to_owned(), "0 files".to_owned()));
    }
}
