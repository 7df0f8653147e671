//! Wiring of the process. Handlers receive [`App`] as `State<Arc<App>>`.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};

use anyhow::{Context, bail};
use tidewatch_domain::model::RequestKind;
use tidewatch_journal::disk::{Disk, RealDisk};
use tidewatch_lake::OnFatal;
use tidewatch_store::TelemetryStore;
use tokio::sync::{Notify, Semaphore};
use uuid::Uuid;

use crate::browser::checks::BrowserChecks;
use crate::config::Config;
use crate::process::missing_accounts;
use crate::process::reserve::Reserve;
use crate::state::demos::Demos;
use crate::state::live_tails::LiveTails;
use crate::state::quotas::Quotas;
use tidewatch_accounts::db::Engine;
use tidewatch_accounts::logins::Logins;
use tidewatch_accounts::mail::{Mailer, templates};
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::secrets::webauthn::RelyingParty;
use tidewatch_accounts::sso::Sso;
use tidewatch_accounts::{Actor, Control, secrets};
use tidewatch_alerts::Alerts;
use tidewatch_alerts::channels::notifier::Notifier;
use tidewatch_alerts::outbound::OutboundPolicy;
use tidewatch_alerts::status_pages::StoredMonitors;
use tidewatch_alerts::status_pages::rendered::RenderedPages;
use tidewatch_blobs::BlobStore;
use tidewatch_ingest::accept::IngestContext;
use tidewatch_ingest::durable_store::{DurableStore, StoreEnvironment};
use tidewatch_ingest::first_versions::FirstVersions;
use tidewatch_ingest::hints::Hints;
use tidewatch_ingest::metrics::{IngestMetrics, StoreMetrics};
use tidewatch_ingest::outcome::Refused;
use tidewatch_ingest::refusals::Refusals;
use tidewatch_ingest::rejection_log::RejectionLog;
use tidewatch_ingest::symbols::Symbols;
use tidewatch_limits as limits;
use tidewatch_limits::admission::budget::Budget;
use tidewatch_limits::admission::guesses::Guesses;
use tidewatch_limits::admission::per_ip::PerIpCounts;
use tidewatch_limits::admission::slots::Admission;
use tidewatch_limits::clock::Clock;
use tidewatch_query::context::QueryContext;
use tidewatch_query::retention::retention_of;
use tidewatch_query::threads::QueryThreads;
use tidewatch_runtime::background::Background;
use tidewatch_runtime::files;

/// Clock, disk and other inputs from the machine; tests supply their own.
pub struct Environment {
    /// Source of the current time.
    pub clock: Clock,
    /// The disk of journal and parts.
    pub disk: Arc<dyn Disk>,
    /// Ends the process, with the reason, when the store's state in memory cannot be trusted.
    pub on_fatal: OnFatal,
    /// Reads the settings again, on SIGHUP. `None`: there is nothing to reload.
    pub settings: Option<Settings>,
}

/// Returns the current configuration and the names of the settings that changed since the last call. Blocks.
pub type Settings = Box<dyn FnMut() -> anyhow::Result<(Config, Vec<String>)> + Send>;

impl Environment {
    /// The machine's clock and file system.
    pub fn real() -> Environment {
        let on_fatal: OnFatal = Arc::new(|why| {
            tracing::error!("{why}: ending the process; the next start replays the journal");
            std::process::abort();
        });
        Environment { clock: Clock::system(), disk: Arc::new(RealDisk), on_fatal, settings: None }
    }
}

/// The components of the process, open and connected.
pub struct App {
    /// The effective settings.
    pub config: Config,
    /// Source of the current time.
    pub clock: Clock,
    /// Accounts, organizations and projects.
    pub control: Arc<Control>,
    /// The rooms of alerting: rules, channels, incidents, monitors, on-call and status pages.
    pub alerts: Alerts,
    /// The name of this node in leases.
    pub lease_holder: String,
    /// Signs and verifies logins.
    pub logins: Logins,
    /// Queues mail.
    pub mailer: Arc<Mailer>,
    /// Sends notifications.
    pub notifier: Arc<Notifier>,
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
    /// Admission of exports, reports and profiles.
    pub admission: Admission,
    /// Memory for the bodies of exports, reports and profiles.
    pub bodies: Budget,
    /// Memory for the JSON bodies of the API.
    pub json_bodies: Budget,
    /// Usage of ingest quotas.
    pub quotas: Quotas,
    /// Admission of uploads.
    pub uploads: Admission,
    /// Debug files and source maps.
    pub symbols: Arc<Symbols>,
    /// Request counts by client address.
    pub per_ip: PerIpCounts,
    /// Heartbeats of background threads.
    pub background: Arc<Background>,
    /// The telemetry store and its journal.
    pub durable_store: Arc<DurableStore>,
    /// Queries and maintenance of stored telemetry.
    pub store: Arc<dyn TelemetryStore>,
    /// Dependencies of the ingest path.
    pub ingest: IngestContext,
    /// Counters of the store's background work.
    pub store_metrics: Arc<StoreMetrics>,
    rejection_log: RejectionLog,
    /// Counts of what projects send that a setting would make more of.
    pub hints: Arc<Hints>,
    /// Recent refused exports.
    pub refusals: Refusals,
    /// Open live tails of logs.
    pub live_tails: Arc<LiveTails>,
    /// Checks of monitors by a browser.
    pub browser: BrowserChecks,
    /// Permits to check a monitor on request.
    pub monitor_runs: Semaphore,
    /// Loads of demo data.
    pub demos: Demos,
    /// Public status pages in memory.
    pub status_pages: RenderedPages,
    /// Their logos.
    pub status_logos: Arc<BlobStore>,
    /// Wakes the task that escalates pages.
    pub oncall: Arc<Notify>,
    /// Dependencies of queries.
    pub query: Arc<QueryContext>,
    /// Disk space for the control database, when that is a file here.
    reserve: Option<Reserve>,
    /// Dropped with the application, which ends the thread that follows the control database.
    _alive: mpsc::Sender<()>,
}

/// On SQLite there is one node, which continues its leases after a crash.
fn lease_holder(control: &Control) -> String {
    match control.engine() {
        Engine::Sqlite => "the only node".to_owned(),
        Engine::Postgres => Uuid::new_v4().to_string(),
    }
}

/// Sends messages to channels. Fails if the file of a secret cannot be read.
fn notifier(config: &Config, clock: Clock) -> anyhow::Result<Notifier> {
    let policy = OutboundPolicy { allows_private: config.allow_private_notification_targets };
    let base_url = config.base_url.as_ref().map(|_| config.base_url());
    Ok(Notifier::new(policy, clock, config.twilio.account()?, base_url))
}

impl App {
    /// Opens or creates everything under the data directory, and starts the background threads.
    pub async fn open(config: Config, environment: Environment) -> anyhow::Result<Arc<App>> {
        let Environment { clock, disk, on_fatal, .. } = environment;
        let data = &config.data_dir;
        files::create_data_directory(data)
            .with_context(|| format!("cannot make the data directory {}", data.display()))?;
        let sealing_key = match config.sealing_key()? {
            Some(key) => key,
            None => secrets::sealing_key(data).context("cannot read or make the key for secrets")?,
        };
        let database = config.control_database()?;
        if config.has_local_control() {
            let data = data.clone();
            if let Some(missing) = tokio::task::spawn_blocking(move || missing_accounts::find(&data)).await?? {
                bail!("{missing}; nothing was changed");
            }
        }
        let reserve = config.has_local_control().then(|| Reserve::of(data));
        reserve.iter().for_each(Reserve::release);
        let control =
            Control::open(&database, Sealer::new(&sealing_key)).await.context("cannot open the control database")?;
        let control = Arc::new(control);
        reserve.iter().for_each(Reserve::restore);
        let key = match config.login_key()? {
            Some(key) => key,
            None => secrets::login_key(data).context("cannot read or make the login key")?,
        };
        let sso = Sso::new(&config.sso, control.sealer())?;
        let settings = config.durable_store_options();
        let symbols = Arc::new(
            Symbols::open(data, || tidewatch_lake::background(limits::SYMBOLS_NICE))
                .context("cannot start a thread")?,
        );
        let known = symbols.clone();
        // Read before the server's own retention removes anything.
        let kept = retention_of(&control, &BTreeSet::new());
        let first_versions = Arc::new(FirstVersions::default());
        first_versions.load(&control.all_first_versions().await.context("cannot read the versions of services")?);
        let environment =
            StoreEnvironment { clock: clock.clone(), disk, on_fatal, first_versions: first_versions.clone() };
        let durable_store =
            tokio::task::spawn_blocking(move || DurableStore::open(&settings, kept, environment, known)).await??;
        let (durable_store, hints) = (Arc::new(durable_store), Arc::new(Hints::default()));
        let store: Arc<dyn TelemetryStore> = durable_store.lake().clone();
        let highest = store.highest_project();
        if control.number_projects_above(highest).await.context("cannot number projects")? {
            tracing::warn!(
                "the control database is older than the telemetry here: new projects get numbers above {highest}"
            );
        }
        let status_logos = Arc::new(BlobStore::in_folder(data.join("blobs")).context("cannot start a thread")?);
        // Removes uploads that a crash left incomplete.
        let _ = std::fs::remove_dir_all(config.upload_folder());
        let slots = config.ingest_concurrent();
        let waiting = (slots * limits::INGEST_WAITING_PER_SLOT).max(limits::INGEST_WAITING_MIN);
        let query_threads = config.query_concurrent();
        let (mailer, post) = Mailer::new(&config.mail).context("cannot prepare the sending of mail")?;
        if mailer.is_set_up {
            let base_url = config.base_url();
            control.set_notice_template(Box::new(move |notice| templates::notice(&base_url, notice)));
        }
        let (alive, closed) = mpsc::channel();
        let background = Arc::new(Background::default());
        background.add(symbols.builder.heartbeat());
        let query = Arc::new(QueryContext::new(
            (control.clone(), clock.clone()),
            (store.clone(), config.retention_days),
            (
                Admission::new(query_threads, query_threads * limits::QUERIES_WAITING_PER_THREAD),
                QueryThreads::start(query_threads, || tidewatch_lake::background(limits::QUERY_NICE))
                    .context("cannot start a thread")?,
            ),
        ));
        let ingest = IngestContext {
            durable_store: durable_store.clone(),
            clock: clock.clone(),
            metrics: Arc::new(IngestMetrics::default()),
            first_versions,
            hints: hints.clone(),
            body_bytes_max: config.otlp_body_bytes_max,
            report_bytes_max: config.report().body_bytes_max,
            names_max: config.names_max,
            retention_days: config.retention_days,
        };
        let app = Arc::new(App {
            background,
            admission: Admission::new(slots, waiting),
            bodies: Budget::new(limits::INGEST_BYTES_HELD_MAX, config.ingest_body_bytes_max()),
            json_bodies: Budget::new(limits::JSON_BYTES_HELD_MAX, limits::JSON.body_bytes_max),
            quotas: Quotas::default(),
            uploads: Admission::new(config.upload_concurrent_max, usize::MAX),
            symbols,
            per_ip: PerIpCounts::default(),
            ingest,
            durable_store,
            store,
            store_metrics: Arc::default(),
            rejection_log: RejectionLog::default(),
            hints,
            refusals: Refusals::default(),
            live_tails: Arc::default(),
            browser: BrowserChecks::open(&config.browser).await?,
            monitor_runs: Semaphore::new(limits::MONITOR_RUNS_MAX),
            demos: Demos::default(),
            status_pages: RenderedPages::new(Arc::new(StoredMonitors)),
            status_logos,
            logins: Logins::new(&key),
            sso,
            passkeys: config.relying_party(),
            notifier: Arc::new(notifier(&config, clock.clone())?),
            hashing: Semaphore::new(limits::PASSWORD_HASHES_MAX),
            hashes_waiting: Semaphore::new(limits::PASSWORD_HASHES_WAITING_MAX),
            hashes_reserved: Semaphore::new(limits::PASSWORD_HASHES_RESERVED),
            guesses: Guesses::default(),
            oncall: Arc::default(),
            query,
            lease_holder: lease_holder(&control),
            alerts: Alerts::new(control.database()),
            control,
            mailer: Arc::new(mailer),
            _alive: alive,
            reserve,
            clock,
            config,
        });
        Control::follow(Arc::downgrade(&app.control), closed).context("cannot start a thread")?;
        post.start(Arc::downgrade(&app.control), app.clock.clone(), &app.background)?;
        Ok(app)
    }

    /// The actor for audit entries of the process itself, at the current time.
    pub fn by_server(&self) -> Actor {
        let (address, user_agent) = (String::new(), String::new());
        Actor { user_id: None, name: "server".to_owned(), address, user_agent, at_ns: self.clock.now_ns() }
    }

    /// Counts and logs a refused export. `project` 0: its token belongs to no project.
    pub fn refused(&self, project: u32, kind: impl Into<RequestKind>, refused: &Refused) {
        let (kind, now_ns) = (kind.into(), self.clock.now_ns());
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

    /// Stores pending exports and closes all files. Called when no request is in flight.
    pub async fn close(self: &Arc<App>) {
        let app = self.clone();
        if tokio::task::spawn_blocking(move || app.durable_store.close()).await.is_err() {
            tracing::error!("closing the store failed; the next start replays the journal");
        }
        self.control.close().await;
        // Reserves the space that closing has just freed.
        self.reserve.iter().for_each(Reserve::restore);
    }
}
