//! A catalog that fails, is lost, is older than its parts, or is damaged: no file is removed that may be needed, no
//! other file remains, and every row is stored once.

use std::fs;
use std::path::{Path, PathBuf};
use tidewatch_store::TelemetryStore;

use tidewatch_journal::Position;
use tidewatch_journal::disk::Disk;

use super::support::*;
use crate::catalog::Step;
use crate::dedup::file;
use crate::dedup::file::{DedupFileFacts, Generation};
use crate::merge::policy::pick;
use crate::{Lake, LakeOptions, LostStats};
use tidewatch_store::StoreError;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::days::day_of;
use tidewatch_store::tables::Table;

/// Applies request `n` with its own span.
fn apply(lake: &Lake, n: u8) {
    lake.apply(Position(u64::from(n)), u128::from(n) << 3, TODAY_NS, request(1, &[span(n, 1, TODAY_NS)]));
}

fn stored(lake: &Lake) -> Vec<u8> {
    stored_spans(lake).into_iter().map(|span| span.1).collect()
}

/// Asserts that no file is missing, left over, or under a temporary name.
#[track_caller]
fn assert_tidy(bench: &Bench, lake: &Lake) {
    let files = bench.files();
    assert_eq!(files.len(), Bench::registered(lake), "{files:?}");
    assert!(files.iter().all(|path| path.extension().is_none_or(|extension| extension != "tmp")), "{files:?}");
}

/// A flush whose files are on the disk repeats its transaction only, without further files, after any number of
/// failures.
#[test]
fn a_flush_that_cannot_be_registered_writes_its_files_once() {
    for (faults, tries) in [
        (&[(Step::Begin, 3)][..], 3),
        (&[(Step::Statement, 3)], 3),
        (&[(Step::Commit, 3)], 3),
        // It was committed, and the catalog can be read.
        (&[(Step::Committed, 1)], 0),
        // The outcome is unknown for a while; it was not committed.
        (&[(Step::Commit, 1), (Step::Open, 3)], 3),
        // It was committed.
        (&[(Step::Committed, 1), (Step::Open, 3)], 3),
    ] {
        let (mut bench, fault) = Bench::failing(3);
        let lake = bench.open();
        apply(&lake, 1);
        apply(&lake, 2);
        fault.set(faults);
        let mut files = None;
        for _ in 0..tries {
            let error = lake.flush().unwrap_err();
            assert!(matches!(error, StoreError::Catalog { .. }), "{faults:?}: {error:?}");
            assert_eq!(stored(&lake), [1, 2], "{faults:?}: nothing is hidden and nothing is doubled");
            assert_eq!(lake.covered(), Position(0));
            assert_eq!(files.get_or_insert_with(|| bench.files()), &bench.files(), "{faults:?}: no further file");
        }
        lake.flush().unwrap();
        assert_eq!((stored(&lake), lake.covered()), (vec![1, 2], Position(2)), "{faults:?}");
        assert_tidy(&bench, &lake);
        bench.disk = bench.disk.power_cut();
        drop(lake);
        let lake = bench.open();
        assert_eq!((stored(&lake), lake.covered()), (vec![1, 2], Position(2)), "{faults:?}");
        assert_tidy(&bench, &lake);
        assert_eq!(lake.lost().stats(), LostStats::default());
    }
}

/// The process ends while the transaction of a flush fails, or while its outcome is unknown.
#[test]
fn a_flush_in_doubt_is_stored_once_after_a_restart() {
    for (step, covered) in [(Step::Begin, 0), (Step::Commit, 0), (Step::Committed, 2)] {
        for power in [false, true] {
            let (mut bench, fault) = Bench::failing(4);
            let lake = bench.open();
            apply(&lake, 1);
            apply(&lake, 2);
            fault.set(&[(step, 1), (Step::Open, 1)]);
            lake.flush().unwrap_err();
            bench.disk = if power { bench.disk.power_cut() } else { bench.disk.process_killed() };
            drop(lake);
            fault.set(&[]);
            let lake = bench.open();
            assert_eq!(lake.covered(), Position(covered), "{step:?}");
            assert_tidy(&bench, &lake);
            if covered == 0 {
                apply(&lake, 1);
                apply(&lake, 2);
            }
            lake.flush().unwrap();
            assert_eq!(stored(&lake), [1, 2], "{step:?}");
            assert_eq!(lake.lost().stats(), LostStats::default(), "a crash is no reason for an alarm");
        }
    }
}

/// Failures of a replacement: it was not committed, was committed with an error, or the catalog cannot be read.
const FAULTS: [&[(Step, usize)]; 6] = [
    &[(Step::Begin, 1)],
    &[(Step::Statement, 1)],
    &[(Step::Commit, 1)],
    &[(Step::Committed, 1)],
    &[(Step::Commit, 1), (Step::Open, 2)],
    &[(Step::Committed, 1), (Step::Open, 2)],
];

/// Files that maintenance writes are removed each time, so that a failing catalog does not fill the disk.
#[test]
fn merges_that_cannot_be_registered_leave_no_files() {
    for faults in FAULTS {
        let (mut bench, fault) = Bench::failing(5);
        let lake = bench.open();
        for n in 1..=3 {
            apply(&lake, n);
            lake.flush().unwrap();
        }
        let before = Bench::registered(&lake);
        for n in 0..8 {
            fault.set(faults);
            let done = lake.merge(TODAY_NS);
            let _ = lake.retain(TODAY_NS);
            assert_eq!(stored(&lake), [1, 2, 3], "{faults:?}, {n}: {done:?}");
            // A replacement in doubt keeps both sides, and only one may be.
            assert!(bench.files().len() <= before + 1, "{faults:?}, {n}: {:?}", bench.files());
        }
        fault.set(&[]);
        lake.merge(TODAY_NS).unwrap();
        lake.merge(TODAY_NS).unwrap();
        assert!(Bench::registered(&lake) < before);
        assert_eq!((stored(&lake), rolled_endpoints(&lake)), (vec![1, 2, 3], 3), "{faults:?}");
        assert_tidy(&bench, &lake);
        bench.disk = bench.disk.process_killed();
        drop(lake);
        let lake = bench.open();
        assert_eq!(stored(&lake), [1, 2, 3], "{faults:?}");
        assert_tidy(&bench, &lake);
        assert_eq!(lake.lost().stats(), LostStats::default());
    }
}

/// The same for key files: unregistered files are removed each time.
#[test]
fn key_files_that_cannot_be_registered_are_removed() {
    for faults in FAULTS {
        let (bench, fault) = Bench::failing(9);
        let lake = bench.open();
        // Two key files of a completed quarter of the day, and one of the next.
        let later = TODAY_NS + 7 * 3600 * SECOND_NS;
        let send = |n: u8, position: u8, received_ns| {
            let rows = request(1, &[span(n, 1, TODAY_NS)]);
            lake.apply(Position(u64::from(position)), NO_KEY, received_ns, rows)
        };
        for (n, received_ns) in [(1, TODAY_NS), (2, TODAY_NS), (3, later)] {
            send(n, n, received_ns);
            lake.flush().unwrap();
        }
        // Parts are merged first.
        let has_parts = || {
            let parts: Vec<_> = lake.shared.state.lock().parts.iter().flatten().cloned().collect();
            pick(&parts, bench.options().merge, day_of(later)).is_some()
        };
        while has_parts() {
            lake.shared.merge_once(later, &mut || false).unwrap();
        }
        let before = Bench::registered(&lake);
        assert_eq!((lake.stats().key_files, bench.files().len()), (3, before));
        for n in 0..4 {
            fault.set(faults);
            let done = lake.merge(later);
            // A replacement in doubt keeps both sides, and only one may be.
            assert!(bench.files().len() <= before + 1, "{faults:?}, {n}, {done:?}: {:?}", bench.files());
        }
        fault.set(&[]);
        lake.merge(later).unwrap();
        assert_eq!((lake.stats().key_files, Bench::registered(&lake)), (2, before - 1), "{faults:?}");
        assert_tidy(&bench, &lake);
        for n in 1..=3 {
            assert_eq!(send(n, 3 + n, later).duplicates, 1, "{faults:?}, {n}");
        }
    }
}

/// Keys expire while they are merged: no file of the merge remains.
#[test]
fn merged_keys_that_have_expired_are_removed() {
    let bench = Bench::new(10);
    let lake = bench.open();
    apply(&lake, 1);
    lake.flush().unwrap();
    let facts: DedupFileFacts = lake.shared.dedup.lock().files().next().unwrap().facts;
    let (disk, layout) = (&bench.options().disk, &lake.shared.layout);
    let mut keys = 1..=u128::from(facts.keys);
    let facts = DedupFileFacts { id: layout.next_id(), ..facts };
    let merged =
        file::write(disk, &layout.dedup_folder(), Generation::Current, facts, facts.keys, || Ok(keys.next())).unwrap();
    assert!(!lake.shared.replace_keys(&[facts.id + 1], Some(merged)).unwrap(), "the file no longer exists");
    assert_tidy(&bench, &lake);
}

/// Whole parts are dropped without a replacement.
#[test]
fn a_drop_in_doubt_is_resolved() {
    for (step, happens) in [(Step::Commit, false), (Step::Committed, true)] {
        let (bench, fault) = Bench::failing(6);
        let lake = bench.open();
        apply(&lake, 1);
        lake.flush().unwrap();
        fault.set(&[(step, 1), (Step::Open, 1)]);
        let day = day_of(TODAY_NS) + 1;
        lake.drop_before(Table::Spans, day).unwrap_err();
        assert_eq!(stored(&lake), [1], "{step:?}: while the outcome is unknown");
        let bytes = lake.drop_before(Table::Spans, day).unwrap();
        assert_eq!((stored(&lake), bytes > 0), (vec![], !happens), "{step:?}");
        assert_tidy(&bench, &lake);
    }
}

#[test]
fn a_lost_catalog_is_no_reason_to_remove_its_parts() {
    let bench = Bench::new(7);
    let lake = bench.open();
    apply(&lake, 1);
    lake.flush().unwrap();
    drop(lake);
    let (files, path) = (bench.files(), bench.options().catalog);
    let aside = path.with_extension("aside");
    fs::rename(&path, &aside).unwrap();
    for n in 0..2 {
        let Err(error) = Lake::open(bench.options()) else { panic!("{n}: the catalog is missing") };
        assert!(error.to_string().contains("put the catalog that belongs to them back"), "{n}: {error}");
        assert_eq!(bench.files(), files);
    }
    fs::rename(&aside, &path).unwrap();
    assert_eq!(stored(&bench.open()), [1]);
}

#[test]
fn a_damaged_catalog_is_no_reason_to_remove_its_parts() {
    let bench = Bench::new(7);
    let lake = bench.open();
    for n in 1..=3 {
        apply(&lake, n);
        lake.flush().unwrap();
    }
    drop(lake);
    let files = bench.files();
    let connection = rusqlite::Connection::open(bench.options().catalog).unwrap();
    connection.execute_batch("DELETE FROM parts WHERE id % 2 = 0").unwrap();
    drop(connection);
    let Err(error) = Lake::open(bench.options()) else { panic!("the catalog is damaged") };
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert_eq!(bench.files(), files);
}

/// An older copy is restored: files that it does not list are set aside, and all are available again with the newer
/// copy.
#[test]
fn an_older_catalog_removes_nothing() {
    let bench = Bench::new(8);
    let lake = bench.open();
    apply(&lake, 1);
    lake.flush().unwrap();
    drop(lake);
    let path = bench.options().catalog;
    let older = fs::read(&path).unwrap();
    let lake = bench.open();
    for n in 2..=4 {
        apply(&lake, n);
        lake.flush().unwrap();
    }
    drop(lake);
    let (newer, files) = (fs::read(&path).unwrap(), bench.files());
    fs::write(&path, &older).unwrap();
    let lake = bench.open();
    assert_eq!(stored(&lake), [1]);
    let lost = lake.lost().stats();
    assert_eq!(lost.files as usize + Bench::registered(&lake), files.len());
    // New files get new ids.
    apply(&lake, 9);
    lake.flush().unwrap();
    assert!(lake.sources(&everything(Table::Spans)).len() == 2);
    drop(lake);

    // The steps of docs/operate/operations.md: restore the newer catalog, and move files that were set aside back to
    // their places.
    fs::write(&path, &newer).unwrap();
    for day in bench.disk.list_dirs(Path::new("/data/lost")).unwrap() {
        for from in bench.files().into_iter().filter(|path| path.starts_with(&day)) {
            let to = Path::new("/data").join(from.strip_prefix(&day).unwrap());
            bench.disk.rename(&from, &to).unwrap();
        }
    }
    let lake = bench.open();
    assert_eq!(stored(&lake), [1, 2, 3, 4]);
    assert!(lake.lost().stats().files > 0, "the part that only the older copy lists");
}

/// Only unregistered files and files that the catalog has removed are deleted; others are set aside with their path.
#[test]
fn unlisted_files_are_removed_only_with_proof() {
    let bench = Bench::new(4);
    {
        let lake = bench.open();
        apply(&lake, 1);
        lake.flush().unwrap();
    }
    let registered = bench.files();
    let write = |path: &str| {
        let path = PathBuf::from(path);
        bench.disk.create_dir_all(path.parent().unwrap()).unwrap();
        bench.disk.create(&path).unwrap().write_at(b"half a part", 0).unwrap();
        path
    };
    write("/data/parts/logs/2026-01-01/000000000901.parquet.tmp");
    write("/data/seen/000000000902.keys.tmp");
    let unknown = [
        write("/data/parts/spans/2026-11-21/000000000900.parquet"),
        write("/data/parts/spans/2026-11-21/000000000000.parquet"),
        write("/data/seen/000000000903.keys"),
        write("/data/parts/spans/2026-11-21/notes.txt"),
    ];
    let lake = bench.open();
    assert_eq!(stored(&lake), [1]);
    assert_eq!(lake.lost().stats(), LostStats { files: 4, bytes: 44 });
    let (lost, rest): (Vec<_>, Vec<_>) = bench.files().into_iter().partition(|path| path.starts_with("/data/lost"));
    assert_eq!(rest, registered);
    for path in unknown {
        let name = path.strip_prefix("/data").unwrap();
        assert!(lost.iter().any(|path| path.ends_with(name)), "{name:?} is not among {lost:?}");
    }
    // New ids are higher than those of every file, also after restarts.
    drop(lake);
    drop(bench.open());
    let lake = bench.open();
    apply(&lake, 2);
    lake.flush().unwrap();
    assert!(bench.files().iter().any(|path| path.ends_with("000000000904.parquet")), "{:?}", bench.files());
}

/// A crash between COMMIT and unlink, at every merge and drop.
#[test]
fn files_of_merged_parts_are_removed_at_the_next_start() {
    let mut bench = Bench::new(9);
    let lake = bench.open();
    for n in 1..=3 {
        apply(&lake, n);
        lake.flush().unwrap();
    }
    let before = bench.files();
    // A reader keeps the merged parts; then the process is killed.
    let reader = lake.sources(&everything(Table::Spans));
    lake.merge(TODAY_NS).unwrap();
    let kept = before.iter().filter(|path| bench.files().contains(path)).count();
    assert_eq!(kept, 3);
    bench.disk = bench.disk.process_killed();
    drop((reader, lake));
    let lake = bench.open();
    assert_eq!(stored(&lake), [1, 2, 3]);
    assert_tidy(&bench, &lake);
    assert_eq!(lake.lost().stats(), LostStats::default());
}

#[test]
fn a_missing_listed_file_is_reported_and_fails_queries_that_need_it() {
    let bench = Bench::new(10);
    let lake = bench.open();
    for (n, project) in [(1, 1), (2, 2)] {
        lake.apply(Position(n), NO_KEY, TODAY_NS, request(project, &[span(n as u8, 1, TODAY_NS)]));
        lake.flush().unwrap();
    }
    drop(lake);
    let path = bench.files().into_iter().find(|path| path.starts_with("/data/parts/spans")).unwrap();
    bench.disk.remove(&path).unwrap();
    let lake = Lake::open(LakeOptions { ..bench.options() }).unwrap();
    assert_eq!(lake.stats().missing_files, 1);
    let deadline = || std::time::Instant::now() + std::time::Duration::from_secs(60);
    let error = lake.execute(&everything(Table::Spans), deadline()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{} is damaged: the catalog lists it, but the file is missing", path.display())
    );
    assert_eq!(lake.execute(&everything(Table::Endpoints), deadline()).unwrap().num_rows(), 2, "the rest is answered");
}
