//! The one place things are wired. Handlers get it as `State<Arc<App>>`.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::time::Instant;

use anyhow::{Context, bail};
use arrow::record_batch::RecordBatch;
use tidewatch_domain::model::Signal;
use tidewatch_journal::disk::{Disk, RealDisk};
use tidewatch_store::StoreError;
use tidewatch_store::lake::{GiveUp, Lake, RequestMemory};
use tidewatch_store::plan::Plan;
use tokio::sync::Semaphore;

use crate::background::Background;
use crate::clock::Clock;
use crate::config::Config;
use crate::control::{By, Control};
use crate::demo::load::Demos;
use crate::error::ApiError;
use crate::http::auth::passkeys::relying_party;
use crate::http::auth::sso::Sso;
use crate::http::gate::admission::Admission;
use crate::http::gate::budget::Budget;
use crate::http::gate::guesses::Guesses;
use crate::http::gate::login::Logins;
use crate::http::gate::per_ip::PerIpCounts;
use crate::http::gate::upload;
use crate::http::incomplete;
use crate::ingest::hints::Hints;
use crate::ingest::intake::{Below, Intake};
use crate::ingest::outcome::Refused;
use crate::ingest::quota::Quotas;
use crate::ingest::refusals::Refusals;
use crate::mail::{Mailer, letters};
use crate::metrics::{IngestMetrics, StoreMetrics};
use crate::missing_accounts;
use crate::query_threads::QueryThreads;
use crate::reserve::Reserve;
use crate::secrets::seal::Sealer;
use crate::secrets::webauthn::RelyingParty;
use crate::symbols::Symbols;
use crate::telemetry::RejectionLog;
use crate::{files, keeping, limits, secrets};

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
    pub control: Control,
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
    pub background: Background,
    /// The telemetry store and its journal.
    pub intake: Intake,
    pub ingest_metrics: IngestMetrics,
    pub store_metrics: Arc<StoreMetrics>,
    rejection_log: RejectionLog,
    /// What projects receive that a setting would do more with.
    pub hints: Hints,
    /// What refused senders did.
    pub refusals: Refusals,
    /// Demo data that is being loaded.
    pub demos: Demos,
    /// Questions answered at once.
    pub asking: Admission,
    query_threads: QueryThreads,
    /// For the control database, when it lies here.
    reserve: Option<Reserve>,
    /// Closes with the rest.
    _alive: mpsc::Sender<()>,
}

/// Questions stand in one line.
const ANY_PROJECT: u32 = 0;

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
        reserve.iter().for_each(Reserve::restore);
        let key = match config.login_key()? {
            Some(key) => key,
            None => secrets::login_key(data).context("cannot read or make the login key")?,
        };
        let sso = Sso::new(&config.sso, control.sealer())?;
        let settings = config.clone();
        let symbols = Arc::new(Symbols::open(data).context("cannot start a thread")?);
        let known = symbols.clone();
        // Before anything is removed by the server's own retention.
        let kept = keeping::of(&control, &BTreeSet::new());
        let below = Below { clock: clock.clone(), disk, give_up };
        let intake = tokio::task::spawn_blocking(move || Intake::open(&settings, kept, below, known)).await??;
        let highest = intake.lake().highest_project();
        if control.number_projects_above(highest).await.context("cannot number projects")? {
            tracing::warn!(
                "the control database is older than the telemetry here: new projects get numbers above {highest}"
            );
        }
        // Uploads that a crash left half-way.
        let _ = std::fs::remove_dir_all(upload::folder(data));
        let slots = config.ingest_concurrent();
        let waiting = (slots * limits::INGEST_WAITING_PER_SLOT).max(limits::INGEST_WAITING_MIN);
        let askers = config.query_concurrent();
        let (mailer, post) = Mailer::new(&config.mail).context("cannot prepare the sending of mail")?;
        if mailer.is_set_up {
            let base_url = config.base_url();
            control.tell_people(Box::new(move |notice| letters::notice(&base_url, notice)));
        }
        let (alive, gone) = mpsc::channel();
        let background = Background::default();
        background.add(symbols.builder.heartbeat());
        let app = Arc::new(App {
            background,
            admission: Admission::new(slots, waiting),
            bodies: Budget::new(limits::INGEST_BYTES_HELD_MAX, config.ingest_body_bytes_max()),
            json_bodies: Budget::new(limits::JSON_BYTES_HELD_MAX, limits::JSON.body_bytes_max),
            quotas: Quotas::default(),
            uploads: Admission::new(config.upload_concurrent_max, usize::MAX),
            symbols,
            per_ip: PerIpCounts::default(),
            intake,
            ingest_metrics: IngestMetrics::default(),
            store_metrics: Arc::default(),
            rejection_log: RejectionLog::default(),
            hints: Hints::default(),
            refusals: Refusals::default(),
            demos: Demos::default(),
            logins: Logins::new(&key),
            sso,
            passkeys: relying_party(&config),
            hashing: Semaphore::new(limits::PASSWORD_HASHES_MAX),
            hashes_waiting: Semaphore::new(limits::PASSWORD_HASHES_WAITING_MAX),
            hashes_reserved: Semaphore::new(limits::PASSWORD_HASHES_RESERVED),
            guesses: Guesses::default(),
            asking: Admission::new(askers, askers * limits::ASK_WAITING_PER_THREAD),
            query_threads: QueryThreads::start(askers).context("cannot start a thread")?,
            control,
            mailer,
            _alive: alive,
            reserve,
            clock,
            config,
        });
        Control::follow(Arc::downgrade(&app), gone).context("cannot start a thread")?;
        post.start(Arc::downgrade(&app))?;
        Ok(app)
    }

    /// One question to the telemetry store: on threads of their own, at most `query_concurrent` at once.
    ///
    /// `deadline` covers waiting too; after it: 504. A scan whose asker has gone away ends by its deadline and counts
    /// until then.
    pub async fn ask(
        &self,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
    ) -> Result<RecordBatch, ApiError> {
        let plan = keeping::only_kept(&self.control, plan, self.retention_ns());
        self.note_gaps(&plan);
        self.scan(deadline, move |lake| lake.ask_within(&memory, &plan, deadline)).await
    }

    /// As [`App::ask`], of rows, with the number of all that pass the filter.
    pub async fn ask_page(
        &self,
        memory: Arc<RequestMemory>,
        plan: Plan,
        deadline: Instant,
    ) -> Result<(RecordBatch, u64), ApiError> {
        let plan = keeping::only_kept(&self.control, plan, self.retention_ns());
        self.note_gaps(&plan);
        self.scan(deadline, move |lake| lake.ask_page(&memory, &plan, deadline)).await
    }

    /// The time that decides what is kept no longer. It does not follow a clock that jumped. DECISIONS 25.
    fn retention_ns(&self) -> i64 {
        self.intake.lake().trusted_now().unwrap_or_else(|| self.clock.now_ns())
    }

    fn note_gaps(&self, plan: &Plan) {
        if self.intake.lake().is_incomplete(plan) {
            incomplete::note();
        }
    }

    async fn scan<T: Send + 'static>(
        &self,
        deadline: Instant,
        ask: impl FnOnce(&Lake) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let entered = tokio::time::timeout_at(deadline.into(), self.asking.enter(ANY_PROJECT));
        let permit = entered.await.map_err(|_| ApiError::Deadline)?;
        let permit = permit.map_err(|_| ApiError::Overloaded("too many questions at once; try again later"))?;
        let lake = self.intake.lake().clone();
        let scan = self.query_threads.run(move || {
            let _permit = permit;
            ask(&lake)
        });
        Ok(scan.await.ok_or_else(|| ApiError::internal("a question panicked"))??)
    }

    /// For the audit log: this process itself, now.
    pub fn by_server(&self) -> By {
        let (address, user_agent) = (String::new(), String::new());
        By { user_id: None, name: "server".to_owned(), address, user_agent, at_ns: self.clock.now_ns() }
    }

    /// Questions that wait for their turn.
    pub fn questions_waiting(&self) -> usize {
        self.asking.waiting()
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
