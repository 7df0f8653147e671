//! Which records count as received before: the side of a span, and the window of a body without times.

use tidewatch_domain::model::SpanKind;
use tidewatch_journal::Position;
use tidewatch_store::TelemetryStore;

use super::support::*;
use crate::Lake;
use crate::dedup::file;
use crate::dedup::file::{DedupFile, DedupFileFacts, Generation};
use crate::dedup::{UNTIMED_WINDOW_NS, WINDOW_NS};
use crate::part::temporary::temporary;
use tidewatch_store::Applied;
use tidewatch_store::columns::{NO_KEY, keys_without_side};
use tidewatch_store::tables::Table;

const KEY: u128 = 4711;

const STORED: Applied = Applied { stored: 1, duplicates: 0 };
const KNOWN: Applied = Applied { stored: 0, duplicates: 1 };

/// Applies one log record without a time, received `seconds` after `TODAY_NS`.
fn untimed(lake: &Lake, position: u64, seconds: i64) -> Applied {
    lake.apply(Position(position), KEY, TODAY_NS + seconds * SECOND_NS, logs_request(1, &[("backup finished", 0)]))
}

/// DURABILITY 7, DECISIONS 11: equal messages that recur at intervals are different events.
#[test]
fn a_body_without_times_is_a_retry_for_five_minutes() {
    for flushes in [false, true] {
        let bench = Bench::new(1);
        let mut lake = bench.open();
        for (number, (seconds, expected)) in [
            (3, STORED),
            (4, KNOWN),
            (5 * 60 - 1, KNOWN),
            // A detected copy does not extend the window.
            (5 * 60 + 15, STORED),
            (9 * 60, KNOWN),
            (11 * 60, STORED),
            (24 * 3600, STORED),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(untimed(&lake, number as u64 + 1, seconds), expected, "after {seconds} s, flushes: {flushes}");
            if flushes {
                lake.flush().unwrap();
                drop(lake);
                lake = bench.open();
            }
        }
        let timed = |position, received| {
            lake.apply(Position(position), KEY + 1, received, logs_request(1, &[("backup finished", TODAY_NS)]))
        };
        assert_eq!(timed(20, TODAY_NS), STORED, "a body with times has its own key");
        assert_eq!(timed(21, TODAY_NS + WINDOW_NS - 1), KNOWN, "and the whole window");
    }
}

/// One record without a time is enough.
#[test]
fn a_body_with_one_record_without_a_time_is_no_retry_later() {
    let lake = Bench::new(1).open();
    let send = |position, received| {
        let logs = [("with a time", TODAY_NS), ("without", 0)];
        lake.apply(Position(position), KEY, received, logs_request(1, &logs)).stored
    };
    assert_eq!((send(1, TODAY_NS), send(2, TODAY_NS + UNTIMED_WINDOW_NS)), (2, 0));
    assert_eq!(send(3, TODAY_NS + 2 * UNTIMED_WINDOW_NS), 2);
}

/// DURABILITY 8: Zipkin and B3 share one span id between caller and callee.
#[test]
fn both_sides_of_a_shared_span_are_stored() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let send = |lake: &Lake, position, received, kind, time| {
        lake.apply(Position(position), NO_KEY, received, request_of(1, &[span(1, 1, time)], kind))
    };
    assert_eq!(send(&lake, 1, TODAY_NS, SpanKind::Client, TODAY_NS), STORED);
    lake.flush().unwrap();
    assert_eq!(send(&lake, 2, TODAY_NS, SpanKind::Server, TODAY_NS + 7), STORED);
    lake.flush().unwrap();
    for (position, kind) in [(3, SpanKind::Client), (4, SpanKind::Server), (5, SpanKind::Consumer)] {
        assert_eq!(send(&lake, position, TODAY_NS + SECOND_NS, kind, TODAY_NS), KNOWN, "{kind:?} again");
    }
    // Both are received again long after the window, and merges compare parts.
    lake.retain(TODAY_NS + 3 * DAY_NS).unwrap();
    assert_eq!(send(&lake, 6, TODAY_NS + 3 * DAY_NS, SpanKind::Server, TODAY_NS + 7), STORED);
    lake.flush().unwrap();
    assert_eq!(stored_spans(&lake).len(), 3);
    assert!(lake.merge(TODAY_NS).unwrap() > 0);
    assert_eq!(stored_spans(&lake), [(1, 1, 1, TODAY_NS), (1, 1, 1, TODAY_NS + 7)], "one of each side");
    drop(lake);
    assert_eq!(contents(&bench.open(), Table::Spans).len(), 2);
}

/// A retry across an upgrade: an earlier release wrote span keys without their side, and one key for a body without
/// times.
#[test]
fn keys_of_an_earlier_release_are_found() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let spans = [(1, SpanKind::Server), (2, SpanKind::Client)];
    for (position, (id, kind)) in (1..).zip(spans) {
        lake.apply(Position(position), NO_KEY, TODAY_NS, request_of(1, &[span(1, id, TODAY_NS)], kind));
    }
    untimed(&lake, 3, 0);
    lake.flush().unwrap();
    // The same file as written by the earlier release.
    let keys = spans.map(|(id, kind)| request_of(1, &[span(1, id, TODAY_NS)], kind).keys[0]);
    let mut old = vec![keys_without_side(keys[0])[0], keys_without_side(keys[1])[1], KEY];
    old.sort_unstable();
    let facts: DedupFileFacts = lake.shared.dedup.lock().files().next().unwrap().facts;
    let (disk, folder) = (&bench.options().disk, lake.shared.layout.dedup_folder());
    drop(lake);
    let mut coming = old.into_iter();
    file::write(disk, &folder, Generation::WithoutSides, DedupFileFacts { keys: 3, ..facts }, 3, || Ok(coming.next()))
        .unwrap();
    let path = DedupFile::path(&folder, facts.id);
    disk.rename(&temporary(&path), &path).unwrap();

    let lake = bench.open();
    let generations: Vec<Generation> = lake.shared.dedup.lock().files().map(|file| file.generation()).collect();
    assert_eq!(generations, [Generation::WithoutSides]);
    let send = |position, id, kind| {
        let rows = request_of(1, &[span(1, id, TODAY_NS)], kind);
        lake.apply(Position(position), NO_KEY, TODAY_NS + SECOND_NS, rows)
    };
    assert_eq!((send(4, 1, SpanKind::Server), send(5, 2, SpanKind::Client)), (KNOWN, KNOWN));
    assert_eq!(send(6, 3, SpanKind::Client), STORED);
    assert_eq!(untimed(&lake, 7, 200), KNOWN);
    assert_eq!(untimed(&lake, 8, 400), STORED);
    lake.flush().unwrap();
    // Old and new keys stay in separate files, and both are found.
    lake.merge(TODAY_NS + DAY_NS / 2).unwrap();
    assert_eq!((send(9, 1, SpanKind::Server), send(10, 3, SpanKind::Client)), (KNOWN, KNOWN));
    lake.retain(TODAY_NS + WINDOW_NS + 100 * SECOND_NS).unwrap();
    assert_eq!(lake.stats().key_files, 1, "the old file is removed after its window");
}
