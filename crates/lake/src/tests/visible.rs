//! Applied rows are visible at once, before and after every flush, and never twice.

use std::sync::Arc;
use tidewatch_store::TelemetryStore;

use parking_lot::Mutex;
use tidewatch_domain::model::Signal;
use tidewatch_journal::Position;

use super::support::*;
use crate::part::footers::Footers;
use crate::{Part, Source};
use tidewatch_store::Applied;
use tidewatch_store::Outcome;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::tables::Table;

#[test]
fn applied_rows_are_visible_to_the_next_query() {
    let bench = Bench::new(1);
    let lake = bench.open();
    for n in 1..=5 {
        let applied = lake.apply(Position(n), NO_KEY, TODAY_NS, request(1, &[span(n as u8, 1, TODAY_NS)]));
        assert_eq!(applied, Applied { stored: 1, duplicates: 0 });
        assert_eq!(stored_spans(&lake).len(), n as usize);
        assert_eq!(counted(&lake, "kept", ""), n);
    }
    assert_eq!(contents(&lake, Table::Endpoints).len(), 5);
}

#[test]
fn a_flush_changes_no_answer() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let yesterday = TODAY_NS - DAY_NS;
    lake.apply(
        Position(10),
        77,
        TODAY_NS,
        request(1, &[span(9, 1, TODAY_NS), span(3, 1, yesterday), span(9, 2, TODAY_NS + 1)]),
    );
    lake.apply(Position(20), 78, TODAY_NS, request(2, &[span(5, 1, TODAY_NS)]));
    let before: Vec<_> = Table::ALL.into_iter().map(|table| contents(&lake, table)).collect();
    lake.flush().unwrap();
    let after: Vec<_> = Table::ALL.into_iter().map(|table| contents(&lake, table)).collect();
    assert!(before == after);
    assert_eq!(lake.covered(), Position(20));
    // Two days of spans and Endpoints, one of counts; one key file.
    assert_eq!(bench.files().len(), 6, "{:?}", bench.files());
    assert!(lake.sources(&everything(Table::Spans)).iter().all(|source| matches!(source, Source::Part(_))));
    lake.flush().unwrap();
    assert_eq!(bench.files().len(), 6, "an empty memtable makes no parts");
}

/// A full memtable is sealed: its rows stay visible, and are then flushed.
#[test]
fn full_memtables_are_sealed_and_stay_visible() {
    let bench = Bench::new(1);
    let lake = crate::Lake::open(crate::LakeOptions { flush_rows: 4, ..bench.options() }).unwrap();
    for n in 1..=8 {
        lake.apply(Position(n), NO_KEY, TODAY_NS, request(1, &[span(n as u8, 1, TODAY_NS)]));
    }
    assert_eq!(lake.stats().sealed, 4, "two rows each: a span and an Endpoint");
    assert!(lake.is_behind());
    assert_eq!(stored_spans(&lake).len(), 8);
    lake.flush().unwrap();
    assert!(!lake.is_behind());
    assert_eq!(stored_spans(&lake).len(), 8);
}

/// Rows in memory are limited in bytes: at a third of the limit they are sealed, at the limit the lake is behind.
#[test]
fn memory_is_bounded() {
    let bench = Bench::new(1);
    let options = crate::LakeOptions { memory_bytes: 64 * 1024, ..bench.options() };
    let bound = options.row_bytes_max(0);
    let lake = crate::Lake::open(options).unwrap();
    let mut before = lake.stats();
    for n in 1.. {
        lake.apply(Position(n), NO_KEY, TODAY_NS, request(1, &[span(n as u8, (n >> 8) as u8, TODAY_NS)]));
        let now = lake.stats();
        if (before.sealed, now.sealed) == (0, 1) {
            assert!(before.memory_bytes < bound / 2 && now.memory_bytes > bound / 4, "{before:?} {now:?}");
        }
        if lake.is_behind() {
            assert!(now.sealed > 0 && now.held_bytes >= bound, "{now:?}");
            assert!(before.sealed == 0 || before.held_bytes < bound, "{before:?}");
            break;
        }
        before = now;
    }
    lake.flush().unwrap();
    assert!(!lake.is_behind());
    assert_eq!(lake.stats().held_bytes, 0);
}

/// The memory of flushed rows is reused, except rows that a query still reads.
#[test]
fn rows_that_a_query_reads_do_not_change() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let apply = |from: u8| {
        let spans: Vec<_> = (from..from + 40).map(|trace| span(trace, 1, TODAY_NS + i64::from(trace))).collect();
        lake.apply(Position(from.into()), NO_KEY, TODAY_NS, request(1, &spans));
    };
    let memory_batches = |lake: &crate::Lake| {
        let memory = |source| if let Source::Memory(batch) = source { Some(batch) } else { None };
        lake.sources(&everything(Table::Spans)).into_iter().filter_map(memory).collect::<Vec<_>>()
    };
    apply(1);
    let held = memory_batches(&lake);
    // Another lake has the same rows in other memory.
    let same = {
        let bench = Bench::new(1);
        let lake = bench.open();
        let spans: Vec<_> = (1..41).map(|trace| span(trace, 1, TODAY_NS + i64::from(trace))).collect();
        lake.apply(Position(1), NO_KEY, TODAY_NS, request(1, &spans));
        memory_batches(&lake)
    };
    assert_eq!(held, same);
    for from in [41, 81, 121] {
        lake.flush().unwrap();
        apply(from);
        assert_eq!(held, same);
    }
    assert_eq!(stored_spans(&lake).len(), 160);
}

// DECISIONS 11: spans by row id, the first stored version wins; the same body stores nothing.
#[test]
fn retries_store_nothing_twice() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let twice = [span(1, 1, TODAY_NS), span(1, 1, TODAY_NS + 5), span(1, 2, TODAY_NS)];
    assert_eq!(lake.apply(Position(1), 100, TODAY_NS, request(1, &twice)), Applied { stored: 2, duplicates: 1 });
    // The same body.
    assert_eq!(lake.apply(Position(2), 100, TODAY_NS, request(1, &twice)), Applied { stored: 0, duplicates: 3 });
    // Another body with one span received before and one new span.
    let mixed = [span(1, 2, TODAY_NS), span(1, 3, TODAY_NS)];
    assert_eq!(lake.apply(Position(3), 101, TODAY_NS, request(1, &mixed)), Applied { stored: 1, duplicates: 1 });
    // Another project.
    assert_eq!(lake.apply(Position(4), 102, TODAY_NS, request(2, &mixed)), Applied { stored: 2, duplicates: 0 });
    let expected =
        vec![(1, 1, 1, TODAY_NS), (1, 1, 2, TODAY_NS), (1, 1, 3, TODAY_NS), (2, 1, 2, TODAY_NS), (2, 1, 3, TODAY_NS)];
    assert_eq!(stored_spans(&lake), expected);
    assert_eq!(contents(&lake, Table::Endpoints).len(), 5);
    assert_eq!((counted(&lake, "kept", ""), counted(&lake, "dropped", "duplicate")), (5, 5));
    assert_eq!(counted(&lake, "accepted", ""), 4);
}

#[test]
fn retries_of_dropped_spans_are_detected() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let dropped = TestSpan { kept: false, ..span(1, 1, TODAY_NS) };
    assert_eq!(lake.apply(Position(1), NO_KEY, TODAY_NS, request(1, &[dropped])), Applied { stored: 0, duplicates: 0 });
    assert_eq!(lake.apply(Position(2), NO_KEY, TODAY_NS, request(1, &[dropped])), Applied { stored: 0, duplicates: 1 });
    assert_eq!((counted(&lake, "dropped", "unmatched_root"), counted(&lake, "dropped", "duplicate")), (1, 1));
}

// DECISIONS 11: logs and metric points by the content of the export request.
#[test]
fn a_log_export_is_detected_by_its_body_alone() {
    let bench = Bench::new(1);
    let lake = bench.open();
    assert_eq!(lake.apply(Position(1), 100, TODAY_NS, log_request(1, "hello")).stored, 1);
    assert_eq!(lake.apply(Position(2), 100, TODAY_NS, log_request(1, "hello")).duplicates, 1);
    lake.flush().unwrap();
    assert_eq!(lake.apply(Position(3), 100, TODAY_NS, log_request(1, "hello")).duplicates, 1);
    assert_eq!(lake.apply(Position(4), 101, TODAY_NS, log_request(1, "hello")).stored, 1, "sent with something else");
    assert_eq!(contents(&lake, Table::Logs).len(), 2);
}

#[test]
fn retries_are_detected_after_flush_and_restart_for_a_day() {
    let bench = Bench::new(1);
    let spans = [span(1, 1, TODAY_NS), span(2, 1, TODAY_NS)];
    {
        let lake = bench.open();
        lake.apply(Position(1), 100, TODAY_NS, request(1, &spans));
        lake.flush().unwrap();
        assert_eq!(lake.apply(Position(2), 100, TODAY_NS, request(1, &spans)).duplicates, 2);
    }
    let lake = bench.open();
    assert_eq!(lake.apply(Position(3), 5, TODAY_NS, request(1, &spans)).duplicates, 2);
    lake.retain(TODAY_NS + DAY_NS).unwrap();
    assert_eq!(lake.apply(Position(4), 6, TODAY_NS, request(1, &spans)).duplicates, 2);
    lake.flush().unwrap();
    lake.retain(TODAY_NS + DAY_NS + 1).unwrap();
    assert_eq!(lake.apply(Position(5), 7, TODAY_NS, request(1, &spans)).duplicates, 0, "the window is over");
}

#[test]
fn the_journal_is_notified_of_covered_positions() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let positions = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&positions);
    lake.set_on_covered(move |position| sink.lock().push(position.0));
    lake.apply(Position(30), NO_KEY, TODAY_NS, request(1, &[span(1, 1, TODAY_NS)]));
    lake.flush().unwrap();
    lake.apply(Position(40), NO_KEY, TODAY_NS, request(1, &[span(1, 1, TODAY_NS)]));
    lake.flush().unwrap();
    assert_eq!(*positions.lock(), [0, 30, 40]);
}

#[test]
fn refused_requests_are_counted() {
    let bench = Bench::new(1);
    let lake = bench.open();
    lake.count(0, TODAY_NS + 59 * SECOND_NS, Signal::Logs.into(), Outcome::Rejected, "unknown_token".into(), 2);
    lake.count(0, TODAY_NS, Signal::Logs.into(), Outcome::Rejected, "unknown_token".into(), 1);
    assert_eq!(contents(&lake, Table::IngestCounts).len(), 1, "one row per minute");
    assert_eq!(counted(&lake, "rejected", "unknown_token"), 3);
    lake.flush().unwrap();
    lake.count(0, TODAY_NS, Signal::Logs.into(), Outcome::Rejected, "unknown_token".into(), 1);
    assert_eq!(counted(&lake, "rejected", "unknown_token"), 4);
}

#[test]
fn a_query_gets_only_parts_that_may_match() {
    let bench = Bench::new(1);
    let lake = bench.open();
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(3, &[span(1, 1, TODAY_NS), span(1, 2, TODAY_NS - DAY_NS)]));
    lake.flush().unwrap();
    let mut plan = everything(Table::Spans);
    assert_eq!(lake.sources(&plan).len(), 2);
    (plan.from, plan.to) = (TODAY_NS - DAY_NS, TODAY_NS);
    assert_eq!(lake.sources(&plan).len(), 1);
    plan.projects = vec![2, 4];
    assert_eq!(lake.sources(&plan).len(), 0);
}

#[test]
fn footers_in_memory_are_bounded() {
    let bench = Bench::new(1);
    let lake = bench.open();
    for n in 1..=3 {
        lake.apply(Position(n), NO_KEY, TODAY_NS, request(1, &[span(n as u8, 1, TODAY_NS)]));
        lake.flush().unwrap();
    }
    let footers = Arc::new(Footers::new(1));
    let parts: Vec<Part> = lake
        .sources(&everything(Table::Spans))
        .iter()
        .map(|source| {
            let Source::Part(part) = source else { panic!("all rows are in parts") };
            Part::new(Arc::new(bench.disk.clone()), part.path().to_path_buf(), part.facts.clone())
                .sharing(&footers, &lake.shared.layout.removal)
        })
        .collect();
    for part in &parts {
        assert_eq!(part.metadata().unwrap().metadata().file_metadata().num_rows(), 1);
    }
    let kept: Vec<bool> = parts.iter().map(|part| footers.get(part.facts.id).is_some()).collect();
    assert_eq!(kept, [false, false, true], "the newest stays whatever its size");
    drop(parts);
    assert!(lake.sources(&everything(Table::Spans)).len() == 3, "parts that are still registered keep their files");
}

#[test]
fn records_without_rows_fill_the_memtable_too() {
    let bench = Bench::new(1);
    let lake = crate::Lake::open(crate::LakeOptions { flush_rows: 2, ..bench.options() }).unwrap();
    for n in 1..=8 {
        let dropped = TestSpan { kept: false, ..span(n as u8, 1, TODAY_NS) };
        lake.apply(Position(n), NO_KEY, TODAY_NS, request(1, &[dropped]));
    }
    assert_eq!(lake.stats().sealed, 1);
}

#[test]
fn background_threads_flush_and_end() {
    let folder = tempfile::TempDir::new().unwrap();
    let options = crate::LakeOptions { flush_rows: 2, ..crate::LakeOptions::new(folder.path()) };
    let lake = crate::Lake::open(options).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    lake.set_on_covered(move |position| sender.send(position).unwrap());
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(1, &[span(1, 1, TODAY_NS)]));
    assert_eq!(receiver.recv(), Ok(Position(0)));
    assert_eq!(receiver.recv(), Ok(Position(1)));
    lake.apply(Position(2), NO_KEY, TODAY_NS, request(1, &[span(1, 2, TODAY_NS)]));
    lake.shutdown().unwrap();
    let lake = crate::Lake::open(crate::LakeOptions::new(folder.path())).unwrap();
    assert_eq!(lake.covered(), Position(2));
    assert_eq!(stored_spans(&lake).len(), 2);
}
