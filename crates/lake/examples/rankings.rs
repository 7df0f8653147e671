//! Measures rankings, charts and single Endpoints over millions of Endpoint rows of 30 days, with roll-ups and without.
//!
//! ```text
//! cargo run --release --example rankings -- <folder> [rows in millions] [exact|rolled] [part of a name]
//! ```
//!
//! 300 Endpoints of 20 services, some much more frequent than others. A folder that already has a lake is not filled
//! again. `exact`: results from the rows. The last argument selects queries.

mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tidewatch_domain::model::Signal;
use tidewatch_domain::units::{DAY_NS, HOUR_NS, MILLISECOND_NS, MINUTE_NS};
use tidewatch_journal::Position;
use tidewatch_lake::{Lake, LakeOptions};
use tidewatch_store::TelemetryStore;
use tidewatch_store::columns::{NO_KEY, Rows, TableBuffer};
use tidewatch_store::plan::{Aggregate, Filter, Function, GroupOrder, Key, KeySource, Op, Order, Plan, Shape, Value};
use tidewatch_store::tables::Table;

use support::{measure, mix, report};

/// 2026-11-21 00:00 UTC, the end of the rows.
const END: i64 = 20_778 * DAY_NS;
const DAYS: i64 = 30;
const ENDPOINTS: u64 = 300;
const ROWS_PER_REQUEST: u64 = 8192;
const RUNS: u32 = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("the first argument is a folder")?);
    let millions: u64 = arguments.next().map_or(Ok(2), |count| count.parse())?;
    let exact = arguments.next().is_some_and(|word| word == "exact");
    let picked = arguments.next().unwrap_or_default();
    let options = || LakeOptions { background: false, ..LakeOptions::new(&folder) };
    std::fs::create_dir_all(&folder)?;
    if !folder.join("catalog.sqlite").exists() {
        let started = Instant::now();
        let lake = Lake::open(options())?;
        fill(&lake, millions * 1_000_000)?;
        report("filled", started.elapsed(), 0);
        let started = Instant::now();
        lake.merge(END + 5 * DAY_NS)?;
        report("merged", started.elapsed(), 0);
        let stats = &lake.stats().tables[Table::Endpoints as usize];
        report(&format!("{} parts, {} rows, {} MB", stats.parts, stats.rows, stats.bytes >> 20), Duration::ZERO, 0);
    }
    let mut options = options();
    if exact {
        options.rollups.query_rows_min = u64::MAX;
    }
    let lake = Lake::open(options)?;
    for (name, plan) in queries().into_iter().filter(|(name, _)| name.contains(&picked)) {
        measure(&lake, &name, &plan, RUNS)?;
    }
    Ok(())
}

fn name(endpoint: u64) -> String {
    format!("GET /shop/{}/items/{endpoint}/details", endpoint % 7)
}

fn fill(lake: &Lake, rows: u64) -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = (0..ENDPOINTS).map(name).collect();
    let services: Vec<String> = (0..20).map(|service| format!("service-{service}")).collect();
    for first in (0..rows).step_by(ROWS_PER_REQUEST as usize) {
        let mut buffer = TableBuffer::new(Table::Endpoints);
        for row in first..(first + ROWS_PER_REQUEST).min(rows) {
            let draw = mix(row);
            // Some Endpoints are much more frequent than others.
            let endpoint = ((draw % (ENDPOINTS * ENDPOINTS)) as f64).sqrt() as u64;
            let time =
                END - DAYS * DAY_NS + (DAYS as i128 * DAY_NS as i128 * i128::from(row) / i128::from(rows)) as i64;
            let noise = mix(draw);
            let status = match noise % 100 {
                0 => 500,
                1..4 => 404,
                4 => 201,
                _ => 200,
            };
            // Endpoints differ, and have a long tail.
            let base = (1 + endpoint % 40) * 2_000_000;
            let duration = base + (base as f64 / (0.01 + (noise >> 32) as f64 / 4.3e9)) as u64;
            let mut id = [0; 16];
            id[..8].copy_from_slice(&mix(row ^ 0x5555).to_be_bytes());
            id[8..].copy_from_slice(&noise.to_be_bytes());
            // A version lives for three days.
            let version = ["1.0.3", "1.0.4", "1.1.0"][(time / (3 * DAY_NS) % 3) as usize];
            let mut writer = buffer.row();
            writer.u32(1).text(&names[endpoint as usize]).i64(time).i64(duration as i64).i16(status);
            writer.id(&id).id(&noise.to_be_bytes()).id(&[0; 8]).id(&id);
            writer.bool(!noise.is_multiple_of(10)).bool(false).bool(status == 500);
            writer.text(&services[(endpoint % 20) as usize]).text(version).text("10.0.0.1").i64(512).f64(1.0);
            writer.bytes(&[]).optional_bytes(None);
            // One request in ten is of another environment.
            let environment = if noise % 10 == 3 { "staging" } else { "production" };
            writer.optional_text(Some(environment)).optional_bytes(Some(environment.as_bytes()));
        }
        let position = Position(first + 1);
        lake.apply(position, NO_KEY, END, Rows::from_buffer(1, Signal::Traces, buffer));
        if lake.is_behind() || first / ROWS_PER_REQUEST % 20 == 19 {
            lake.flush()?;
        }
    }
    Ok(lake.flush()?)
}

fn flag(column: &'static str, value: bool) -> Filter {
    Filter::eq(column, Value::Bool(value))
}

fn compare(column: &'static str, op: Op, value: i64) -> Filter {
    Filter::Compare { column, op, value: Value::I64(value) }
}

fn not(filter: Filter) -> Filter {
    Filter::Not(Box::new(filter))
}

/// The aggregates of the ranking; `slow` Endpoints have an accepted slowness of half a second.
fn ranking_metrics(slow: &[String]) -> Vec<Aggregate> {
    let timed = || flag("is_stream", false);
    let served = || compare("status_code", Op::Lt, 500);
    let within = |edge: i64| {
        let up_to = |edge| compare("duration", Op::Le, edge);
        if slow.is_empty() {
            return up_to(edge);
        }
        let names = slow.iter().map(|name| Value::Text(name.clone())).collect();
        let mut any = vec![not(Filter::In { column: "name", values: names }).and(up_to(edge))];
        let own = |name: &String| Filter::eq("name", Value::Text(name.clone())).and(up_to(edge + 500 * MILLISECOND_NS));
        any.extend(slow.iter().map(own));
        Filter::Any(any)
    };
    let (satisfied, tolerated) = (750 * MILLISECOND_NS, 1500 * MILLISECOND_NS);
    let slow_rows = timed().and(not(within(tolerated)));
    let tolerating = timed().and(served()).and(not(within(satisfied))).and(within(tolerated));
    vec![
        Function::Weight.named("total"),
        Function::Quantiles { column: "duration", qs: vec![0.5, 0.95, 0.99] }.named("percentiles").only(timed()),
        Function::Sum("duration").named("duration").only(timed()),
        Function::Weight.named("timed").only(timed()),
        Function::Weight.named("satisfied").only(timed().and(served()).and(within(satisfied))),
        Function::Weight.named("tolerating").only(tolerating),
        Function::Weight.named("errors").only(flag("is_error", true)),
        Function::Weight.named("bad").only(Filter::Any(vec![compare("status_code", Op::Ge, 500), slow_rows])),
        Function::Weight.named("client_errors").only(compare("status_code", Op::Ge, 400).and(served())),
        Function::Max("time").named("last_seen"),
        Function::Count.named("roots").only(flag("is_root", true)),
        Function::Count.named("non_roots").only(flag("is_root", false)),
        Function::Count.named("rows"),
    ]
}

fn queries() -> Vec<(String, Plan)> {
    let groups = |keys, aggregates, order, limit| Shape::Groups { keys, aggregates, order, limit, offset: 0 };
    let by_name = || vec![Key::column("name")];
    let plan = |length: i64, filter, shape| Plan {
        table: Table::Endpoints,
        projects: vec![1],
        // Like a page that is opened some time after midnight.
        from: END - length + 7 * MINUTE_NS + 123_456_789,
        to: END + 7 * MINUTE_NS + 123_456_789,
        filter,
        shape,
    };
    let mut queries = Vec::new();
    let mut add = |name: &str, plan: Plan| queries.push((name.to_owned(), plan));
    let ranges = [
        ("30 d", 30 * DAY_NS, 240),
        ("7 d", 7 * DAY_NS, 240),
        ("48 h", 2 * DAY_NS, 60),
        ("24 h", DAY_NS, 15),
        ("6 h", 6 * HOUR_NS, 5),
    ];
    let slow: Vec<String> = [3, 77, 150].map(name).to_vec();
    for (range, length, minutes) in ranges {
        let ranking = |slow: &[String]| groups(by_name(), ranking_metrics(slow), vec![], 1_000_000);
        add(&format!("ranking {range}"), plan(length, Filter::True, ranking(&[])));
        let own = Filter::eq("server_name", Value::Text("service-3".to_owned()));
        let own = own.and(Filter::eq("environment", Value::Text("production".to_owned())));
        add(&format!("ranking {range}, one service in production"), plan(length, own, ranking(&[])));
        if length == 30 * DAY_NS {
            add(&format!("ranking {range}, 3 accepted slow"), plan(length, Filter::True, ranking(&slow)));
        }
        let bucket = || KeySource::TimeBucket { origin: 0, width: minutes * MINUTE_NS }.named("start");
        let timed = || flag("is_stream", false);
        let p95 = || Function::Quantiles { column: "duration", qs: vec![0.95] }.named("p95").only(timed());
        let six = Filter::In {
            column: "name",
            values: (ENDPOINTS - 5..ENDPOINTS).map(|endpoint| Value::Text(name(endpoint))).collect(),
        };
        let greatest = vec![GroupOrder { by: "duration", descending: true }];
        let weight = vec![Function::Sum("duration").named("duration").only(timed())];
        add(&format!("chart {range}: names"), plan(length, Filter::True, groups(by_name(), weight, greatest, 6)));
        let lines = groups(vec![bucket(), Key::column("name")], vec![p95()], vec![], 1_000_000);
        add(&format!("chart {range}: P95 of five, {minutes} min"), plan(length, six.clone(), lines));
        let others = groups(vec![bucket()], vec![p95()], vec![], 1_000_000);
        add(&format!("chart {range}: P95 of others, {minutes} min"), plan(length, not(six.clone()), others));
        let counts =
            groups(vec![Key::column("name"), bucket()], vec![Function::Weight.named("count")], vec![], 1_000_000);
        add(&format!("trends {range}: counts, {minutes} min"), plan(length, Filter::True, counts));
        let one = Filter::eq("name", Value::Text(name(ENDPOINTS - 3)));
        add(
            &format!("one endpoint {range}: metrics"),
            plan(length, one.clone(), groups(vec![], ranking_metrics(&[]), vec![], 1)),
        );
        for (what, column) in [("latest", "time"), ("slowest", "duration")] {
            let columns = Table::Endpoints.columns().iter().map(|column| column.name).collect();
            let order = vec![Order { column, descending: true }];
            let rows = Shape::Rows { columns, order, limit: 20, offset: 0 };
            add(&format!("one endpoint {range}: {what} 20"), plan(length, one.clone(), rows));
        }
    }
    queries
}
