//! The process: HTTP in, accounts, ingest, questions, wiring. `main.rs` is a thin shell over this crate.
//!
//! A request on its way in (an OTLP export):
//!
//! ```text
//! http/routes ─> gate/auth (which project) ─> gate/body (size, pace, inflate) ─> ingest/pipeline
//!     decode ─> rules ─> columns ─> journal.append ─ fdatasync ─> lake.apply ─> 200
//! ```
//!
//! A question on its way out:
//!
//! ```text
//! http/routes ─> gate/auth (user, project) ─> http/dashboard ─> query/ (typed question -> Plan) ─> App::ask ─> lake ─> JSON
//! ```
//!
//! - [`app`]: the one place things are wired. [`config`]: what an operator may set. [`limits`]: every number of the spec.
//! - [`error`]: the only file that picks status codes.
//! - [`http`]: routes, gates, handlers, the embedded UI. [`ingest`]: the pipeline and what becomes of every record.
//! - [`symbols`]: debug files and source maps, and artifacts made from them.
//! - [`admin`]: the command line for those locked out. [`backup`], [`check`]: copies of a data directory, and whether one is
//!   whole.
//! - [`redact`]: what our own spans, log lines and names must not carry.
//! - [`reserve`]: space on a full disk for the control database.
//! - [`metrics`], [`own_traces`]: what the server tells of itself. [`outbound`]: HTTP to others.
//! - [`symbols_cli`]: `tidewatch symbols`: uploads, and symbol files looked at without a server.
//! - [`bench`]: load tool and measurements. [`demo`]: sample traffic. Neither has an entrance of its own.
//! - [`control`]: accounts and projects; the only folder that names SQLite. [`query`]: requests to Plans to JSON views.
//!   [`query_threads`]: where they are answered. [`machine`]: how much memory there is.

#![forbid(unsafe_code)]

pub mod admin;
pub mod admission;
pub mod app;
pub mod background;
pub mod backup;
pub mod backup_manifest;
pub mod bench;
pub mod check;
pub mod clock;
pub mod config;
pub mod control;
pub mod demo;
pub mod demos;
pub mod error;
pub mod files;
pub mod http;
pub mod ingest;
pub mod keeping;
pub mod limits;
pub mod listen;
pub mod log_throttle;
pub mod logins;
pub mod machine;
pub mod mail;
pub mod metrics;
pub mod missing_accounts;
pub mod outbound;
pub mod own_traces;
pub mod query;
pub mod query_threads;
pub mod quotas;
pub mod redact;
pub mod reserve;
pub mod resymbolicate;
pub mod secrets;
pub mod serve;
pub mod sso;
pub mod symbols;
pub mod symbols_cli;
pub mod telemetry;
