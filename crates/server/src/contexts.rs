//! The state that handlers and jobs share, by subject. A handler names the contexts that it touches: `State<Arc<Accounts>>`.
//!
//! - [`Accounts`]: people, organizations, projects, their credentials and their sign-in.
//! - [`Ingest`]: admission and storage of telemetry and symbol files.
//! - [`tidewatch_query::context::QueryContext`]: questions about stored telemetry.
//! - [`Alerting`]: rules, channels, incidents, monitors, on-call and status pages; their messages and checks.
//! - [`Process`]: settings, the clock, background threads, and what all routes share.
//!
//! The application owns one of each (`app.rs`).

use std::sync::Arc;

use tokio::sync::{Notify, Semaphore};

use crate::config::Config;
use crate::state::demos::Demos;
use crate::state::live_tails::LiveTails;
use crate::state::quotas::Quotas;
use tidewatch_accounts::logins::Logins;
use tidewatch_accounts::mail::Mailer;
use tidewatch_accounts::secrets::webauthn::RelyingParty;
use tidewatch_accounts::sso::Sso;
use tidewatch_accounts::{Actor, Control};
use tidewatch_alerts::Alerts;
use tidewatch_alerts::channels::notifier::Notifier;
use tidewatch_alerts::incidents::Announcer;
use tidewatch_alerts::monitors::probe::Prober;
use tidewatch_alerts::status_pages::rendered::RenderedPages;
use tidewatch_blobs::BlobStore;
use tidewatch_domain::model::RequestKind;
use tidewatch_ingest::accept::IngestContext;
use tidewatch_ingest::durable_store::DurableStore;
use tidewatch_ingest::hints::Hints;
use tidewatch_ingest::metrics::StoreMetrics;
use tidewatch_ingest::outcome::Refused;
use tidewatch_ingest::refusals::Refusals;
use tidewatch_ingest::rejection_log::RejectionLog;
use tidewatch_ingest::symbols::Symbols;
use tidewatch_limits::admission::budget::Budget;
use tidewatch_limits::admission::guesses::Guesses;
use tidewatch_limits::admission::per_ip::PerIpCounts;
use tidewatch_limits::admission::slots::Admission;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::background::Background;

/// People, organizations, projects, their credentials and their sign-in.
pub struct Accounts {
    /// Accounts, organizations and projects.
    pub control: Arc<Control>,
    /// The name of this node in leases.
    pub lease_holder: String,
    /// Signs and verifies logins.
    pub logins: Logins,
    /// Queues mail.
    pub mailer: Arc<Mailer>,
    /// Sign-in with other providers.
    pub sso: Sso,
    /// The relying party for passkeys; `None`: passkeys are disabled.
    pub passkeys: Option<RelyingParty>,
    /// Permits to compute a password hash.
    pub hashing: Semaphore,
    /// Permits to wait for `hashing` with a password of an unauthenticated client.
    pub hashes_waiting: Semaphore,
    /// Permits to wait for `hashing` that are reserved for known people.
    pub hashes_reserved: Semaphore,
    /// Failed sign-ins by account and network.
    pub guesses: Guesses,
    /// Source of the current time.
    pub clock: Clock,
}

impl Accounts {
    /// The actor for audit entries of the process itself, at the current time.
    pub fn by_server(&self) -> Actor {
        let (address, user_agent) = (String::new(), String::new());
        Actor { user_id: None, name: "server".to_owned(), address, user_agent, at_ns: self.clock.now_ns() }
    }
}

/// Admission and storage of telemetry and symbol files.
pub struct Ingest {
    /// Dependencies of the pipeline.
    pub pipeline: IngestContext,
    /// Admission of exports, reports and profiles.
    pub admission: Admission,
    /// Memory for the bodies of exports, reports and profiles.
    pub bodies: Budget,
    /// Usage of ingest quotas.
    pub quotas: Quotas,
    /// Admission of uploads.
    pub uploads: Admission,
    /// Debug files and source maps.
    pub symbols: Arc<Symbols>,
    /// The telemetry store and its journal.
    pub durable_store: Arc<DurableStore>,
    /// Counters of the store's background work.
    pub store_metrics: Arc<StoreMetrics>,
    /// Counts of what projects send that a setting would make more of.
    pub hints: Arc<Hints>,
    /// Recent refused exports.
    pub refusals: Refusals,
    /// Loads of demo data.
    pub demos: Demos,
    /// Log lines of refused exports, and their counts.
    pub rejection_log: RejectionLog,
    /// Wakes the job that groups stored exceptions again.
    pub regrouping: Arc<Notify>,
}

impl Ingest {
    /// Counts and logs a refused export. `project` 0: its token belongs to no project.
    pub fn refused(&self, project: u32, kind: impl Into<RequestKind>, refused: &Refused) {
        let (kind, now_ns) = (kind.into(), self.pipeline.clock.now_ns());
        self.durable_store.count_refused(project, kind, refused.reason, now_ns);
        self.rejection_log.add(project, kind, refused, now_ns);
        if project != 0 {
            self.refusals.add_message(project, kind, refused, now_ns);
        }
    }

    /// Number of refused exports by reason and signal.
    pub fn refusals_by_kind(&self) -> Vec<(&'static str, &'static str, u64)> {
        self.rejection_log.by_kind()
    }

    /// Number of exports refused since the start.
    pub fn refusals(&self) -> u64 {
        self.rejection_log.total()
    }
}

/// Rules, channels, incidents, monitors, on-call and status pages; their messages and checks.
pub struct Alerting {
    /// Rules, channels, incidents, monitors, on-call and status pages, as the control database has them.
    pub rooms: Alerts,
    /// Sends notifications.
    pub notifier: Arc<Notifier>,
    /// Settings for notifications of the subscribers of status pages.
    pub announcer: Announcer,
    /// Makes single checks of monitors.
    pub prober: Arc<Prober>,
    /// Permits to check a monitor on request.
    pub monitor_runs: Semaphore,
    /// Public status pages in memory.
    pub status_pages: RenderedPages,
    /// Their logos.
    pub status_logos: Arc<BlobStore>,
    /// Wakes the task that escalates pages.
    pub oncall_wake: Arc<Notify>,
    /// Source of the current time.
    pub clock: Clock,
}

/// Settings, the clock, background threads, and what all routes share.
pub struct Process {
    /// The effective settings.
    pub config: Config,
    /// Source of the current time.
    pub clock: Clock,
    /// Heartbeats of background threads.
    pub background: Arc<Background>,
    /// Memory for the JSON bodies of the API.
    pub json_bodies: Budget,
    /// Request counts by client address.
    pub per_ip: PerIpCounts,
    /// Open live tails of logs.
    pub live_tails: Arc<LiveTails>,
}
