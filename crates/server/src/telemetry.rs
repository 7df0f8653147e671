//! Our own logs: one line per event on standard error, `RUST_LOG` chooses what is shown (default `info`).

use tracing_subscriber::EnvFilter;

/// Starts logging. Later calls change nothing (tests call it more than once).
pub fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}
