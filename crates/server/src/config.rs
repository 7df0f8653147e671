//! What an operator may set: a name, a type, a default and one sentence each.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::limits;

/// Command line of `tidewatch serve`; each option is an environment variable too.
#[derive(Debug, Clone, clap::Args)]
pub struct Config {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, env = "TIDEWATCH_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// The one directory everything is stored in; made when missing.
    #[arg(long, env = "TIDEWATCH_DATA_DIR", default_value = "tidewatch-data")]
    pub data_dir: PathBuf,
    /// Address of this server as its users see it; `http://` and the listen address when not given.
    #[arg(long, env = "APP_BASE_URL")]
    pub base_url: Option<String>,
    /// Largest OTLP request body in bytes, after decompression.
    #[arg(long, env = "OTLP_MAX_BODY_BYTES", default_value_t = limits::OTLP.body_bytes_max)]
    pub otlp_body_bytes_max: usize,
    /// OTLP requests worked on at once; 0 means twice the CPU cores, at least 4.
    #[arg(long, env = "INGEST_MAX_CONCURRENT", default_value_t = 0)]
    pub ingest_concurrent_max: usize,
    /// Threads that answer dashboard questions; 0 means one per CPU core.
    #[arg(long, env = "TIDEWATCH_QUERY_THREADS", default_value_t = 0)]
    pub query_threads: usize,
    /// Rows held in memory before they are written as parts.
    #[arg(long, env = "TIDEWATCH_FLUSH_ROWS", default_value_t = limits::FLUSH_ROWS)]
    pub flush_rows: usize,
    /// Mebibytes of rows held in memory at most; half of it is written as parts at a time.
    #[arg(long, env = "TIDEWATCH_MEMTABLE_MB", default_value_t = limits::MEMTABLE_MB)]
    pub memtable_mb: usize,
    /// Seconds after which rows held in memory are written as parts.
    #[arg(long, env = "TIDEWATCH_FLUSH_SECONDS", default_value_t = limits::FLUSH_SECONDS)]
    pub flush_seconds: u64,
    /// Days that telemetry is kept; 0 keeps it for ever.
    #[arg(long, env = "TIDEWATCH_RETENTION_DAYS", default_value_t = limits::RETENTION_DAYS)]
    pub retention_days: u32,
}

impl Config {
    /// Defaults with another address and directory.
    pub fn new(listen: SocketAddr, data_dir: impl Into<PathBuf>) -> Config {
        Config {
            listen,
            data_dir: data_dir.into(),
            base_url: None,
            otlp_body_bytes_max: limits::OTLP.body_bytes_max,
            ingest_concurrent_max: 0,
            query_threads: 0,
            flush_rows: limits::FLUSH_ROWS,
            memtable_mb: limits::MEMTABLE_MB,
            flush_seconds: limits::FLUSH_SECONDS,
            retention_days: limits::RETENTION_DAYS,
        }
    }

    /// Where exporters reach this server, without a trailing slash.
    pub fn base_url(&self) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{}", self.listen),
        }
    }

    /// Spec: limits, "Ingest concurrency": 2 x cores, floor 4.
    pub fn ingest_concurrent(&self) -> usize {
        match self.ingest_concurrent_max {
            0 => (2 * cores()).max(limits::INGEST_CONCURRENT_MIN),
            set => set,
        }
    }

    pub fn query_concurrent(&self) -> usize {
        match self.query_threads {
            0 => cores(),
            set => set,
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}
