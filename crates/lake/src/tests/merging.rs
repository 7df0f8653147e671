//! Merging and retention.

use std::path::Path;
use std::sync::Arc;
use tidewatch_store::TelemetryStore;

use arrow::array::{AsArray, BooleanArray, RecordBatch, StringArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::UInt32Type;
use tidewatch_domain::model::Signal;
use tidewatch_journal::Position;
use tidewatch_journal::disk::Disk;

use super::support::*;
use crate::{Lake, Source};
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::tables::Table;
use tidewatch_store::{Changed, Outcome, Rewrite};

/// One flush per request, `spans` in each.
fn flushed(bench: &Bench, requests: &[Vec<TestSpan>]) -> Lake {
    let lake = bench.open();
    for (n, spans) in requests.iter().enumerate() {
        lake.apply(Position(n as u64 + 1), NO_KEY, TODAY_NS, request(1, spans));
        lake.flush().unwrap();
    }
    lake
}

fn parts(lake: &Lake, table: Table) -> usize {
    lake.stats().tables[table as usize].parts
}

#[test]
fn merging_keeps_every_row_and_its_order() {
    let bench = Bench::new(1);
    let requests: Vec<Vec<TestSpan>> = (0..7)
        .map(|n| (0..20).map(|m| span(m * 7 % 5, n * 20 + m, TODAY_NS + i64::from(m) * 100 * SECOND_NS)).collect())
        .collect();
    let lake = flushed(&bench, &requests);
    let before: Vec<_> = Table::ALL.into_iter().map(|table| contents(&lake, table)).collect();
    let kept = counted(&lake, "kept", "");
    assert_eq!(parts(&lake, Table::Spans), 7);
    // Three parts became one, twice; two of level 1 and one of level 0 remain.
    lake.merge(TODAY_NS).unwrap();
    assert_eq!(parts(&lake, Table::Spans), 3);
    // After the end of the day, all are merged.
    lake.merge(TODAY_NS + 2 * DAY_NS).unwrap();
    for table in [Table::Spans, Table::Endpoints] {
        assert_eq!(parts(&lake, table), 1, "{table:?}");
        assert!(contents(&lake, table) == before[table as usize], "{table:?}");
    }
    assert_eq!((parts(&lake, Table::IngestCounts), counted(&lake, "kept", "")), (1, kept));
    assert_eq!(
        contents(&lake, Table::IngestCounts).len(),
        3,
        "one accepted, one kept, one sender: equal keys are summed"
    );

    let merged = batches(&lake, Table::Spans);
    let mut keys = crate::sort::SortKeys::new(Table::Spans).unwrap();
    for batch in &merged {
        let rows = keys.of(batch).unwrap();
        assert!((1..batch.num_rows()).all(|row| rows.row(row - 1) <= rows.row(row)));
    }
    drop(lake);
    assert!(contents(&bench.open(), Table::Spans) == before[Table::Spans as usize]);
}

// DECISIONS 14: column values may be computed again; the set of rows stays.
#[test]
fn rewritten_rows_are_sorted_again_and_keep_their_identity() {
    let bench = Bench::new(1);
    let lake = bench.open();
    for (n, project) in [(1, 1), (2, 2), (3, 1)] {
        let spans: Vec<_> = (0..20).map(|m| span(n, m, TODAY_NS + i64::from(m) * SECOND_NS)).collect();
        lake.apply(Position(u64::from(n)), NO_KEY, TODAY_NS, request(project, &spans));
        if n < 3 {
            lake.flush().unwrap();
        }
    }
    let (name, _) = Table::Endpoints.column("name").unwrap();
    let (project, _) = Table::Endpoints.column("project").unwrap();
    let (row_id, _) = Table::Endpoints.column("row_id").unwrap();
    let mut rename = |batch: &RecordBatch| {
        let projects = batch.column(project).as_primitive::<UInt32Type>().clone();
        let names = batch.column(name).as_string::<i32>().clone();
        let spans = batch.column(row_id).as_fixed_size_binary().clone();
        let is_selected = |row: usize| projects.value(row) == 1 && spans.value(row)[1].is_multiple_of(2);
        let rows: BooleanArray =
            (0..batch.num_rows()).map(|row| Some(is_selected(row) && names.value(row) != "A")).collect();
        if rows.true_count() == 0 {
            return Ok(None);
        }
        let mut columns = filter_record_batch(batch, &rows).expect("as many rows").columns().to_vec();
        columns[name] = Arc::new(StringArray::from(vec!["A"; rows.true_count()]));
        let to = RecordBatch::try_new(batch.schema(), columns).expect("the same schema");
        Ok(Some(Changed { rows, to }))
    };
    let which = Rewrite { table: Table::Endpoints, project: 1, since_ns: 0 };
    let before = stored_spans(&lake);
    let too_late = Rewrite { since_ns: TODAY_NS + DAY_NS, ..which };
    assert_eq!(lake.rewrite(too_late, &|| false, &mut rename).unwrap(), 0, "too old");
    assert_eq!(lake.rewrite(which, &|| true, &mut rename).unwrap(), 0, "stopped");
    assert_eq!(lake.rewrite(which, &|| false, &mut rename).unwrap(), 2, "rows in memory are included");
    assert_eq!(lake.rewrite(which, &|| false, &mut rename).unwrap(), 0, "nothing is left to change");
    assert_eq!(stored_spans(&lake), before);
    let check = |lake: &Lake| {
        let mut keys = crate::sort::SortKeys::new(Table::Endpoints).unwrap();
        let (mut rows, mut renamed) = (0, 0);
        for batch in batches(lake, Table::Endpoints) {
            let sorted = keys.of(&batch).unwrap();
            assert!((1..batch.num_rows()).all(|row| sorted.row(row - 1) <= sorted.row(row)));
            rows += batch.num_rows();
            renamed += batch.column(name).as_string::<i32>().iter().filter(|name| *name == Some("A")).count();
        }
        assert_eq!((rows, renamed), (60, 20));
    };
    check(&lake);
    drop(lake);
    let lake = bench.open();
    check(&lake);
    lake.merge(TODAY_NS + 2 * DAY_NS).unwrap();
    check(&lake);
    assert_eq!(rolled_endpoints(&lake), 60);
}

// DECISIONS 11: a record that is received again after the window may be stored twice until parts are merged.
#[test]
fn equal_identities_become_one_row_and_the_first_stored_wins() {
    let bench = Bench::new(1);
    let lake = bench.open();
    for n in 0..3_i64 {
        // The window passes between the requests; the day of the spans is the same.
        let received = TODAY_NS + 3 * n * DAY_NS;
        lake.retain(received).unwrap();
        let spans = [span(1, 1, TODAY_NS + 2 - n), span(1, 2 + n as u8, TODAY_NS)];
        lake.apply(Position(n as u64 + 1), NO_KEY, received, request(1, &spans));
        lake.flush().unwrap();
    }
    assert_eq!(stored_spans(&lake).len(), 6);
    assert_eq!(rolled_endpoints(&lake), 6);
    assert_eq!(lake.merge(TODAY_NS).unwrap(), 2, "spans and Endpoints");
    let expected = vec![(1, 1, 1, TODAY_NS + 2), (1, 1, 2, TODAY_NS), (1, 1, 3, TODAY_NS), (1, 1, 4, TODAY_NS)];
    assert_eq!(stored_spans(&lake), expected);
    assert_eq!(contents(&lake, Table::Endpoints).len(), 4);
    assert_eq!(rolled_endpoints(&lake), 4);
}

/// (name, complete) of the extra columns of every part of the spans.
fn attr_columns(lake: &Lake) -> Vec<Vec<(String, bool)>> {
    let columns = |source: &Source| {
        let Source::Part(part) = source else { panic!("all rows are in parts") };
        let columns = part.attr_columns().unwrap();
        let of = |encoded| {
            columns.of_column(encoded).map(|column| (column.name.clone(), column.complete)).collect::<Vec<_>>()
        };
        [of("attributes"), of("resource")].concat()
    };
    lake.sources(&everything(Table::Spans)).iter().map(columns).collect()
}

#[test]
fn frequent_attributes_have_columns_through_flush_and_merge() {
    let expected: Vec<(String, bool)> = ["attributes.http.request.method", "attributes.size", "resource.service.name"]
        .map(|name| (name.to_owned(), true))
        .to_vec();
    let two = |trace| vec![span(trace, 1, TODAY_NS), span(trace, 2, TODAY_NS)];
    // A part of one row is too small to be split; merged parts are split. Parts with equal columns stay split.
    for (last, split) in [(vec![span(3, 1, TODAY_NS)], Vec::new()), (two(3), expected.clone())] {
        let bench = Bench::new(1);
        let lake = flushed(&bench, &[two(1), two(2), last]);
        assert_eq!(attr_columns(&lake), [expected.clone(), expected.clone(), split]);
        let before = contents(&lake, Table::Spans);
        lake.merge(TODAY_NS).unwrap();
        assert_eq!(attr_columns(&lake), std::slice::from_ref(&expected));
        assert!(contents(&lake, Table::Spans) == before);
    }
}

#[test]
fn readers_keep_the_parts_they_opened() {
    let bench = Bench::new(1);
    let lake = flushed(&bench, &[vec![span(1, 1, TODAY_NS)], vec![span(2, 1, TODAY_NS)], vec![span(3, 1, TODAY_NS)]]);
    let held = lake.sources(&everything(Table::Spans));
    lake.merge(TODAY_NS).unwrap();
    let spans = |bench: &Bench| bench.files().into_iter().filter(|path| path.starts_with("/data/parts/spans")).count();
    assert_eq!(spans(&bench), 4, "three that are still read, and the merged one");
    for source in &held {
        let Source::Part(part) = source else { panic!("all rows are in parts") };
        assert_eq!(part.metadata().unwrap().metadata().file_metadata().num_rows(), 1);
    }
    drop(held);
    assert_eq!(spans(&bench), 1);
}

#[test]
fn a_failed_merge_changes_nothing() {
    let bench = Bench::new(1);
    let requests: Vec<Vec<TestSpan>> = (0..3).map(|n| vec![span(n, 1, TODAY_NS), span(n, 2, TODAY_NS)]).collect();
    let lake = flushed(&bench, &requests);
    let (before, files) = (contents(&lake, Table::Spans), bench.files());
    bench.disk.fail_sync_after(0);
    assert!(lake.merge(TODAY_NS).is_err());
    assert!(contents(&lake, Table::Spans) == before && bench.files() == files);
    bench.disk.heal();
    assert!(lake.merge(TODAY_NS).unwrap() > 0);
    assert!(contents(&lake, Table::Spans) == before);
}

#[test]
fn retention_frees_disk_space() {
    let bench = Bench::new(1);
    let old = TODAY_NS - 40 * DAY_NS;
    let lake = flushed(&bench, &[vec![span(1, 1, old)], vec![span(2, 1, TODAY_NS)]]);
    let used = bench.disk.used();
    let bytes = lake.retain(TODAY_NS).unwrap();
    assert!(bytes > 0);
    assert_eq!(bench.disk.used(), used - bytes);
    assert_eq!(stored_spans(&lake), [(1, 2, 1, TODAY_NS)]);
    assert_eq!(rolled_endpoints(&lake), 1);
    assert_eq!(lake.retain(TODAY_NS).unwrap(), 0);
    drop(lake);
    assert_eq!(stored_spans(&bench.open()).len(), 1);
}

#[test]
fn a_retention_of_zero_is_unlimited() {
    let bench = Bench::new(1);
    let mut options = bench.options();
    options.retention = options.retention.with(Table::Spans, 0);
    let lake = Lake::open(options).unwrap();
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(1, &[span(1, 1, TODAY_NS - 4000 * DAY_NS)]));
    lake.flush().unwrap();
    lake.retain(TODAY_NS).unwrap();
    assert_eq!((parts(&lake, Table::Spans), parts(&lake, Table::Endpoints)), (1, 0));
}

#[test]
fn merged_key_files_have_the_same_keys() {
    let bench = Bench::new(1);
    let requests: Vec<Vec<TestSpan>> = (0..9).map(|n| vec![span(n, 1, TODAY_NS), span(n, 2, TODAY_NS)]).collect();
    let lake = flushed(&bench, &requests);
    assert_eq!(lake.stats().key_files, 9);
    lake.merge(TODAY_NS).unwrap();
    assert_eq!(lake.stats().key_files, 1);
    drop(lake);
    let lake = bench.open();
    for (n, spans) in requests.iter().enumerate() {
        assert_eq!(lake.apply(Position(100 + n as u64), NO_KEY, TODAY_NS, request(1, spans)).duplicates, 2);
    }
}

#[test]
fn counts_of_several_flushes_are_summed() {
    let bench = Bench::new(1);
    let lake = bench.open();
    for minute in 0..9 {
        lake.count(
            4,
            TODAY_NS + minute % 2 * 60 * SECOND_NS,
            Signal::Traces.into(),
            Outcome::Rejected,
            "too_large".into(),
            3,
        );
        lake.flush().unwrap();
    }
    lake.merge(TODAY_NS).unwrap();
    assert_eq!(counted(&lake, "rejected", "too_large"), 27);
    assert_eq!(contents(&lake, Table::IngestCounts).len(), 2);
}

/// While keys cannot be read, a retry is stored twice; a merge removes the duplicate, however soon the retry came.
/// DECISIONS 11.
#[test]
fn duplicates_because_of_damaged_keys_become_one_row_when_merged() {
    for damage in ["footer", "keys"] {
        let bench = Bench::new(1);
        let lake = bench.open();
        let spans = [span(1, 1, TODAY_NS), span(1, 2, TODAY_NS)];
        lake.apply(Position(1), 5, TODAY_NS, request(1, &spans));
        lake.flush().unwrap();
        drop(lake);
        let (path, bytes) = bench.disk.list(Path::new("/data/seen")).unwrap().remove(0);
        // The footer is at the end of the file, after the keys.
        let footer = 6 * 8;
        let at = if damage == "footer" { bytes - 1 } else { bytes - footer - 1 };
        assert!(bench.disk.flip(&path, at, 1));
        let lake = bench.open();
        lake.apply(Position(2), 5, TODAY_NS + SECOND_NS, request(1, &spans));
        lake.flush().unwrap();
        let stored = stored_spans(&lake).len();
        assert!(stored > 2, "{damage}: better twice than lost");
        // Keys expire with the window, damaged files too. After that, no key of the window is missing.
        lake.retain(TODAY_NS + 2 * DAY_NS).unwrap();
        while lake.merge(TODAY_NS + 2 * DAY_NS).unwrap() > 0 {}
        assert_eq!((stored_spans(&lake).len(), rolled_endpoints(&lake)), (2, 2), "{damage}");
        assert_eq!(bench.disk.list(Path::new("/data/seen")).unwrap(), [], "{damage}");
        // The times of receipt of rows received while a file was missing stay unknown; those of later rows are known.
        for n in 3..=4 {
            let time = TODAY_NS + 2 * DAY_NS;
            lake.apply(Position(n), u128::from(n) << 9, time, request(1, &[span(n as u8, 1, time)]));
            lake.flush().unwrap();
        }
        let received: Vec<i64> = lake
            .sources(&everything(Table::Spans))
            .iter()
            .filter_map(|source| match source {
                Source::Part(part) => Some(part.facts.received_max),
                Source::Memory(_) => None,
            })
            .collect();
        assert!(received.contains(&(TODAY_NS + 2 * DAY_NS)), "{damage}: {received:?}");
    }
}

/// A used project number is never forgotten: a project that got it again would read another's rows.
#[test]
fn the_highest_project_survives_restarts_and_removals() {
    let mut bench = Bench::new(1);
    let lake = bench.open();
    assert_eq!(lake.highest_project(), 0);
    for (n, project) in [(1, 3), (2, 7), (3, 5)] {
        lake.apply(Position(n), NO_KEY, TODAY_NS, request(project, &[span(n as u8, 1, TODAY_NS)]));
    }
    assert_eq!(lake.highest_project(), 7, "in memory");
    lake.flush().unwrap();
    let day = tidewatch_store::days::day_of(TODAY_NS) + 1;
    for table in Table::ALL {
        lake.drop_before(table, day).unwrap();
    }
    bench.disk = bench.disk.process_killed();
    drop(lake);
    let lake = bench.open();
    assert_eq!((stored_spans(&lake).len(), lake.highest_project()), (0, 7));
}
