//! The process: HTTP, configuration, wiring, command line. `main.rs` is a thin shell over this crate.
//!
//! An OTLP export:
//!
//! ```text
//! http/routes ─> gate/auth (which project) ─> gate/body (size, pace, inflate) ─> ingest::pipeline
//!     decode ─> rules ─> columns ─> journal.append ─ fdatasync ─> lake.apply ─> 200
//! ```
//!
//! A query:
//!
//! ```text
//! http/routes ─> gate/auth (user, project) ─> http/dashboard ─> query (typed request -> Plan) ─> TelemetryStore ─> JSON
//! ```
//!
//! - [`app`]: wiring. [`config`]: the operator's settings. [`serve`]: start and stop.
//! - [`error`]: the only file that chooses status codes. [`limits_table`]: the limits as `docs/limits.md` lists them.
//! - [`http`]: routes, gates, handlers, the embedded UI. [`listen`]: addresses, TLS, trusted proxies.
//! - [`retention_changes`], [`resymbolicate`]: background work over store and accounts. [`quotas`]: ingest quotas of
//!   projects.
//! - [`admin`]: account recovery from the command line. [`backup`], [`check`]: copies of a data directory, and their
//!   verification. [`missing_accounts`]: detects a lost control database. [`reserve`]: disk space to open it on a full
//!   disk.
//! - [`logging`], [`own_traces`]: log lines and spans of the server itself.
//! - [`symbols_cli`]: `tidewatch symbols`: uploads, and inspection of symbol files without a server.
//! - [`alerts`]: background tasks of alerts.
//! - [`browser`]: checks of monitors by a browser, in processes of their own. [`browser_runner`]: makes them for other
//!   machines. [`http_client`]: one request to one server.
//! - [`demo`], [`demos`]: demo data that the server loads itself, and its progress. [`live_tails`]: open tails of logs.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod admin;
pub mod alerts;
pub mod app;
pub mod backup;
pub mod backup_manifest;
pub mod browser;
pub mod browser_runner;
pub mod check;
pub mod config;
pub mod config_cli;
pub mod demo;
pub mod demos;
pub mod error;
pub mod export_cli;
pub mod first_versions;
pub mod http;
pub mod http_client;
pub mod limits_table;
pub mod listen;
pub mod live_tails;
pub mod log_throttle;
pub mod logging;
pub mod missing_accounts;
pub mod own_traces;
pub mod quotas;
pub mod reserve;
pub mod resymbolicate;
pub mod retention_changes;
pub mod serve;
pub mod symbols_cli;
