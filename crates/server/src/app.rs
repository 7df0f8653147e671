//! The one place things are wired. Handlers get it as `State<Arc<App>>`.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};

use anyhow::{Context, bail};
use tidewatch_domain::model::Signal;
use tidewatch_journal::disk::{Disk, RealDisk};
use tidewatch_lake::GiveUp;
use tidewatch_store::TelemetryStore;
use tokio::sync::Semaphore;

use crate::config::Config;
use crate::demos::Demos;
use crate::missing_accounts;
use crate::quotas::Quotas;
use crate::reserve::Reserve;
use tidewatch_accounts::logins::Logins;
use tidewatch_accounts::mail::{Mailer, letters};
use tidewatch_accounts::secrets;
use tidewatch_accounts::secrets::seal::Sealer;
use tidewatch_accounts::secrets::webauthn::RelyingParty;
use tidewatch_accounts::sso::Sso;
use tidewatch_accounts::{By, Control};
use tidewatch_ingest::accept::IngestContext;
use tidewatch_ingest::hints::Hints;
use tidewatch_ingest::intake::{Below, Intake};
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
use tidewatch_query::retention::keeping_of;
use tidewatch_query::threads::QueryThreads;
use tidewatch_runtime::background::Background;
use tidewatch_runtime::files;

/// What the process takes from the machine; tests bring their own.
pub struct Outside {
    pub clock: Clock,
    /// Below journal and parts.
    pub disk: Arc<dyn Disk>,
    /// Ends the process when the store's state in memory cannot be trusted; gets the reason.
    pub give_up: GiveUp,
    /// Reads the settings again: what they are now, and the names of those that changed.
    pub settings: Option<Settings>,
}

/// Blocks.
pub type Settings = Box<dyn FnMut() -> anyhow::Result<(Config, Vec<String>)> + Send>;

impl Outside {
    /// The machine's clock and file system.
    pub fn real() -> Outside {
        let give_up: GiveUp = Arc::new(|why| {
            tracing::error!("{why}: ending the process; the next start replays the journal");
            std::process::abort();
        });
        Outside { clock: Clock::system(), disk: Arc::new(RealDisk), give_up, settings: None }
    }
}

/// The process's parts, open and connected.
pub struct App {
    pub config: Config,
    pub clock: Clock,
    /// Accounts, projects, decisions about them.
    pub control: Arc<Control>,
    /// Signs and checks logins.
    pub logins: Logins,
    /// Mail to people.
    pub mailer: Mailer,
    /// Sign-in with other providers.
    pub sso: Sso,
    /// This server as passkeys know it; none: it has no passkeys.
    pub passkeys: Option<RelyingParty>,
    /// Password hashes computed at once.
    pub hashing: Semaphore,
    /// Passwords of strangers that wait for that, and of people who are known.
    pub hashes_waiting: Semaphore,
    pub hashes_reserved: Semaphore,
    /// Failed sign-ins by account and network.
    pub guesses: Guesses,
    /// Exports, reports and profiles worked on at once.
    pub admission: Admission,
    /// Memory for their bodies.
    pub bodies: Budget,
    /// Memory for the bodies of the API.
    pub json_bodies: Budget,
    /// What projects have sent today.
    pub quotas: Quotas,
    /// Uploads at once.
    pub uploads: Admission,
    /// Debug files and source maps.
    pub symbols: Arc<Symbols>,
    /// Requests by client address.
    pub per_ip: PerIpCounts,
    /// Threads beside those that store and answer.
    pub background: Arc<Background>,
    /// The telemetry store and its journal.
    pub intake: Arc<Intake>,
    /// Queries and maintenance of stored telemetry.
    pub store: Arc<dyn TelemetryStore>,
    /// For exports.
    pub ingest: IngestContext,
    pub store_metrics: Arc<StoreMetrics>,
    rejection_log: RejectionLog,
    /// What projects receive that a setting would do more with.
    pub hints: Arc<Hints>,
    /// What refused senders did.
    pub refusals: Refusals,
    /// Demo data that is being loaded.
    pub demos: Demos,
    /// For questions to the telemetry store.
    pub query: Arc<QueryContext>,
    /// For the control database, when it lies here.
    reserve: Option<Reserve>,
    /// Closes with the rest.
    _alive: mpsc::Sender<()>,
}

impl App {
    /// Opens or makes everything under the data directory.
    pub async fn open(config: Config, outside: Outside) -> anyhow::Result<Arc<App>> {
        let Outside { clock, disk, give_up, .. } = outside;
        let data = &config.data_dir;
        files::make_data_directory(data)
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
        let settings = config.intake_options();
        let symbols = Arc::new(
            Symbols::open(data, || tidewatch_lake::stand_back(limits::SYMBOLS_NICE))
                .context("cannot start a thread")?,
        );
        let known = symbols.clone();
        // Before anything is removed by the server's own retention.
        let kept = keeping_of(&control, &BTreeSet::new());
        let below = Below { clock: clock.clone(), disk, give_up };
        let intake = tokio::task::spawn_blocking(move || Intake::open(&settings, kept, below, known)).await??;
        let (intake, hints) = (Arc::new(intake), Arc::new(Hints::default()));
        let store: Arc<dyn TelemetryStore> = intake.lake().clone();
        let highest = store.highest_project();
        if control.number_projects_above(highest).await.context("cannot number projects")? {
            tracing::warn!(
                "the control database is older than the telemetry here: new projects get numbers above {highest}"
            );
        }
        // Uploads that a crash left half-way.
        let _ = std::fs::remove_dir_all(config.upload_folder());
        let slots = config.ingest_concurrent();
        let waiting = (slots * limits::INGEST_WAITING_PER_SLOT).max(limits::INGEST_WAITING_MIN);
        let askers = config.query_concurrent();
        let (mailer, post) = Mailer::new(&config.mail).context("cannot prepare the sending of mail")?;
        if mailer.is_set_up {
            let base_url = config.base_url();
            control.tell_people(Box::new(move |notice| letters::notice(&base_url, notice)));
        }
        let (alive, gone) = mpsc::channel();
        let background = Arc::new(Background::default());
        background.add(symbols.builder.heartbeat());
        let query = Arc::new(QueryContext::new(
            (control.clone(), clock.clone()),
            (store.clone(), config.retention_days),
            (
                Admission::new(askers, askers * limits::ASK_WAITING_PER_THREAD),
                QueryThreads::start(askers, || tidewatch_lake::stand_back(limits::QUERY_NICE))
                    .context("cannot start a thread")?,
            ),
        ));
        let ingest = IngestContext {
            intake: intake.clone(),
            clock: clock.clone(),
            metrics: Arc::new(IngestMetrics::default()),
            hints: hints.clone(),
            body_bytes_max: config.otlp_body_bytes_max,
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
            intake,
            store,
            store_metrics: Arc::default(),
            rejection_log: RejectionLog::default(),
            hints,
            refusals: Refusals::default(),
            demos: Demos::default(),
            logins: Logins::new(&key),
            sso,
            passkeys: config.relying_party(),
            hashing: Semaphore::new(limits::PASSWORD_HASHES_MAX),
            hashes_waiting: Semaphore::new(limits::PASSWORD_HASHES_WAITING_MAX),
            hashes_reserved: Semaphore::new(limits::PASSWORD_HASHES_RESERVED),
            guesses: Guesses::default(),
            query,
            control,
            mailer,
            _alive: alive,
            reserve,
            clock,
            config,
        });
        Control::follow(Arc::downgrade(&app.control), gone).context("cannot start a thread")?;
        post.start(Arc::downgrade(&app.control), app.clock.clone(), &app.background)?;
        Ok(app)
    }

    /// For the audit log: this process itself, now.
    pub fn by_server(&self) -> By {
        let (address, user_agent) = (String::new(), String::new());
        By { user_id: None, name: "server".to_owned(), address, user_agent, at_ns: self.clock.now_ns() }
    }

    /// Counts a refused export and says so in the log. `project` 0: the token belongs to none.
    pub fn refused(&self, project: u32, signal: Signal, refused: &Refused) {
        let now_ns = self.clock.now_ns();
        self.intake.count_refused(project, signal, refused.reason, now_ns);
        self.rejection_log.add(project, signal, refused, now_ns);
        if project != 0 {
            self.refusals.add_sentence(project, signal, refused, now_ns);
        }
    }

    /// The same by reason and signal.
    pub fn refusals_by_kind(&self) -> Vec<(&'static str, &'static str, u64)> {
        self.rejection_log.by_kind()
    }

    /// Exports refused since the start.
    pub fn refusals(&self) -> u64 {
        self.rejection_log.total()
    }

    /// Stores what waits and closes the files, once no request is in flight any more.
    pub async fn close(self: &Arc<App>) {
        let app = self.clone();
        if tokio::task::spawn_blocking(move || app.intake.close()).await.is_err() {
            tracing::error!("closing the store failed; the next start replays the journal");
        }
        self.control.close().await;
        // What it has just freed.
        self.reserve.iter().for_each(Reserve::restore);
    }
}
