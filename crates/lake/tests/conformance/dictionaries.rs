//! Queries that the dictionaries of parts answer or restrict without reading rows: lists of a column's strings, rows by
//! an attribute or a string. Ranges cover whole row groups, cut through them, or are empty.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tidewatch_domain::units::{DAY_NS, HOUR_NS};
use tidewatch_lake::scan;
use tidewatch_store::plan::{AttributeScope, Filter, GroupOrder, KeySource, Op, Order, Plan, Shape, Value};
use tidewatch_store::tables::{Kind, Table};

use crate::holders::{Held, lake, one_batch, plenty, tiny_parts};
use tidewatch_store::conformance::compare::assert_same;
use tidewatch_store::conformance::dice::Dice;
use tidewatch_store::conformance::model;
use tidewatch_store::conformance::rows::{Cell, KEYS, MIDNIGHT, PROJECTS, Row, STRINGS, random_rows};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

/// Rows of an hour, mostly of one project, each string in its own period: dictionaries differ, and most row groups are
/// of one project.
fn rows(table: Table, count: usize, dice: &mut Dice) -> Vec<Row> {
    let at = |name| table.column(name).expect("every table has it").0;
    let strings: Vec<usize> = (0..table.columns().len())
        .filter(|index| table.columns()[*index].kind == Kind::Text && !table.columns()[*index].nullable)
        .collect();
    let mut rows = random_rows(table, count, dice);
    for row in &mut rows {
        let minute = dice.below(60);
        row[at("time")] = Cell::I64(MIDNIGHT + minute as i64 * HOUR_NS / 60);
        if !dice.once_in(20) {
            row[at("project")] = Cell::U64(u64::from(PROJECTS[0]));
        }
        for text in &strings {
            if dice.once_in(2) {
                row[*text] = Cell::Text(STRINGS[minute * STRINGS.len() / 60].to_owned());
            }
        }
    }
    rows
}

fn text(dice: &mut Dice) -> String {
    (*dice.pick(&["none of them", "a", "GET /users", "zürich", "日本", "", "7", "true"])).to_owned()
}

fn filter(table: Table, dice: &mut Dice) -> Filter {
    let column = |dice: &mut Dice| {
        let strings: Vec<_> = table.columns().iter().filter(|column| column.kind == Kind::Text).collect();
        dice.pick(&strings).name
    };
    match dice.below(5) {
        0 => Filter::Compare {
            column: column(dice),
            op: *dice.pick(&[Op::Eq, Op::Ne, Op::Gt]),
            value: Value::Text(text(dice)),
        },
        1 => Filter::In { column: column(dice), values: (0..2).map(|_| Value::Text(text(dice))).collect() },
        2 => Filter::Contains { column: column(dice), needle: text(dice), ignore_case: dice.once_in(2) },
        _ => {
            let mut scopes = vec![AttributeScope::Record, AttributeScope::RecordThenResource];
            if table.column("resource").is_some() {
                scopes.push(AttributeScope::Resource);
            }
            let key = (*dice.pick(&[KEYS[0], KEYS[1], KEYS[2], KEYS[4], "absent"])).to_owned();
            let op = *dice.pick(&[Op::Eq, Op::Eq, Op::Ne, Op::Le]);
            Filter::Attribute { scope: *dice.pick(&scopes), key, op, value: text(dice) }
        }
    }
}

fn plan(table: Table, dice: &mut Dice) -> Plan {
    let moment = |dice: &mut Dice| MIDNIGHT + dice.below(61) as i64 * HOUR_NS / 60 + dice.below(2) as i64;
    let (from, to) = match dice.below(3) {
        0 => (MIDNIGHT - DAY_NS, MIDNIGHT + DAY_NS),
        _ => (moment(dice), moment(dice)),
    };
    let strings: Vec<_> = table.columns().iter().filter(|column| column.kind == Kind::Text).collect();
    let shape = match dice.below(2) {
        0 => Shape::Groups {
            keys: vec![KeySource::Column(dice.pick(&strings).name).named("text")],
            aggregates: vec![],
            order: vec![GroupOrder { by: "text", descending: dice.once_in(2) }],
            limit: *dice.pick(&[2, 200]),
            offset: 0,
        },
        _ => Shape::Rows {
            columns: vec!["time", "server_name", "attributes"],
            order: vec![Order { column: "time", descending: dice.once_in(2) }],
            limit: *dice.pick(&[3, 50]),
            offset: 0,
        },
    };
    let filter = if dice.once_in(3) { Filter::True } else { filter(table, dice).and(filter_or_none(table, dice)) };
    let projects = if dice.once_in(4) { PROJECTS.to_vec() } else { vec![PROJECTS[0]] };
    Plan { table, projects, from: from.min(to), to: from.max(to), filter, shape }
}

fn filter_or_none(table: Table, dice: &mut Dice) -> Filter {
    if dice.once_in(3) { filter(table, dice) } else { Filter::True }
}

#[track_caller]
fn check(plan: &Plan, rows: &[Row], held: &Held) {
    let expected = model::answer(plan, rows);
    let answer = scan::run(plan, &held.sources, soon()).expect("the plan is good");
    assert_same(plan, &expected, &answer, held.how);
    if let Shape::Rows { .. } = plan.shape {
        let (page, total) = scan::run_page(plan, &held.sources, soon(), 0, &plenty()).expect("the plan is good");
        assert_same(plan, &expected, &page, held.how);
        assert_eq!(total, expected.rows.len() as u64, "rows counted of {plan:#?} held as {}", held.how);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dictionaries_give_the_results_of_the_model(seed in any::<u64>(), table in 0..4_usize, count in 0..120_usize) {
        let table = [Table::Spans, Table::Endpoints, Table::Logs, Table::MetricPoints][table];
        let mut dice = Dice::new(seed);
        let rows = rows(table, count, &mut dice);
        let holders = [one_batch(table, &rows), tiny_parts(table, &rows, &mut dice), lake(table, &rows, &mut dice)];
        for _ in 0..12 {
            let plan = plan(table, &mut dice);
            holders.iter().for_each(|held| check(&plan, &rows, held));
        }
    }
}
