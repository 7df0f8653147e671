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
//! - [`error`]: the only file that chooses status codes.
//! - [`http`]: routes, gates, handlers, the embedded UI. [`listen`]: addresses, TLS, trusted proxies.
//! - [`state`]: what handlers and jobs share in memory. [`jobs`]: background work over store and accounts. [`alerts`]:
//!   background work of alerts.
//! - [`process`]: the content of `docs/operate/limits.md`, memory, reserved disk space, log lines, own spans.
//! - [`cli`]: subcommands of the command line. [`backup`]: copies of a data directory, and their verification.
//! - [`browser`]: checks of monitors by a browser, in processes of their own. [`browser_runner`]: makes them for other
//!   machines. [`http_client`]: one request to one server.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod alerts;
pub mod app;
pub mod backup;
pub mod browser;
pub mod browser_runner;
pub mod cli;
pub mod config;
pub mod error;
pub mod http;
pub mod http_client;
pub mod jobs;
pub mod listen;
pub mod process;
pub mod serve;
pub mod state;
