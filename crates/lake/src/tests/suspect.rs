//! Unreadable parts and unwritable rows: all other work continues, and no result is silently incomplete.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tidewatch_store::TelemetryStore;

use parking_lot::Mutex;
use tidewatch_domain::model::Signal;
use tidewatch_journal::Position;
use tidewatch_journal::disk::hooked::{HookedDisk, Operation};

use super::support::*;
use crate::{Lake, LakeOptions, Source, set_part_aside};
use tidewatch_store::Outcome;
use tidewatch_store::StoreError;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::plan::Plan;
use tidewatch_store::retention::{ProjectRetention, Retention};
use tidewatch_store::tables::Table;

fn part_paths(lake: &Lake, table: Table) -> Vec<PathBuf> {
    let path = |source: &Source| match source {
        Source::Part(part) => Some(part.path().to_path_buf()),
        Source::Memory(_) => None,
    };
    lake.sources(&everything(table)).iter().filter_map(path).collect()
}

/// A lake with several flushes of spans and logs, with a key file each.
fn filled(bench: &Bench) -> Lake {
    let lake = bench.open();
    for n in 0..4 {
        lake.apply(
            Position(2 * n + 1),
            u128::from(n) + 2,
            TODAY_NS,
            request(1, &[span(n as u8, 1, TODAY_NS), span(n as u8, 2, TODAY_NS)]),
        );
        lake.apply(Position(2 * n + 2), NO_KEY, TODAY_NS, logs_request(1, &[("a", TODAY_NS), ("b", TODAY_NS + 1)]));
        lake.flush().unwrap();
    }
    lake
}

fn merge_all(lake: &Lake) -> usize {
    let mut failures = 0;
    for _ in 0..50 {
        match lake.merge(TODAY_NS + 2 * DAY_NS) {
            Ok(0) => return failures,
            Ok(_) => {}
            Err(_) => failures += 1,
        }
    }
    panic!("merging does not come to an end: {failures} failures");
}

/// Scenario: one byte of one part is flipped. Guarantee: only this part stays unmerged; key files are merged too.
/// Queries over its range fail.
#[test]
fn a_damaged_part_does_not_prevent_other_merges() {
    let bench = Bench::new(11);
    let lake = filled(&bench);
    let damaged = part_paths(&lake, Table::Spans)[1].clone();
    assert!(bench.disk.flip(&damaged, 100, 1));
    assert_eq!(merge_all(&lake), 1, "it fails once");
    let stats = lake.stats();
    let of = |table: Table| (stats.tables[table as usize].parts, stats.tables[table as usize].suspects);
    assert_eq!((of(Table::Spans), of(Table::Endpoints), of(Table::Logs)), ((2, 1), (1, 0), (1, 0)));
    assert!(stats.key_files < 4, "{} key files", stats.key_files);
    assert!(part_paths(&lake, Table::Spans).contains(&damaged), "its file stays");
    let deadline = Instant::now() + Duration::from_secs(600);
    let error = lake.execute(&everything(Table::Spans), deadline).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert_eq!(lake.execute(&everything(Table::Logs), deadline).unwrap().num_rows(), 8);
}

/// Scenario: a part from which one project's rows are to be removed is damaged. Guarantee: they are removed from all
/// others, and the part is left alone until it is tried again.
#[test]
fn a_damaged_part_does_not_prevent_other_removals() {
    let bench = Bench::new(26);
    let lake = bench.open();
    for n in 0..2 {
        for project in [1, 2] {
            let spans = [span(n, project as u8, TODAY_NS)];
            lake.apply(Position(u64::from(2 * u32::from(n) + project)), NO_KEY, TODAY_NS, request(project, &spans));
        }
        lake.flush().unwrap();
    }
    let damaged = part_paths(&lake, Table::Spans)[0].clone();
    assert!(bench.disk.flip(&damaged, 100, 1));
    lake.set_project_retention(ProjectRetention { deleted_projects: [2].into(), ..ProjectRetention::default() });
    assert!(matches!(lake.retain(TODAY_NS).unwrap_err(), StoreError::Corrupt { .. }));
    assert_eq!(lake.stats().tables[Table::Spans as usize].suspects, 1);
    assert_eq!(contents(&lake, Table::Endpoints).len(), 2, "those of project 1");
    assert!(part_paths(&lake, Table::Spans).contains(&damaged), "its file stays");
    assert_eq!(lake.retain(TODAY_NS).unwrap(), 0, "it is not read again");
}

/// Merges leave out a part that a query found damaged.
#[test]
fn a_part_that_a_query_cannot_read_is_suspect() {
    let bench = Bench::new(12);
    let lake = filled(&bench);
    let damaged = part_paths(&lake, Table::Logs)[0].clone();
    assert!(bench.disk.flip(&damaged, 100, 1));
    lake.execute(&everything(Table::Logs), Instant::now() + Duration::from_secs(600)).unwrap_err();
    assert_eq!(lake.stats().tables[Table::Logs as usize].suspects, 1);
    assert_eq!(merge_all(&lake), 0);
    assert_eq!(lake.stats().tables[Table::Logs as usize].parts, 2);
}

#[test]
fn a_suspect_part_is_tried_again_after_an_hour() {
    let bench = Bench::new(13);
    let lake = filled(&bench);
    let sources = lake.sources(&everything(Table::Logs));
    let Source::Part(part) = &sources[0] else { panic!("logs are in parts") };
    part.suspect(&part.corrupt("a test says so"));
    let now = Instant::now();
    assert!(part.is_suspect() && part.is_left_out(now + Duration::from_secs(3000)));
    assert!(part.is_suspect() && !part.is_left_out(now + Duration::from_secs(3700)));
}

/// Scenario: a key file is damaged after the start. Guarantee: the others are merged.
#[test]
fn a_damaged_key_file_does_not_prevent_other_merges() {
    let bench = Bench::new(14);
    let lake = filled(&bench);
    let keys: Vec<PathBuf> = bench
        .files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "keys"))
        .collect();
    assert_eq!(keys.len(), 4);
    for at in 0..4096 {
        bench.disk.flip(&keys[1], at, 255);
    }
    merge_all(&lake);
    assert!(lake.stats().key_files < 4, "{} key files", lake.stats().key_files);
}

/// Options with a hook on the bench's disk.
fn hooked(bench: &Bench, hook: impl Fn(Operation, &Path) -> io::Result<()> + Send + Sync + 'static) -> LakeOptions {
    LakeOptions { disk: Arc::new(HookedDisk::new(Arc::new(bench.disk.clone()), hook)), ..bench.options() }
}

/// Scenario: merging the rows of one table panics. Guarantee: all other tables are merged, and the parts stay
/// unchanged.
#[test]
fn a_merge_that_panics_does_not_prevent_other_merges() {
    let bench = Bench::new(15);
    drop(filled(&bench));
    let lake = Lake::open(hooked(&bench, |what, path| {
        assert!(!(what == Operation::Create && path.starts_with("/data/parts/logs")), "a bug of the merge, on purpose");
        Ok(())
    }))
    .unwrap();
    assert_eq!(merge_all(&lake), 1, "it fails once");
    let stats = lake.stats();
    assert_eq!((stats.tables[Table::Logs as usize].parts, stats.tables[Table::Spans as usize].parts), (4, 1));
    assert_eq!(contents(&lake, Table::Logs).len(), 8);
}

/// Scenario: rows cannot be written as a part in any attempt. Guarantee: after a few attempts the journal's records of
/// the memtable are copied, the other tables are written, and later rows are flushed.
#[test]
fn rows_that_cannot_be_written_are_set_aside() {
    let bench = Bench::new(16);
    let is_broken = Arc::new(AtomicBool::new(true));
    let panics = Arc::clone(&is_broken);
    let kept = Arc::new(Mutex::new(Vec::new()));
    let records = Arc::clone(&kept);
    let options = hooked(&bench, move |what, path| {
        let is_selected = what == Operation::Create && path.starts_with("/data/parts/logs");
        assert!(!(is_selected && panics.load(Ordering::SeqCst)), "a bug of the encoder, on purpose");
        Ok(())
    });
    let lake = Lake::open(LakeOptions {
        keep_records: Some(Arc::new(move |_, from, to| {
            records.lock().push((from, to));
            Ok(())
        })),
        ..options
    })
    .unwrap();
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(1, &[span(1, 1, TODAY_NS)]));
    lake.apply(Position(2), NO_KEY, TODAY_NS, log_request(1, "poison"));
    for _ in 0..3 {
        let error = lake.flush().unwrap_err();
        assert!(matches!(error, StoreError::Internal { .. }), "{error:?}");
        assert_eq!((lake.covered(), kept.lock().len(), lake.write_failure().is_some()), (Position(0), 0, true));
        assert_eq!(contents(&lake, Table::Logs).len(), 1, "queries return the rows while they are in memory");
    }
    lake.flush().unwrap();
    assert_eq!((lake.covered(), lake.set_aside(), lake.write_failure()), (Position(2), 1, None));
    assert_eq!(*kept.lock(), [(Position(0), Position(2))], "before they count as covered");
    assert_eq!((stored_spans(&lake).len(), contents(&lake, Table::Logs).len()), (1, 0));
    assert!(lake.is_incomplete(&everything(Table::Logs)) && !lake.is_incomplete(&everything(Table::Spans)));
    is_broken.store(false, Ordering::SeqCst);
    lake.apply(Position(3), NO_KEY, TODAY_NS, log_request(1, "good"));
    lake.flush().unwrap();
    drop(lake);
    let lake = bench.open();
    assert_eq!((lake.covered(), contents(&lake, Table::Logs).len()), (Position(3), 1));
    assert!(lake.is_incomplete(&everything(Table::Logs)), "also after a restart");
}

/// Scenario: an operator sets a damaged part aside. Guarantee: all other rows are returned, and results that lack its
/// rows are marked as incomplete until the retention of its day ends.
#[test]
fn a_part_that_was_set_aside_leaves_a_reported_gap() {
    let bench = Bench::new(21);
    let lake = filled(&bench);
    lake.apply(Position(9), NO_KEY, TODAY_NS, logs_request(2, &[("other", TODAY_NS - 5 * DAY_NS)]));
    lake.flush().unwrap();
    let damaged = part_paths(&lake, Table::Logs)[1].clone();
    assert!(bench.disk.flip(&damaged, 100, 1));
    let today = (TODAY_NS / DAY_NS) as i32;
    let options = bench.options();
    assert!(matches!(set_part_aside(&options, &damaged, today), Err(StoreError::Io { what: "lock", .. })), "in use");
    drop(lake);
    let other = damaged.with_extension("other");
    assert!(set_part_aside(&options, &other, today).is_err(), "the catalog does not list it");
    let kept = set_part_aside(&options, &damaged, today).unwrap().expect("the file was there");
    assert_eq!(kept, Path::new("/data/lost/2026-11-21").join(damaged.strip_prefix("/data").unwrap()));

    let lake = Lake::open(LakeOptions { retention: Retention::all(30), ..bench.options() }).unwrap();
    let all = everything(Table::Logs);
    assert_eq!(contents(&lake, Table::Logs).len(), 7, "the rest is answered");
    assert!(lake.is_incomplete(&all));
    let complete = [
        Plan { table: Table::Spans, ..all.clone() },
        Plan { to: TODAY_NS, ..all.clone() },
        Plan { from: TODAY_NS + 2, ..all.clone() },
        Plan { projects: vec![2], ..all.clone() },
    ];
    for plan in complete {
        assert!(!lake.is_incomplete(&plan), "{plan:?}");
    }
    lake.retain(TODAY_NS + 30 * DAY_NS).unwrap();
    assert!(lake.is_incomplete(&all), "its day is still kept");
    lake.retain(TODAY_NS + 31 * DAY_NS).unwrap();
    assert!(!lake.is_incomplete(&all));
    drop(lake);
    assert_eq!(bench.open().gaps(), []);
}

/// A full disk is no defect of the rows: they stay in memory as long as necessary.
#[test]
fn rows_are_not_set_aside_because_of_the_disk() {
    let bench = Bench::new(17);
    let lake = Lake::open(LakeOptions {
        keep_records: Some(Arc::new(|_, _, _| panic!("nothing is to be set aside"))),
        ..bench.options()
    })
    .unwrap();
    lake.apply(Position(1), NO_KEY, TODAY_NS, log_request(1, "waits"));
    bench.disk.set_capacity(Some(bench.disk.used()));
    for _ in 0..10 {
        assert!(matches!(lake.flush(), Err(StoreError::NoSpace { .. })));
    }
    bench.disk.set_capacity(None);
    lake.flush().unwrap();
    assert_eq!(contents(&lake, Table::Logs).len(), 1);
}

/// Scenario: the records cannot be copied. Guarantee: nothing counts as covered before they are.
#[test]
fn nothing_is_covered_before_its_records_are_copied() {
    let bench = Bench::new(18);
    let options = hooked(&bench, |what, path| {
        assert!(!(what == Operation::Create && path.starts_with("/data/parts/logs")), "on purpose");
        Ok(())
    });
    let refuses = |_: &dyn tidewatch_store::LostFiles, _, _| {
        Err(StoreError::NoSpace { what: "write", path: "/data/lost".into() })
    };
    let lake = Lake::open(LakeOptions { keep_records: Some(Arc::new(refuses)), ..options }).unwrap();
    lake.apply(Position(1), NO_KEY, TODAY_NS, log_request(1, "poison"));
    for _ in 0..6 {
        lake.flush().unwrap_err();
    }
    assert_eq!((lake.covered(), lake.set_aside(), contents(&lake, Table::Logs).len()), (Position(0), 0, 1));
    assert_eq!(bench.files().len(), 0, "files of other tables are removed");
}

/// Scenario: a query needs many parts on a slow disk, and its deadline passes while the first are opened. Guarantee: it
/// ends then, and does not open all of them first.
#[test]
fn the_deadline_holds_while_parts_are_opened() {
    let bench = Bench::new(19);
    {
        let lake = bench.open();
        for n in 0..40 {
            lake.apply(Position(n + 1), NO_KEY, TODAY_NS, log_request(1, "a"));
            lake.flush().unwrap();
        }
    }
    let deadline = Instant::now() + Duration::from_millis(300);
    let opened = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&opened);
    let options = hooked(&bench, move |what, path| {
        if what == Operation::Open && path.starts_with("/data/parts/logs") {
            count.fetch_add(1, Ordering::SeqCst);
            while Instant::now() < deadline {
                std::thread::yield_now();
            }
        }
        Ok(())
    });
    let lake = Lake::open(options).unwrap();
    let error = lake.execute(&everything(Table::Logs), deadline).unwrap_err();
    assert!(matches!(error, StoreError::Deadline), "{error:?}");
    let opened = opened.load(Ordering::SeqCst);
    // One part for each thread of the query; opening a part opens its file several times.
    assert!((1..=24).contains(&opened), "{opened} of 40 parts");
}

/// The counts of requests are flushed although other rows are set aside.
#[test]
fn counts_survive_beside_rows_that_are_set_aside() {
    let bench = Bench::new(20);
    let options = hooked(&bench, |what, path| {
        assert!(!(what == Operation::Create && path.starts_with("/data/parts/logs")), "on purpose");
        Ok(())
    });
    let lake = Lake::open(LakeOptions { keep_records: Some(Arc::new(|_, _, _| Ok(()))), ..options }).unwrap();
    lake.apply(Position(1), NO_KEY, TODAY_NS, log_request(1, "poison"));
    lake.count(1, TODAY_NS, Signal::Logs.into(), Outcome::Rejected, "overloaded".into(), 7);
    while lake.flush().is_err() {}
    assert_eq!((counted(&lake, "rejected", "overloaded"), lake.stats().sealed), (7, 0));
}
