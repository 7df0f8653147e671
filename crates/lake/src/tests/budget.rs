//! The disk budget.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tidewatch_store::TelemetryStore;

use tidewatch_journal::Position;

use super::support::*;
use crate::{DISK_BUDGET, DiskBudget, Lake, LakeOptions};
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::retention::Retention;

/// Applies spans of two projects for each of the last ten days, with a flush per day; today's last spans stay in
/// memory.
fn ten_days(lake: &Lake) {
    for days in (0..10_u8).rev() {
        let time = TODAY_NS - i64::from(days) * DAY_NS;
        for project in [1, 2] {
            let spans: Vec<_> = (0..50 * project as u8).map(|n| span(days, n, time)).collect();
            let position = u64::from(9 - days) * 2 + u64::from(project);
            lake.apply(Position(position), NO_KEY, time, request(project, &spans));
        }
        if days > 0 {
            lake.flush().unwrap();
        }
    }
}

/// The ages of the stored spans in days.
fn days(lake: &Lake) -> Vec<i64> {
    let mut days: Vec<i64> = stored_spans(lake).iter().map(|span| (TODAY_NS - span.3) / DAY_NS).collect();
    days.sort_unstable();
    days.dedup();
    days
}

fn open(bench: &Bench, budget: DiskBudget) -> Lake {
    Lake::open(LakeOptions { budget, retention: Retention::all(0), ..bench.options() }).unwrap()
}

#[test]
fn the_oldest_days_are_dropped() {
    let bench = Bench::new(1);
    let lake = open(&bench, DiskBudget::default());
    ten_days(&lake);
    assert_eq!(lake.keep_within_budget(TODAY_NS).unwrap(), 0, "disabled without a limit");
    let bytes = lake.stats().disk_bytes();
    let (kept, dropped) = (counted(&lake, "kept", ""), counted(&lake, "dropped", DISK_BUDGET));
    assert_eq!((kept, dropped), (1500, 0));
    drop(lake);

    let lake = open(&bench, DiskBudget { bytes_max: Some(bytes / 2), ..DiskBudget::default() });
    let used = bench.disk.used();
    let freed = lake.keep_within_budget(TODAY_NS).unwrap();
    assert!(freed > 0 && lake.stats().disk_bytes() <= bytes / 2 && bench.disk.used() < used);
    let left = days(&lake);
    let (oldest, newest) = (left[left.len() - 1], left[0]);
    assert_eq!((left.len() as i64, newest), (oldest, 1), "whole days, the oldest first: {left:?}");
    assert!((2..9).contains(&oldest));
    let dropped_days = 9 - oldest as u64;
    assert_eq!(counted(&lake, "dropped", DISK_BUDGET), dropped_days * 150, "as the project's users see it");
    assert_eq!(lake.keep_within_budget(TODAY_NS).unwrap(), 0);
    assert_eq!(days(&lake), left, "no more than necessary");
}

#[test]
fn the_newest_day_and_rows_in_memory_stay() {
    let bench = Bench::new(1);
    let lake = open(&bench, DiskBudget { bytes_max: Some(1), ..DiskBudget::default() });
    ten_days(&lake);
    lake.keep_within_budget(TODAY_NS).unwrap();
    assert_eq!(days(&lake), [0, 1], "today's rows are in memory, yesterday is the newest day on the disk");
    lake.flush().unwrap();
    lake.keep_within_budget(TODAY_NS).unwrap();
    assert_eq!(days(&lake), [0]);
    lake.keep_within_budget(TODAY_NS).unwrap();
    assert_eq!(days(&lake), [0]);
}

#[test]
fn days_are_dropped_for_other_files_on_the_disk() {
    let bench = Bench::new(1);
    let free = Arc::new(AtomicU64::new(5_000));
    let measured = free.clone();
    let budget = DiskBudget {
        free_min: Some(4_000),
        free: Some(Arc::new(move || match measured.load(Ordering::Relaxed) {
            0 => Err(io::ErrorKind::PermissionDenied.into()),
            bytes => Ok(bytes),
        })),
        bytes_max: None,
    };
    let lake = open(&bench, budget);
    ten_days(&lake);
    assert_eq!(lake.keep_within_budget(TODAY_NS).unwrap(), 0);
    free.store(3_999, Ordering::Relaxed);
    assert!(lake.keep_within_budget(TODAY_NS).unwrap() > 0);
    assert_eq!(days(&lake).last(), Some(&8), "one day is enough");
    free.store(0, Ordering::Relaxed);
    assert!(lake.keep_within_budget(TODAY_NS).is_err(), "nothing is dropped when the free space is unknown");
    assert_eq!(days(&lake).last(), Some(&8));
}
