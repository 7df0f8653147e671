//! Random tables, random plans, every way to hold the rows: the same answer.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidewatch_lake::scan;
use tidewatch_store::plan::Shape;
use tidewatch_store::tables::Table;

use crate::compare::{assert_same, assert_same_but_quantiles};
use crate::dice::Dice;
use crate::holders::{lake, many_batches, one_batch, plenty, tiny_parts};
use crate::model;
use crate::plans::random_plan;
use crate::rows::random_rows;

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
            let rolled = scan::run_rolled(&plan, &held.sources, soon(), 0, &plenty());
            let rolled = rolled.unwrap_or_else(|error| panic!("{error} for {plan:#?} held as {}, rolled up", held.how));
            assert_same_but_quantiles(&plan, &expected, &rolled, held.how);
            if let Shape::Groups { .. } = plan.shape {
                for (rows_min, passes) in [(0, 3), (u64::MAX, 2)] {
                    let divided = scan::run_divided(&plan, &held.sources, soon(), rows_min, passes);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_holders_answer_as_the_model(seed in any::<u64>(), table in 0..8_usize, count in 0..70_usize) {
        check(Table::ALL[table], seed, count);
    }
}
