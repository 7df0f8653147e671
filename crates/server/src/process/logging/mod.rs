//! The server's own logs: one line per event on standard error. `RUST_LOG` sets the filter (default `info`).
//!
//! [`log_writer`] drops and counts lines that cannot be written: logging never fails and never panics. [`log_throttle`] limits
//! lines of libraries.

pub mod log_throttle;
pub mod log_writer;

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use self::log_throttle::Throttle;
use self::log_writer::LogWriter;
use tidewatch_runtime::redact::Redacted;

/// Starts logging. Later calls change nothing (tests call it more than once).
pub fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let colours = std::io::stderr().is_terminal();
    // Reporting a write error on standard error would panic, because that is what failed.
    let format = tracing_subscriber::fmt::layer().log_internal_errors(false);
    let format = format.with_writer(Redacted(LogWriter)).with_ansi(colours).with_filter(Throttle::default());
    let _ = tracing_subscriber::registry().with(filter).with(format).try_init();
}
