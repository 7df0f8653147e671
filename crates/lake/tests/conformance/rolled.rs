//! The queries of rankings and charts from roll-ups: counts, sums and times equal the model's, quantiles are within 1
//! %. Flushed, merged and in memory, for any range.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidewatch_domain::units::MILLISECOND_NS;
use tidewatch_lake::scan;
use tidewatch_store::plan::{Filter, Function, Key, Op, Plan, Shape};
use tidewatch_store::tables::Table;

use crate::holders::{lake, plenty};
use tidewatch_store::conformance::compare::{assert_same, assert_same_but_quantiles};
use tidewatch_store::conformance::dice::Dice;
use tidewatch_store::conformance::model;
use tidewatch_store::conformance::rankings::{compare, flag, not, plan, rows, text};
use tidewatch_store::conformance::rows::PROJECTS;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rollups_give_the_results_of_the_model(seed in any::<u64>(), table in 0..5_usize, count in 0..300_usize) {
        let (table, mut dice) = (Table::ALL[table], Dice::new(seed));
        let rows = rows(table, count, &mut dice);
        let held = lake(table, &rows, &mut dice);
        for _ in 0..10 {
            let plan = plan(table, &mut dice);
            prop_assert!(scan::can_use_rollups(&plan).expect("the plan is good"), "{plan:#?}");
            let expected = model::answer(&plan, &rows);
            let rolled = scan::run_with_rollups(&plan, &held.sources, soon(), 0, &plenty()).expect("the plan is good");
            assert_same_but_quantiles(&plan, &expected, &rolled, "rolled up");
            // Few rows are aggregated row by row.
            let exact = scan::run_with_rollups(&plan, &held.sources, soon(), rows.len() as u64 + 1, &plenty()).expect("the plan is good");
            assert_same(&plan, &expected, &exact, "few");
        }
    }
}

/// The weight of rows up to a duration, which differs for one name: the ranking's aggregate when an Endpoint's slowness
/// was accepted.
fn weight_within(common: i64, own: i64) -> Plan {
    let within = |edge| compare("duration", Op::Le, edge);
    let others = not(Filter::In { column: "name", values: vec![text("GET /a")] });
    let filter = Filter::Any(vec![others.and(within(common)), Filter::eq("name", text("GET /a")).and(within(own))]);
    let filter = flag("is_stream", false).and(filter);
    Plan {
        table: Table::Endpoints,
        projects: PROJECTS.to_vec(),
        from: i64::MIN,
        to: i64::MAX,
        filter: Filter::True,
        shape: Shape::Groups {
            keys: vec![Key::column("name")],
            aggregates: vec![Function::Weight.named("weight").only(filter)],
            order: vec![],
            limit: usize::MAX,
            offset: 0,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// WIRE 8.1: the accepted slowness shifts the bands. Decision 0004: as exact as a threshold within 1 %.
    #[test]
    fn accepted_slowness_shifts_a_band(seed in any::<u64>(), count in 0..300_usize, offset in 1..3000_i64) {
        let mut dice = Dice::new(seed);
        let rows = rows(Table::Endpoints, count, &mut dice);
        let held = lake(Table::Endpoints, &rows, &mut dice);
        let (common, own) = (750 * MILLISECOND_NS, (750 + offset) * MILLISECOND_NS);
        let plan = weight_within(common, own);
        prop_assert!(scan::can_use_rollups(&plan).expect("the plan is good"));
        let weights = |plan: &Plan, rows_min| {
            let answer = scan::run_with_rollups(plan, &held.sources, soon(), rows_min, &plenty()).expect("the plan is good");
            let answer = tidewatch_store::Answer::new(answer);
            let (names, weights) = (answer.text("name").expect("names"), answer.f64("weight").expect("weights"));
            (0..answer.rows()).map(|row| (names.at(row).to_owned(), weights.at(row))).collect::<Vec<_>>()
        };
        let least = weights(&weight_within(common, own - own / 100), u64::MAX);
        let most = weights(&weight_within(common, own + own / 100), u64::MAX);
        let rolled = weights(&plan, 0);
        prop_assert_eq!(rolled.len(), most.len());
        for ((least, rolled), most) in least.iter().zip(&rolled).zip(&most) {
            prop_assert!(least.0 == rolled.0 && (least.1..=most.1).contains(&rolled.1), "{:?} {:?} {:?}", least, rolled, most);
        }
    }
}
