//! Pages of a list of rows without identity form the whole list, whatever is merged between them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use arrow::array::AsArray;
use proptest::prelude::*;
use tidewatch_journal::Position;

use super::support::*;
use crate::{Lake, LakeOptions, MergeOptions};
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::plan::{Order, Plan, Shape};
use tidewatch_store::tables::Table;

/// The bodies of log records, latest first.
fn page(lake: &Lake, offset: usize, limit: usize) -> Vec<String> {
    let order = vec![Order { column: "time", descending: true }];
    let plan = Plan { shape: Shape::Rows { columns: vec!["body"], order, limit, offset }, ..everything(Table::Logs) };
    let rows = lake.execute(&plan, Instant::now() + Duration::from_secs(60)).unwrap();
    rows.column(0).as_string::<i32>().iter().map(|body| body.unwrap().to_owned()).collect()
}

/// DURABILITY 13: 500 records of one time, a merge after the third page.
#[test]
fn merges_do_not_change_pages() {
    let bench = Bench::new(1);
    let lake = bench.open();
    for flush in 0..5_u64 {
        for request in 0..5 {
            let number = flush * 5 + request;
            let bodies: Vec<String> = (0..20).map(|n| format!("{number:02}-{n:02}")).collect();
            let logs: Vec<_> = bodies.iter().map(|body| (body.as_str(), TODAY_NS)).collect();
            lake.apply(Position(number + 1), NO_KEY, TODAY_NS, logs_request(1, &logs));
        }
        lake.flush().unwrap();
    }
    let mut shown: Vec<String> = (0..3).flat_map(|number| page(&lake, number * 100, 100)).collect();
    assert!(lake.merge(TODAY_NS).unwrap() > 0);
    shown.extend((3..5).flat_map(|number| page(&lake, number * 100, 100)));
    let distinct: BTreeSet<_> = shown.iter().collect();
    assert_eq!((shown.len(), distinct.len()), (500, 500));
    assert!(shown.is_sorted(), "in order of receipt");
    drop(lake);
    assert_eq!(page(&bench.open(), 0, 500), shown);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Requests with few distinct times and two projects, flushed occasionally and merged at any point: the order never
    /// changes.
    #[test]
    fn no_merge_changes_the_order(
        requests in prop::collection::vec((0..3_i64, 1..40_usize, 1..3_u32, any::<bool>()), 1..30),
        rows_max in 20..400_u64,
    ) {
        let bench = Bench::new(1);
        let merge = MergeOptions { fan_in: 3, rows_max, ..MergeOptions::default() };
        let lake = Lake::open(LakeOptions { merge, ..bench.options() }).unwrap();
        for (number, (second, count, project, flushes)) in requests.into_iter().enumerate() {
            let bodies: Vec<String> = (0..count).map(|n| format!("{number}-{n}")).collect();
            let logs: Vec<_> = bodies.iter().map(|body| (body.as_str(), TODAY_NS + second * SECOND_NS)).collect();
            lake.apply(Position(number as u64 + 1), NO_KEY, TODAY_NS, logs_request(project, &logs));
            if flushes {
                lake.flush().unwrap();
            }
        }
        let before = page(&lake, 0, usize::MAX);
        lake.flush().unwrap();
        prop_assert_eq!(&page(&lake, 0, usize::MAX), &before, "after a flush");
        for now in [TODAY_NS, TODAY_NS + 3 * DAY_NS] {
            while lake.shared.merge_once(now, &mut || false).unwrap() {
                prop_assert_eq!(&page(&lake, 0, usize::MAX), &before, "after a merge");
            }
        }
        drop(lake);
        prop_assert_eq!(&page(&bench.open(), 0, usize::MAX), &before, "after a restart");
    }
}
