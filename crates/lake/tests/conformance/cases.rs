//! Hand-written results for edge cases that random tables rarely have.

use std::time::{Duration, Instant};

use tidewatch_domain::units::{DAY_NS, HOUR_NS, SECOND_NS};
use tidewatch_lake::scan;
use tidewatch_store::StoreError;
use tidewatch_store::answer::Answer;
use tidewatch_store::plan::{
    Aggregate, AttributeScope, Filter, Function, GroupOrder, Key, KeySource, Op, Order, Plan, Shape, Value,
};
use tidewatch_store::tables::Table;

use crate::holders::{Held, lake, many_batches, one_batch, tiny_parts};
use tidewatch_store::conformance::compare::assert_same;
use tidewatch_store::conformance::dice::Dice;
use tidewatch_store::conformance::model;
use tidewatch_store::conformance::rows::{Cell, MIDNIGHT, Row, row};

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

/// Every way to hold the rows, with tiny parts cut in several ways.
fn holders(table: Table, rows: &[Row]) -> Vec<Held> {
    let mut held = vec![one_batch(table, rows)];
    for seed in 0..6 {
        held.push(many_batches(table, rows, &mut Dice::new(seed)));
        held.push(tiny_parts(table, rows, &mut Dice::new(seed)));
    }
    held.push(lake(table, rows, &mut Dice::new(1)));
    held
}

/// Runs the plan on every holder, compares each result with the model's, and returns one of them.
#[track_caller]
fn query(plan: &Plan, rows: &[Row]) -> Answer {
    let expected = model::answer(plan, rows);
    let mut last = None;
    for held in holders(plan.table, rows) {
        let answer = scan::run(plan, &held.sources, deadline()).expect("the plan is good");
        assert_same(plan, &expected, &answer, held.how);
        last = Some(Answer::new(answer));
    }
    last.expect("there are holders")
}

fn endpoint(name: &str, time: i64, duration: i64, number: u8) -> Row {
    row(
        Table::Endpoints,
        &[
            ("project", Cell::U64(1)),
            ("name", Cell::Text(name.to_owned())),
            ("time", Cell::I64(time)),
            ("duration", Cell::I64(duration)),
            ("row_id", Cell::Bytes(vec![number; 16])),
        ],
    )
}

fn plan(table: Table, shape: Shape) -> Plan {
    Plan { table, projects: vec![1], from: MIDNIGHT, to: MIDNIGHT + DAY_NS, filter: Filter::True, shape }
}

fn latest(columns: &[&'static str], limit: usize, offset: usize) -> Shape {
    let order = vec![Order { column: "time", descending: true }];
    Shape::Rows { columns: columns.to_vec(), order, limit, offset }
}

fn count() -> Aggregate {
    Function::Count.named("count")
}

fn bucket(width: i64) -> Key {
    KeySource::TimeBucket { origin: MIDNIGHT, width }.named("start")
}

fn groups(keys: Vec<Key>, aggregates: Vec<Aggregate>) -> Shape {
    Shape::Groups { keys, aggregates, order: Vec::new(), limit: usize::MAX, offset: 0 }
}

#[track_caller]
fn check_names(plan: &Plan, rows: &[Row], expected: &[&str]) {
    let answer = query(plan, rows);
    let names = answer.text("name").expect("a text");
    assert_eq!((0..answer.rows()).map(|row| names.at(row)).collect::<Vec<_>>(), expected);
}

#[test]
fn a_day_begins_at_from_and_ends_before_to() {
    let times = [("before", -1), ("first", 0), ("last", DAY_NS - 1), ("after", DAY_NS)];
    let rows: Vec<Row> = times.iter().map(|(name, at)| endpoint(name, MIDNIGHT + at, 1, 0)).collect();
    check_names(&plan(Table::Endpoints, latest(&["name"], 10, 0)), &rows, &["last", "first"]);
    let mut backwards = plan(Table::Endpoints, latest(&["name"], 10, 0));
    std::mem::swap(&mut backwards.from, &mut backwards.to);
    check_names(&backwards, &rows, &[]);
}

#[test]
fn equal_times_come_in_the_order_of_their_ids() {
    let rows: Vec<Row> =
        [("c", 3), ("a", 1), ("d", 4), ("b", 2)].map(|(name, id)| endpoint(name, MIDNIGHT, 1, id)).to_vec();
    check_names(&plan(Table::Endpoints, latest(&["name"], 3, 0)), &rows, &["a", "b", "c"]);
    check_names(&plan(Table::Endpoints, latest(&["name"], 3, 2)), &rows, &["c", "d"]);
    check_names(&plan(Table::Endpoints, latest(&["name"], 3, 4)), &rows, &[]);
    check_names(&plan(Table::Endpoints, latest(&["name"], 0, 0)), &rows, &[]);
}

#[test]
fn no_rows_are_an_empty_result_with_its_columns() {
    for rows in [vec![], vec![endpoint("a", MIDNIGHT - 1, 1, 1)]] {
        let answer = query(&plan(Table::Endpoints, latest(&["name", "time", "attributes"], 10, 0)), &rows);
        assert_eq!((answer.rows(), answer.batch().num_columns()), (0, 3));
        let answer = query(&plan(Table::Endpoints, groups(vec![Key::column("name")], vec![count()])), &rows);
        assert_eq!((answer.rows(), answer.batch().num_columns()), (0, 2));
    }
    let rows = [endpoint("a", MIDNIGHT, 1, 1)];
    let mut nobody = plan(Table::Endpoints, latest(&["name"], 10, 0));
    nobody.projects.clear();
    check_names(&nobody, &rows, &[]);
}

#[test]
fn without_keys_there_is_one_group() {
    let aggregates = vec![
        count(),
        Function::Weight.named("weight"),
        Function::Sum("duration").named("total"),
        Function::Max("name").named("greatest"),
        Function::Quantiles { column: "duration", qs: vec![0.5] }.named("median"),
        Function::Latest { column: "name" }.named("latest"),
    ];
    let answer = query(&plan(Table::Endpoints, groups(Vec::new(), aggregates)), &[]);
    assert_eq!(answer.rows(), 1);
    assert_eq!(answer.u64("count").expect("a count").get(0), Some(0));
    assert_eq!(answer.f64("weight").expect("a weight").get(0), Some(0.0));
    assert_eq!(answer.f64("total").expect("a sum").get(0), None);
    assert_eq!(answer.text("greatest").expect("a text").get(0), None);
    assert_eq!(answer.lists("median").expect("a list").get(0), None);
    assert_eq!(answer.text("latest").expect("a text").get(0), None);
}

#[test]
fn the_first_200_groups_in_key_order() {
    let rows: Vec<Row> = (0..250_u8).rev().map(|n| endpoint(&format!("{n:03}"), MIDNIGHT, 1, n)).collect();
    let shape =
        Shape::Groups { keys: vec![Key::column("name")], aggregates: vec![], order: vec![], limit: 200, offset: 0 };
    let answer = query(&plan(Table::Endpoints, shape), &rows);
    let names = answer.text("name").expect("a text");
    assert_eq!((answer.rows(), names.at(0), names.at(199)), (200, "000", "199"));
}

#[test]
fn groups_by_an_aggregate_break_ties_by_key() {
    let rows: Vec<Row> =
        [("b", 1), ("a", 2), ("c", 3), ("c", 4)].map(|(name, id)| endpoint(name, MIDNIGHT, 1, id)).to_vec();
    let order = vec![GroupOrder { by: "count", descending: true }];
    let shape = |limit, offset| Shape::Groups {
        keys: vec![Key::column("name")],
        aggregates: vec![count()],
        order: order.clone(),
        limit,
        offset,
    };
    let names = |limit, offset| {
        let answer = query(&plan(Table::Endpoints, shape(limit, offset)), &rows);
        let names = answer.text("name").expect("a text");
        (0..answer.rows()).map(|row| names.at(row).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(9, 0), ["c", "a", "b"]);
    assert_eq!(names(1, 1), ["a"]);
}

#[test]
fn days_meet_at_midnight() {
    let rows: Vec<Row> = [-1, 0, 1, HOUR_NS - 1, HOUR_NS]
        .iter()
        .enumerate()
        .map(|(id, at)| endpoint("a", MIDNIGHT + at, 1, id as u8))
        .collect();
    let mut by_hour = plan(Table::Endpoints, groups(vec![bucket(HOUR_NS)], vec![count()]));
    by_hour.from = MIDNIGHT - DAY_NS;
    let answer = query(&by_hour, &rows);
    let (starts, counts) = (answer.i64("start").expect("times"), answer.u64("count").expect("counts"));
    let found: Vec<(i64, u64)> = (0..answer.rows()).map(|row| (starts.at(row) - MIDNIGHT, counts.at(row))).collect();
    assert_eq!(found, [(-HOUR_NS, 1), (0, 3), (HOUR_NS, 1)]);
}

#[test]
fn late_rows_are_found_at_their_time() {
    // The newest row is written first, an old row last.
    let rows = [endpoint("new", MIDNIGHT + 20 * HOUR_NS, 1, 1), endpoint("late", MIDNIGHT + 1, 1, 2)];
    check_names(&plan(Table::Endpoints, latest(&["name"], 10, 0)), &rows, &["new", "late"]);
}

#[test]
fn strings_are_unicode() {
    let names = ["日本語", "zürich", "ZÜRICH", "emoji 🦀", ""];
    let rows: Vec<Row> = names.iter().enumerate().map(|(id, name)| endpoint(name, MIDNIGHT, 1, id as u8)).collect();
    let mut query_plan = plan(Table::Endpoints, latest(&["name"], 10, 0));
    for (needle, ignore_case, expected) in [
        ("ÜRI", false, vec!["ZÜRICH"]),
        // Only the case of ASCII is ignored.
        ("RICH", true, vec!["zürich", "ZÜRICH"]),
        ("本", false, vec!["日本語"]),
        ("🦀", true, vec!["emoji 🦀"]),
        ("", false, vec!["日本語", "zürich", "ZÜRICH", "emoji 🦀", ""]),
    ] {
        query_plan.filter = Filter::Contains { column: "name", needle: needle.to_owned(), ignore_case };
        check_names(&query_plan, &rows, &expected);
    }
}

#[test]
fn huge_values_do_not_overflow() {
    let value = |value: f64, at: i64| {
        let cells = [
            ("project", Cell::U64(1)),
            ("name", Cell::Text("m".to_owned())),
            ("time", Cell::I64(MIDNIGHT + at)),
            ("value", Cell::F64(value)),
        ];
        row(Table::MetricPoints, &cells)
    };
    let rows = [value(f64::MAX, 1), value(f64::MAX, 2), value(f64::MIN, 3), value(3.0, 4)];
    let extremes = Function::Quantiles { column: "value", qs: vec![0.0, 1.0] };
    let aggregates = vec![Function::Sum("value").named("total"), extremes.named("extremes")];
    for held in holders(Table::MetricPoints, &rows) {
        let shape = groups(vec![], aggregates.clone());
        let answer = scan::run(&plan(Table::MetricPoints, shape), &held.sources, deadline()).expect("a good plan");
        let answer = Answer::new(answer);
        assert_eq!(answer.f64("total").expect("a sum").get(0), Some(f64::MAX), "{}", held.how);
        assert_eq!(answer.lists("extremes").expect("a list").get(0), Some(&[f64::MIN, f64::MAX][..]), "{}", held.how);
    }
}

#[test]
fn a_null_matches_no_comparison_and_is_a_key_of_its_own() {
    let trace = |model: Option<&str>, tokens: Option<i64>, id: u8| {
        let cells = [
            ("project", Cell::U64(1)),
            ("time", Cell::I64(MIDNIGHT)),
            ("row_id", Cell::Bytes(vec![id; 16])),
            ("name", Cell::Text(id.to_string())),
            ("model", model.map_or(Cell::Null, |model| Cell::Text(model.to_owned()))),
            ("total_tokens", tokens.map_or(Cell::Null, Cell::I64)),
        ];
        row(Table::AiTraces, &cells)
    };
    let rows = [trace(None, Some(5), 1), trace(Some("m"), None, 2), trace(Some("n"), Some(-1), 3)];
    let mut query_plan = plan(Table::AiTraces, latest(&["name"], 10, 0));
    let model = |op| Filter::Compare { column: "model", op, value: Value::Text("m".to_owned()) };
    for (filter, expected) in [
        (model(Op::Eq), vec!["2"]),
        (model(Op::Ne), vec!["3"]),
        (Filter::Not(Box::new(model(Op::Eq))), vec!["1", "3"]),
        (Filter::IsNull { column: "model" }, vec!["1"]),
        (Filter::IsNull { column: "name" }, vec![]),
    ] {
        query_plan.filter = filter;
        check_names(&query_plan, &rows, &expected);
    }
    query_plan.filter = Filter::True;
    for (descending, expected) in [(false, ["2", "3", "1"]), (true, ["1", "3", "2"])] {
        let order = vec![Order { column: "total_tokens", descending }];
        query_plan.shape = Shape::Rows { columns: vec!["name"], order, limit: 9, offset: 0 };
        check_names(&query_plan, &rows, &expected);
    }
    let answer = query(&plan(Table::AiTraces, groups(vec![Key::column("model")], vec![count()])), &rows);
    let models = answer.text("model").expect("a text");
    assert_eq!([models.get(0), models.get(1), models.get(2)], [None, Some("m"), Some("n")]);
}

/// WIRE 3.1 "rate": resets are dropped, deltas are summed.
#[test]
fn rates_of_counters() {
    let point = |series: u64, temporality: u64, at: i64, value: f64| {
        let cells = [
            ("project", Cell::U64(1)),
            ("name", Cell::Text(format!("{series}"))),
            ("time", Cell::I64(MIDNIGHT + at * SECOND_NS)),
            ("series", Cell::U64(series)),
            ("temporality", Cell::U64(temporality)),
            ("value", Cell::F64(value)),
        ];
        row(Table::MetricPoints, &cells)
    };
    let rows = [
        // Cumulative, with a reset between 20 and 30 and a step from one minute to the next.
        point(1, 2, 10, 100.0),
        point(1, 2, 20, 160.0),
        point(1, 2, 30, 10.0),
        point(1, 2, 70, 70.0),
        // Delta.
        point(2, 1, 10, 30.0),
        point(2, 1, 50, 30.0),
        // Neither.
        point(3, 0, 10, 30.0),
        // A single point.
        point(4, 2, 10, 30.0),
    ];
    let keys = vec![Key::column("name"), bucket(60 * SECOND_NS)];
    let rate = Function::Rate.named("rate");
    let answer = query(&plan(Table::MetricPoints, groups(keys, vec![rate])), &rows);
    let rates = answer.f64("rate").expect("rates");
    let found: Vec<Option<f64>> = (0..answer.rows()).map(|row| rates.get(row)).collect();
    assert_eq!(found, [Some(1.0), Some(1.0), Some(1.0), None, None]);
}

/// The hash of a series leaves out the project: two projects may run the same program with the same resource.
#[test]
fn series_of_two_projects_are_two() {
    let point = |project: u64, at: i64, value: f64, buckets: [u64; 2]| {
        let words = |words: &[u64]| Cell::Bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        let cells = [
            ("project", Cell::U64(project)),
            ("name", Cell::Text("requests.count".to_owned())),
            ("time", Cell::I64(MIDNIGHT + at * SECOND_NS)),
            ("series", Cell::U64(7)),
            ("temporality", Cell::U64(2)),
            ("value", Cell::F64(value)),
            ("bounds", words(&[10.0_f64.to_bits()])),
            ("buckets", words(&buckets)),
        ];
        row(Table::MetricPoints, &cells)
    };
    // Both increase by 60 in the minute; mixed in time order, every other step decreases or counts double.
    let rows = [
        point(1, 10, 1000.0, [1000, 0]),
        point(2, 20, 10.0, [0, 10]),
        point(1, 30, 1060.0, [1060, 0]),
        point(2, 40, 70.0, [0, 70]),
    ];
    let query_for = |function: Function| {
        let shape = groups(vec![bucket(60 * SECOND_NS)], vec![function.named("found")]);
        query(&Plan { projects: vec![1, 2], ..plan(Table::MetricPoints, shape) }, &rows)
    };
    assert_eq!(query_for(Function::Rate).f64("found").expect("a rate").get(0), Some(2.0));
    let medians = query_for(Function::HistogramQuantiles { qs: vec![0.25, 0.5] });
    let found = medians.lists("found").expect("quantiles");
    // 60 observations up to 10 and 60 above: the lower quartile is in the middle of the first bucket.
    let (quarter, half) = (found.nth(0, 0).expect("observations"), found.nth(0, 1).expect("observations"));
    assert!((4.0..6.0).contains(&quarter) && half == 10.0, "{quarter} {half}");
}

#[test]
fn an_attribute_is_the_records_then_the_resources() {
    use tidewatch_domain::model::{AnyValue, KeyValue};
    let encoded = |key, value| {
        let mut bytes = Vec::new();
        tidewatch_domain::wire::encode_attributes(&[KeyValue { key, value: AnyValue::Str(value) }], &mut bytes);
        Cell::Bytes(bytes)
    };
    let log = |body: &str, attributes: Cell, resource: Cell, server: &str| {
        let cells = [
            ("project", Cell::U64(1)),
            ("time", Cell::I64(MIDNIGHT)),
            ("body", Cell::Text(body.to_owned())),
            ("attributes", attributes),
            ("resource", resource),
            ("server_name", Cell::Text(server.to_owned())),
        ];
        row(Table::Logs, &cells)
    };
    let none = || Cell::Bytes(Vec::new());
    let rows = [
        log("own", encoded("server_name", "x"), encoded("server_name", "y"), "z"),
        log("column", none(), encoded("server_name", "y"), "z"),
        log("resource", none(), encoded("server_name", "y"), ""),
        log("absent", none(), none(), ""),
    ];
    let key = KeySource::Attribute { scope: AttributeScope::RecordThenResource, key: "server_name".to_owned() };
    let aggregates = vec![Function::Min("body").named("body")];
    let answer = query(&plan(Table::Logs, groups(vec![key.named("server")], aggregates)), &rows);
    let (keys, bodies) = (answer.text("server").expect("a text"), answer.text("body").expect("a text"));
    let found: Vec<(Option<&str>, &str)> = (0..answer.rows()).map(|row| (keys.get(row), bodies.at(row))).collect();
    assert_eq!(found, [(None, "absent"), (Some("x"), "own"), (Some("y"), "resource"), (Some("z"), "column")]);
}

#[test]
fn bad_plans_are_refused() {
    let filtered = |filter| Plan { filter, ..plan(Table::Endpoints, latest(&["name"], 1, 0)) };
    let grouped = |table, function: Function| plan(table, groups(vec![bucket(1)], vec![function.named("found")]));
    let ordered = |by| {
        let (keys, order) = (vec![Key::column("name")], vec![GroupOrder { by, descending: true }]);
        let shape = Shape::Groups { keys, aggregates: vec![count()], order, limit: 1, offset: 0 };
        plan(Table::Endpoints, shape)
    };
    let attribute = |scope| Filter::Attribute { scope, key: "k".to_owned(), op: Op::Eq, value: String::new() };
    for bad in [
        plan(Table::Endpoints, latest(&["nothing"], 1, 0)),
        plan(Table::Endpoints, latest(&["name", "name"], 1, 0)),
        plan(Table::Endpoints, groups(vec![Key::column("kind")], vec![])),
        plan(Table::Endpoints, groups(vec![bucket(0)], vec![])),
        filtered(Filter::eq("nothing", Value::U64(1))),
        filtered(Filter::eq("name", Value::U64(1))),
        filtered(Filter::eq("trace_id", Value::Bytes(vec![1; 8]))),
        filtered(Filter::Contains { column: "duration", needle: String::new(), ignore_case: false }),
        filtered(Filter::HasBits { column: "duration", mask: 1 }),
        filtered(attribute(AttributeScope::Scope)),
        grouped(Table::Endpoints, Function::Rate),
        grouped(Table::Endpoints, Function::Sum("name")),
        grouped(Table::Endpoints, Function::Quantiles { column: "duration", qs: vec![1.5] }),
        grouped(Table::Endpoints, Function::Quantiles { column: "duration", qs: vec![f64::NAN] }),
        grouped(Table::Endpoints, Function::HistogramQuantiles { qs: vec![0.5] }),
        plan(Table::MetricPoints, groups(vec![], vec![Function::Rate.named("rate")])),
        ordered("duration"),
    ] {
        let refused = scan::run(&bad, &[], deadline());
        assert!(matches!(refused, Err(StoreError::BadPlan(_))), "{bad:?} gives {refused:?}");
    }
}

#[test]
fn columns_of_one_name_are_refused_by_name() {
    for (keys, aggregates) in [
        (vec![], vec![count(), Function::Weight.named("count")]),
        (vec![Key::column("name"), KeySource::Column("server_name").named("name")], vec![count()]),
        (vec![Key::column("name")], vec![Function::Max("time").named("name")]),
    ] {
        let name = if keys.is_empty() { "count" } else { "name" };
        let refused = scan::run(&plan(Table::Endpoints, groups(keys, aggregates)), &[], deadline());
        let Err(StoreError::BadPlan(why)) = refused else { panic!("{refused:?}") };
        assert_eq!(why, format!("two columns of the answer are named {name}"));
    }
}

#[test]
fn a_query_ends_at_its_deadline_and_within_its_memory() {
    let rows: Vec<Row> = (0..200).map(|n| endpoint(&format!("{n}"), MIDNIGHT, 1, n)).collect();
    let shapes = [latest(&["name"], 100, 0), groups(vec![Key::column("name")], vec![count()])];
    for held in holders(Table::Endpoints, &rows) {
        for shape in &shapes {
            let plan = plan(Table::Endpoints, shape.clone());
            let late = scan::run(&plan, &held.sources, Instant::now());
            assert!(matches!(late, Err(StoreError::Deadline)), "{late:?} held as {}", held.how);
            let narrow = scan::run_with_budget(&plan, &held.sources, deadline(), 64);
            assert!(matches!(narrow, Err(StoreError::Budget(_))), "{narrow:?} held as {}", held.how);
        }
    }
}

/// More groups than fit into the memory of a query are returned in several passes over the rows.
#[test]
fn many_groups_are_returned_within_little_memory() {
    const NAMES: i64 = 20_000;
    let name = |n: i64| format!("GET /{:05}", n * 7919 % NAMES);
    let (row_id, _) = Table::Endpoints.column("row_id").expect("rows have ids");
    let rows = (0..NAMES).map(|n| {
        let mut row = endpoint(&name(n), MIDNIGHT + n, n, 0);
        // Unique, because a merge keeps one of the rows with equal ids.
        row[row_id] = Cell::Bytes(i128::from(n).to_be_bytes().to_vec());
        row
    });
    let rows: Vec<Row> = rows.collect();
    let aggregates = vec![
        Function::Quantiles { column: "duration", qs: vec![0.5, 0.95, 0.99] }.named("quantiles"),
        Function::Max("time").named("latest"),
        Function::Max("duration").named("slowest"),
        Function::Max("body_size").named("largest"),
        Function::Min("time").named("earliest"),
        Function::Min("duration").named("fastest"),
        Function::Min("body_size").named("smallest"),
        count(),
        Function::Weight.named("weight"),
        Function::Sum("duration").named("total"),
    ];
    let orders = [
        vec![],
        vec![GroupOrder { by: "quantiles", descending: true }],
        vec![GroupOrder { by: "count", descending: true }, GroupOrder { by: "slowest", descending: false }],
        vec![GroupOrder { by: "name", descending: true }],
    ];
    for held in [one_batch(Table::Endpoints, &rows), lake(Table::Endpoints, &rows, &mut Dice::new(3))] {
        for order in &orders {
            let (keys, aggregates) = (vec![Key::column("name")], aggregates.clone());
            let shape = Shape::Groups { keys, aggregates, order: order.clone(), limit: 50, offset: 30 };
            let plan = plan(Table::Endpoints, shape);
            let expected = scan::run(&plan, &held.sources, deadline()).expect("the plan is good");
            assert_eq!(expected.num_rows(), 50);
            // One name takes about 500 bytes of aggregates: ten megabytes for all.
            let within = scan::run_with_budget(&plan, &held.sources, deadline(), 3 << 20);
            assert_eq!(within.expect("it runs in passes"), expected, "{order:?} held as {}", held.how);
        }
    }
}
