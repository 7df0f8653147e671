//! The plans of rankings and charts, over rows with several rows per roll-up cell.

use tidewatch_domain::units::{DAY_NS, HOUR_NS, MILLISECOND_NS, MINUTE_NS, SECOND_NS};

use super::dice::Dice;
use super::rows::{Cell, MIDNIGHT, PROJECTS, Row, random_rows};
use crate::plan::{Aggregate, Filter, Function, Key, KeySource, Op, Plan, Shape, Value};
use crate::tables::Table;

/// Sets a column if the table has it.
fn set(table: Table, row: &mut Row, name: &str, cell: Cell) {
    if let Some((at, _)) = table.column(name) {
        row[at] = cell;
    }
}

/// Random rows of few names over three days, with durations of all magnitudes and some at the edges of the bands.
pub fn rows(table: Table, count: usize, dice: &mut Dice) -> Vec<Row> {
    let mut rows = random_rows(table, count, dice);
    for row in &mut rows {
        // Few distinct times, for several rows per cell.
        let time = match dice.below(3) {
            0 => MIDNIGHT + dice.below(3) as i64 * DAY_NS,
            1 => MIDNIGHT + dice.below(72) as i64 * HOUR_NS + dice.below(3) as i64 * MINUTE_NS,
            _ => MIDNIGHT + dice.below(3 * 24 * 3600) as i64 * SECOND_NS + dice.below(1000) as i64 * MILLISECOND_NS,
        };
        let duration = match dice.below(4) {
            0 => *dice.pick(&[
                500 * MILLISECOND_NS,
                500 * MILLISECOND_NS + 1,
                750 * MILLISECOND_NS,
                1500 * MILLISECOND_NS,
                1500 * MILLISECOND_NS + 1,
                2000 * MILLISECOND_NS,
                0,
            ]),
            _ => (1_i64 << dice.below(40)) + dice.below(1000) as i64,
        };
        set(table, row, "time", Cell::I64(time + dice.below(2) as i64));
        set(table, row, "duration", Cell::I64(duration));
        set(table, row, "name", Cell::Text((*dice.pick(&["GET /a", "GET /b", "UNMATCHED", ""])).to_owned()));
        set(table, row, "server_name", Cell::Text((*dice.pick(&["shop", "shop", "cart", ""])).to_owned()));
        set(table, row, "app_version", Cell::Text((*dice.pick(&["1", "2", ""])).to_owned()));
        let environment = dice.pick(&[None, Some("production"), Some("production"), Some("staging")]);
        set(table, row, "environment", environment.map_or(Cell::Null, |name| Cell::Text(name.to_owned())));
    }
    rows
}

/// The boolean column equals `value`.
pub fn flag(column: &'static str, value: bool) -> Filter {
    Filter::eq(column, Value::Bool(value))
}

/// Compares a signed integer column with a literal.
pub fn compare(column: &'static str, op: Op, value: i64) -> Filter {
    Filter::Compare { column, op, value: Value::I64(value) }
}

/// Negates a filter.
pub fn not(filter: Filter) -> Filter {
    Filter::Not(Box::new(filter))
}

/// A string literal.
pub fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// The aggregates that the pages of a table request per group.
fn aggregates(table: Table, satisfied: i64, tolerated: i64) -> Vec<Aggregate> {
    if table == Table::Exceptions {
        return vec![
            Function::Weight.named("weight"),
            Function::Min("time").named("earliest"),
            Function::Max("time").named("latest"),
            Function::Latest { column: "row_id" }.named("latest_row"),
            Function::Count.named("count"),
            Function::Count.named("in_groups").only(in_groups(&[0, 9])),
        ];
    }
    let quantiles = Function::Quantiles { column: "duration", qs: vec![0.5, 0.95, 0.99, 0.0, 1.0] }.named("quantiles");
    let duration = Function::Sum("duration").named("duration");
    if table == Table::Spans {
        return vec![
            Function::Count.named("count"),
            Function::Weight.named("weight"),
            Function::Max("time").named("latest"),
            Function::Weight.named("errors").only(flag("is_error", true)),
            quantiles,
            duration,
        ];
    }
    let mut aggregates = vec![
        Function::Count.named("count"),
        Function::Weight.named("weight"),
        Function::Max("time").named("latest"),
        Function::Weight.named("errors").only(flag("is_error", true)),
        Function::Count.named("non_roots").only(flag("is_root", false)),
    ];
    if table == Table::AiTraces {
        let present = |column| not(Filter::IsNull { column });
        aggregates.extend([
            quantiles,
            duration,
            Function::Sum("total_cost").named("cost"),
            Function::Sum("total_tokens").named("tokens").only(present("total_tokens")),
            Function::Sum("total_cost")
                .named("counted_cost")
                .only(present("total_cost").and(Filter::IsNull { column: "repeats_usage" })),
            Function::Weight.named("with_input").only(present("input_tokens")),
            Function::Weight.named("unpriced").only(Filter::IsNull { column: "total_cost" }),
            Function::Count.named("estimated").only(flag("cost_estimated", true).and(present("total_cost"))),
        ]);
        return aggregates;
    }
    let timed = || flag("is_stream", false);
    let served = || compare("status_code", Op::Lt, 500);
    let within = |edge| compare("duration", Op::Le, edge);
    let slow = timed().and(not(within(tolerated)));
    let tolerating = timed().and(served()).and(not(within(satisfied))).and(within(tolerated));
    aggregates.extend([
        quantiles.only(timed()),
        duration.only(timed()),
        Function::Weight.named("satisfied").only(timed().and(served()).and(within(satisfied))),
        Function::Weight.named("tolerating").only(tolerating),
        Function::Weight.named("bad").only(Filter::Any(vec![compare("status_code", Op::Ge, 500), slow])),
        Function::Weight.named("client_errors").only(compare("status_code", Op::Ge, 400).and(served())),
    ]);
    aggregates
}

fn in_groups(groups: &[u64]) -> Filter {
    Filter::In { column: "group", values: groups.iter().map(|group| Value::U64(*group)).collect() }
}

fn filter(table: Table, dice: &mut Dice) -> Filter {
    if table == Table::Exceptions {
        return match dice.below(4) {
            0 => in_groups(&[1, 9, u64::MAX]),
            1 => Filter::eq("environment", text("production")),
            2 => in_groups(&[1, 9]).and(Filter::eq("server_name", text("shop"))),
            _ => Filter::True,
        };
    }
    if table == Table::Spans {
        let kinds = Filter::In { column: "peer_kind", values: [1, 3, 5].map(Value::U64).to_vec() };
        return match dice.below(5) {
            0 => kinds,
            3 => kinds.and(Filter::In { column: "environment", values: vec![text("staging"), text("none")] }),
            4 => kinds.and(Filter::IsNull { column: "environment" }),
            1 => kinds.and(Filter::Compare { column: "peer_service", op: Op::Ne, value: text("") }),
            _ => not(Filter::IsNull { column: "peer_kind" }).and(Filter::eq("server_name", text("a"))),
        };
    }
    match dice.below(11) {
        8 => Filter::In { column: "server_name", values: vec![text("shop"), text("")] },
        9 => Filter::eq("environment", text("production")).and(Filter::eq("app_version", text("2"))),
        10 => Filter::Any(vec![
            Filter::IsNull { column: "environment" },
            Filter::In { column: "environment", values: vec![text("staging"), text("none")] },
        ]),
        0 => flag("is_root", true),
        1 => flag("is_root", false),
        2 => Filter::Contains { column: "name", needle: "/A".to_owned(), ignore_case: true },
        3 => Filter::eq("name", text("GET /a")),
        4 => Filter::In { column: "name", values: vec![text("GET /a"), text("UNMATCHED"), text("none")] },
        5 => not(Filter::In { column: "name", values: vec![text("GET /a"), text("UNMATCHED")] }),
        6 if table == Table::AiTraces => Filter::Any(vec![
            Filter::Contains { column: "name", needle: "b".to_owned(), ignore_case: true },
            Filter::Contains { column: "model", needle: "B".to_owned(), ignore_case: true },
        ]),
        _ => Filter::True,
    }
}

fn keys(table: Table, dice: &mut Dice) -> Vec<Key> {
    let width = *dice.pick(&[
        MINUTE_NS,
        5 * MINUTE_NS,
        15 * MINUTE_NS,
        30 * MINUTE_NS,
        HOUR_NS,
        4 * HOUR_NS,
        DAY_NS,
        2 * DAY_NS,
        7 * MINUTE_NS,
    ]);
    let origin = *dice.pick(&[0, MIDNIGHT, MIDNIGHT + HOUR_NS, MIDNIGHT - MINUTE_NS]);
    let bucket = KeySource::TimeBucket { origin, width }.named("start");
    if table == Table::Exceptions {
        return match dice.below(4) {
            3 => vec![Key::column("group"), Key::column("server_name"), Key::column("app_version")],
            0 => vec![],
            1 => vec![Key::column("group"), bucket],
            _ => vec![Key::column("group")],
        };
    }
    if table == Table::Spans {
        return match dice.below(4) {
            0 => vec![bucket, Key::column("kind")],
            1 => vec![Key::column("server_name"), Key::column("peer"), Key::column("peer_kind")],
            2 => vec![Key::column("server_name"), Key::column("peer"), Key::column("peer_service")],
            _ => vec![],
        };
    }
    let other = if table == Table::AiTraces { "model" } else { "status_code" };
    match dice.below(9) {
        7 => vec![bucket, Key::column("environment")],
        8 => vec![Key::column("server_name"), Key::column("app_version"), Key::column("environment")],
        0 => vec![],
        1 => vec![bucket],
        2 => vec![bucket, Key::column("name")],
        3 => vec![Key::column("name"), Key::column(other)],
        4 => vec![Key::column(other)],
        5 => {
            let strings = ["GET /a", "UNMATCHED", "none"].map(str::to_owned).into_iter().take(dice.below(4)).collect();
            vec![bucket, KeySource::OneOf { column: "name", strings }.named("name")]
        }
        _ => vec![Key::column("name")],
    }
}

/// A random bound of a range: a full day, hour or minute, or any time.
fn moment(dice: &mut Dice) -> i64 {
    MIDNIGHT
        + match dice.below(5) {
            0 => dice.below(4) as i64 * DAY_NS,
            1 => dice.below(72) as i64 * HOUR_NS,
            2 => dice.below(72 * 60) as i64 * MINUTE_NS,
            3 => dice.below(3 * 24 * 3600) as i64 * SECOND_NS + dice.below(1000) as i64 * MILLISECOND_NS,
            _ => *dice.pick(&[-DAY_NS, 10 * DAY_NS, 1, HOUR_NS + 1, DAY_NS - 1]),
        }
}

/// A random plan of a ranking or chart of `table`.
pub fn plan(table: Table, dice: &mut Dice) -> Plan {
    let (satisfied, tolerated) =
        *dice.pick(&[(750 * MILLISECOND_NS, 1500 * MILLISECOND_NS), (500 * MILLISECOND_NS, 2000 * MILLISECOND_NS)]);
    let (from, to) = if dice.once_in(4) { (i64::MIN, i64::MAX) } else { (moment(dice), moment(dice)) };
    Plan {
        table,
        projects: if dice.once_in(3) { vec![PROJECTS[0]] } else { PROJECTS.to_vec() },
        from: from.min(to),
        to: from.max(to),
        filter: filter(table, dice),
        shape: Shape::Groups {
            keys: keys(table, dice),
            aggregates: aggregates(table, satisfied, tolerated),
            order: vec![],
            limit: usize::MAX,
            offset: 0,
        },
    }
}
