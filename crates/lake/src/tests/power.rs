//! The journal, the lake and its catalog together, ended at every single step: each change of the simulated disk, and
//! each step of a catalog transaction (before BEGIN, before COMMIT, after COMMIT), by a kill or by a power cut.
//!
//! What is modelled of SQLite is its promise: a transaction is durable when COMMIT returns, and has not happened when the
//! process ends before. What is tested is our order of COMMIT, rename, trim and unlink around it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use tidewatch_store::TelemetryStore;

use tidewatch_domain::model::Signal;
use tidewatch_journal::disk::Disk;
use tidewatch_journal::{Journal, Opened, Options, Position};

use super::support::*;
use crate::check;
use crate::{Lake, LostStats};
use tidewatch_store::Outcome;
use tidewatch_store::retention::Keeping;
use tidewatch_store::tables::Table;

/// A request's number, and who waits for it.
type Waiting = (u8, Sender<bool>);

#[derive(Debug, Clone, Copy)]
enum Step {
    Append(u8),
    Flush,
    Merge,
    /// Days that are over go; of old days the requests with odd numbers are.
    Retain,
    /// Project 2 goes, from parts that others share.
    Thin,
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
    Step::Thin,
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

/// What runs on a disk.
type Started = (Arc<Lake>, Arc<Journal<Waiting>>);

/// A process on a disk.
struct Process {
    bench: Bench,
    lake: Arc<Lake>,
    journal: Arc<Journal<Waiting>>,
}

impl Process {
    /// `None`: it died while it started.
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

    /// False: it died.
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
                self.lake.count(1, TODAY_NS, Signal::Traces, Outcome::Rejected, "too_large".into(), 1);
                self.lake.flush().is_ok()
            }
            Step::Merge => self.lake.merge(TODAY_NS + 2 * DAY_NS).is_ok(),
            Step::Retain => self.lake.retain(TODAY_NS).is_ok(),
            Step::Thin => {
                self.lake.set_keeping(Keeping { gone: [2].into(), ..Keeping::default() });
                self.lake.retain(TODAY_NS).is_ok()
            }
        }
    }

    /// The disk that the end of the process leaves.
    fn end(self, by_power: bool) -> Bench {
        let Process { mut bench, lake, journal } = self;
        bench.disk = if by_power { bench.disk.power_cut() } else { bench.disk.process_killed() };
        drop(journal);
        drop(lake);
        bench
    }
}

/// Starts until it succeeds; the first tries die early, too.
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
fn assert_stored(process: &Process, acked: &BTreeSet<u8>, is_retained: bool, is_thinned: bool, context: &str) {
    let mut stored: Vec<(u8, u8)> = stored_spans(&process.lake).into_iter().map(|span| (span.1, span.2)).collect();
    stored.sort_unstable();
    assert!(stored.windows(2).all(|two| two[0] != two[1]), "{context}: twice: {stored:?}");
    for n in acked {
        let may_be_gone = (is_retained && is_old(*n)) || (is_thinned && project(*n) == 2);
        let found = stored.iter().filter(|span| span.0 == *n).count();
        assert!(found == 2 || (may_be_gone && found == 0), "{context}: request {n} has {found} spans");
    }
    assert!(stored.iter().all(|span| acked.contains(&span.0)), "{context}: {stored:?} of {acked:?}");
    // Rows are removed table by table, spans first: a death in between leaves their Endpoints for the next removal.
    let (rolled, spans) = (rolled_endpoints(&process.lake), stored.len() as u64);
    assert!(
        rolled == spans || (is_retained && rolled > spans),
        "{context}: roll-ups count {rolled}, spans are {spans}"
    );
}

/// Runs the script once, dying after `deaths.0` steps, and in the start after that after `deaths.1`. How many steps it
/// took, when it did not die.
fn history(deaths: (u64, u64), by_power: bool) -> bool {
    let context = format!("{deaths:?}, power {by_power}");
    let mut process = start(Bench::new(deaths.0), &mut 0, by_power);
    process.bench.disk.die_after(deaths.0);
    let mut acked = BTreeSet::new();
    let (mut at, mut has_died, mut again) = (0, false, deaths.1);
    let (mut is_retained, mut is_thinned) = (false, false);
    while at < SCRIPT.len() {
        let step = SCRIPT[at];
        is_retained |= matches!(step, Step::Retain | Step::Thin);
        is_thinned |= matches!(step, Step::Thin);
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
        // Acknowledged in the moment of its death, or not: it is there once or not at all.
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
        assert_stored(&process, &acked, is_retained, is_thinned, &context);
    }
    // The script is over: what follows is no part of it.
    process.bench.disk.heal();
    process.run(Step::Flush);
    process.run(Step::Thin);
    assert_stored(&process, &acked, true, true, &context);
    let spans = stored_spans(&process.lake).len() as u64;
    assert_eq!(rolled_endpoints(&process.lake), spans, "{context}: roll-ups in the end");
    assert!(stored_spans(&process.lake).iter().all(|span| !is_old(span.1) && span.0 != 2), "{context}: it is removed");
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

#[test]
fn nothing_is_lost_doubled_or_left_over_whatever_step_is_the_last() {
    for by_power in [false, true] {
        // Every third step of each, at different ones.
        let mut last = u64::from(by_power);
        while history((last, last % 23), by_power) {
            last += 3;
        }
        assert!(last > 150, "the script takes many steps: {last}");
    }
}
