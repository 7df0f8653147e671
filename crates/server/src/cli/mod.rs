//! Subcommands that are clients of a server, or work on a data directory without one.
//!
//! - [`admin`]: account recovery. [`config`]: alerting and saved views as files. [`export`]: a table's rows as a file.
//! - [`symbols`]: uploads, and inspection of symbol files without a server.

pub mod admin;
pub mod config;
pub mod export;
pub mod symbols;
