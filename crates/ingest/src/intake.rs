//! The journal before the lake: what makes "acknowledged" mean "durable and visible", once.
//!
//! A request's record is appended; when the disk has it, its rows are applied in the journal's order, and only then the
//! sender hears 200. At start the records that no part covers yet are prepared and applied again, the same way
//! ([`super::replay`]). When parts cover a position, the journal lets go of what lies before it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tidewatch_store::TelemetryStore;

use bytes::Bytes;
use tidewatch_domain::model::Signal;
use tidewatch_journal::disk::Disk;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_journal::{AppendError, Backlog, DurableSegment, Journal, Latencies, Options, Position, TrimGuard};
use tidewatch_lake::{DiskBudget, FreeBytes, GiveUp, KeepRecords, Lake, LakeOptions};
use tidewatch_store::Outcome;
use tidewatch_store::columns::Rows;
use tidewatch_store::days::day_of;
use tidewatch_store::retention::{Keeping, Retention};
use tokio::sync::oneshot;

use super::error::ExportError;
use super::knowledge::Knowledge;
use super::outcome::{Refused, RejectReason};
use super::pipeline::{self, Prepared};
use super::prices::{self, PriceTable};
use super::record::{self, Header};
use super::replay::{Replay, Replayed};
use super::set_aside::{self, Reason};
use crate::symbols::Symbols;
use tidewatch_limits as limits;
use tidewatch_limits::admission::turn::Turn;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::files;

/// The telemetry store with its journal.
pub struct Intake {
    /// Before the lake: its thread applies to the lake until it has ended.
    journal: Arc<Journal<Pending>>,
    lake: Arc<Lake>,
    knowledge: Knowledge,
    /// At the start, by reason.
    set_aside: BTreeMap<Reason, u64>,
}

/// What the store stands on.
pub struct Below {
    pub clock: Clock,
    /// Below journal and parts; the catalog always lies on the real one.
    pub disk: Arc<dyn Disk>,
    pub give_up: GiveUp,
}

/// What an operator chooses about the store. Sizes are in bytes; 0 days keep telemetry for ever.
#[derive(Debug, Clone)]
pub struct IntakeOptions {
    pub data_dir: PathBuf,
    /// Of one export, inflated.
    pub body_bytes_max: usize,
    pub flush_rows: usize,
    pub memtable_bytes: usize,
    pub flush_age: Duration,
    pub retention_days: u32,
    /// A jump of the clock ahead is followed at once.
    pub trusts_clock: bool,
    /// Names that a service may have on one day. DECISIONS 27.
    pub names_max: usize,
    pub query_memory_bytes: usize,
    /// 0: any number.
    pub disk_bytes_max: u64,
    /// Free bytes of the file system; 0: it may become full.
    pub disk_free_min: u64,
}

/// What waits for its record to be durable.
struct Pending {
    rows: Rows,
    request_key: u128,
    received_ns: i64,
    settled: oneshot::Sender<Result<(), AppendError>>,
}

impl Intake {
    /// Opens the store under `data_dir` and replays the journal. Blocks for as long as that takes.
    pub fn open(
        settings: &IntakeOptions,
        keeping: Keeping,
        below: Below,
        symbols: Arc<Symbols>,
    ) -> anyhow::Result<Intake> {
        let Below { clock, disk, give_up } = below;
        let record_bytes_max = settings.body_bytes_max + record::HEADER_BYTES_MAX;
        let gives_up = give_up.clone();
        let options = Options {
            disk: disk.clone(),
            bytes_max: limits::JOURNAL_BYTES_MAX,
            queue_bytes_max: limits::JOURNAL_QUEUE_BYTES_MAX,
            record_bytes_max: record_bytes_max.max(limits::JOURNAL_QUEUE_BYTES_MAX),
            // A record may be durable and half of its rows in memory: only a replay finds out.
            on_panic: Arc::new(move || gives_up("the journal's thread has panicked")),
            ..Options::new(settings.data_dir.join("journal"))
        };
        let (kept_of, at) = (options.clone(), clock.clone());
        let keep_records: KeepRecords =
            Arc::new(move |lost, from, to| set_aside::records(lost, &kept_of, from, to, day_of(at.now_ns())));
        let lake_options = || LakeOptions {
            disk: disk.clone(),
            flush_rows: settings.flush_rows,
            memory_bytes: settings.memtable_bytes,
            flush_age: settings.flush_age,
            retention: Retention::all(settings.retention_days),
            keeping: keeping.clone(),
            names_max: settings.names_max,
            query_bytes_max: settings.query_memory_bytes,
            clock: Some(Arc::new(LakeClock(clock.clone()))),
            trusts_clock: settings.trusts_clock,
            budget: budget(settings),
            keep_records: Some(keep_records.clone()),
            give_up: give_up.clone(),
            ..LakeOptions::new(&settings.data_dir)
        };
        let (prices, before) = prices::open(&settings.data_dir)?;
        let knowledge = Knowledge { prices, symbols: Some(symbols) };
        let prepare = |header: &Header, body: &[u8]| {
            let then = before.get(&header.prices).map(|prices| PriceTable { prices, id: header.prices });
            let known = Knowledge { prices: then.unwrap_or(knowledge.prices), ..knowledge.clone() };
            // The limit held when the body was accepted; a smaller one now must not lose it.
            pipeline::prepare(header, body, usize::MAX, &known)
        };
        let settling = |lake: Arc<Lake>| move |pending: Pending, outcome| settle(&lake, pending, outcome);
        let replay = Replay { lake_options: &lake_options, journal: &options, prepare: &prepare, clock: &clock };
        let Replayed { lake, journal, report, set_aside } = replay.open(settling)?;
        if report.records > 0 {
            let (records, bytes) = (report.records, report.bytes);
            tracing::info!(records, bytes, "replayed {records} requests from the journal");
        }
        // What was replayed was counted by the run that accepted it, and needed the keys of retries.
        lake.replayed();
        let journal = Arc::new(journal);
        let trimmed: Weak<Journal<Pending>> = Arc::downgrade(&journal);
        lake.set_on_covered(move |covered| {
            if let Some(journal) = trimmed.upgrade()
                && let Err(error) = journal.trim(covered)
            {
                tracing::warn!(%error, "cannot trim the journal: {error}");
            }
        });
        Ok(Intake { journal, lake, knowledge, set_aside })
    }

    /// What the rules are told.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    pub fn lake(&self) -> &Arc<Lake> {
        &self.lake
    }

    /// Of the threads that store.
    pub fn heartbeats(&self) -> impl Iterator<Item = &Heartbeat> {
        std::iter::once(self.journal.heartbeat()).chain(self.lake.heartbeats())
    }

    /// Whether exports can be made durable, as far as is known. See [`Journal::is_writable`].
    pub fn is_writable(&self) -> bool {
        self.journal.is_writable()
    }

    /// What was set aside in `lost/` since the start, by reason: journal records and damaged ranges, and memtables.
    pub fn set_aside(&self) -> impl Iterator<Item = (Reason, u64)> {
        let count = |reason| match reason {
            Reason::Unencodable => (reason, self.lake.set_aside()),
            _ => (reason, self.set_aside.get(&reason).copied().unwrap_or(0)),
        };
        Reason::ALL.into_iter().map(count)
    }

    /// Time to write and sync each group of the journal.
    pub fn commit_latencies(&self) -> Latencies {
        self.journal.commit_latencies()
    }

    /// Records and bytes that are not durable yet.
    pub fn journal_backlog(&self) -> Backlog {
        self.journal.backlog()
    }

    /// Pauses trimming of the journal while the guard lives.
    pub fn pause_trim(&self) -> TrimGuard {
        self.journal.pause_trim()
    }

    /// The journal's segments, up to where they are durable now.
    pub fn durable_segments(&self) -> Vec<DurableSegment> {
        self.journal.durable_segments()
    }

    /// Of the journal on the disk.
    pub fn journal_bytes(&self) -> u64 {
        self.journal.bytes()
    }

    /// Removes what the journal holds of exports that parts cover; with `all`, soon also what shares a file with what
    /// comes next.
    pub fn tidy_journal(&self, all: bool) {
        if all {
            self.journal.rotate();
        }
        if let Err(error) = self.journal.trim(self.lake.covered()) {
            tracing::warn!(%error, "cannot trim the journal: {error}");
        }
    }

    /// Nothing more should be accepted for now.
    pub fn is_behind(&self) -> bool {
        self.lake.is_behind()
    }

    /// Stores one export. When this returns `Ok` it is durable, and every question sees it.
    ///
    /// The body and its turn at the gate end once the journal has its copy: waiting for the disk holds neither.
    pub async fn store(&self, header: &Header, body: (Bytes, Turn), prepared: Prepared) -> Result<(), Refused> {
        let (settled, wait) = oneshot::channel();
        let Prepared { rows, request_key, .. } = prepared;
        let pending = Pending { rows, request_key, received_ns: header.received_ns, settled };
        self.journal
            .append(&[&header.encode(), header.paths(), &body.0], pending)
            .map_err(|(error, _)| refuse(&error))?;
        drop(body);
        match wait.await {
            Ok(outcome) => outcome.map_err(|error| refuse(&error)),
            Err(_) => Err(Refused::overloaded("the server is stopping")),
        }
    }

    /// Counts a refused request. Spec: errors; DECISIONS 4.
    pub fn count_refused(&self, project: u32, signal: Signal, reason: RejectReason, now_ns: i64) {
        self.lake.count(project, now_ns, signal, Outcome::Rejected, reason.as_str().into(), 1);
    }

    /// Stops accepting, stores what waits, and flushes it all into parts. Blocks.
    pub fn close(&self) {
        self.journal.shutdown();
        if let Err(error) = self.lake.flush() {
            // Nothing is lost: the journal has it, and the next start replays it.
            tracing::warn!(%error, "could not flush while stopping: {error}");
        }
    }
}

/// The service's clock, as the lake reads it.
struct LakeClock(Clock);

impl tidewatch_lake::Clock for LakeClock {
    fn now_ns(&self) -> i64 {
        self.0.now_ns()
    }

    fn uptime(&self) -> Duration {
        self.0.uptime()
    }
}

/// What stored telemetry may take of the disk.
fn budget(settings: &IntakeOptions) -> DiskBudget {
    let folder = settings.data_dir.clone();
    let free: FreeBytes = Arc::new(move || files::free_bytes(&folder));
    let set = |bytes: u64| (bytes > 0).then_some(bytes);
    DiskBudget { bytes_max: set(settings.disk_bytes_max), free_min: set(settings.disk_free_min), free: Some(free) }
}

/// On the journal's thread, in its order: the rows become visible, then the sender hears of it.
fn settle(lake: &Lake, pending: Pending, outcome: Result<Position, AppendError>) {
    let Pending { rows, request_key, received_ns, settled } = pending;
    let outcome = outcome.map(|position| {
        lake.apply(position, request_key, received_ns, rows);
    });
    // A sender that has gone away will send again, and be recognised.
    let _ = settled.send(outcome);
}

/// Never 500: whatever keeps us from storing, the sender keeps the data and comes back. OTLP.md, row "Retryable".
fn refuse(error: &AppendError) -> Refused {
    match error {
        AppendError::Full => Refused::overloaded("the journal is full; try again later"),
        AppendError::NoSpace => Refused::overloaded("no space left on the server's disk"),
        AppendError::Io(cause) => {
            tracing::error!(%cause, "cannot write the journal: {cause}");
            Refused::overloaded("the server cannot write to its disk")
        }
        AppendError::Closed => Refused::overloaded("the server is stopping"),
        AppendError::TooLarge { bytes_max, .. } => {
            Refused::new(RejectReason::TooLarge, ExportError::TooLarge(*bytes_max))
        }
    }
}
