//! The suite of every engine, over lakes that flush and merge between requests.

use std::sync::Arc;

use proptest::prelude::*;
use tidewatch_store::conformance::dice::Dice;
use tidewatch_store::conformance::rows::Row;
use tidewatch_store::conformance::{Engine, Held, answers_as_the_model, only_kept_rows_answer, rankings_as_the_model};
use tidewatch_store::tables::Table;

use crate::holders::filled_lake;

struct Lakes;

impl Engine for Lakes {
    fn hold(&self, table: Table, rows: &[Row], dice: &mut Dice) -> Held {
        let (lake, folder) = filled_lake(table, rows, dice);
        // Retention is about parts: what is in memory is flushed first, sooner or later.
        lake.flush().expect("the disk takes it");
        Held { store: Arc::new(lake), resources: Box::new(folder) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    // The lake counts requests itself: nobody writes rows of the last table.
    #[test]
    fn a_lake_answers_as_the_model(seed in any::<u64>(), table in 0..7_usize, rows in 0..70_usize) {
        answers_as_the_model(&Lakes, Table::ALL[table], seed, rows);
    }

    #[test]
    fn a_lake_ranks_as_the_model(seed in any::<u64>(), table in 1..5_usize, rows in 0..300_usize) {
        rankings_as_the_model(&Lakes, Table::ALL[table], seed, rows);
    }

    #[test]
    fn what_is_kept_no_longer_is_in_no_answer(seed in any::<u64>(), table in 0..7_usize, rows in 0..70_usize) {
        only_kept_rows_answer(&Lakes, Table::ALL[table], seed, rows);
    }
}
