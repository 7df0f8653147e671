//! Random plans: mostly realistic, all valid.

use crate::plan::{
    Aggregate, AttributeScope, Filter, Function, GroupOrder, Key, KeySource, Op, Order, Plan, Shape, Value,
};
use crate::tables::{Column, Kind, Table};
use tidewatch_domain::query_language::Pattern;
use tidewatch_domain::units::{HOUR_NS, SECOND_NS};

use super::dice::Dice;
use super::rows::{KEYS, MIDNIGHT, PROJECTS, Row, time, value_of};

const OPS: [Op; 6] = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];

/// A random plan of `table`. Most literals are values of `rows`, so that filters match.
pub fn random_plan(table: Table, rows: &[Row], dice: &mut Dice) -> Plan {
    let (from, to) = match dice.below(6) {
        0 => (MIDNIGHT, MIDNIGHT + 24 * HOUR_NS),
        1 => (time(dice), time(dice)),
        _ => (i64::MIN, i64::MAX),
    };
    let projects = match dice.below(8) {
        0 => Vec::new(),
        1 => vec![99],
        2 => vec![*dice.pick(&PROJECTS)],
        _ => PROJECTS.to_vec(),
    };
    let filter = if dice.once_in(3) { Filter::True } else { filter(table, rows, 2, dice) };
    let shape = if dice.once_in(2) { rows_shape(table, dice) } else { groups_shape(table, rows, dice) };
    Plan { table, projects, from, to, filter, shape }
}

fn column(table: Table, dice: &mut Dice) -> &'static Column {
    dice.pick(table.columns())
}

fn literal(table: Table, column: &Column, rows: &[Row], dice: &mut Dice) -> Value {
    let (index, _) = table.column(column.name).expect("the column is of the table");
    if !rows.is_empty()
        && !dice.once_in(6)
        && let Some(value) = value_of(&dice.pick(rows)[index])
    {
        return value;
    }
    match column.kind {
        Kind::Bool => Value::Bool(true),
        Kind::U8 | Kind::U32 | Kind::U64 => Value::U64(dice.below(4) as u64),
        Kind::I16 | Kind::I64 => Value::I64(dice.below(500) as i64),
        Kind::F64 => Value::F64(1.25),
        Kind::Text => Value::Text("b".to_owned()),
        Kind::Bytes => Value::Bytes(vec![0]),
        Kind::Id8 => Value::Bytes(vec![1; 8]),
        Kind::Id16 => Value::Bytes(vec![1; 16]),
    }
}

fn scopes(table: Table) -> Vec<AttributeScope> {
    let mut scopes = Vec::new();
    if table.column("attributes").is_some() {
        scopes.extend([AttributeScope::Record, AttributeScope::RecordThenResource, AttributeScope::Nearest]);
    }
    if table.column("event_attributes").is_some() {
        scopes.push(AttributeScope::Event);
    }
    if table.column("resource").is_some() {
        scopes.push(AttributeScope::Resource);
    }
    if table.column("scope_attributes").is_some() {
        scopes.push(AttributeScope::Scope);
    }
    scopes
}

fn has_text(table: Table) -> bool {
    table.columns().iter().any(|column| column.kind == Kind::Text)
}

/// A random filter of at most `depth` levels.
pub(super) fn filter(table: Table, rows: &[Row], depth: usize, dice: &mut Dice) -> Filter {
    let several = |dice: &mut Dice| (0..dice.below(3)).map(|_| filter(table, rows, depth - 1, dice)).collect();
    match dice.below(if depth == 0 { 8 } else { 12 }) {
        0 | 1 => {
            let column = column(table, dice);
            Filter::Compare { column: column.name, op: *dice.pick(&OPS), value: literal(table, column, rows, dice) }
        }
        2 | 3 => {
            let column = column(table, dice);
            let values = (0..dice.below(4)).map(|_| literal(table, column, rows, dice)).collect();
            Filter::In { column: column.name, values }
        }
        4 if has_text(table) => {
            let strings: Vec<&Column> = table.columns().iter().filter(|column| column.kind == Kind::Text).collect();
            let needle = (*dice.pick(&["", "a", "get /", "ÜR", "rich", "日", "x"])).to_owned();
            // Engines may have a separate filter for bodies of logs.
            let body = table.column("body").filter(|_| dice.once_in(2));
            let column = body.map_or_else(|| dice.pick(&strings).name, |(_, column)| column.name);
            if dice.once_in(3) {
                return Filter::Matches { column, pattern: pattern(dice), ignore_case: dice.once_in(2) };
            }
            Filter::Contains { column, needle, ignore_case: dice.once_in(2) }
        }
        5 => Filter::IsNull { column: column(table, dice).name },
        6 if !scopes(table).is_empty() => {
            let scope = *dice.pick(&scopes(table));
            if dice.once_in(3) {
                let needle = (*dice.pick(&["", "RICH", "[1", "7", "tru"])).to_owned();
                return Filter::AnyAttributeContains { scope, needle };
            }
            let key = (*dice.pick(&KEYS)).to_owned();
            let is_of_body = table.column("body").is_some() && dice.once_in(4);
            let scope = if is_of_body { AttributeScope::Body } else { scope };
            match dice.below(4) {
                0 => return Filter::AttributeMatches { scope, key, pattern: pattern(dice) },
                1 => {
                    let value = *dice.pick(&[7.0, 1.5, -1.0, 0.0, f64::INFINITY]);
                    return Filter::AttributeNumber { scope, key, op: *dice.pick(&OPS), value };
                }
                2 => return Filter::has_attribute(scope, key),
                _ => {}
            }
            let value = (*dice.pick(&["a", "7", "true", "zürich", "1.5", ""])).to_owned();
            Filter::Attribute { scope, key, op: *dice.pick(&OPS), value }
        }
        7 => {
            let numbers: Vec<&Column> = table
                .columns()
                .iter()
                .filter(|column| matches!(column.kind, Kind::U8 | Kind::U32 | Kind::U64))
                .collect();
            Filter::HasBits { column: dice.pick(&numbers).name, mask: *dice.pick(&[0, 1, 2, 128, u64::MAX]) }
        }
        8 => Filter::All(several(dice)),
        9 => Filter::Any(several(dice)),
        10 => Filter::Not(Box::new(filter(table, rows, depth - 1, dice))),
        _ => Filter::True,
    }
}

fn pattern(dice: &mut Dice) -> Pattern {
    let parts = ["", "", "", "a", "A", "b", "/", "GET", "ü", "7", "1"];
    Pattern::with_wildcards((0..1 + dice.below(3)).map(|_| (*dice.pick(&parts)).to_owned()).collect())
}

fn limit(dice: &mut Dice) -> (usize, usize) {
    let limit = *dice.pick(&[0, 1, 2, 5, 20, 1000, usize::MAX]);
    (limit, *dice.pick(&[0, 0, 0, 1, 3, 50]))
}

fn rows_shape(table: Table, dice: &mut Dice) -> Shape {
    let mut columns: Vec<&'static str> = table.columns().iter().map(|column| column.name).collect();
    dice.shuffle(&mut columns);
    columns.truncate(dice.below(columns.len() + 1));
    let mut order: Vec<Order> = Vec::new();
    for _ in 0..dice.below(4) {
        let name = if dice.once_in(2) { "time" } else { column(table, dice).name };
        order.push(Order { column: name, descending: dice.once_in(2) });
    }
    let (limit, offset) = limit(dice);
    Shape::Rows { columns, order, limit, offset }
}

/// Names of an answer's columns; some are also columns of the tables.
const NAMES: [&str; 8] = ["time", "name", "count", "value", "project", "first", "second", "third"];

fn groups_shape(table: Table, rows: &[Row], dice: &mut Dice) -> Shape {
    let scopes = scopes(table);
    let mut names = NAMES.to_vec();
    dice.shuffle(&mut names);
    let mut name = || names.pop().expect("there are names for three keys and four aggregates");
    let mut keys: Vec<KeySource> = Vec::new();
    for _ in 0..dice.below(3) {
        keys.push(match dice.below(5) {
            0 if !scopes.is_empty() => {
                KeySource::Attribute { scope: *dice.pick(&scopes), key: (*dice.pick(&KEYS)).to_owned() }
            }
            1 if !scopes.is_empty() => KeySource::AttributeKeys,
            2 if has_text(table) => {
                let strings: Vec<&Column> = table.columns().iter().filter(|column| column.kind == Kind::Text).collect();
                let column = dice.pick(&strings);
                let text = |dice: &mut Dice| match literal(table, column, rows, dice) {
                    Value::Text(text) => text,
                    other => panic!("{other:?} is no text"),
                };
                KeySource::OneOf { column: column.name, strings: (0..dice.below(3)).map(|_| text(dice)).collect() }
            }
            _ => KeySource::Column(column(table, dice).name),
        });
    }
    // At most one bucket, which a rate requires.
    let with_bucket = dice.once_in(2);
    if with_bucket {
        let origin = *dice.pick(&[0, MIDNIGHT, MIDNIGHT + 7]);
        keys.push(KeySource::TimeBucket {
            origin,
            width: *dice.pick(&[SECOND_NS, 60 * SECOND_NS, HOUR_NS, 24 * HOUR_NS]),
        });
        dice.shuffle(&mut keys);
    }
    let keys: Vec<Key> = keys.into_iter().map(|source| source.named(name())).collect();
    let aggregates: Vec<Aggregate> = (0..dice.below(5))
        .map(|_| {
            let filter = if dice.once_in(3) { filter(table, rows, 1, dice) } else { Filter::True };
            function(table, with_bucket, dice).named(name()).only(filter)
        })
        .collect();
    let order: Vec<GroupOrder> = (0..dice.below(3))
        .filter_map(|_| {
            let sortable: Vec<&Aggregate> = aggregates
                .iter()
                .filter(|aggregate| !matches!(aggregate.function, Function::HistogramQuantiles { .. }))
                // Computed doubles may be equal in one answer and only close in the other.
                .filter(|aggregate| {
                    let function = &aggregate.function;
                    !matches!(function, Function::Sum(_) | Function::Rate | Function::Quantiles { .. })
                })
                .collect();
            let by = match dice.below(2) {
                0 if !keys.is_empty() => dice.pick(&keys).name,
                _ if !sortable.is_empty() => dice.pick(&sortable).name,
                _ => return None,
            };
            Some(GroupOrder { by, descending: dice.once_in(2) })
        })
        .collect();
    let (limit, offset) = limit(dice);
    Shape::Groups { keys, aggregates, order, limit, offset }
}

fn function(table: Table, with_bucket: bool, dice: &mut Dice) -> Function {
    let numbers: Vec<&'static str> = table
        .columns()
        .iter()
        .filter(|column| !matches!(column.kind, Kind::Text | Kind::Bytes | Kind::Id8 | Kind::Id16))
        .map(|column| column.name)
        .collect();
    let any = column(table, dice).name;
    let qs = vec![*dice.pick(&[0.0, 0.5, 0.95, 1.0]), 0.33];
    if table == Table::MetricPoints && dice.once_in(3) {
        return match with_bucket && dice.once_in(2) {
            true => Function::Rate,
            false => Function::HistogramQuantiles { qs },
        };
    }
    match dice.below(9) {
        0 => Function::Count,
        1 => Function::Weight,
        2 => Function::Sum(dice.pick::<&'static str>(&numbers)),
        3 => Function::Min(any),
        4 => Function::Max(any),
        5 => Function::Quantiles { column: dice.pick::<&'static str>(&numbers), qs },
        6 => Function::Latest { column: any },
        7 => Function::Earliest { column: any },
        _ => Function::Distinct(any),
    }
}
