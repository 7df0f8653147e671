//! Random tables and random plans give the same result for every way to hold the rows.

use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use proptest::prelude::*;
use tidewatch_lake::RowCursor;
use tidewatch_lake::scan;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::tables::Table;
use tidewatch_store::{Cursor as _, StoreError};

use crate::holders::{lake, little, many_batches, one_batch, plenty, tiny_parts};
use tidewatch_store::conformance::compare::{assert_same, assert_same_but_quantiles, assert_same_rows};
use tidewatch_store::conformance::dice::Dice;
use tidewatch_store::conformance::model;
use tidewatch_store::conformance::plans::random_plan;
use tidewatch_store::conformance::rows::random_rows;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

fn check(table: Table, seed: u64, count: usize) {
    let mut dice = Dice::new(seed);
    let rows = random_rows(table, count, &mut dice);
    let mut holders =
        vec![one_batch(table, &rows), many_batches(table, &rows, &mut dice), tiny_parts(table, &rows, &mut dice)];
    // The lake counts requests itself.
    if table != Table::IngestCounts {
        holders.push(lake(table, &rows, &mut dice));
    }
    for _ in 0..8 {
        let plan = random_plan(table, &rows, &mut dice);
        let expected = model::answer(&plan, &rows);
        for held in &holders {
            let answer = scan::run(&plan, &held.sources, soon());
            let answer = answer.unwrap_or_else(|error| panic!("{error} for {plan:#?} held as {}", held.how));
            assert_same(&plan, &expected, &answer, held.how);
            let rolled = scan::run_with_rollups(&plan, &held.sources, soon(), 0, &plenty());
            let rolled = rolled.unwrap_or_else(|error| panic!("{error} for {plan:#?} held as {}, rolled up", held.how));
            assert_same_but_quantiles(&plan, &expected, &rolled, held.how);
            if let Shape::Groups { .. } = plan.shape {
                for (rows_min, passes) in [(0, 3), (u64::MAX, 2)] {
                    let divided = scan::run_in_passes(&plan, &held.sources, soon(), rows_min, passes);
                    let divided = divided.unwrap_or_else(|e| panic!("{e} for {plan:#?} held as {}, divided", held.how));
                    assert_same_but_quantiles(&plan, &expected, &divided, held.how);
                }
            }
            if let Shape::Rows { .. } = plan.shape {
                let page = scan::run_page(&plan, &held.sources, soon(), 0, &plenty());
                let (page, total) = page.unwrap_or_else(|e| panic!("{e} for {plan:#?} held as {}, a page", held.how));
                assert_same(&plan, &expected, &page, held.how);
                assert_eq!(total, expected.rows.len() as u64, "rows counted of {plan:#?} held as {}", held.how);
            }
        }
    }
}

/// A cursor over the matching rows reads each row once, for any size of pieces.
fn check_cursor(table: Table, seed: u64, count: usize) {
    let mut dice = Dice::new(seed);
    let rows = random_rows(table, count, &mut dice);
    let mut holders =
        vec![one_batch(table, &rows), many_batches(table, &rows, &mut dice), tiny_parts(table, &rows, &mut dice)];
    if table != Table::IngestCounts {
        holders.push(lake(table, &rows, &mut dice));
    }
    let columns: Vec<_> = table.columns().iter().map(|column| column.name).collect();
    for _ in 0..4 {
        let shape = Shape::Rows { columns: columns.clone(), order: Vec::new(), limit: usize::MAX, offset: 0 };
        let plan = Plan { shape, ..random_plan(table, &rows, &mut dice) };
        let expected = model::answer(&plan, &rows);
        for held in &holders {
            // Little memory makes the pieces small, plenty is enough for any piece.
            let memory = if dice.once_in(2) { plenty() } else { little() };
            let mut cursor = RowCursor::new(&plan, held.sources.clone()).expect("the plan is one of all rows");
            let mut batches = Vec::new();
            let mut read = |batch: &RecordBatch| {
                batches.push(batch.clone());
                Ok(())
            };
            let late = cursor.read(&memory, Instant::now(), &mut read);
            assert!(matches!(late, Err(StoreError::Deadline)), "{late:?}");
            while cursor.read(&memory, soon(), &mut read).unwrap_or_else(|e| panic!("{e} held as {}", held.how)) {}
            assert!(batches.iter().all(|batch| batch.schema_ref() == cursor.schema()));
            assert_same_rows(&plan, &expected, &batches, held.how);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_holders_give_the_results_of_the_model(seed in any::<u64>(), table in 0..Table::ALL.len(), count in 0..70_usize) {
        check(Table::ALL[table], seed, count);
    }

    #[test]
    fn a_cursor_reads_every_row_once(seed in any::<u64>(), table in 0..Table::ALL.len(), count in 0..70_usize) {
        check_cursor(Table::ALL[table], seed, count);
    }
}
