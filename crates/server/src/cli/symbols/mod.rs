//! `tidewatch symbols`: debug files, mappings and source maps from the command line of a developer or of CI.
//!
//! - [`upload`]: sends usable files; [`batch`] groups them into requests, [`send`] sends these, [`progress`] draws the
//!   bar.
//! - [`inspect`]: shows what a file is and where it would be stored. [`resolve`]: resolves a stack trace with local
//!   files or by a server.
//! - [`find`]: finds symbol files in folders, with the server's classification (`symbols::classify_upload`); [`skipped`]
//!   lists those that it passes over. [`options`]: metadata that files may lack.
//!
//! Results go to standard output; progress and one sentence per refused file to standard error.

mod batch;
mod find;
mod inspect;
mod options;
mod progress;
mod resolve;
pub mod send;
mod skipped;
mod upload;

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
