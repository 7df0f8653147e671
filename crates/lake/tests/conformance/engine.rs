//! The common test suite of engines, for lakes that flush and merge between requests.

use std::sync::Arc;

use proptest::prelude::*;
use tidewatch_store::conformance::dice::Dice;
use tidewatch_store::conformance::rows::Row;
use tidewatch_store::conformance::{
    Engine, TestStore, answers_match_the_model, expired_rows_are_in_no_answer, rankings_match_the_model,
    traces::trace_searches_match_the_model,
};
use tidewatch_store::tables::Table;

use crate::holders::filled_lake;

struct Lakes;

impl Engine for Lakes {
    fn open_with(&self, table: Table, rows: &[Row], dice: &mut Dice) -> TestStore {
        let (lake, folder) = filled_lake(table, rows, dice);
        // Retention applies to parts, so rows in memory are flushed first.
        lake.flush().expect("the disk takes it");
        TestStore { store: Arc::new(lake), resources: Box::new(folder) }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    // The lake counts requests itself: rows of the last table are never written.
    #[test]
    fn answers_of_a_lake_match_the_model(seed in any::<u64>(), table in 0..7_usize, rows in 0..70_usize) {
        answers_match_the_model(&Lakes, Table::ALL[table], seed, rows);
    }

    #[test]
    fn rankings_of_a_lake_match_the_model(seed in any::<u64>(), table in 1..5_usize, rows in 0..300_usize) {
        rankings_match_the_model(&Lakes, Table::ALL[table], seed, rows);
    }

    #[test]
    fn rows_past_retention_are_in_no_answer(seed in any::<u64>(), table in 0..7_usize, rows in 0..70_usize) {
        expired_rows_are_in_no_answer(&Lakes, Table::ALL[table], seed, rows);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn trace_searches_of_a_lake_match_the_model(seed in any::<u64>(), rows in 0..70_usize) {
        trace_searches_match_the_model(&Lakes, seed, rows);
    }
}
