//! Wrong clocks: that of the lake, and those of senders.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidewatch_domain::units::HOUR_NS;
use tidewatch_store::TelemetryStore;

use tidewatch_journal::Position;

use super::support::*;
use crate::{Lake, LakeOptions};
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::days::day_name;
use tidewatch_store::days::day_of;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::retention::{ProjectRetention, Retention};
use tidewatch_store::tables::Table;

const KEY: u128 = 77;

/// Opens a lake without rows and ends the replay.
fn open(bench: &Bench, clock: &Arc<TestClock>) -> Lake {
    let lake = Lake::open(LakeOptions { clock: Some(clock.clone()), ..bench.options() }).unwrap();
    lake.replayed();
    lake
}

/// Applies a span of each of these days ago, as an export with its own key.
fn send(lake: &Lake, position: u64, received: i64, days_ago: &[i64]) {
    let spans: Vec<_> =
        days_ago.iter().map(|days| span(position as u8, *days as u8, TODAY_NS - days * DAY_NS)).collect();
    lake.apply(Position(position), KEY + u128::from(position), received, request(1, &spans));
    lake.flush().unwrap();
}

/// The work of the maintenance thread once a minute.
fn run_maintenance(lake: &Lake) {
    lake.remove_due();
}

fn spans(lake: &Lake) -> usize {
    stored_spans(lake).len()
}

/// DURABILITY 3: the clock jumps 400 days ahead for a moment, then back.
#[test]
fn a_clock_that_jumps_ahead_deletes_nothing() {
    let (bench, clock) = (Bench::new(1), TestClock::at(TODAY_NS));
    let lake = open(&bench, &clock);
    send(&lake, 1, clock.now(), &[0, 1, 30]);
    run_maintenance(&lake);
    clock.jump(400 * DAY_NS);
    // Requests are meanwhile received in the future.
    send(&lake, 2, clock.now(), &[0]);
    run_maintenance(&lake);
    assert_eq!(spans(&lake), 4);
    assert!(lake.clock_ahead_ns() > 399 * DAY_NS, "it is shown");
    clock.pass(5 * HOUR_NS);
    run_maintenance(&lake);
    assert_eq!((spans(&lake), lake.stats().key_files), (4, 2));
    clock.jump(-400 * DAY_NS);
    run_maintenance(&lake);
    assert_eq!((spans(&lake), lake.clock_ahead_ns()), (4, 0));
    // A retry of an export from before the jump: its keys are still stored.
    let again = lake.apply(Position(3), KEY + 1, clock.now(), request(1, &[span(1, 0, TODAY_NS)]));
    assert_eq!((again.stored, again.duplicates), (0, 1));
    // Days are removed when they expire.
    clock.pass(19 * HOUR_NS);
    run_maintenance(&lake);
    assert_eq!(spans(&lake), 3, "the oldest of 31 days");
}

/// The clock is wrong when the process starts. The time comes from the catalog's note, from times of receipt, or from
/// the journal alone.
#[test]
fn a_clock_that_is_ahead_at_the_start_deletes_nothing() {
    for (flushed, noted) in [(true, true), (true, false), (false, false)] {
        let (bench, clock) = (Bench::new(1), TestClock::at(TODAY_NS));
        let lake = open(&bench, &clock);
        let rows = || request(1, &[span(1, 1, TODAY_NS), span(1, 2, TODAY_NS - 30 * DAY_NS)]);
        lake.apply(Position(1), KEY, clock.now(), rows());
        if flushed {
            lake.flush().unwrap();
        }
        if noted {
            run_maintenance(&lake);
        }
        drop(lake);
        let clock = TestClock::at(TODAY_NS + 400 * DAY_NS);
        let lake = Lake::open(LakeOptions { clock: Some(clock.clone()), ..bench.options() }).unwrap();
        if !flushed {
            lake.apply(Position(1), KEY, TODAY_NS, rows());
        }
        lake.replayed();
        lake.flush().unwrap();
        for _ in 0..3 {
            run_maintenance(&lake);
            clock.pass(HOUR_NS);
        }
        assert_eq!(spans(&lake), 2, "flushed: {flushed}, noted: {noted}");
        // The jump is real: it is followed after a day, two days per hour.
        clock.pass(21 * HOUR_NS + 1);
        run_maintenance(&lake);
        assert_eq!(spans(&lake), 1, "31 days are over");
        for _ in 0..13 {
            clock.pass(HOUR_NS);
            run_maintenance(&lake);
            assert_eq!(spans(&lake), 1, "not all at once");
        }
        for _ in 0..20 {
            clock.pass(HOUR_NS);
            run_maintenance(&lake);
        }
        assert_eq!(spans(&lake), 0);
    }
}

/// Times of receipt are wall-clock times: those of a clock that was ahead do not confirm a later start.
#[test]
fn times_of_receipt_of_a_clock_that_was_ahead_confirm_nothing() {
    let (bench, clock) = (Bench::new(1), TestClock::at(TODAY_NS));
    let lake = open(&bench, &clock);
    send(&lake, 1, clock.now(), &[0, 30]);
    run_maintenance(&lake);
    clock.jump(400 * DAY_NS);
    send(&lake, 2, clock.now(), &[0]);
    run_maintenance(&lake);
    drop(lake);
    let clock = TestClock::at(TODAY_NS + 400 * DAY_NS);
    let lake = open(&bench, &clock);
    run_maintenance(&lake);
    assert_eq!(spans(&lake), 3);
}

#[test]
fn the_operator_confirms_the_clock() {
    let (bench, clock) = (Bench::new(1), TestClock::at(TODAY_NS));
    let lake = open(&bench, &clock);
    send(&lake, 1, clock.now(), &[0, 30]);
    run_maintenance(&lake);
    drop(lake);
    clock.jump(400 * DAY_NS);
    let options = LakeOptions { clock: Some(clock.clone()), trusts_clock: true, ..bench.options() };
    let lake = Lake::open(options).unwrap();
    lake.replayed();
    run_maintenance(&lake);
    assert_eq!((spans(&lake), lake.stats().key_files), (0, 0));
}

/// DURABILITY 14: after more than a day without the server, the end of the journal has a retry of rows in parts.
#[test]
fn a_replay_has_the_keys_of_its_retries() {
    let (bench, clock) = (Bench::new(1), TestClock::at(TODAY_NS));
    let lake = open(&bench, &clock);
    send(&lake, 1, clock.now(), &[0]);
    run_maintenance(&lake);
    drop(lake);
    let clock = TestClock::at(TODAY_NS + 40 * HOUR_NS);
    let options = LakeOptions { clock: Some(clock.clone()), trusts_clock: true, ..bench.options() };
    let lake = Lake::open(options).unwrap();
    run_maintenance(&lake);
    let retry = lake.apply(Position(2), KEY + 1, TODAY_NS + SECOND_NS, request(1, &[span(1, 0, TODAY_NS)]));
    assert_eq!((retry.stored, retry.duplicates), (0, 1), "maintenance begins after the replay");
    lake.replayed();
    run_maintenance(&lake);
    assert_eq!(lake.stats().key_files, 0, "then keys expire");
}

/// DURABILITY 10: a sender with a wrong clock. Its rows are found at their own time and removed with the day after
/// their receipt.
#[test]
fn rows_of_the_future_are_removed_by_retention() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let far = TODAY_NS + 60_000 * DAY_NS;
    let all = [span(1, 1, TODAY_NS), span(1, 2, far), span(1, 3, i64::MAX - 1), span(1, 4, TODAY_NS + DAY_NS)];
    lake.apply(Position(1), NO_KEY, TODAY_NS + 5, request(1, &all));
    // The next day: rows received then have a later day.
    lake.apply(Position(2), NO_KEY, TODAY_NS + DAY_NS, request(1, &[span(2, 1, far)]));
    lake.flush().unwrap();
    let days = bench.disk_days("spans");
    assert_eq!(days, [day_name(20_778), day_name(20_779), day_name(20_780)], "none is later than the day after");
    let found = |from: i64, to: i64| {
        let shape = Shape::Rows { columns: vec!["time"], order: Vec::new(), limit: 10, offset: 0 };
        let plan = Plan { from, to, shape, ..everything(Table::Spans) };
        lake.execute(&plan, Instant::now() + Duration::from_secs(60)).unwrap().num_rows()
    };
    assert_eq!((found(far, far + 1), found(far + 1, i64::MAX), found(TODAY_NS, TODAY_NS + 1)), (2, 1, 1));
    lake.merge(TODAY_NS + 5 * DAY_NS).unwrap();
    assert_eq!((found(far, far + 1), found(far + 1, i64::MAX)), (2, 1));
    lake.retain(TODAY_NS + 32 * DAY_NS).unwrap();
    assert_eq!(stored_spans(&lake), [(1, 2, 1, far)], "those of the first day are removed");
    lake.retain(TODAY_NS + 33 * DAY_NS).unwrap();
    assert_eq!(spans(&lake), 0);
}

/// DURABILITY 11: earlier releases stored times beyond the range as `i64::MAX`, which no query included.
#[test]
fn a_deleted_project_is_searched_up_to_the_end_of_time() {
    let bench = Bench::new(1);
    let lake = bench.open();
    let holds = |lake: &Lake| lake.holds(3, Instant::now() + Duration::from_secs(60)).unwrap();
    lake.set_project_retention(ProjectRetention { deleted_projects: [3].into(), ..ProjectRetention::default() });
    lake.apply(Position(1), NO_KEY, TODAY_NS, logs_request(3, &[("late", i64::MAX)]));
    lake.flush().unwrap();
    // The counts of received records have other times.
    lake.drop_before(Table::IngestCounts, i32::MAX).unwrap();
    assert!(holds(&lake));
    lake.retain(TODAY_NS).unwrap();
    assert!(!holds(&lake));
}

#[test]
fn retention_of_projects_follows_the_trusted_time() {
    let (bench, clock) = (Bench::new(1), TestClock::at(TODAY_NS));
    let project_retention = ProjectRetention { days: [(1, 2)].into(), ..ProjectRetention::default() };
    let options = LakeOptions { clock: Some(clock.clone()), project_retention, ..bench.options() };
    let lake = Lake::open(LakeOptions { retention: Retention::all(0), ..options }).unwrap();
    lake.replayed();
    send(&lake, 1, clock.now(), &[0, 2, 3]);
    clock.jump(20 * DAY_NS);
    run_maintenance(&lake);
    assert_eq!(spans(&lake), 2);
    assert_eq!(day_of(lake.trusted_now().unwrap()), day_of(TODAY_NS));
}

/// A clock that was behind, by months or since 1970: rows received meanwhile do not become old when it is corrected.
#[test]
fn rows_received_while_the_clock_was_behind_stay() {
    for behind in [60 * DAY_NS, TODAY_NS - 5 * SECOND_NS] {
        for restarts in [false, true] {
            let (bench, clock) = (Bench::new(1), TestClock::at(TODAY_NS));
            let mut lake = open(&bench, &clock);
            send(&lake, 1, clock.now(), &[0]);
            run_maintenance(&lake);
            clock.jump(-behind);
            run_maintenance(&lake);
            if restarts {
                drop(lake);
                lake = open(&bench, &clock);
            }
            send(&lake, 2, clock.now(), &[0, 1]);
            clock.jump(behind);
            for _ in 0..60 {
                clock.pass(HOUR_NS);
                run_maintenance(&lake);
                assert_eq!(spans(&lake), 3, "{behind} ns behind, restarts: {restarts}");
            }
        }
    }
    // A new store on a machine without a real-time clock.
    let (bench, clock) = (Bench::new(1), TestClock::at(5 * SECOND_NS));
    let lake = Lake::open(LakeOptions { clock: Some(clock.clone()), trusts_clock: true, ..bench.options() }).unwrap();
    lake.replayed();
    send(&lake, 1, clock.now(), &[0]);
    clock.jump(TODAY_NS);
    run_maintenance(&lake);
    assert_eq!(spans(&lake), 1);
}

/// Key files of future hours end no hour: otherwise every new file would be merged at once.
#[test]
fn keys_received_while_the_clock_was_ahead_cause_no_merges() {
    let bench = Bench::new(1);
    let lake = bench.open();
    send(&lake, 1, TODAY_NS + 400 * DAY_NS, &[0]);
    send(&lake, 2, TODAY_NS, &[0]);
    send(&lake, 3, TODAY_NS + SECOND_NS, &[0]);
    lake.merge(TODAY_NS + 2 * SECOND_NS).unwrap();
    assert_eq!(lake.stats().key_files, 3, "three of one hour would be one");
    send(&lake, 4, TODAY_NS + 2 * SECOND_NS, &[0]);
    lake.merge(TODAY_NS + 3 * SECOND_NS).unwrap();
    assert_eq!(lake.stats().key_files, 2);
}

impl Bench {
    /// The days of a table's parts, by their folder names.
    fn disk_days(&self, table: &str) -> Vec<String> {
        let folder = Path::new("/data/parts").join(table);
        let mut days: Vec<String> = self
            .files()
            .iter()
            .filter_map(|path| path.strip_prefix(&folder).ok()?.iter().next()?.to_str().map(str::to_owned))
            .collect();
        days.sort();
        days.dedup();
        days
    }
}
