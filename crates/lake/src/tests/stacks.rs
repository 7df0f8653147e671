//! Stacks of profiles are stored about once per project and day.

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;
use tidewatch_domain::model::RequestKind;
use tidewatch_domain::project::{ProfileProjection, StackRow};
use tidewatch_journal::Position;

use super::support::*;
use crate::Lake;
use tidewatch_store::columns::{NO_KEY, Rows};
use tidewatch_store::tables::Table;

/// Rows of these stacks: hash and time.
fn stacks(project: u32, all: &[(u64, i64)]) -> Rows {
    let row = |(record, (stack, time_ns)): (u32, &(u64, i64))| StackRow {
        record,
        time_ns: *time_ns,
        stack: *stack,
        frames: b"\x0a\x03\x0a\x01f",
    };
    let projection = ProfileProjection {
        stacks: (0..).zip(all).map(row).collect(),
        records: all.len(),
        ..ProfileProjection::default()
    };
    Rows::profiles(project, RequestKind::Profile, &projection)
}

/// The hashes of the stored stacks, sorted.
fn stored(lake: &Lake) -> Vec<u64> {
    let all = batches(lake, Table::ProfileStacks);
    let column = |batch: &arrow::array::RecordBatch| {
        batch.column_by_name("stack").expect("the column").as_primitive::<UInt64Type>().values().to_vec()
    };
    let mut stacks: Vec<u64> = all.iter().flat_map(column).collect();
    stacks.sort_unstable();
    stacks
}

#[test]
fn a_known_stack_is_not_stored_again() {
    let bench = Bench::new(1);
    let lake = Lake::open(bench.options()).expect("the lake opens");
    let apply = |position: u64, rows: Rows| lake.apply(Position(position), NO_KEY, TODAY_NS, rows);
    apply(1, stacks(1, &[(7, TODAY_NS), (8, TODAY_NS)]));
    apply(2, stacks(1, &[(8, TODAY_NS + 5), (9, TODAY_NS)]));
    assert_eq!(stored(&lake), [7, 8, 9]);
    // Of another day, which is removed on another day, and of another project.
    apply(3, stacks(1, &[(7, TODAY_NS - DAY_NS)]));
    apply(4, stacks(2, &[(7, TODAY_NS)]));
    assert_eq!(stored(&lake), [7, 7, 7, 8, 9]);
    lake.flush().expect("the disk takes it");
    apply(5, stacks(1, &[(7, TODAY_NS)]));
    assert_eq!(stored(&lake), [7, 7, 7, 8, 9]);
}

#[test]
fn stacks_that_were_removed_are_stored_again_and_merges_remove_copies() {
    let bench = Bench::new(1);
    let lake = Lake::open(bench.options()).expect("the lake opens");
    lake.apply(Position(1), NO_KEY, TODAY_NS, stacks(1, &[(7, TODAY_NS)]));
    lake.flush().expect("the disk takes it");
    lake.drop_before(Table::ProfileStacks, i32::MAX).expect("the part is removed");
    assert!(stored(&lake).is_empty());
    lake.apply(Position(2), NO_KEY, TODAY_NS, stacks(1, &[(7, TODAY_NS)]));
    assert_eq!(stored(&lake), [7]);
    lake.flush().expect("the disk takes it");
    drop(lake);
    // A new process knows no stacks.
    let lake = Lake::open(bench.options()).expect("the lake opens");
    lake.apply(Position(3), NO_KEY, TODAY_NS, stacks(1, &[(7, TODAY_NS)]));
    lake.flush().expect("the disk takes it");
    assert_eq!(stored(&lake), [7, 7]);
    lake.merge(TODAY_NS + 3 * DAY_NS).expect("the parts are merged");
    assert_eq!(stored(&lake), [7]);
}
