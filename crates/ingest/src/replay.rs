//! The replay of the journal at start: prepares and applies the records that no part covers yet, in order.
//!
//! A record that cannot be used must not keep the server from starting. A record that cannot be decoded, or that panics
//! twice while its rows are made or applied, is copied to `lost/` and skipped, and so are damaged ranges of the
//! journal. Nothing is trimmed before its copy exists. A record of an unknown version still ends the start: a newer
//! program wrote it.
//!
//! A panic while rows are applied leaves an engine in an unknown state. It is closed without a flush, and the replay
//! starts over with a new one.

use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use anyhow::{Context, bail};
use tidewatch_journal::{AppendError, Journal, OpenError, Opened, Options, Position, ReplayReport};
use tidewatch_store::columns::Rows;
use tidewatch_store::days::day_of;
use tidewatch_store::{JournaledStore, KeepRecords, OpenEngine};

use super::outcome::Refused;
use super::pipeline::Prepared;
use super::record::{self, Header, RecordError};
use super::set_aside::{self, Reason};
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;

/// Makes rows of a record, the same rows as when it was accepted.
pub type Prepare<'a> = dyn Fn(&Header, &[u8]) -> Result<Prepared, Refused> + 'a;

/// Attempts at a record whose preparation or application panics.
const ATTEMPTS: u32 = 2;

/// Inputs of a replay.
pub struct Replay<'a> {
    /// Opens the engine; called again for each attempt.
    pub open_engine: &'a OpenEngine<'a>,
    /// Copies records that the engine cannot encode.
    pub keep_records: KeepRecords,
    /// Options of the journal, including its folder.
    pub journal: &'a Options,
    /// Makes the rows of a record.
    pub prepare: &'a Prepare<'a>,
    /// Its day names the folder for what is set aside.
    pub clock: &'a Clock,
}

/// An engine that holds every usable record of its journal.
pub struct Replayed<T> {
    /// The engine, with all records applied.
    pub engine: Arc<dyn JournaledStore>,
    /// The journal, open for appends.
    pub journal: Journal<T>,
    /// Report of the journal's replay.
    pub report: ReplayReport,
    /// Counts of what was set aside, by reason.
    pub set_aside: BTreeMap<Reason, u64>,
}

/// A replayed record, in the journal's order.
enum Next {
    Apply {
        position: Position,
        received_ns: i64,
        request_key: u128,
        rows: Box<Rows>,
    },
    /// The record was set aside; the engine only advances its position.
    Skip(Position),
}

/// Number of panics while the record at a position was applied.
type Panics = BTreeMap<Position, u32>;

enum Attempt<T> {
    Replayed(Replayed<T>),
    /// The record whose rows panicked while they were applied.
    Panicked(Position),
}

impl Replay<'_> {
    /// Opens the engine and the journal and replays the journal. `on_durable` makes the journal's callback, which is
    /// called once for each record that is appended later. Blocks.
    pub fn open<T, S>(&self, on_durable: impl Fn(Arc<dyn JournaledStore>) -> S) -> anyhow::Result<Replayed<T>>
    where
        T: Send + 'static,
        S: FnMut(T, Result<Position, AppendError>) + Send + 'static,
    {
        let mut panics = Panics::new();
        loop {
            match self.attempt(&on_durable, &panics)? {
                Attempt::Replayed(replayed) => return Ok(replayed),
                Attempt::Panicked(position) => {
                    *panics.entry(position).or_default() += 1;
                    tracing::error!(%position, "a record of the journal panics when it is applied; the replay begins again");
                }
            }
        }
    }

    fn attempt<T, S>(
        &self,
        on_durable: &impl Fn(Arc<dyn JournaledStore>) -> S,
        panics: &Panics,
    ) -> anyhow::Result<Attempt<T>>
    where
        T: Send + 'static,
        S: FnMut(T, Result<Position, AppendError>) + Send + 'static,
    {
        let engine = (self.open_engine)(self.keep_records.clone()).context("cannot open the telemetry store")?;
        // The next record is read and decoded while the previous one is applied.
        let (apply, decoded) = sync_channel(limits::REPLAY_AHEAD);
        let applying = engine.clone();
        let applier = thread::Builder::new().name("replay".to_owned()).spawn(move || apply_all(&*applying, &decoded));
        let applier = applier.context("cannot start a thread for the replay")?;
        let mut set_aside = BTreeMap::new();
        let mut records = Records { replay: self, engine: &*engine, panics, apply, set_aside: &mut set_aside };
        let visit = |position, record: &[u8]| records.next(position, record);
        let opened = Journal::open(self.journal.clone(), engine.covered(), visit, on_durable(engine.clone()));
        // The applier ends when its channel closes.
        drop(records);
        let opened: Result<Opened<T>, OpenError> = match applier.join() {
            Ok(Ok(())) => opened,
            Ok(Err(position)) => return Ok(Attempt::Panicked(position)),
            Err(_) => bail!("the replay of the journal failed"),
        };
        let Opened { journal, report } = opened.context("cannot open the journal")?;
        for range in &report.corrupt {
            tracing::error!(from = %range.from, to = %range.to, "the journal is damaged, what is left of it goes to lost/: {}", range.why);
            set_aside::damaged(engine.lost(), self.journal, range, self.today())
                .context("cannot keep a damaged part of the journal")?;
            *set_aside.entry(Reason::Damaged).or_default() += 1;
        }
        if !set_aside.is_empty() {
            // Every record up to here is applied or copied to `lost/`: none needs another replay.
            engine.skip_record(journal.durable_position());
        }
        Ok(Attempt::Replayed(Replayed { engine, journal, report, set_aside }))
    }

    fn today(&self) -> i32 {
        day_of(self.clock.now_ns())
    }
}

/// The visitor of the journal's records.
struct Records<'a> {
    replay: &'a Replay<'a>,
    engine: &'a dyn JournaledStore,
    panics: &'a Panics,
    apply: SyncSender<Next>,
    set_aside: &'a mut BTreeMap<Reason, u64>,
}

impl Records<'_> {
    fn next(&mut self, position: Position, record: &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let next = match self.prepare(position, record)? {
            Ok(next) => next,
            Err((reason, why)) => {
                let kept = set_aside::record(self.engine.lost(), position, record, self.replay.today())?;
                let path = kept.display();
                tracing::error!(%position, %path, "a record of the journal was set aside ({}): {why}", reason.as_str());
                *self.set_aside.entry(reason).or_default() += 1;
                Next::Skip(position)
            }
        };
        Ok(self.apply.send(next).map_err(|_| "its rows cannot be applied")?)
    }

    /// The rows of a record, or the reason and cause to set it aside. An error ends the start.
    fn prepare(&self, position: Position, record: &[u8]) -> Result<Result<Next, (Reason, String)>, RecordError> {
        if self.panics.get(&position).is_some_and(|panics| *panics >= ATTEMPTS) {
            return Ok(Err((Reason::Panicked, "applying its rows panics".to_owned())));
        }
        let (header, body) = match record::decode(record) {
            Err(error @ RecordError::Version(_)) => return Err(error),
            Err(error) => return Ok(Err((Reason::Undecodable, error.to_string()))),
            Ok(decoded) => decoded,
        };
        for _ in 0..ATTEMPTS {
            match catch_unwind(AssertUnwindSafe(|| (self.replay.prepare)(&header, body))) {
                Ok(Ok(Prepared { rows, request_key, .. })) => {
                    return Ok(Ok(Next::Apply {
                        position,
                        received_ns: header.received_ns,
                        request_key,
                        rows: Box::new(rows),
                    }));
                }
                Ok(Err(refused)) => return Ok(Err((Reason::Undecodable, refused.error.to_string()))),
                // The next attempt has other buffers.
                Err(_) => {}
            }
        }
        Ok(Err((Reason::Panicked, "making its rows panics".to_owned())))
    }
}

/// Applies records until the channel closes. When one panics, the error is its position.
fn apply_all(engine: &dyn JournaledStore, all: &Receiver<Next>) -> Result<(), Position> {
    let mut was_logged = false;
    for next in all {
        match next {
            Next::Skip(position) => engine.skip_record(position),
            Next::Apply { position, received_ns, request_key, rows } => {
                wait_for_flushes(engine, &mut was_logged);
                let apply = || engine.apply(position, request_key, received_ns, *rows);
                catch_unwind(AssertUnwindSafe(apply)).map_err(|_| position)?;
            }
        }
    }
    Ok(())
}

/// Waits while the engine is behind, unless it cannot flush. In that case the rows stay in memory, as before the process
/// ended, and the server starts: on a full disk it still answers queries, and the disk budget and retention, which both
/// begin after the replay, can free space. `was_logged`: this was logged once.
fn wait_for_flushes(engine: &dyn JournaledStore, was_logged: &mut bool) {
    let mut logged_at = Instant::now();
    while engine.write_failure().is_none() {
        if engine.wait_while_behind(limits::REPLAY_CHECK_PAUSE) {
            return;
        }
        if logged_at.elapsed() >= limits::REPLAY_WAIT {
            logged_at = Instant::now();
            tracing::warn!("the replay waits for the store to flush");
        }
    }
    if engine.is_behind() && !std::mem::replace(was_logged, true) {
        tracing::warn!("the store cannot flush: the rest of the journal is replayed into memory");
    }
}
