//! The journal, the lake and its catalog together, ended at every single step: each change of the simulated disk, and
//! each step of a catalog transaction (before BEGIN, before COMMIT, after COMMIT), by a kill or by a power cut.
//!
//! The model of SQLite is its guarantee: a transaction is durable when COMMIT returns, and was not committed when the
//! process ends before. The test covers the order of COMMIT, rename, trim and unlink around it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use tidewatch_store::TelemetryStore;

use tidewatch_domain::model::Signal;
use tidewatch_journal::disk::Disk;
use tidewatch_journal::disk::sim::is_long;
use tidewatch_journal::{Journal, Opened, Options, Position};

use super::support::*;
use crate::Lake;
use crate::lifecycle::check;
use tidewatch_store::LostStats;
use tidewatch_store::Outcome;
use tidewatch_store::retention::ProjectRetention;
use tidewatch_store::tables::Table;

/// A request's number, and the channel of the waiting caller.
type Waiting = (u8, Sender<bool>);

#[derive(Debug, Clone, Copy)]
enum Step {
    Append(u8),
    Flush,
    Merge,
    /// Removes expired days; the requests `n` with [`is_old`] are of such days.
    Retain,
    /// Removes project 2 from parts shared with another project.
    DeleteProject,
}

const SCRIPT: &[Step] = &[
    Step::Append(1),
    Step::Append(2),
    Step::Flush,
    Step::Append(3),
    Step::Append(4),
    Step::Flush,
    Step::Append(1),
    Step::Append(5),
    Step::Append(6),
    Step::Flush,
    Step::Merge,
    Step::Append(7),
    Step::Retain,
    Step::Append(8),
    Step::Flush,
    Step::DeleteProject,
    Step::Append(4),
    Step::Append(9),
    Step::Merge,
    Step::Flush,
];

fn is_old(n: u8) -> bool {
    n % 3 == 1
}

fn project(n: u8) -> u32 {
    if n % 4 == 2 { 2 } else { 1 }
}

fn spans(n: u8) -> Vec<TestSpan> {
    let time = if is_old(n) { TODAY_NS - 40 * DAY_NS } else { TODAY_NS };
    vec![span(n, 1, time), span(n, 2, time + 1)]
}

fn apply(lake: &Lake, position: Position, n: u8) {
    lake.apply(position, u128::from(n) << 7, TODAY_NS, request(project(n), &spans(n)));
}

/// The running lake and journal.
type Started = (Arc<Lake>, Arc<Journal<Waiting>>);

/// A process on a disk.
struct Process {
    bench: Bench,
    lake: Arc<Lake>,
    journal: Arc<Journal<Waiting>>,
}

impl Process {
    /// `None` when it died during the start.
    fn start(mut bench: Bench) -> (Bench, Option<Started>) {
        let disk = bench.disk.clone();
        bench.catalog_probe = Some(Arc::new(move |_| {
            let died = rusqlite::ffi::Error { code: rusqlite::ErrorCode::SystemIoFailure, extended_code: 10 };
            disk.step().map_err(|_| rusqlite::Error::SqliteFailure(died, Some("the process died".to_owned())))
        }));
        let Ok(lake) = Lake::open(bench.options()) else {
            assert!(bench.disk.is_dead(), "a start fails for no other reason");
            return (bench, None);
        };
        let lake = Arc::new(lake);
        let options = Options {
            segment_bytes: 8 << 10,
            record_bytes_max: 4 << 10,
            queue_bytes_max: 4 << 10,
            disk: Arc::new(bench.disk.clone()),
            ..Options::new("/data/journal")
        };
        let (replaying, settling) = (Arc::clone(&lake), Arc::clone(&lake));
        let opened = Journal::open(
            options,
            lake.covered(),
            move |position, record| {
                apply(&replaying, position, record[0]);
                Ok(())
            },
            move |(n, waits): Waiting, outcome| {
                if let Ok(position) = &outcome {
                    apply(&settling, *position, n);
                }
                let _ = waits.send(outcome.is_ok());
            },
        );
        let Ok(Opened { journal, report }) = opened else {
            assert!(bench.disk.is_dead(), "a start fails for no other reason");
            return (bench, None);
        };
        assert!(report.is_intact(), "nothing durable is missing: {report:?}");
        let journal = Arc::new(journal);
        let trimmed = Arc::downgrade(&journal);
        lake.set_on_covered(move |covered| {
            if let Some(journal) = trimmed.upgrade() {
                let _ = journal.trim(covered);
            }
        });
        (bench, Some((lake, journal)))
    }

    /// False when it died.
    fn run(&self, step: Step) -> bool {
        match step {
            Step::Append(n) => {
                let (waits, settled) = channel();
                let mut record = vec![n; 1500];
                record[0] = n;
                let appended = self.journal.append(&[&record], (n, waits));
                appended.is_ok() && settled.recv() == Ok(true)
            }
            Step::Flush => {
                self.lake.count(1, TODAY_NS, Signal::Traces.into(), Outcome::Rejected, "too_large".into(), 1);
                self.lake.flush().is_ok()
            }
            Step::Merge => self.lake.merge(TODAY_NS + 2 * DAY_NS).is_ok(),
            Step::Retain => self.lake.retain(TODAY_NS).is_ok(),
            Step::DeleteProject => {
                self.lake.set_project_retention(ProjectRetention {
                    deleted_projects: [2].into(),
                    ..ProjectRetention::default()
                });
                self.lake.retain(TODAY_NS).is_ok()
            }
        }
    }

    /// The disk after the end of the process.
    fn end(self, by_power: bool) -> Bench {
        let Process { mut bench, lake, journal } = self;
        bench.disk = if by_power { bench.disk.power_cut() } else { bench.disk.process_killed() };
        drop(journal);
        drop(lake);
        bench
    }
}

/// Starts until a start succeeds; the first attempts may die, too.
fn start(mut bench: Bench, deaths: &mut u64, by_power: bool) -> Process {
    loop {
        if *deaths > 0 {
            bench.disk.die_after(*deaths);
            *deaths = 0;
        }
        let (after, started) = Process::start(bench);
        match started {
            Some((lake, journal)) if !after.disk.is_dead() => {
                after.disk.heal();
                return Process { bench: after, lake, journal };
            }
            started => {
                let disk = if by_power { after.disk.power_cut() } else { after.disk.process_killed() };
                drop(started);
                bench = after;
                bench.disk = disk;
            }
        }
    }
}

#[track_caller]
fn assert_stored(process: &Process, acked: &BTreeSet<u8>, is_retained: bool, is_project_deleted: bool, context: &str) {
    let mut stored: Vec<(u8, u8)> = stored_spans(&process.lake).into_iter().map(|span| (span.1, span.2)).collect();
    stored.sort_unstable();
    assert!(stored.windows(2).all(|two| two[0] != two[1]), "{context}: twice: {stored:?}");
    for n in acked {
        let may_be_removed = (is_retained && is_old(*n)) || (is_project_deleted && project(*n) == 2);
        let found = stored.iter().filter(|span| span.0 == *n).count();
        assert!(found == 2 || (may_be_removed && found == 0), "{context}: request {n} has {found} spans");
    }
    assert!(stored.iter().all(|span| acked.contains(&span.0)), "{context}: {stored:?} of {acked:?}");
    // Rows are removed table by table, spans first: a death in between leaves their Endpoints until the next removal.
    let (rolled, spans) = (rolled_endpoints(&process.lake), stored.len() as u64);
    assert!(
        rolled == spans || (is_retained && rolled > spans),
        "{context}: roll-ups count {rolled}, spans are {spans}"
    );
}

/// Runs the script once, dying after `deaths.0` steps, and after `deaths.1` steps of the next start. Returns whether it
/// died.
fn history(deaths: (u64, u64), by_power: bool) -> bool {
    let context = format!("{deaths:?}, power {by_power}");
    let mut process = start(Bench::new(deaths.0), &mut 0, by_power);
    process.bench.disk.die_after(deaths.0);
    let mut acked = BTreeSet::new();
    let (mut at, mut has_died, mut again) = (0, false, deaths.1);
    let (mut is_retained, mut is_project_deleted) = (false, false);
    while at < SCRIPT.len() {
        let step = SCRIPT[at];
        is_retained |= matches!(step, Step::Retain | Step::DeleteProject);
        is_project_deleted |= matches!(step, Step::DeleteProject);
        let done = process.run(step);
        if done && !process.bench.disk.is_dead() {
            if let Step::Append(n) = step {
                acked.insert(n);
            }
            at += 1;
            continue;
        }
        assert!(process.bench.disk.is_dead() && !has_died, "{context}: {step:?} failed");
        has_died = true;
        // The request at the moment of the death is stored once or not at all.
        let mut perhaps = acked.clone();
        if let Step::Append(n) = step {
            perhaps.insert(n);
            if done {
                acked.insert(n);
            }
        }
        process = start(process.end(by_power), &mut again, by_power);
        let stored: BTreeSet<u8> = stored_spans(&process.lake).into_iter().map(|span| span.1).collect();
        let unacked: BTreeSet<u8> = perhaps.difference(&acked).copied().collect();
        acked.extend(stored.intersection(&unacked));
        assert_stored(&process, &acked, is_retained, is_project_deleted, &context);
    }
    // The script has ended; further steps do not die.
    process.bench.disk.heal();
    process.run(Step::Flush);
    process.run(Step::DeleteProject);
    assert_stored(&process, &acked, true, true, &context);
    let spans = stored_spans(&process.lake).len() as u64;
    assert_eq!(rolled_endpoints(&process.lake), spans, "{context}: roll-ups in the end");
    assert!(
        stored_spans(&process.lake).iter().all(|span| !is_old(span.1) && span.0 != 2),
        "{context}: expired rows are removed"
    );
    assert_eq!(process.lake.lost().stats(), LostStats::default(), "{context}: a crash is no reason for an alarm");
    let lake_files =
        process.bench.files().into_iter().filter(|path| !path.starts_with("/data/journal")).collect::<Vec<_>>();
    assert_eq!(lake_files.len(), Bench::registered(&process.lake), "{context}: {lake_files:?}");

    let catalog = process.bench.options().catalog;
    let Process { bench, lake, journal } = process;
    drop(journal);
    drop(lake);
    let copy = catalog.with_extension("copy");
    std::fs::copy(&catalog, &copy).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(bench.disk.clone());
    let checked = check::check(Path::new("/data"), &copy, &disk, true);
    assert_eq!(checked.findings, [], "{context}");
    assert!(checked.rows > 0 && checked.parts >= Table::ALL.len() as u64 / 4, "{context}");
    has_died
}

/// Distance between the steps of a short run after which the process dies.
const STRIDE: u64 = 7;

/// Dies after every seventh step; a long run dies after every step.
fn no_row_is_lost_or_doubled_and_no_file_left(by_power: bool) {
    let stride = if is_long() { 1 } else { STRIDE };
    let mut last = u64::from(by_power);
    while history((last, last % 23), by_power) {
        last += stride;
    }
    assert!(last > 150, "the script takes many steps: {last}");
}

#[test]
fn whatever_step_a_kill_ends() {
    no_row_is_lost_or_doubled_and_no_file_left(false);
}

#[test]
fn whatever_step_a_power_cut_ends() {
    no_row_is_lost_or_doubled_and_no_file_left(true);
}
