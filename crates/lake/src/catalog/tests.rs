use tempfile::TempDir;

use std::path::PathBuf;

use super::*;
use tidewatch_store::tables::Table;

fn facts(id: u64) -> PartFacts {
    PartFacts {
        id,
        first_id: id,
        table: Table::Spans,
        day: 20_000,
        rows: id * 10,
        bytes: 2,
        time_min: 3,
        time_max: 4,
        project_min: 5,
        project_max: 6 + id as u32,
        level: 0,
        tail_sum: 8,
        received_min: 9,
        received_max: 10,
        ids: Some("1 2 3".into()),
    }
}

fn keys(id: u64) -> DedupFileFacts {
    DedupFileFacts { id, keys: 7, received_min: 9, received_max: 10, level: 0 }
}

fn flushed(catalog: &mut Catalog, parts: &[u64], dedup: u64, covered: u64) {
    let parts: Vec<PartFacts> = parts.iter().map(|id| facts(*id)).collect();
    let record = FlushRecord { parts: &parts, dedup: Some(&keys(dedup)), gaps: &[], covered: Position(covered) };
    catalog.record_flush(&record).unwrap();
}

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("catalog.sqlite")
}

fn ids(opened: &Opened) -> Vec<u64> {
    opened.parts.iter().map(|facts| facts.id).collect()
}

#[test]
fn written_facts_are_read_back() {
    let folder = TempDir::new().unwrap();
    let mut catalog = Catalog::open(&path(&folder), true).unwrap().catalog;
    catalog.ids().store(9, Ordering::Relaxed);
    flushed(&mut catalog, &[1, 2, 3], 4, 70);
    assert!(catalog.replace_parts(&[1, 2], &[facts(5)], &[]).unwrap());
    assert!(!catalog.replace_parts(&[1, 3], &[facts(6)], &[]).unwrap(), "1 is not listed: nothing changes");
    assert!(catalog.replace_dedup_files(&[4], Some(&keys(7))).unwrap());
    drop(catalog);
    let opened = Catalog::open(&path(&folder), false).unwrap();
    assert_eq!((opened.parts.clone(), opened.dedup.clone()), (vec![facts(3), facts(5)], vec![keys(7)]));
    assert_eq!(opened.removed, [1, 2, 4].into());
    let mut catalog = opened.catalog;
    assert_eq!((catalog.covered(), catalog.highest_project()), (Position(70), 11));
    assert_eq!(catalog.ids().load(Ordering::Relaxed), 9, "no id is reused");
    catalog.ids().store(12, Ordering::Relaxed);
    catalog.forget_deleted(&[1, 4]).unwrap();
    assert!(catalog.replace_parts(&[3], &[], &[2]).unwrap());
    drop(catalog);
    let opened = Catalog::open(&path(&folder), false).unwrap();
    assert_eq!(opened.removed, [3].into());
    assert_eq!(opened.catalog.ids().load(Ordering::Relaxed), 12);
    assert_eq!(opened.catalog.highest_project(), 11, "the highest that any row ever had");
}

/// Another program that has the database open for writing would delay every flush.
#[test]
fn no_other_connection_can_open_it() {
    let folder = TempDir::new().unwrap();
    let mut catalog = Catalog::open(&path(&folder), true).unwrap().catalog;
    let other = Connection::open(path(&folder)).unwrap();
    other.busy_timeout(std::time::Duration::ZERO).unwrap();
    let locked = |done: rusqlite::Result<()>| {
        done.is_err_and(|error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    };
    assert!(locked(other.execute_batch("BEGIN IMMEDIATE")));
    assert!(locked(other.query_row("SELECT COUNT(*) FROM parts", [], |_| Ok(()))));
    flushed(&mut catalog, &[1], 2, 3);
    // The copy of a backup.
    let copy = folder.path().join("copy.sqlite");
    catalog.copy_to(&copy).unwrap();
    let copied = Catalog::open(&copy, false).unwrap();
    assert_eq!((ids(&copied), copied.catalog.covered()), (vec![1], Position(3)));
}

/// The effects of a flipped bit in a page's cell count: rows are missing, changed or doubled, and SQLite reports no
/// error.
#[test]
fn a_catalog_with_wrong_checksums_is_refused() {
    for (change, message) in [
        ("DELETE FROM parts WHERE id = 2", "it lists 2 parts of 3"),
        ("INSERT INTO seen SELECT 99, keys, received_min, received_max, level FROM seen", "it lists 2 key files of 1"),
        ("UPDATE parts SET day = day + 1 WHERE id = 3", "its 3 parts does not have its checksum"),
        ("UPDATE parts SET ids = NULL WHERE id = 3", "its 3 parts does not have its checksum"),
        ("UPDATE parts SET rows = rows + 1 WHERE id = 3", "its 3 parts does not have its checksum"),
        ("UPDATE seen SET received_max = 0", "its 1 key files does not have its checksum"),
        ("UPDATE meta SET value = value + 64 WHERE key = 'covered'", "its positions do not have their checksum"),
        ("UPDATE meta SET value = 99 WHERE key = 'next_id'", "its positions do not have their checksum"),
        ("DELETE FROM meta WHERE key = 'checksum'", "its positions do not have their checksum"),
    ] {
        let folder = TempDir::new().unwrap();
        flushed(&mut Catalog::open(&path(&folder), true).unwrap().catalog, &[1, 2, 3], 4, 70);
        Connection::open(path(&folder)).unwrap().execute_batch(change).unwrap();
        for _ in 0..2 {
            let error = Catalog::open(&path(&folder), false).map(drop).unwrap_err();
            assert!(
                matches!(error, StoreError::Corrupt { .. }) && error.to_string().contains(message),
                "{change}: {error}"
            );
        }
    }
}

#[test]
fn a_missing_or_empty_catalog_is_created_only_on_request() {
    let folder = TempDir::new().unwrap();
    let refused = || matches!(Catalog::open(&path(&folder), false).map(drop), Err(StoreError::Refused(_)));
    assert!(refused() && !path(&folder).exists(), "and nothing is created");
    std::fs::write(path(&folder), b"").unwrap();
    assert!(refused());
    drop(Catalog::open(&path(&folder), true).unwrap());
    assert!(ids(&Catalog::open(&path(&folder), false).unwrap()).is_empty());
}

/// Fails once at a step.
fn failing(at: Step, error: ErrorCode) -> Probe {
    let left = parking_lot::Mutex::new(true);
    Arc::new(move |step| match step == at && std::mem::take(&mut *left.lock()) {
        true => Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error { code: error, extended_code: 0 },
            Some("injected".to_owned()),
        )),
        false => Ok(()),
    })
}

#[test]
fn after_a_failure_the_catalog_reads_whether_it_was_committed() {
    for (step, happens) in
        [(Step::Begin, false), (Step::Statement, false), (Step::Commit, false), (Step::Committed, true)]
    {
        let folder = TempDir::new().unwrap();
        flushed(&mut Catalog::open(&path(&folder), true).unwrap().catalog, &[1], 2, 3);
        let probe = Some(failing(step, ErrorCode::SystemIoFailure));
        let mut catalog = Catalog::open_probed(&path(&folder), false, probe).unwrap().catalog;
        match catalog.replace_parts(&[1], &[facts(4)], &[]) {
            Ok(done) => assert!(done && happens, "{step:?}"),
            Err(failed) => assert!(!failed.is_unknown && !happens, "{step:?}"),
        }
        assert_eq!((catalog.is_listed(4).unwrap(), catalog.is_listed(1).unwrap()), (happens, !happens), "{step:?}");
        // A repetition succeeds once.
        assert_eq!(catalog.replace_parts(&[1], &[facts(4)], &[]).unwrap(), !happens, "{step:?}");
        drop(catalog);
        assert_eq!(ids(&Catalog::open(&path(&folder), false).unwrap()), [4], "{step:?}");
    }
}

#[test]
fn removals_succeed_on_a_full_disk() {
    let folder = TempDir::new().unwrap();
    flushed(&mut Catalog::open(&path(&folder), true).unwrap().catalog, &[1, 2], 3, 4);
    let reserve = folder.path().join("catalog.reserve");
    assert!(reserve.exists());
    let removed_meanwhile = Arc::new(parking_lot::Mutex::new(false));
    let probe: Probe = {
        let (reserve, noted) = (reserve.clone(), removed_meanwhile.clone());
        // Full while the reserve exists.
        Arc::new(move |step| match (step, reserve.exists()) {
            (Step::Statement, true) => Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error { code: ErrorCode::DiskFull, extended_code: 13 },
                None,
            )),
            (Step::Statement, false) => {
                *noted.lock() = true;
                Ok(())
            }
            _ => Ok(()),
        })
    };
    let mut catalog = Catalog::open_probed(&path(&folder), false, Some(probe)).unwrap().catalog;
    let (part, record) = (facts(5), |parts| FlushRecord { parts, dedup: None, gaps: &[], covered: Position(9) });
    let failed = catalog.record_flush(&record(std::slice::from_ref(&part))).unwrap_err();
    assert!(matches!(failed.error, StoreError::NoSpace { .. }) && !failed.is_unknown, "{failed:?}");
    assert!(reserve.exists(), "a transaction that adds data does not use it");
    assert!(catalog.replace_parts(&[1], &[], &[]).unwrap());
    assert!(*removed_meanwhile.lock() && reserve.exists(), "it was deleted, and exists again");
    drop(catalog);
    assert_eq!(ids(&Catalog::open(&path(&folder), false).unwrap()), [2]);
}

const VERSION_3: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE parts (
    id INTEGER PRIMARY KEY, first_id INTEGER NOT NULL, table_name TEXT NOT NULL, day INTEGER NOT NULL,
    rows INTEGER NOT NULL, bytes INTEGER NOT NULL, time_min INTEGER NOT NULL, time_max INTEGER NOT NULL,
    project_min INTEGER NOT NULL, project_max INTEGER NOT NULL, level INTEGER NOT NULL, tail_sum INTEGER NOT NULL,
    received_min INTEGER NOT NULL, received_max INTEGER NOT NULL, ids TEXT
) STRICT;
CREATE TABLE seen (
    id INTEGER PRIMARY KEY, keys INTEGER NOT NULL, received_min INTEGER NOT NULL, received_max INTEGER NOT NULL,
    level INTEGER NOT NULL
) STRICT;
CREATE TABLE purged (project INTEGER PRIMARY KEY) STRICT;
INSERT INTO meta VALUES ('covered', 77);
INSERT INTO seen VALUES (8, 1, 2, 3, 0);
INSERT INTO purged VALUES (5);
PRAGMA user_version = 3;
";

#[test]
fn earlier_versions_are_upgraded() {
    for version in [1, 2, 3] {
        let folder = TempDir::new().unwrap();
        let old = Connection::open(path(&folder)).unwrap();
        old.execute_batch(VERSION_3).unwrap();
        old.execute_batch("INSERT INTO parts VALUES (7, 7, 'spans', 20000, 1, 2, 3, 4, 5, 6, 0, 8, 9, 10, NULL)")
            .unwrap();
        let missing = [&["received_min", "received_max", "ids"][..], &["ids"], &[]][version - 1];
        for column in missing {
            old.execute_batch(&format!("ALTER TABLE parts DROP COLUMN {column}")).unwrap();
        }
        old.pragma_update(None, "user_version", version as i64).unwrap();
        drop(old);
        // Version 1 has no times of receipt: its parts may have rows of any time.
        let received = if version == 1 { (i64::MIN, i64::MAX) } else { (9, 10) };
        for _ in 0..2 {
            let mut opened = Catalog::open(&path(&folder), false).unwrap();
            let part = &opened.parts[0];
            assert_eq!((part.id, (part.received_min, part.received_max), &part.ids), (7, received, &None));
            assert_eq!(opened.dedup[0].id, 8);
            assert_eq!(opened.catalog.purged().unwrap(), [5].into());
            assert_eq!((opened.catalog.covered(), opened.catalog.highest_project()), (Position(77), 6));
            assert_eq!(opened.catalog.ids().load(Ordering::Relaxed), 9);
        }
        Connection::open(path(&folder)).unwrap().pragma_update(None, "user_version", 5).unwrap();
        assert!(matches!(Catalog::open(&path(&folder), false), Err(StoreError::Corrupt { .. })));
    }
}
