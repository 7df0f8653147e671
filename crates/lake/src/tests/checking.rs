//! `lake::check` has no findings in an intact store, and finds every damaged byte.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tidewatch_store::TelemetryStore;

use tidewatch_journal::Position;
use tidewatch_journal::disk::Disk;

use super::support::*;
use crate::lifecycle::check;
use crate::lifecycle::check::Checked;
use crate::rollup::builder::Builder;
use crate::write::part_writer::PartWriter;
use crate::{PartFacts, RollupOptions, Source};
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::retention::ProjectRetention;
use tidewatch_store::tables::Table;

/// Checks the store of a closed lake with a copy of its catalog.
fn checked(bench: &Bench, with_rows: bool) -> Checked {
    let folder = tempfile::TempDir::new().unwrap();
    let copy = folder.path().join("catalog.sqlite");
    fs::copy(bench.options().catalog, &copy).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(bench.disk.clone());
    check::check(Path::new("/data"), &copy, &disk, with_rows)
}

/// Fills a store with flushed, merged, rewritten and partly expired parts of several projects.
fn stored(bench: &Bench) {
    let lake = bench.open();
    for n in 1..=8_u8 {
        let time = TODAY_NS - i64::from(n % 2) * DAY_NS;
        let spans: Vec<_> = (1..=20).map(|m| span(n, m, time + i64::from(m) * 40 * SECOND_NS)).collect();
        lake.apply(Position(u64::from(n)), u128::from(n) << 5, TODAY_NS, request(u32::from(n % 3), &spans));
        lake.flush().unwrap();
    }
    lake.apply(Position(20), NO_KEY, TODAY_NS, log_request(1, "a line of some length"));
    lake.flush().unwrap();
    lake.merge(TODAY_NS).unwrap();
    lake.set_project_retention(ProjectRetention { deleted_projects: [2].into(), ..ProjectRetention::default() });
    lake.retain(TODAY_NS).unwrap();
}

#[test]
fn an_intact_store_has_no_findings() {
    let bench = Bench::new(1);
    stored(&bench);
    let found = checked(&bench, true);
    assert_eq!(found.findings, []);
    assert_eq!((found.parts + found.key_files) as usize, bench.files().len());
    assert!(found.rows > 200, "{found:?}");
}

/// Damage anywhere in a file is the only finding and names the file, also without reading rows.
#[test]
fn every_damaged_byte_is_found() {
    let bench = Bench::new(2);
    stored(&bench);
    for path in bench.files() {
        let bytes = bench.disk.open(&path).unwrap().len().unwrap();
        let step = (bytes / 40).max(1);
        for at in (0..bytes).step_by(step as usize).chain([bytes - 1]) {
            assert!(bench.disk.flip(&path, at, 1 << (at % 8)));
            let found = checked(&bench, at % (2 * step) == 0).findings;
            // A byte between the sections of a key file is never read.
            if path.starts_with("/data/parts") {
                assert_eq!(found.len(), 1, "byte {at} of {}", path.display());
            }
            assert!(found.iter().all(|finding| finding.path == path), "{found:?}");
            assert!(bench.disk.flip(&path, at, 1 << (at % 8)));
        }
    }
}

#[test]
fn missing_and_unlisted_files_are_found() {
    let bench = Bench::new(3);
    stored(&bench);
    let files = bench.files();
    let (missing, kept) = (&files[0], bench.disk.open(&files[1]).unwrap());
    bench.disk.remove(missing).unwrap();
    let unlisted = PathBuf::from("/data/parts/spans/2026-11-21/000000009999.parquet");
    bench.disk.create(&unlisted).unwrap().write_at(b"rows", 0).unwrap();
    // A crash leaves such files, and the next start removes them.
    bench.disk.create(Path::new("/data/parts/spans/2026-11-21/000000009998.parquet.tmp")).unwrap();
    let mut found: Vec<PathBuf> = checked(&bench, false).findings.into_iter().map(|finding| finding.path).collect();
    found.sort();
    let mut expected = vec![missing.clone(), unlisted];
    expected.sort();
    assert_eq!(found, expected);
    drop(kept);
}

/// Defects without a wrong checksum: the catalog or a roll-up contradicts the rows.
#[test]
fn facts_that_contradict_the_rows_are_found() {
    let bench = Bench::new(4);
    stored(&bench);
    // A catalog with updated checksums, as a defective program would write it.
    let mut opened = crate::catalog::Catalog::open(&bench.options().catalog, false).unwrap();
    let mut facts = opened.parts.remove(0);
    let ids = [facts.id];
    facts.rows += 1;
    assert!(opened.catalog.replace_parts(&ids, &[facts], &[]).unwrap());
    drop(opened);
    assert_eq!(checked(&bench, false).findings, [], "checksums cannot tell");
    let found = checked(&bench, true).findings;
    assert!(found.len() == 1 && found[0].what.contains("and the catalog says"), "{found:?}");
}

/// A roll-up of other rows than those of its part, with correct checksums.
#[test]
fn a_rollup_that_contradicts_the_rows_is_found() {
    let bench = Bench::new(5);
    stored(&bench);
    let lake = bench.open();
    let sources = lake.sources(&everything(Table::Endpoints));
    let Some(Source::Part(part)) = sources.iter().find(|source| matches!(source, Source::Part(_))) else {
        panic!("the store has parts of Endpoints");
    };
    let rows = try_read(part).unwrap();
    let facts = PartFacts {
        id: lake.shared.layout.next_id(),
        level: 1,
        rows: 0,
        bytes: 0,
        time_min: i64::MAX,
        time_max: i64::MIN,
        project_min: u32::MAX,
        project_max: 0,
        tail_sum: 0,
        ids: None,
        ..part.facts
    };
    // One row is counted twice.
    let mut rollup = Builder::new(Table::Endpoints, RollupOptions::ALWAYS.shrink).unwrap();
    rollup.add(&rows[0].slice(0, 1)).unwrap();
    let path = lake.shared.layout.part_path(&facts);
    let mut writer = PartWriter::create(bench.options().disk, path.clone(), facts, Vec::new(), Some(rollup)).unwrap();
    rows.iter().for_each(|batch| writer.write(batch).unwrap());
    let written = writer.finish().unwrap();
    assert_eq!(written.rows, part.facts.rows);
    assert!(lake.shared.replace_parts(&[part.facts.id], vec![written]).unwrap());
    drop((sources, lake));
    assert_eq!(checked(&bench, false).findings, [], "checksums cannot tell");
    let found = checked(&bench, true).findings;
    assert!(found.len() == 1 && found[0].path == path, "{found:?}");
    assert!(found[0].what.contains("the roll-up has other values than the rows"), "{found:?}");
}
