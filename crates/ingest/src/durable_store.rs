//! The store of telemetry: a journal in front of an engine. An acknowledged request is durable and visible.
//!
//! A request's record is appended to the journal. Once it is durable, its rows are applied to the engine in the journal's
//! order, and then the client receives 200. At start, records that no part covers yet are prepared and applied the same
//! way ([`super::replay`]). The journal is trimmed up to the position that parts cover.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use tidewatch_accounts::{FirstVersion, NewHashes};
use tidewatch_domain::model::RequestKind;
use tidewatch_journal::disk::Disk;
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_journal::{AppendError, Backlog, DurableSegment, Journal, Latencies, Options, Position, TrimGuard};
use tidewatch_store::columns::{Rows, TableBuffer};
use tidewatch_store::days::day_of;
use tidewatch_store::tables::Table;
use tidewatch_store::{JournaledStore, KeepRecords, OnFatal, OpenEngine, Outcome};
use tokio::sync::oneshot;

use super::enrichment::{EnrichmentSource, GroupingSource};
use super::error::ExportError;
use super::first_versions::FirstVersions;
use super::live_logs::LiveLogs;
use super::outcome::{Refused, RejectReason};
use super::pipeline::{self, Prepared};
use super::prices::{self, LivePrices, PriceTable};
use super::record::{self, Header};
use super::replay::{Replay, Replayed};
use super::rule_arrivals::{ProjectArrivals, RuleArrivals};
use super::set_aside::{self, Reason};
use crate::symbols::Symbols;
use tidewatch_limits as limits;
use tidewatch_limits::admission::body_permit::BodyPermit;
use tidewatch_limits::clock::Clock;

/// The telemetry store with its journal.
pub struct DurableStore {
    /// Declared before the engine, so it is dropped first: its thread applies rows to the engine until it has ended.
    journal: Arc<Journal<Pending>>,
    engine: Arc<dyn JournaledStore>,
    /// With the prices at start.
    enrichment: EnrichmentSource,
    prices: LivePrices,
    first_versions: Arc<FirstVersions>,
    live_logs: Arc<LiveLogs>,
    rule_arrivals: Arc<RuleArrivals>,
    /// Counts of what the replay at start set aside, by reason.
    set_aside: BTreeMap<Reason, u64>,
}

/// The clock and the disk that the store uses.
pub struct StoreEnvironment {
    /// Source of receive times.
    pub clock: Clock,
    /// The disk of the journal.
    pub disk: Arc<dyn Disk>,
    /// Ends the process when the state in memory can no longer be trusted.
    pub on_fatal: OnFatal,
    /// Takes the versions of replayed and of new requests.
    pub first_versions: Arc<FirstVersions>,
    /// Takes the hashes of the Issues of new requests.
    pub new_hashes: Arc<NewHashes>,
    /// Rules that group exceptions.
    pub grouping: GroupingSource,
}

/// An operator's settings of the store. Sizes are in bytes.
#[derive(Debug, Clone)]
pub struct DurableStoreOptions {
    /// The data directory. The journal is in `journal/` below it.
    pub data_dir: PathBuf,
    /// Maximum size of one export, inflated.
    pub body_bytes_max: usize,
}

/// An export whose record is not durable yet.
struct Pending {
    rows: Rows,
    /// Its versions that are not known.
    versions: Vec<FirstVersion>,
    request_key: u128,
    received_ns: i64,
    acknowledge: oneshot::Sender<Result<(), AppendError>>,
}

impl DurableStore {
    /// Opens the engine and the journal under `data_dir`, and replays the journal. Blocks for as long as that takes.
    pub fn open(
        settings: &DurableStoreOptions,
        open_engine: &OpenEngine<'_>,
        environment: StoreEnvironment,
        symbols: Arc<Symbols>,
    ) -> anyhow::Result<DurableStore> {
        let StoreEnvironment { clock, disk, on_fatal, first_versions, new_hashes, grouping } = environment;
        let record_bytes_max = settings.body_bytes_max + record::HEADER_BYTES_MAX;
        let gives_up = on_fatal.clone();
        let options = Options {
            disk: disk.clone(),
            bytes_max: limits::JOURNAL_BYTES_MAX,
            queue_bytes_max: limits::JOURNAL_QUEUE_BYTES_MAX,
            record_bytes_max: record_bytes_max.max(limits::JOURNAL_QUEUE_BYTES_MAX),
            // A record may be durable with only half of its rows in memory. Only a replay can restore a consistent
            // state.
            on_panic: Arc::new(move || gives_up("the journal's thread has panicked")),
            ..Options::new(settings.data_dir.join("journal"))
        };
        let (kept_of, at) = (options.clone(), clock.clone());
        let keep_records: KeepRecords =
            Arc::new(move |lost, from, to| set_aside::records(lost, &kept_of, from, to, day_of(at.now_ns())));
        let (prices, before) = prices::open(&settings.data_dir)?;
        let enrichment = EnrichmentSource { prices, symbols: Some(symbols), grouping };
        let rule_arrivals = Arc::new(RuleArrivals::default());
        let prepare = |header: &Header, body: &[u8]| {
            let then = before.get(&header.prices).map(|prices| PriceTable { prices, id: header.prices });
            let known = EnrichmentSource { prices: then.unwrap_or(enrichment.prices), ..enrichment.clone() };
            // The limit was checked when the body was accepted. A smaller limit now must not lose the record.
            let prepared = pipeline::prepare(header, body, usize::MAX, &known)?;
            first_versions.add(first_versions.unknown(&prepared.rows, header.received_ns));
            if let Some(arrivals) = ProjectArrivals::of(&prepared.rows) {
                rule_arrivals.add(prepared.rows.project, arrivals);
            }
            Ok(prepared)
        };
        let live_logs = Arc::new(LiveLogs::default());
        let on_durable = |engine: Arc<dyn JournaledStore>| {
            let (first_versions, live_logs) = (first_versions.clone(), live_logs.clone());
            let (arrivals, new_hashes) = (rule_arrivals.clone(), new_hashes.clone());
            move |pending: Pending, outcome| {
                let seen = (&*first_versions, &*new_hashes);
                on_durable((&*engine, seen, &live_logs, &arrivals), pending, outcome)
            }
        };
        let replay = Replay { open_engine, keep_records, journal: &options, prepare: &prepare, clock: &clock };
        let Replayed { engine, journal, report, set_aside } = replay.open(on_durable)?;
        if report.records > 0 {
            let (records, bytes) = (report.records, report.bytes);
            tracing::info!(records, bytes, "replayed {records} requests from the journal");
        }
        // The run that accepted these records counted them. Retry keys may expire only from here: the replay needed
        // them.
        engine.replayed();
        let journal = Arc::new(journal);
        let trimmed: Weak<Journal<Pending>> = Arc::downgrade(&journal);
        engine.set_on_covered(Box::new(move |covered| {
            if let Some(journal) = trimmed.upgrade()
                && let Err(error) = journal.trim(covered)
            {
                tracing::warn!(%error, "cannot trim the journal: {error}");
            }
        }));
        let prices = LivePrices::new(&settings.data_dir, prices);
        Ok(DurableStore { journal, engine, enrichment, prices, first_versions, live_logs, rule_arrivals, set_aside })
    }

    /// Inputs of the rules besides the request, with the current prices.
    pub fn enrichment(&self) -> EnrichmentSource {
        EnrichmentSource { prices: self.prices.table(), ..self.enrichment.clone() }
    }

    /// The prices of AI models.
    pub fn prices(&self) -> &LivePrices {
        &self.prices
    }

    /// The engine, for queries and maintenance.
    pub fn engine(&self) -> &Arc<dyn JournaledStore> {
        &self.engine
    }

    /// The log records of new requests.
    pub fn live_logs(&self) -> &Arc<LiveLogs> {
        &self.live_logs
    }

    /// Arrivals for notification rules.
    pub fn rule_arrivals(&self) -> &Arc<RuleArrivals> {
        &self.rule_arrivals
    }

    /// Heartbeats of the journal's thread and of the engine's threads.
    pub fn heartbeats(&self) -> impl Iterator<Item = &Heartbeat> {
        std::iter::once(self.journal.heartbeat()).chain(self.engine.heartbeats())
    }

    /// Whether exports can be made durable, as far as is known. See [`Journal::is_writable`].
    pub fn is_writable(&self) -> bool {
        self.journal.is_writable()
    }

    /// Counts of what was set aside in `lost/` since the start, by reason: journal records, damaged ranges and
    /// memtables.
    pub fn set_aside(&self) -> impl Iterator<Item = (Reason, u64)> {
        let count = |reason| match reason {
            Reason::Unencodable => (reason, self.engine.set_aside()),
            _ => (reason, self.set_aside.get(&reason).copied().unwrap_or(0)),
        };
        Reason::ALL.into_iter().map(count)
    }

    /// Latencies of writing and syncing each group of journal records.
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

    /// Size of the journal on disk in bytes.
    pub fn journal_bytes(&self) -> u64 {
        self.journal.bytes()
    }

    /// Removes journal segments that parts cover. With `all`, the current segment is closed first, so it can be removed
    /// too once it is covered.
    pub fn tidy_journal(&self, all: bool) {
        if all {
            self.journal.rotate();
        }
        if let Err(error) = self.journal.trim(self.engine.covered()) {
            tracing::warn!(%error, "cannot trim the journal: {error}");
        }
    }

    /// Whether unflushed rows exceed their limit, so exports should be refused for now.
    pub fn is_behind(&self) -> bool {
        self.engine.is_behind()
    }

    /// Stores one export. When this returns `Ok`, it is durable and visible to every query.
    ///
    /// The body and its admission permit are released once the journal has its copy: waiting for the disk holds
    /// neither.
    pub async fn store(&self, header: &Header, body: (Bytes, BodyPermit), prepared: Prepared) -> Result<(), Refused> {
        let (acknowledge, wait) = oneshot::channel();
        let Prepared { rows, request_key, .. } = prepared;
        let versions = self.first_versions.unknown(&rows, header.received_ns);
        let pending = Pending { rows, versions, request_key, received_ns: header.received_ns, acknowledge };
        let head = header.encode().map_err(|error| Refused::malformed(error.to_string()))?;
        self.journal.append(&[&head, &body.0], pending).map_err(|(error, _)| refuse(&error))?;
        drop(body);
        match wait.await {
            Ok(outcome) => outcome.map_err(|error| refuse(&error)),
            Err(_) => Err(Refused::overloaded("the server is stopping")),
        }
    }

    /// Counts a refused request. Spec: errors; DECISIONS 4.
    pub fn count_refused(&self, project: u32, kind: RequestKind, reason: RejectReason, now_ns: i64) {
        self.engine.count(project, now_ns, kind, Outcome::Rejected, reason.as_str().into(), 1);
    }

    /// Stops accepting, stores pending exports, and flushes all rows into parts. Blocks.
    pub fn close(&self) {
        self.journal.shutdown();
        if let Err(error) = self.engine.flush() {
            // Nothing is lost: the journal has it, and the next start replays it.
            tracing::warn!(%error, "could not flush while stopping: {error}");
        }
    }
}

/// The engine, what is known of versions and of hashes of Issues, live tails, and arrivals for rules.
type Watchers<'w> = (&'w dyn JournaledStore, (&'w FirstVersions, &'w NewHashes), &'w LiveLogs, &'w RuleArrivals);

/// Called on the journal's thread, in the journal's order: applies the rows, which makes them visible, completes the
/// request, shows its log records to live tails, and collects what notification rules are about.
fn on_durable(
    (engine, (first_versions, new_hashes), live_logs, rule_arrivals): Watchers<'_>,
    pending: Pending,
    outcome: Result<Position, AppendError>,
) {
    let Pending { rows, versions, request_key, received_ns, acknowledge } = pending;
    let mut new_logs = None;
    let mut arrivals = None;
    let project = rows.project;
    let outcome = outcome.map(|position| {
        arrivals = ProjectArrivals::of(&rows);
        let hashes = later_hashes(&rows);
        engine.apply_observed(position, request_key, received_ns, rows, &mut |rows, is_duplicate| {
            new_logs = live_logs.copy(rows, is_duplicate);
        });
        first_versions.add(versions);
        // Before the answer: who reads afterwards finds the Issues that the hashes belong to.
        new_hashes.arrived(project, hashes);
    });
    // A client that has disconnected retries, and the retry is recognized by its request key.
    let _ = acknowledge.send(outcome);
    if let Some(logs) = new_logs {
        live_logs.publish(logs);
    }
    if let Some(arrivals) = arrivals {
        rule_arrivals.add(project, arrivals);
    }
}

/// The hashes of exceptions that the first version of the grouping rule did not make.
fn later_hashes(rows: &Rows) -> Vec<u64> {
    let exceptions = rows.tables.iter().map(|table| &table.buffer).filter(|one| one.table() == Table::Exceptions);
    let of_table = |buffer: &TableBuffer| {
        let versions = buffer.u8s("group_version").unwrap_or_default();
        let hashes = buffer.u64("group").unwrap_or_default();
        // Null, which is 0, is the first version.
        let later = hashes.iter().zip(versions).filter(|(_, version)| **version != 0);
        later.map(|(hash, _)| *hash).collect::<Vec<u64>>()
    };
    exceptions.flat_map(of_table).collect()
}

/// The refusal for a failed append. Never 500: clients keep the data and retry. OTLP.md, row "Retryable".
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
