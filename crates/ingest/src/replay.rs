//! The replay of the journal at start: the records that no part covers yet are prepared and applied again, in order.
//!
//! A record that cannot be used must not keep the server from starting, now and at every start to come. One that cannot
//! be decoded, or that panics twice while its rows are made or applied, is copied to `lost/` and passed over, and so are
//! ranges of the journal that are damaged. Nothing is trimmed before it is kept. A record of a version that is not
//! known still ends the start: it was written by a newer program.
//!
//! A panic while rows are applied leaves a lake whose state is not known. It is closed, nothing of it is flushed, and the
//! replay begins again with a new one.

use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;
use tidewatch_store::TelemetryStore;

use anyhow::{Context, bail};
use tidewatch_journal::{AppendError, Journal, OpenError, Opened, Options, Position, ReplayReport};
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_store::columns::Rows;
use tidewatch_store::days::day_of;

use super::outcome::Refused;
use super::pipeline::{self, Prepared};
use super::record::{self, Header, RecordError};
use super::set_aside::{self, Reason};
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;

/// Makes rows of a record, as they were made when it was accepted.
pub type Prepare<'a> = dyn Fn(&Header, &[u8]) -> Result<Prepared, Refused> + 'a;

/// Attempts at a record that panics.
const ATTEMPTS: u32 = 2;

/// What is opened and replayed.
pub struct Replay<'a> {
    pub lake_options: &'a dyn Fn() -> LakeOptions,
    pub journal: &'a Options,
    pub prepare: &'a Prepare<'a>,
    pub clock: &'a Clock,
}

/// A lake and its journal, the one with all that the other holds.
pub struct Replayed<T> {
    pub lake: Arc<Lake>,
    pub journal: Journal<T>,
    pub report: ReplayReport,
    /// How much was set aside.
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
    /// It was set aside.
    PassOver(Position),
}

/// How often applying the record at a position has panicked.
type Panics = BTreeMap<Position, u32>;

enum Attempt<T> {
    Replayed(Replayed<T>),
    /// Applying the record at this position.
    Panicked(Position),
}

impl Replay<'_> {
    /// `settle` makes what the journal calls once for each record that is appended later. Blocks.
    pub fn open<T, S>(&self, settle: impl Fn(Arc<Lake>) -> S) -> anyhow::Result<Replayed<T>>
    where
        T: Send + 'static,
        S: FnMut(T, Result<Position, AppendError>) + Send + 'static,
    {
        let mut panics = Panics::new();
        loop {
            match self.attempt(&settle, &panics)? {
                Attempt::Replayed(replayed) => return Ok(replayed),
                Attempt::Panicked(position) => {
                    *panics.entry(position).or_default() += 1;
                    tracing::error!(%position, "a record of the journal panics when it is applied; the replay begins again");
                }
            }
        }
    }

    fn attempt<T, S>(&self, settle: &impl Fn(Arc<Lake>) -> S, panics: &Panics) -> anyhow::Result<Attempt<T>>
    where
        T: Send + 'static,
        S: FnMut(T, Result<Position, AppendError>) + Send + 'static,
    {
        let lake = Arc::new(Lake::open((self.lake_options)()).context("cannot open the telemetry store")?);
        // A replayed record is read and decoded while the one before it is applied.
        let (apply, decoded) = sync_channel(limits::REPLAY_AHEAD);
        let applying = lake.clone();
        let applier = thread::Builder::new().name("replay".to_owned()).spawn(move || apply_all(&applying, &decoded));
        let applier = applier.context("cannot start a thread for the replay")?;
        let mut set_aside = BTreeMap::new();
        let mut records = Records { replay: self, lake: &lake, panics, apply, set_aside: &mut set_aside };
        let visit = |position, record: &[u8]| records.next(position, record);
        let opened = Journal::open(self.journal.clone(), lake.covered(), visit, settle(lake.clone()));
        // The applier ends when no more records come.
        drop(records);
        let opened: Result<Opened<T>, OpenError> = match applier.join() {
            Ok(Ok(())) => opened,
            Ok(Err(position)) => return Ok(Attempt::Panicked(position)),
            Err(_) => bail!("the replay of the journal failed"),
        };
        let Opened { journal, report } = opened.context("cannot open the journal")?;
        for range in &report.corrupt {
            tracing::error!(from = %range.from, to = %range.to, "the journal is damaged, what is left of it goes to lost/: {}", range.why);
            set_aside::damaged(lake.lost(), self.journal, range, self.today())
                .context("cannot keep a damaged part of the journal")?;
            *set_aside.entry(Reason::Damaged).or_default() += 1;
        }
        if !set_aside.is_empty() {
            // All up to here is applied or kept: it need not be replayed again.
            lake.pass_over(journal.durable_position());
        }
        Ok(Attempt::Replayed(Replayed { lake, journal, report, set_aside }))
    }

    fn today(&self) -> i32 {
        day_of(self.clock.now_ns())
    }
}

/// The records that the journal hands out.
struct Records<'a> {
    replay: &'a Replay<'a>,
    lake: &'a Lake,
    panics: &'a Panics,
    apply: SyncSender<Next>,
    set_aside: &'a mut BTreeMap<Reason, u64>,
}

impl Records<'_> {
    fn next(&mut self, position: Position, record: &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let next = match self.understood(position, record)? {
            Ok(next) => next,
            Err((reason, why)) => {
                let kept = set_aside::record(self.lake.lost(), position, record, self.replay.today())?;
                let path = kept.display();
                tracing::error!(%position, %path, "a record of the journal was set aside ({}): {why}", reason.as_str());
                *self.set_aside.entry(reason).or_default() += 1;
                Next::PassOver(position)
            }
        };
        Ok(self.apply.send(next).map_err(|_| "its rows cannot be applied")?)
    }

    /// Its rows, or why there are none. An error ends the start.
    fn understood(&self, position: Position, record: &[u8]) -> Result<Result<Next, (Reason, String)>, RecordError> {
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
                Err(_) => pipeline::forget_workspace(),
            }
        }
        Ok(Err((Reason::Panicked, "making its rows panics".to_owned())))
    }
}

/// Applies until there are no more, or until one panics: then its position.
fn apply_all(lake: &Lake, all: &Receiver<Next>) -> Result<(), Position> {
    let mut is_told = false;
    for next in all {
        match next {
            Next::PassOver(position) => lake.pass_over(position),
            Next::Apply { position, received_ns, request_key, rows } => {
                wait_for_flushes(lake, &mut is_told);
                let apply = || lake.apply(position, request_key, received_ns, *rows);
                catch_unwind(AssertUnwindSafe(apply)).map_err(|_| position)?;
            }
        }
    }
    Ok(())
}

/// Waits while the lake is behind, unless it cannot flush. Then the rows stay in memory, where they were before the
/// process ended, and the server starts: on a full disk it answers questions, and removes what the disk budget and
/// retention say, which both begin after the replay. `is_told`: the log says so once.
fn wait_for_flushes(lake: &Lake, is_told: &mut bool) {
    let mut told = Instant::now();
    while lake.write_failure().is_none() {
        if lake.wait_while_behind(limits::REPLAY_LOOK) {
            return;
        }
        if told.elapsed() >= limits::REPLAY_WAIT {
            told = Instant::now();
            tracing::warn!("the replay waits for the store to flush");
        }
    }
    if lake.is_behind() && !std::mem::replace(is_told, true) {
        tracing::warn!("the store cannot flush: the rest of the journal is replayed into memory");
    }
}
