//! Wiring of the process. Handlers take the parts of [`App`] that they touch ([`crate::contexts`]).

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};

use anyhow::{Context, bail};
use axum::extract::FromRef;
use tidewatch_journal::disk::{Disk, RealDisk};
use tidewatch_lake::Lake;
use tidewatch_store::{OnFatal, TelemetryStore};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::config::Config;
use crate::contexts::{Accounts, Alerting, Ingest, Process};
use crate::engine::EngineOpener;
use crate::process::missing_accounts;
use crate::process::reserve::Reserve;
use crate::state::demos::Demos;
use crate::state::quotas::Quotas;
use tidewatch_accounts::Control;
use tidewatch_accounts::Engine;
use tidewatch_accounts::logins::Logins;
use tidewatch_accounts::mail::{Mailer, templates};
use tidewatch_accounts::secrets;
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::sso::Sso;
use tidewatch_alerts::Alerts;
use tidewatch_alerts::channels::notifier::Notifier;
use tidewatch_alerts::incidents::Announcer;
use tidewatch_alerts::monitors::probe::Prober;
use tidewatch_alerts::outbound::OutboundPolicy;
use tidewatch_alerts::status_pages::StoredMonitors;
use tidewatch_alerts::status_pages::rendered::RenderedPages;
use tidewatch_blobs::BlobStore;
use tidewatch_domain::rules::group_versions::GroupVersions;
use tidewatch_ingest::accept::IngestContext;
use tidewatch_ingest::durable_store::{DurableStore, StoreEnvironment};
use tidewatch_ingest::enrichment::GroupingSource;
use tidewatch_ingest::first_versions::FirstVersions;
use tidewatch_ingest::hints::Hints;
use tidewatch_ingest::metrics::IngestMetrics;
use tidewatch_ingest::refusals::Refusals;
use tidewatch_ingest::rejection_log::RejectionLog;
use tidewatch_ingest::symbols::Symbols;
use tidewatch_limits as limits;
use tidewatch_limits::admission::budget::Budget;
use tidewatch_limits::admission::guesses::Guesses;
use tidewatch_limits::admission::per_ip::PerIpCounts;
use tidewatch_limits::admission::slots::Admission;
use tidewatch_limits::clock::Clock;
use tidewatch_probes::browser::checks::BrowserChecks;
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
    /// Versions of the rule that groups exceptions.
    pub grouping: GroupVersions,
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
        let grouping = GroupVersions::BUILT_IN;
        Environment { clock: Clock::system(), disk: Arc::new(RealDisk), on_fatal, grouping, settings: None }
    }
}

/// The components of the process, open and connected.
pub struct App {
    /// People, organizations, projects, their credentials and their sign-in.
    pub accounts: Arc<Accounts>,
    /// Admission and storage of telemetry and symbol files.
    pub ingest: Arc<Ingest>,
    /// Questions about stored telemetry.
    pub query: Arc<QueryContext>,
    /// Rules, channels, incidents, monitors, on-call and status pages; their messages and checks.
    pub alerting: Arc<Alerting>,
    /// Settings, the clock, background threads, and what all routes share.
    pub process: Arc<Process>,
    /// The embedded engine, for backups.
    pub lake: Arc<Lake>,
    /// Disk space for the control database, when that is a file here.
    reserve: Option<Reserve>,
    /// Dropped with the application, which ends the thread that follows the control database.
    _alive: mpsc::Sender<()>,
}

/// The state of the router, from which handlers take their contexts.
#[derive(Clone)]
pub struct AppState(Arc<App>);

impl From<Arc<App>> for AppState {
    fn from(app: Arc<App>) -> AppState {
        AppState(app)
    }
}

macro_rules! contexts {
    ($($field:ident: $context:ty),*) => {
        $(
            impl FromRef<AppState> for Arc<$context> {
                fn from_ref(state: &AppState) -> Arc<$context> {
                    state.0.$field.clone()
                }
            }
        )*
    };
}

contexts!(accounts: Accounts, ingest: Ingest, query: QueryContext, alerting: Alerting, process: Process);

impl FromRef<AppState> for Arc<App> {
    fn from_ref(state: &AppState) -> Arc<App> {
        state.0.clone()
    }
}

/// On SQLite there is one node, which continues its leases after a crash.
fn lease_holder(control: &Control) -> String {
    match control.database().engine() {
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
        let Environment { clock, disk, on_fatal, grouping, .. } = environment;
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
        let sso = Sso::new(&config.sso, control.database().sealer())?;
        let settings = config.durable_store_options();
        let symbols = Arc::new(
            Symbols::open(data, || tidewatch_lake::background(limits::SYMBOLS_NICE))
                .context("cannot start a thread")?,
        );
        let known = symbols.clone();
        // Read before the server's own retention removes anything.
        let kept = retention_of(&control.projects, &BTreeSet::new());
        let first_versions = Arc::new(FirstVersions::default());
        first_versions
            .load(&control.projects.all_first_versions().await.context("cannot read the versions of services")?);
        let opener = EngineOpener {
            options: config.engine_options(),
            project_retention: kept,
            clock: clock.clone(),
            disk: disk.clone(),
            on_fatal: on_fatal.clone(),
            opened: Default::default(),
        };
        let new_hashes = control.projects.new_hashes().clone();
        let environment = StoreEnvironment {
            clock: clock.clone(),
            disk,
            on_fatal,
            first_versions: first_versions.clone(),
            new_hashes,
            grouping: GroupingSource { versions: grouping, projects: Some(control.projects.clone()) },
        };
        let (durable_store, lake) = tokio::task::spawn_blocking(move || {
            let open_engine = |keep_records| opener.open(keep_records);
            let durable_store = DurableStore::open(&settings, &open_engine, environment, known)?;
            let lake = opener.opened.lock().upgrade().context("the engine was not opened")?;
            anyhow::Ok((durable_store, lake))
        })
        .await??;
        let (durable_store, hints) = (Arc::new(durable_store), Arc::new(Hints::default()));
        let store: Arc<dyn TelemetryStore> = lake.clone();
        let highest = store.highest_project();
        if control.projects.number_projects_above(highest).await.context("cannot number projects")? {
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
            control.database().set_notice_template(Box::new(move |notice| templates::notice(&base_url, notice)));
        }
        let (alive, closed) = mpsc::channel();
        let background = Arc::new(Background::default());
        background.add(symbols.builder.heartbeat());
        let query = QueryContext::new(
            (&control, clock.clone()),
            (store.clone(), config.retention_days),
            (
                Admission::new(query_threads, query_threads * limits::QUERIES_WAITING_PER_THREAD),
                QueryThreads::start(query_threads, || tidewatch_lake::background(limits::QUERY_NICE))
                    .context("cannot start a thread")?,
            ),
        );
        let query = Arc::new(query.with_grouping(grouping));
        let pipeline = IngestContext {
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
        let accounts = Accounts {
            lease_holder: lease_holder(&control),
            control,
            logins: Logins::new(&key),
            mailer: Arc::new(mailer),
            sso,
            passkeys: config.relying_party(),
            hashing: Semaphore::new(limits::PASSWORD_HASHES_MAX),
            hashes_waiting: Semaphore::new(limits::PASSWORD_HASHES_WAITING_MAX),
            hashes_reserved: Semaphore::new(limits::PASSWORD_HASHES_RESERVED),
            guesses: Guesses::default(),
            clock: clock.clone(),
        };
        let ingest = Ingest {
            pipeline,
            admission: Admission::new(slots, waiting),
            bodies: Budget::new(limits::INGEST_BYTES_HELD_MAX, config.ingest_body_bytes_max()),
            quotas: Quotas::default(),
            uploads: Admission::new(config.upload_concurrent_max, usize::MAX),
            symbols,
            durable_store,
            store_metrics: Arc::default(),
            hints,
            refusals: Refusals::default(),
            demos: Demos::default(),
            rejection_log: RejectionLog::default(),
            regrouping: Arc::default(),
        };
        let alerting = Alerting {
            rooms: Alerts::new(accounts.control.database()),
            notifier: Arc::new(notifier(&config, clock.clone())?),
            announcer: Announcer {
                base_url: config.base_url().trim_end_matches('/').to_owned(),
                has_mail: accounts.mailer.is_set_up,
            },
            prober: Arc::new(Prober {
                browser: BrowserChecks::open(config.browser.place()?).await,
                policy: OutboundPolicy { allows_private: config.allow_private_monitor_targets },
                clock: clock.clone(),
            }),
            monitor_runs: Semaphore::new(limits::MONITOR_RUNS_MAX),
            status_pages: RenderedPages::new(Arc::new(StoredMonitors)),
            status_logos,
            oncall_wake: Arc::default(),
            clock: clock.clone(),
        };
        let process = Process {
            background,
            json_bodies: Budget::new(limits::JSON_BYTES_HELD_MAX, limits::JSON.body_bytes_max),
            per_ip: PerIpCounts::default(),
            live_tails: Arc::default(),
            clock,
            config,
        };
        let app = Arc::new(App {
            accounts: Arc::new(accounts),
            ingest: Arc::new(ingest),
            query,
            alerting: Arc::new(alerting),
            process: Arc::new(process),
            lake,
            reserve,
            _alive: alive,
        });
        let database = app.accounts.control.database();
        database.follow(closed).context("cannot start a thread")?;
        post.start(database, app.process.clock.clone(), &app.process.background)?;
        Ok(app)
    }

    /// Stores pending exports and closes all files. Called when no request is in flight.
    pub async fn close(self: &Arc<App>) {
        let app = self.clone();
        if tokio::task::spawn_blocking(move || app.ingest.durable_store.close()).await.is_err() {
            tracing::error!("closing the store failed; the next start replays the journal");
        }
        self.accounts.control.database().close().await;
        // Reserves the space that closing has just freed.
        self.reserve.iter().for_each(Reserve::restore);
    }
}
