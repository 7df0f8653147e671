//! Removal of rows past their retention, by project, from parts shared with other projects.

use tidewatch_journal::Position;
use tidewatch_store::TelemetryStore;

use super::support::*;
use crate::{Lake, LakeOptions};
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::retention::ProjectRetention;
use tidewatch_store::tables::Table;

/// Applies a span of each of these days ago for projects 1 to 3, flushed together, twice.
fn shared(lake: &Lake, days: &[i64]) {
    for (n, project) in [1, 2, 3, 1, 2, 3].into_iter().enumerate() {
        let spans: Vec<TestSpan> =
            days.iter().map(|day| span(*day as u8, n as u8 + 1, TODAY_NS - day * DAY_NS)).collect();
        lake.apply(Position(n as u64 + 1), NO_KEY, TODAY_NS, request(project, &spans));
        if n == 2 {
            lake.flush().unwrap();
        }
    }
    lake.flush().unwrap();
}

/// The ages in days of each project's spans.
fn kept(lake: &Lake) -> Vec<(u32, Vec<i64>)> {
    let spans = stored_spans(lake);
    let of = |project| {
        let mut days: Vec<i64> =
            spans.iter().filter(|span| span.0 == project).map(|span| (TODAY_NS - span.3) / DAY_NS).collect();
        days.sort_unstable();
        days.dedup();
        (project, days)
    };
    [1, 2, 3].into_iter().map(of).collect()
}

#[test]
fn projects_keep_more_or_less_than_the_server() {
    let bench = Bench::new(1);
    let project_retention = ProjectRetention { days: [(1, 7), (3, 90)].into(), ..ProjectRetention::default() };
    let lake = Lake::open(LakeOptions { project_retention, ..bench.options() }).unwrap();
    shared(&lake, &[0, 7, 8, 30, 31, 90, 91]);
    let used = bench.disk.used();
    let bytes = lake.retain(TODAY_NS).unwrap();
    assert!(bytes > 0 && bench.disk.used() < used);
    let expected = [(1, vec![0, 7]), (2, vec![0, 7, 8, 30]), (3, vec![0, 7, 8, 30, 31, 90])];
    assert_eq!(kept(&lake), expected);
    assert_eq!(rolled_endpoints(&lake), 24, "roll-ups agree");
    assert_eq!(lake.retain(TODAY_NS).unwrap(), 0, "nothing is left to do");
    lake.merge(TODAY_NS).unwrap();
    assert_eq!(kept(&lake), expected);
    // A longer retention restores no old rows; a shorter one removes rows.
    lake.set_project_retention(ProjectRetention { days: [(3, 20)].into(), ..ProjectRetention::default() });
    lake.retain(TODAY_NS).unwrap();
    assert_eq!(kept(&lake), [(1, vec![0, 7]), (2, vec![0, 7, 8, 30]), (3, vec![0, 7, 8])]);
    assert_eq!(rolled_endpoints(&lake), 18);
    drop(lake);
    assert_eq!(kept(&bench.open())[2], (3, vec![0, 7, 8]));
}

#[test]
fn a_deleted_project_leaves_nothing_and_others_everything() {
    let bench = Bench::new(1);
    let lake = bench.open();
    shared(&lake, &[0, 1]);
    let soon = || std::time::Instant::now() + std::time::Duration::from_secs(60);
    assert!(lake.holds(2, soon()).unwrap() && !lake.holds(4, soon()).unwrap());
    lake.set_project_retention(ProjectRetention { deleted_projects: [2].into(), ..ProjectRetention::default() });
    lake.retain(TODAY_NS).unwrap();
    assert_eq!(kept(&lake), [(1, vec![0, 1]), (2, vec![]), (3, vec![0, 1])]);
    assert!(!lake.holds(2, soon()).unwrap(), "in no table, counts among them");
    assert_eq!((rolled_endpoints(&lake), counted(&lake, "kept", "")), (8, 8));
    // Rows that arrive later are removed too, after a flush.
    lake.apply(Position(9), NO_KEY, TODAY_NS, request(2, &[span(9, 9, TODAY_NS)]));
    assert!(lake.holds(2, soon()).unwrap());
    lake.flush().unwrap();
    lake.retain(TODAY_NS).unwrap();
    assert!(!lake.holds(2, soon()).unwrap());
    lake.set_purged(2).unwrap();
    lake.set_purged(2).unwrap();
    drop(lake);
    assert_eq!(bench.open().purged().unwrap(), [2].into());
}

/// After any failure, the rows are either stored or removed, never doubled, and rows of other projects stay.
#[test]
fn a_failed_removal_is_repeated() {
    for fail_after in 0..12 {
        let mut bench = Bench::new(fail_after);
        let lake = bench.open();
        shared(&lake, &[0, 1]);
        let expected: Vec<_> = stored_spans(&lake).into_iter().filter(|span| span.0 != 2).collect();
        lake.set_project_retention(ProjectRetention { deleted_projects: [2].into(), ..ProjectRetention::default() });
        match fail_after % 2 {
            0 => bench.disk.fail_write_after(fail_after / 2),
            _ => bench.disk.fail_sync_after(fail_after / 2),
        }
        let first = lake.retain(TODAY_NS);
        let others = |lake: &Lake| stored_spans(lake).into_iter().filter(|span| span.0 != 2).collect::<Vec<_>>();
        assert_eq!(others(&lake), expected, "{fail_after}: {first:?}");
        let after = bench.disk.power_cut();
        drop(lake);
        bench.disk = after;
        let lake = bench.open();
        assert_eq!(others(&lake), expected, "{fail_after}");
        lake.set_project_retention(ProjectRetention { deleted_projects: [2].into(), ..ProjectRetention::default() });
        lake.retain(TODAY_NS).unwrap();
        assert_eq!((stored_spans(&lake), rolled_endpoints(&lake)), (expected, 8), "{fail_after}");
        let stats = lake.stats();
        let registered = stats.tables.iter().map(|table| table.parts).sum::<usize>() + stats.key_files;
        assert_eq!(bench.files().len(), registered, "{fail_after}: no file is left over");
    }
}

/// Stopping in the middle changes nothing.
#[test]
fn a_removal_stops_on_request() {
    let bench = Bench::new(1);
    let lake = bench.open();
    shared(&lake, &[0]);
    lake.set_project_retention(ProjectRetention { deleted_projects: [2].into(), ..ProjectRetention::default() });
    let before = contents(&lake, Table::Spans);
    let mut calls = 0;
    let mut stop = || {
        calls += 1;
        calls % 2 == 0
    };
    lake.shared.retain(TODAY_NS, &mut stop).unwrap();
    assert!(contents(&lake, Table::Spans) == before);
    lake.retain(TODAY_NS).unwrap();
    assert!(contents(&lake, Table::Spans).len() < before.len());
}
