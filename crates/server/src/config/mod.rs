//! The operator's settings, each with a name, a type, a default and one sentence of help.
//!
//! [`file`]: the configuration file below flags and environment. [`Loaded`]: parsing and validation. [`show`]: settings
//! as shown to people. `checks`: what is wrong with settings. `twilio`: the settings of SMS.
//!
//! Every setting is in `docs/operate/configuration.md`, which a test generates.

mod checks;
pub mod file;
mod load;
pub mod show;
mod twilio;

pub use load::Loaded;
pub use twilio::TwilioSettings;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use clap::ArgAction;
use clap::builder::BoolishValueParser;

use crate::browser::settings::BrowserSettings;
use crate::listen::ListenAddress;
use crate::listen::client_ip::{Trust, TrustError};
use crate::listen::tls::Tls;
use crate::process::own_traces::target::Target;
use tidewatch_accounts::Location;
use tidewatch_accounts::Quota;
use tidewatch_accounts::mail::settings::MailSettings;
use tidewatch_accounts::secrets::secret_settings::{key_setting, secret_setting};
use tidewatch_accounts::secrets::webauthn::RelyingParty;
use tidewatch_ingest::durable_store::DurableStoreOptions;
use tidewatch_limits as limits;
use tidewatch_limits::RouteLimits;
use tidewatch_runtime::machine;

/// Unit of `REPORT_MAX_BODY_MB`.
const MB: usize = 1 << 20;

/// Command line of `tidewatch serve`; each option is an environment variable too.
#[derive(Debug, Clone, clap::Args)]
pub struct Config {
    /// A configuration file, in TOML.
    #[arg(id = "config", long = "config", env = "TIDEWATCH_CONFIG")]
    pub config_file: Option<PathBuf>,
    /// Addresses to listen on, separated by commas: `127.0.0.1:8080`, `[::]:8080`, `tls:[::]:8443`,
    /// `unix:/run/tidewatch.sock`; port 0 picks a free one.
    #[arg(long, env = "TIDEWATCH_LISTEN", value_delimiter = ',', default_value = "127.0.0.1:8080")]
    pub listen: Vec<ListenAddress>,
    /// PEM file with the certificate chain for `tls:` addresses; reloaded on change.
    #[arg(long, env = "TIDEWATCH_TLS_CERTIFICATE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// PEM file with the private key of the certificate.
    #[arg(long, env = "TIDEWATCH_TLS_KEY", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Address for the server's own metrics, `GET /metrics` as Prometheus text; none by default.
    #[arg(long, env = "TIDEWATCH_METRICS_LISTEN")]
    pub metrics_listen: Option<ListenAddress>,
    /// Destination of the server's own spans: `self`, or the base URL of another OTLP/HTTP server such as
    /// `https://collector:4318` (`/v1/traces` is appended); none by default.
    #[arg(long, env = "TIDEWATCH_TRACES_ENDPOINT")]
    pub traces_endpoint: Option<String>,
    /// Fraction of traces that are sampled among those that begin here: 1 is all, 0.01 one in a hundred.
    #[arg(long, env = "TIDEWATCH_TRACES_RATIO", default_value_t = 1.0)]
    pub traces_ratio: f64,
    /// Headers for the traces endpoint, as in `OTEL_EXPORTER_OTLP_HEADERS`: `Authorization=Bearer%20<PROJECT_TOKEN>`.
    #[arg(long, env = "TIDEWATCH_TRACES_HEADERS", hide_env_values = true, hide = true)]
    pub traces_headers: Option<String>,
    /// A file with these headers.
    #[arg(long, env = "TIDEWATCH_TRACES_HEADERS_FILE", conflicts_with = "traces_headers")]
    pub traces_headers_file: Option<PathBuf>,
    /// The directory of all data; created if missing.
    #[arg(long, alias = "data", env = "TIDEWATCH_DATA_DIR", default_value = "tidewatch-data")]
    pub data_dir: PathBuf,
    /// Public address of this server; `http://` and the listen address by default.
    #[arg(long, env = "APP_BASE_URL")]
    pub base_url: Option<String>,
    /// Maximum number of open connections; beyond it the longest idle connection is closed.
    #[arg(long, env = "TIDEWATCH_CONNECTIONS_MAX", default_value_t = limits::CONNECTIONS_MAX)]
    pub connections_max: usize,
    /// Maximum size of an OTLP request body in bytes, after decompression.
    #[arg(long, env = "OTLP_MAX_BODY_BYTES", default_value_t = limits::OTLP.body_bytes_max)]
    pub otlp_body_bytes_max: usize,
    /// Maximum size of a report or profile body in megabytes, after decompression.
    #[arg(long, env = "REPORT_MAX_BODY_MB", default_value_t = limits::REPORT.body_bytes_max / MB)]
    pub report_body_mb_max: usize,
    /// Maximum number of concurrent exports, reports and profiles, at least 4; 0 means twice the CPU cores.
    #[arg(long, env = "INGEST_MAX_CONCURRENT", default_value_t = 0)]
    pub ingest_concurrent_max: usize,
    /// Maximum number of concurrent uploads.
    #[arg(long, env = "UPLOAD_MAX_CONCURRENT", default_value_t = limits::UPLOAD_CONCURRENT)]
    pub upload_concurrent_max: usize,
    /// Seconds between two evaluations of notification rules, at least 5.
    #[arg(long, env = "NOTIFICATION_POLL_SECONDS", default_value_t = limits::NOTIFICATION_POLL_SECONDS)]
    pub notification_poll_seconds: u64,
    /// Maximum size of the debug files and source maps of one project in mebibytes; 0 means no limit.
    #[arg(long, env = "TIDEWATCH_SYMBOLS_PROJECT_MB", default_value_t = limits::SYMBOLS_PROJECT_MB)]
    pub symbols_project_mb: u64,
    /// Maximum number of debug files and source maps of one project; 0 means no limit. A file counts once per
    /// architecture and debug id under which it is stored.
    #[arg(long, env = "TIDEWATCH_SYMBOLS_PROJECT_FILES", default_value_t = limits::SYMBOLS_PROJECT_FILES)]
    pub symbols_project_files: u64,
    /// Mebibytes of bodies (decompressed) that one project may send per day (UTC); 0 means no limit. A project can set
    /// a lower limit.
    #[arg(long, env = "TIDEWATCH_PROJECT_DAILY_MB", default_value_t = 0)]
    pub project_daily_mb: u64,
    /// Spans, log records and metric points that one project may send per day (UTC); 0 means no limit. A project can
    /// set a lower limit.
    #[arg(long, env = "TIDEWATCH_PROJECT_DAILY_RECORDS", default_value_t = 0)]
    pub project_daily_records: u64,
    /// Spans, log records and metric points that one project may send per second, averaged over ten seconds; 0 means no
    /// limit. A project can set a lower limit.
    #[arg(long, env = "TIDEWATCH_PROJECT_RECORDS_PER_SECOND", default_value_t = 0)]
    pub project_records_per_second: u64,
    /// Proxies whose `X-Forwarded-For` is trusted: addresses and CIDR ranges separated by commas, or `*` for every
    /// peer, of which the last address in the header counts; loopback by default.
    #[arg(long, env = "TRUSTED_PROXIES")]
    pub trusted_proxies: Option<String>,
    /// Header that contains the client's address and takes precedence over `X-Forwarded-For`: on every request, or, if
    /// `TRUSTED_PROXIES` is set, on requests from these.
    #[arg(long, env = "TRUSTED_PROXY_HEADER")]
    pub trusted_proxy_header: Option<String>,
    /// Threads for dashboard queries; 0 means one per CPU core.
    #[arg(long, env = "TIDEWATCH_QUERY_THREADS", default_value_t = 0)]
    pub query_threads: usize,
    /// Memory budget of all dashboard queries in mebibytes; queries wait for it. 0 means a quarter of the memory of the
    /// machine or its control group.
    #[arg(long, env = "TIDEWATCH_QUERY_MEMORY_MB", default_value_t = 0)]
    pub query_memory_mb: usize,
    /// Maximum number of Endpoint names of a service per day (UTC), and of Task names and AI Trace names; further ones
    /// are stored as `(other)`. 0 means no limit.
    #[arg(long, env = "TIDEWATCH_NAMES_MAX", default_value_t = limits::NAMES_PER_SERVICE_DAY)]
    pub names_max: usize,
    /// Rows in memory that trigger a flush.
    #[arg(long, env = "TIDEWATCH_FLUSH_ROWS", default_value_t = limits::FLUSH_ROWS)]
    pub flush_rows: usize,
    /// Memory in mebibytes for rows, deduplication keys and flushes: rows may use three eighths of what keys leave, and
    /// a third of them is flushed at a time.
    #[arg(long, env = "TIDEWATCH_MEMTABLE_MB", default_value_t = limits::MEMTABLE_MB)]
    pub memtable_mb: usize,
    /// Key that signs logins, at least 32 characters; by default generated on first start and stored in the data
    /// directory.
    #[arg(long, env = "JWT_SECRET", hide_env_values = true, hide = true)]
    pub jwt_secret: Option<String>,
    /// A file with that key.
    #[arg(long, env = "JWT_SECRET_FILE", conflicts_with = "jwt_secret")]
    pub jwt_secret_file: Option<PathBuf>,
    /// PostgreSQL database for accounts and settings, `postgres://user:password@host/database`; by default a SQLite
    /// file in the data directory.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, hide = true)]
    pub database_url: Option<String>,
    /// A file with that address.
    #[arg(long, env = "DATABASE_URL_FILE", conflicts_with = "database_url")]
    pub database_url_file: Option<PathBuf>,
    /// Key that encrypts secrets in the database, at least 32 characters, the same on every node; by default generated
    /// on first start and stored in the data directory.
    #[arg(long, env = "SECRETS_KEY", hide_env_values = true, hide = true)]
    pub secrets_key: Option<String>,
    /// A file with that key.
    #[arg(long, env = "SECRETS_KEY_FILE", conflicts_with = "secrets_key")]
    pub secrets_key_file: Option<PathBuf>,
    /// Code required to create the first account; printed at the start. Derived from the key for secrets by default;
    /// `off` lets the first visitor own the server.
    #[arg(long, env = "TIDEWATCH_SETUP_CODE", hide_env_values = true, hide = true)]
    pub setup_code: Option<String>,
    /// Settings of outgoing mail.
    #[command(flatten)]
    pub mail: MailSettings,
    /// Settings of SMS.
    #[command(flatten)]
    pub twilio: TwilioSettings,
    /// Whether channels of notifications may be addresses of private networks, which every user who can change a project
    /// can then make the server contact.
    #[arg(long, env = "ALLOW_PRIVATE_NOTIFICATION_TARGETS", action = ArgAction::Set, value_parser = BoolishValueParser::new(),
        num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub allow_private_notification_targets: bool,
    /// Seconds between two looks for notifications that are due, at least 1; new ones of this node are sent at once.
    #[arg(long, env = "OUTBOX_POLL_SECONDS", default_value_t = limits::OUTBOX_POLL_SECONDS)]
    pub outbox_poll_seconds: u64,
    /// Monitors may contact private networks; otherwise only addresses of the public internet.
    #[arg(long, env = "ALLOW_PRIVATE_MONITOR_TARGETS", action = ArgAction::Set, value_parser = BoolishValueParser::new(),
        num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub allow_private_monitor_targets: bool,
    /// Settings of checks by a browser.
    #[command(flatten)]
    pub browser: BrowserSettings,
    /// Seconds after which rows in memory are flushed.
    #[arg(long, env = "TIDEWATCH_FLUSH_SECONDS", default_value_t = limits::FLUSH_SECONDS)]
    pub flush_seconds: u64,
    /// Retention of telemetry in days; 0 means no limit.
    #[arg(long, env = "TIDEWATCH_RETENTION_DAYS", default_value_t = limits::RETENTION_DAYS)]
    pub retention_days: u32,
    /// Retention follows the machine's clock at once, also after a jump ahead of more than a day; otherwise such a jump
    /// is followed after 24 hours.
    #[arg(long, env = "TIDEWATCH_RETENTION_TRUST_CLOCK", action = ArgAction::Set, value_parser = BoolishValueParser::new(),
        num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub retention_trust_clock: bool,
    /// Maximum size of stored telemetry on the disk in bytes; beyond it the oldest days are removed. 0 means no limit.
    #[arg(long, env = "TIDEWATCH_DISK_BYTES_MAX", default_value_t = 0)]
    pub disk_bytes_max: u64,
    /// Bytes to keep free on the file system of the data directory; below it the oldest days of telemetry are removed.
    /// 0 means none.
    #[arg(long, env = "TIDEWATCH_DISK_FREE_MIN", default_value_t = 0)]
    pub disk_free_min: u64,
    /// Seconds between two looks for pages that are due, at least 5.
    #[arg(long, env = "ONCALL_POLL_SECONDS", default_value_t = limits::ONCALL_POLL_SECONDS)]
    pub oncall_poll_seconds: u64,
    /// Seconds from the end of the last alert of an incident to its resolution; an alert that fires again meanwhile joins
    /// it.
    #[arg(long, env = "INCIDENT_GRACE_SECONDS", default_value_t = limits::INCIDENT_GRACE_SECONDS)]
    pub incident_grace_seconds: u64,
    /// Settings of sign-in with other providers.
    #[command(flatten)]
    pub sso: tidewatch_accounts::sso::settings::SsoSettings,
}

impl Config {
    /// Options of the telemetry store.
    pub fn durable_store_options(&self) -> DurableStoreOptions {
        DurableStoreOptions {
            data_dir: self.data_dir.clone(),
            body_bytes_max: self.otlp_body_bytes_max.max(self.report().body_bytes_max),
            flush_rows: self.flush_rows,
            memtable_bytes: self.memtable_mb.saturating_mul(1024 * 1024),
            flush_age: Duration::from_secs(self.flush_seconds),
            retention_days: self.retention_days,
            trusts_clock: self.retention_trust_clock,
            names_max: self.names_max,
            query_memory_bytes: self.query_memory_bytes(),
            disk_bytes_max: self.disk_bytes_max,
            disk_free_min: self.disk_free_min,
        }
    }

    /// The defaults with this address and data directory.
    pub fn new(listen: SocketAddr, data_dir: impl Into<PathBuf>) -> Config {
        Config {
            config_file: None,
            listen: vec![ListenAddress::Tcp(listen)],
            tls_certificate: None,
            tls_key: None,
            metrics_listen: None,
            traces_endpoint: None,
            traces_ratio: 1.0,
            traces_headers: None,
            traces_headers_file: None,
            data_dir: data_dir.into(),
            base_url: None,
            connections_max: limits::CONNECTIONS_MAX,
            otlp_body_bytes_max: limits::OTLP.body_bytes_max,
            report_body_mb_max: limits::REPORT.body_bytes_max / MB,
            ingest_concurrent_max: 0,
            upload_concurrent_max: limits::UPLOAD_CONCURRENT,
            notification_poll_seconds: limits::NOTIFICATION_POLL_SECONDS,
            symbols_project_mb: limits::SYMBOLS_PROJECT_MB,
            symbols_project_files: limits::SYMBOLS_PROJECT_FILES,
            project_daily_mb: 0,
            project_daily_records: 0,
            project_records_per_second: 0,
            trusted_proxies: None,
            trusted_proxy_header: None,
            query_threads: 0,
            query_memory_mb: 0,
            names_max: limits::NAMES_PER_SERVICE_DAY,
            jwt_secret: None,
            jwt_secret_file: None,
            database_url: None,
            database_url_file: None,
            secrets_key: None,
            secrets_key_file: None,
            setup_code: None,
            mail: MailSettings::default(),
            twilio: TwilioSettings::default(),
            allow_private_notification_targets: false,
            outbox_poll_seconds: limits::OUTBOX_POLL_SECONDS,
            allow_private_monitor_targets: false,
            browser: BrowserSettings::default(),
            flush_rows: limits::FLUSH_ROWS,
            memtable_mb: limits::MEMTABLE_MB,
            flush_seconds: limits::FLUSH_SECONDS,
            retention_days: limits::RETENTION_DAYS,
            retention_trust_clock: false,
            disk_bytes_max: 0,
            disk_free_min: 0,
            oncall_poll_seconds: limits::ONCALL_POLL_SECONDS,
            incident_grace_seconds: limits::INCIDENT_GRACE_SECONDS,
            sso: tidewatch_accounts::sso::settings::SsoSettings::default(),
        }
    }

    /// The relying party for passkeys; `None`: passkeys are disabled.
    pub fn relying_party(&self) -> Option<RelyingParty> {
        if self.sso.disable_password_login { None } else { RelyingParty::at(&self.base_url()) }
    }

    /// Folder for uploads until they are stored.
    pub fn upload_folder(&self) -> PathBuf {
        self.data_dir.join("uploads")
    }

    /// Public base URL of this server, without a trailing slash.
    pub fn base_url(&self) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => self.listen.first().map_or_else(String::new, ListenAddress::url),
        }
    }

    /// Whether users reach this server through TLS.
    pub fn is_https(&self) -> bool {
        self.base_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// Trusted proxies. Spec: authentication, rules 3 and 4. An error if a setting is malformed.
    pub fn trust(&self) -> Result<Trust, TrustError> {
        Trust::new(self.trusted_proxies.as_deref(), self.trusted_proxy_header.as_deref())
    }

    /// Maximum memory for one body in the ingest gate: the body with what is decoded from it, or inflated and as
    /// received together.
    pub fn ingest_body_bytes_max(&self) -> usize {
        self.otlp_body_bytes_max.saturating_mul(limits::BODY_EXPANSION_MAX).max(2 * self.report().body_bytes_max)
    }

    /// Limits of reports and profiles, with the operator's size.
    pub fn report(&self) -> RouteLimits {
        RouteLimits { body_bytes_max: self.report_body_mb_max.saturating_mul(MB), ..limits::REPORT }
    }

    /// The quota of every project.
    pub fn project_quota(&self) -> Quota {
        Quota {
            bytes_a_day: self.project_daily_mb.saturating_mul(1 << 20),
            records_a_day: self.project_daily_records,
            records_a_second: self.project_records_per_second,
        }
    }

    /// Maximum number of uploads of one project; `None`: no limit.
    pub fn symbols_project_files_max(&self) -> Option<u64> {
        (self.symbols_project_files > 0).then_some(self.symbols_project_files)
    }

    /// Maximum size of the uploads of one project in bytes; `None`: no limit.
    pub fn symbols_project_bytes_max(&self) -> Option<u64> {
        (self.symbols_project_mb > 0).then(|| self.symbols_project_mb.saturating_mul(1 << 20))
    }

    /// Number of ingest slots. Spec: limits, "Ingest concurrency": 2 x cores, floor 4.
    pub fn ingest_concurrent(&self) -> usize {
        let slots = match self.ingest_concurrent_max {
            0 => 2 * cores(),
            set => set,
        };
        slots.max(limits::INGEST_CONCURRENT_MIN)
    }

    /// The certificate for `tls:` addresses; `None`: it is not set. An error if it cannot be loaded.
    pub fn tls(&self) -> anyhow::Result<Option<Tls>> {
        match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => Tls::load(certificate, key).map(Some),
            _ => Ok(None),
        }
    }

    /// Destination of the server's own spans; `None`: they are disabled.
    pub fn own_traces(&self) -> anyhow::Result<Option<Target>> {
        let Some(endpoint) = &self.traces_endpoint else { return Ok(None) };
        let headers = match (&self.traces_headers, &self.traces_headers_file) {
            (Some(headers), _) => headers.clone(),
            (None, Some(path)) => std::fs::read_to_string(path)
                .with_context(|| format!("cannot read traces_headers_file {}", path.display()))?,
            (None, None) => String::new(),
        };
        Target::new(endpoint, &headers, self.traces_ratio, &self.listen).map(Some)
    }

    /// The operator's key for logins; `None`: it is not set.
    pub fn login_key(&self) -> anyhow::Result<Option<Vec<u8>>> {
        key_setting(&self.jwt_secret, &self.jwt_secret_file, "login key")
    }

    /// The operator's key for secrets in the database; `None`: it is not set.
    pub fn sealing_key(&self) -> anyhow::Result<Option<Vec<u8>>> {
        key_setting(&self.secrets_key, &self.secrets_key_file, "secrets key")
    }

    /// Location of the control database.
    pub fn control_database(&self) -> anyhow::Result<Location> {
        let Some(url) = secret_setting(&self.database_url, &self.database_url_file, "database address")? else {
            return Ok(Location::file(&self.data_dir.join("control.sqlite")));
        };
        Location::postgres(&url).context("database_url does not begin with postgres://")
    }

    /// Whether the control database is a file in the data directory.
    pub fn has_local_control(&self) -> bool {
        self.database_url.is_none() && self.database_url_file.is_none()
    }

    /// Memory budget of all queries in bytes.
    pub fn query_memory_bytes(&self) -> usize {
        let bytes = match self.query_memory_mb {
            0 => usize::try_from(machine::memory_bytes()).unwrap_or(usize::MAX) / limits::QUARTERS,
            mebibytes => mebibytes.saturating_mul(1 << 20),
        };
        bytes.max(limits::QUERY_BYTES_MIN)
    }

    /// Number of query threads.
    pub fn query_concurrent(&self) -> usize {
        match self.query_threads {
            0 => cores(),
            set => set,
        }
    }
}

/// Settings that take effect on SIGHUP. Certificates are reloaded too.
pub const RELOADED: &[&str] = &["trusted_proxies", "trusted_proxy_header"];

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}
