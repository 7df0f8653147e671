//! The process: HTTP, configuration, wiring, command line. `main.rs` is a thin shell over this crate.
//!
//! A request on its way in (an OTLP export):
//!
//! ```text
//! http/routes ─> gate/auth (which project) ─> gate/body (size, pace, inflate) ─> ingest::pipeline
//!     decode ─> rules ─> columns ─> journal.append ─ fdatasync ─> lake.apply ─> 200
//! ```
//!
//! A question on its way out:
//!
//! ```text
//! http/routes ─> gate/auth (user, project) ─> http/dashboard ─> query (typed question -> Plan) ─> TelemetryStore ─> JSON
//! ```
//!
//! - [`app`]: the one place where things are wired. [`config`]: what an operator may set. [`serve`]: start and stop.
//! - [`error`]: the only file that chooses status codes. [`limits_table`]: the limits as `docs/limits.md` lists them.
//! - [`http`]: routes, gates, handlers, the embedded UI. [`listen`]: addresses, TLS, trusted proxies.
//! - [`keeping`], [`resymbolicate`]: work in the background over store and accounts. [`quotas`]: what projects may send.
//! - [`admin`]: the command line for those locked out. [`backup`], [`check`]: copies of a data directory, and whether one is
//!   whole. [`missing_accounts`]: accounts that were lost beside telemetry. [`reserve`]: space for them on a full disk.
//! - [`logging`], [`own_traces`]: log lines and spans of the server itself.
//! - [`symbols_cli`]: `tidewatch symbols`: uploads, and symbol files looked at without a server.
//! - [`demo`], [`demos`]: demo data that the server loads itself, and how far that is.

#![forbid(unsafe_code)]

pub mod admin;
pub mod app;
pub mod backup;
pub mod backup_manifest;
pub mod check;
pub mod config;
pub mod demo;
pub mod demos;
pub mod error;
pub mod export_cli;
pub mod http;
pub mod keeping;
pub mod limits_table;
pub mod listen;
pub mod log_throttle;
pub mod logging;
pub mod missing_accounts;
pub mod own_traces;
pub mod quotas;
pub mod reserve;
pub mod resymbolicate;
pub mod serve;
pub mod symbols_cli;
