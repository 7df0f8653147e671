//! Power cuts, full disks and failing syncs: after a replay of the journal from `covered`, every acknowledged row is
//! stored exactly once.

use std::sync::Arc;
use std::time::{Duration, Instant};
use tidewatch_store::TelemetryStore;

use tidewatch_journal::Position;
use tidewatch_journal::disk::sim::rounds;

use super::support::*;
use crate::{Lake, Part, Source};
use tidewatch_store::StoreError;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::plan::{Function, Key, Plan, Shape};
use tidewatch_store::tables::Table;

/// The requests of the journal, which the test itself keeps.
fn requests() -> Vec<(Position, u128, Vec<TestSpan>)> {
    let request = |n: u8| {
        let time = TODAY_NS - i64::from(n % 3) * DAY_NS;
        // Every fourth request repeats a span of the one before.
        let spans = vec![span(n, 1, time), span(n, 2, time + 1), span(n - u8::from(n.is_multiple_of(4)), 2, time)];
        (Position(u64::from(n) * 10), u128::from(n) << 3, spans)
    };
    (1..=12).map(request).collect()
}

fn replay(lake: &Lake) {
    let covered = lake.covered();
    for (position, key, spans) in requests() {
        if position > covered {
            lake.apply(position, key, TODAY_NS, request(1, &spans));
        }
    }
}

/// The content of a lake without any failure.
fn undisturbed() -> Vec<Vec<Vec<u8>>> {
    let bench = Bench::new(0);
    let lake = bench.open();
    replay(&lake);
    snapshot(&lake)
}

fn snapshot(lake: &Lake) -> Vec<Vec<Vec<u8>>> {
    [Table::Spans, Table::Endpoints].into_iter().map(|table| contents(lake, table)).collect()
}

#[test]
fn a_power_cut_at_any_write_or_sync_loses_and_repeats_nothing() {
    let expected = undisturbed();
    let requests = requests();
    for seed in 0..rounds(40) {
        let mut bench = Bench::new(seed);
        let lake = bench.open();
        for (n, (position, key, spans)) in requests.iter().enumerate() {
            if n == 6 {
                lake.flush().unwrap();
                // The next flush fails at a write or at a sync.
                match seed % 2 {
                    0 => bench.disk.fail_write_after(seed / 2),
                    _ => bench.disk.fail_sync_after(seed / 2),
                }
            }
            lake.apply(*position, *key, TODAY_NS, request(1, spans));
        }
        let flushed = lake.flush();
        let visible = snapshot(&lake);
        assert!(visible == expected, "seed {seed}: a failed flush hides nothing ({flushed:?})");
        let after = bench.disk.power_cut();
        drop(lake);
        bench.disk = after;

        let lake = bench.open();
        replay(&lake);
        assert!(snapshot(&lake) == expected, "seed {seed}");
        lake.flush().unwrap();
        lake.merge(TODAY_NS + 9 * DAY_NS).unwrap();
        assert!(snapshot(&lake) == expected, "seed {seed}");
        assert_eq!(counted(&lake, "kept", ""), expected[0].len() as u64, "seed {seed}");
    }
}

#[test]
fn a_full_disk_keeps_rows_in_memory_until_there_is_space() {
    let bench = Bench::new(3);
    let lake = bench.open();
    replay(&lake);
    let expected = snapshot(&lake);
    bench.disk.set_capacity(Some(bench.disk.used() + 5000));
    for _ in 0..3 {
        let error = lake.flush().unwrap_err();
        assert!(matches!(error, tidewatch_store::StoreError::NoSpace { .. }), "{error:?}");
        assert!(snapshot(&lake) == expected);
        assert_eq!(bench.files().len(), 0, "incomplete files are removed");
    }
    assert_eq!(lake.covered(), Position(0));
    bench.disk.set_capacity(None);
    lake.flush().unwrap();
    assert!(snapshot(&lake) == expected);
    assert_eq!(lake.covered(), Position(120));
}

#[test]
fn flushing_that_cannot_keep_up_is_reported() {
    let bench = Bench::new(3);
    let lake = Lake::open(crate::LakeOptions { flush_rows: 4, ..bench.options() }).unwrap();
    bench.disk.set_capacity(Some(bench.disk.used()));
    replay(&lake);
    assert!(lake.is_behind());
    assert!(!lake.wait_while_behind(std::time::Duration::ZERO));
    bench.disk.set_capacity(None);
    lake.flush().unwrap();
    assert!(lake.wait_while_behind(std::time::Duration::ZERO));
}

/// A damaged byte anywhere in a part is reported, and no query is answered from it.
#[test]
fn a_damaged_part_is_reported_and_not_answered_from() {
    let bench = Bench::new(5);
    let lake = bench.open();
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(1, &[span(1, 1, TODAY_NS), span(1, 2, TODAY_NS)]));
    lake.flush().unwrap();
    let (path, facts) = match &lake.sources(&everything(Table::Spans))[..] {
        [Source::Part(part)] => (part.path().to_path_buf(), part.facts.clone()),
        other => panic!("one part is registered, not {other:?}"),
    };
    drop(lake);
    for at in 0..facts.bytes {
        assert!(bench.disk.flip(&path, at, 1 << (at % 8)));
        let part = Part::new(Arc::new(bench.disk.clone()), path.clone(), facts.clone());
        let error = try_read(&part).expect_err("a flipped bit is an error");
        assert!(matches!(error, StoreError::Corrupt { .. }), "byte {at}: {error:?}");
        assert!(bench.disk.flip(&path, at, 1 << (at % 8)));
    }
    assert_eq!(stored_spans(&bench.open()).len(), 2);
}

/// The same for the bytes of a roll-up.
#[test]
fn a_damaged_rollup_is_reported_and_not_answered_from() {
    let bench = Bench::new(7);
    let lake = bench.open();
    lake.apply(Position(1), NO_KEY, TODAY_NS, request(1, &[span(1, 1, TODAY_NS), span(1, 2, TODAY_NS + SECOND_NS)]));
    lake.flush().unwrap();
    let plan = Plan {
        shape: Shape::Groups {
            keys: vec![Key::column("name")],
            aggregates: vec![Function::Sum("duration").named("total")],
            order: vec![],
            limit: 9,
            offset: 0,
        },
        ..everything(Table::Endpoints)
    };
    let deadline = Instant::now() + Duration::from_secs(600);
    let expected = lake.execute(&plan, deadline).unwrap();
    let (path, bytes) = match &lake.sources(&plan)[..] {
        [Source::Part(part)] => (part.path().to_path_buf(), part.facts.bytes),
        other => panic!("one part is registered, not {other:?}"),
    };
    drop(lake);
    let mut reported = 0;
    for at in 0..bytes {
        assert!(bench.disk.flip(&path, at, 1 << (at % 8)));
        match bench.open().execute(&plan, deadline) {
            Err(StoreError::Corrupt { .. }) => reported += 1,
            Err(error) => panic!("byte {at}: {error:?}"),
            // A query that only needs the cells reads no rows.
            Ok(answer) => assert_eq!(answer, expected, "byte {at}"),
        }
        assert!(bench.disk.flip(&path, at, 1 << (at % 8)));
    }
    assert!(reported > 0);
}

#[test]
fn two_lakes_cannot_share_a_directory() {
    let bench = Bench::new(6);
    let _lake = bench.open();
    let Err(error) = Lake::open(bench.options()) else { panic!("the directory is in use") };
    assert_eq!(error.to_string(), "another process uses /data");
}
