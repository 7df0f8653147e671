//! Results of the same queries from memory, from flushed parts and from merged parts are equal.

use std::time::{Duration, Instant};
use tidewatch_store::TelemetryStore;

use arrow::array::RecordBatch;
use tidewatch_journal::Position;

use super::support::*;
use crate::{Lake, LakeOptions};
use tidewatch_store::StoreError;
use tidewatch_store::columns::NO_KEY;
use tidewatch_store::plan::{AttributeScope, Filter, Function, Key, KeySource, Op, Order, Plan, Shape, Value};
use tidewatch_store::tables::Table;

fn plan(table: Table, filter: Filter, shape: Shape) -> Plan {
    Plan { filter, shape, ..everything(table) }
}

fn rows(columns: &[&'static str]) -> Shape {
    let order = |column| Order { column, descending: false };
    Shape::Rows { columns: columns.to_vec(), order: vec![order("time"), order("span_id")], limit: 1000, offset: 3 }
}

fn groups(keys: Vec<Key>) -> Shape {
    let aggregates = vec![
        Function::Count.named("count"),
        Function::Sum("duration").named("total"),
        Function::Quantiles { column: "duration", qs: vec![0.5, 0.99] }.named("quantiles"),
        Function::Latest { column: "span_id" }.named("latest"),
    ];
    Shape::Groups { keys, aggregates, order: Vec::new(), limit: 100, offset: 0 }
}

fn attribute(scope: AttributeScope, key: &str, value: &str) -> Filter {
    Filter::Attribute { scope, key: key.to_owned(), op: Op::Eq, value: value.to_owned() }
}

fn plans() -> Vec<Plan> {
    use AttributeScope::{Record, RecordThenResource, Resource};
    let anywhere = |needle: &str| Filter::AnyAttributeContains { scope: Record, needle: needle.to_owned() };
    let key = |name, scope, key: &str| KeySource::Attribute { scope, key: key.to_owned() }.named(name);
    let bucket = KeySource::TimeBucket { origin: TODAY_NS, width: 7 * SECOND_NS }.named("start");
    let attribute_keys = KeySource::AttributeKeys.named("keys");
    let ids = &["time", "trace_id", "span_id", "attributes", "resource"];
    vec![
        plan(Table::Spans, Filter::True, rows(ids)),
        plan(Table::Spans, attribute(Record, "size", "12"), rows(ids)),
        plan(Table::Spans, attribute(Record, "size", "13"), rows(ids)),
        plan(Table::Spans, attribute(Resource, "service.name", "shop"), rows(ids)),
        plan(Table::Spans, anywhere("ge"), rows(&["span_id"])),
        plan(Table::Spans, Filter::eq("trace_id", Value::Bytes(vec![2; 16])), rows(ids)),
        plan(
            Table::Spans,
            Filter::True,
            groups(vec![
                key("method", Record, "http.request.method"),
                key("service", RecordThenResource, "service.name"),
            ]),
        ),
        plan(Table::Endpoints, Filter::True, groups(vec![Key::column("name"), attribute_keys])),
        plan(Table::Endpoints, Filter::True, groups(vec![bucket])),
    ]
}

fn answers(lake: &Lake) -> Vec<RecordBatch> {
    let deadline = Instant::now() + Duration::from_secs(600);
    let execute = |plan: &Plan| lake.execute(plan, deadline).expect("the plan can be executed");
    plans().iter().map(execute).collect()
}

#[test]
fn moving_rows_changes_no_answer() {
    let bench = Bench::new(2);
    let lake = bench.open();
    let mut before = Vec::new();
    for n in 0..7_u8 {
        let spans: Vec<TestSpan> =
            (0..9).map(|m| span(m % 4 + 1, n * 9 + m + 1, TODAY_NS + i64::from(m) * SECOND_NS)).collect();
        lake.apply(Position(u64::from(n) + 1), NO_KEY, TODAY_NS, request(1, &spans));
        before = answers(&lake);
        lake.flush().unwrap();
        assert!(answers(&lake) == before, "flush {n}");
    }
    assert!(lake.merge(TODAY_NS).unwrap() > 0);
    assert!(answers(&lake) == before, "merged");
    lake.merge(TODAY_NS + 2 * DAY_NS).unwrap();
    assert!(answers(&lake) == before, "merged to one");
    drop(lake);
    assert!(answers(&bench.open()) == before, "restarted");
    assert!(before.iter().filter(|answer| answer.num_rows() > 0).count() >= 8, "the queries find rows");
}

/// A result takes memory after its query has ended: it counts until the request ends.
#[test]
fn an_answer_counts_against_the_memory_of_its_request() {
    const LOGS: usize = 30_000;
    let bench = Bench::new(3);
    let lake = Lake::open(LakeOptions { query_bytes_max: 8 << 20, ..bench.options() }).unwrap();
    let bodies: Vec<String> = (0..LOGS).map(|n| format!("order {n:05} was served to somebody")).collect();
    let logs: Vec<(&str, i64)> = bodies.iter().map(|body| (body.as_str(), TODAY_NS)).collect();
    lake.apply(Position(1), NO_KEY, TODAY_NS, logs_request(1, &logs));
    let deadline = Instant::now() + Duration::from_secs(600);
    let bodies = |needle: &str| {
        let aggregates = vec![Function::Count.named("count")];
        let keys = vec![Key::column("body")];
        let filter = Filter::Contains { column: "body", needle: needle.to_owned(), ignore_case: false };
        plan(Table::Logs, filter, Shape::Groups { keys, aggregates, order: Vec::new(), limit: LOGS, offset: 0 })
    };
    let thousand = bodies("order 00");
    // One request may use half of the memory. The query is split into passes, its result is not.
    let refused = lake.execute(&bodies("order"), deadline);
    assert!(matches!(refused, Err(StoreError::Budget(_))), "{:?}", refused.map(|answer| answer.num_rows()));
    let request = lake.request_memory();
    for _ in 0..3 {
        assert_eq!(lake.query(&request, &thousand, deadline).expect("it fits").num_rows(), 1_000);
    }
    let (bytes_max, used) = lake.query_memory();
    assert!(used.bytes > 3 * 1_000 * 36 && used.peak_bytes <= bytes_max / 2, "{used:?}");
    let further = (0..99).find_map(|_| lake.query(&request, &thousand, deadline).err());
    assert!(matches!(further, Some(StoreError::Budget(_))), "all answers of a request count");
    drop(request);
    assert_eq!(lake.query_memory().1.bytes, 0);
    assert_eq!(lake.execute(&thousand, deadline).expect("a request of its own").num_rows(), 1_000);
}

/// A part of few row groups is read in pieces, so that every thread has some.
#[test]
fn reading_in_pieces_changes_no_answer() {
    const REQUEST_LOGS: usize = 10_000;
    let bench = Bench::new(3);
    let lake = bench.open();
    for request in 0..11 {
        // Times rise and fall within a part, and occur twice.
        let log = |number: usize| {
            let number = request * REQUEST_LOGS + number;
            let body = ["request timeout", "served", "cache miss"][number * number % 7 % 3];
            (body, TODAY_NS + (number as i64 * 7919 % 60_000) * SECOND_NS)
        };
        let logs: Vec<_> = (0..REQUEST_LOGS).map(log).collect();
        lake.apply(Position(request as u64 + 1), NO_KEY, TODAY_NS, logs_request(1, &logs));
    }
    let needle = |text: &str| Filter::Contains { column: "body", needle: text.to_owned(), ignore_case: true };
    let latest = |needle: Filter, limit| {
        let order = vec![Order { column: "time", descending: true }];
        plan(Table::Logs, needle, Shape::Rows { columns: vec!["time", "body"], order, limit, offset: 0 })
    };
    let between = Filter::All(vec![
        needle("TIMEOUT"),
        Filter::Compare { column: "time", op: Op::Ge, value: Value::I64(TODAY_NS + 9_000 * SECOND_NS) },
        Filter::Compare { column: "time", op: Op::Lt, value: Value::I64(TODAY_NS + 51_000 * SECOND_NS) },
    ]);
    let count = vec![Function::Count.named("count")];
    let bodies =
        Shape::Groups { keys: vec![Key::column("body")], aggregates: count, order: Vec::new(), limit: 9, offset: 0 };
    let plans = [
        latest(needle("timeout"), 50),
        latest(between.clone(), 100_000),
        plan(Table::Logs, between, bodies.clone()),
        plan(Table::Logs, Filter::True, bodies),
    ];
    let deadline = Instant::now() + Duration::from_secs(600);
    let execute = || {
        let answer = |plan: &Plan| lake.execute(plan, deadline).expect("the plan can be executed");
        (
            lake.query_page(&lake.request_memory(), &plans[0], deadline).expect("the rows can be counted"),
            plans.each_ref().map(answer),
        )
    };
    let in_memory = execute();
    lake.flush().unwrap();
    assert!(execute() == in_memory);
    let ((first, total), _) = in_memory;
    assert_eq!((first.num_rows(), total), (50, 15_715), "every seventh of them");
}
