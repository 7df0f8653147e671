//! Subcommands beside `serve`: clients of a server, work on a data directory without one, the browser runner.
//!
//! - [`admin`]: account recovery. [`config`]: alerting and saved views as files. [`export`]: a table's rows as a file.
//! - [`symbols`]: uploads, and inspection of symbol files without a server. [`browser_runner`]: checks by a browser for
//!   servers elsewhere.

pub mod admin;
pub mod browser_runner;
pub mod config;
pub mod export;
mod server_address;
pub mod symbols;
mod terminal;
