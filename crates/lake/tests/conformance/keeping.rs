//! Rows that projects keep no longer are gone from every answer, and no others.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidewatch_lake::{Keeping, scan};
use tidewatch_store::tables::Table;

use crate::compare::{assert_same, assert_same_but_quantiles};
use crate::dice::Dice;
use crate::holders::{lake_keeping, plenty};
use crate::model;
use crate::plans::random_plan;
use crate::rows::{Cell, DAY, MIDNIGHT, PROJECTS, Row, random_rows};

/// The day after the last rows.
const NOW: i64 = MIDNIGHT + 2 * DAY;

fn is_kept(table: Table, row: &Row, keeping: &Keeping) -> bool {
    let of = |name: &str| &row[table.column(name).expect("every table has it").0];
    let (Cell::I64(time), Cell::U64(project)) = (of("time"), of("project")) else { panic!("no time and project") };
    let project = *project as u32;
    let days = keeping.days.get(&project).copied().unwrap_or(30);
    !keeping.gone.contains(&project) && (days == 0 || *time >= NOW - i64::from(days) * DAY)
}

fn check(table: Table, seed: u64, count: usize) {
    let mut dice = Dice::new(seed);
    let rows = random_rows(table, count, &mut dice);
    let mut keeping = Keeping::default();
    for project in PROJECTS {
        match dice.below(4) {
            0 => drop(keeping.gone.insert(project)),
            1 => drop(keeping.days.insert(project, dice.below(4) as u32)),
            _ => {}
        }
    }
    let held = lake_keeping(table, &rows, &mut dice, &keeping, NOW);
    let kept: Vec<Row> = rows.iter().filter(|row| is_kept(table, row, &keeping)).cloned().collect();
    let soon = || Instant::now() + Duration::from_secs(600);
    for _ in 0..4 {
        let plan = random_plan(table, &rows, &mut dice);
        let expected = model::answer(&plan, &kept);
        let answer = scan::run(&plan, &held.sources, soon()).unwrap_or_else(|error| panic!("{error} for {plan:#?}"));
        assert_same(&plan, &expected, &answer, held.how);
        let rolled = scan::run_rolled(&plan, &held.sources, soon(), 0, &plenty());
        let rolled = rolled.unwrap_or_else(|error| panic!("{error} for {plan:#?}, rolled up"));
        assert_same_but_quantiles(&plan, &expected, &rolled, held.how);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_no_longer_is_in_no_answer(seed in any::<u64>(), table in 0..7_usize, count in 0..70_usize) {
        // The lake counts requests itself.
        check(Table::ALL[table], seed, count);
    }
}
