//! The simplest implementation of the algebra: one list of rows, one loop, every rule of `plan.rs` once.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::plan::{AttributeScope, Filter, Function, Key, KeySource, Op, Plan, Shape, Value};
use crate::tables::Table;
use tidewatch_domain::rules::body_field::body_field;
use tidewatch_domain::wire::for_each_attribute_text;

use super::histograms::{bars_of, increase};
use super::rows::{Cell, Row, value_of};

/// A cell of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// A single value.
    Cell(Cell),
    /// A list of doubles: quantiles.
    List(Vec<f64>),
    /// Histogram quantiles, which are not computed but checked: the buckets as (from, to, count), and the quantiles.
    Buckets(Vec<(f64, f64, f64)>, Vec<f64>),
}

/// The model's answer to a plan.
pub struct Answer {
    /// Rows in order, before offset and limit.
    pub rows: Vec<Vec<Answered>>,
    /// For [`Shape::Rows`], the sort key of each row, identity included; rows with equal keys may come in any order.
    pub order: Vec<Ordered>,
}

/// The sort key of a row: cells, and whether each is descending.
pub type Ordered = Vec<(Cell, bool)>;

/// Answers `plan` over `rows`. Panics when the plan does not fit the table.
pub fn answer(plan: &Plan, rows: &[Row]) -> Answer {
    let table = Columns(plan.table);
    let seen: Vec<&Row> = rows
        .iter()
        .filter(|row| {
            let Cell::U64(project) = table.get(row, "project") else { panic!("project is a number") };
            let time = table.time(row);
            plan.projects.iter().any(|wanted| u64::from(*wanted) == *project)
                && plan.from <= time
                && (time < plan.to || plan.to == i64::MAX)
                && table.passes(&plan.filter, row)
        })
        .collect();
    match &plan.shape {
        Shape::Rows { columns, order, .. } => {
            let mut keyed: Vec<(Ordered, Vec<Answered>)> = seen
                .iter()
                .map(|row| {
                    let ordered = order.iter().map(|order| (table.get(row, order.column).clone(), order.descending));
                    let identity = plan.table.identity().iter().map(|name| (table.get(row, name).clone(), false));
                    let cells = columns.iter().map(|name| Answered::Cell(table.get(row, name).clone())).collect();
                    (ordered.chain(identity).collect(), cells)
                })
                .collect();
            keyed.sort_by(|a, b| compare_keys(&a.0, &b.0));
            let (order, rows) = keyed.into_iter().unzip();
            Answer { rows, order }
        }
        Shape::Groups { keys, aggregates, order, .. } => {
            let mut groups: BTreeMap<String, (Vec<Cell>, Vec<&Row>)> = BTreeMap::new();
            if keys.is_empty() {
                groups.insert("[]".to_owned(), (Vec::new(), Vec::new()));
            }
            for row in &seen {
                let values: Vec<Cell> = keys.iter().map(|key| table.key(key, row)).collect();
                groups.entry(format!("{values:?}")).or_insert((values, Vec::new())).1.push(row);
            }
            let mut answers: Vec<(Vec<Cell>, Vec<Answered>)> = groups
                .values()
                .map(|(values, members)| {
                    let cells = aggregates.iter().map(|aggregate| {
                        let narrowed = |rows: &[&'_ Row]| -> Vec<Row> {
                            rows.iter()
                                .filter(|row| table.passes(&aggregate.filter, row))
                                .map(|row| (**row).clone())
                                .collect()
                        };
                        table.aggregate(&aggregate.function, keys, values, &narrowed(members), &narrowed(&seen))
                    });
                    (values.clone(), cells.collect())
                })
                .collect();
            answers.sort_by(|a, b| {
                for group_order in order {
                    let by_key = keys.iter().position(|key| key.name == group_order.by);
                    let by_aggregate = aggregates.iter().position(|aggregate| aggregate.name == group_order.by);
                    let ordering = match (by_key, by_aggregate) {
                        (Some(index), _) => compare(&a.0[index], &b.0[index]),
                        (_, Some(index)) => compare_answered(&a.1[index], &b.1[index]),
                        _ => panic!("no column of the answer is named {}", group_order.by),
                    };
                    let ordering = if group_order.descending { ordering.reverse() } else { ordering };
                    if ordering != Ordering::Equal {
                        return ordering;
                    }
                }
                a.0.iter().zip(&b.0).map(|(a, b)| compare(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            });
            let cells = |(values, cells): (Vec<Cell>, Vec<Answered>)| {
                values.into_iter().map(Answered::Cell).chain(cells).collect()
            };
            Answer { rows: answers.into_iter().map(cells).collect(), order: Vec::new() }
        }
    }
}

/// Compares two sort keys of one answer.
pub fn compare_keys(a: &[(Cell, bool)], b: &[(Cell, bool)]) -> Ordering {
    for ((a, descending), (b, _)) in a.iter().zip(b) {
        let ordering = if *descending { compare(b, a) } else { compare(a, b) };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}

/// Compares two cells; nulls sort first.
fn compare(a: &Cell, b: &Cell) -> Ordering {
    match (a, b) {
        (Cell::Null, Cell::Null) => Ordering::Equal,
        (Cell::Null, _) => Ordering::Less,
        (_, Cell::Null) => Ordering::Greater,
        (Cell::Bool(a), Cell::Bool(b)) => a.cmp(b),
        (Cell::U64(a), Cell::U64(b)) => a.cmp(b),
        (Cell::I64(a), Cell::I64(b)) => a.cmp(b),
        (Cell::F64(a), Cell::F64(b)) => a.total_cmp(b),
        (Cell::Text(a), Cell::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Cell::Bytes(a), Cell::Bytes(b)) => a.cmp(b),
        _ => panic!("{a:?} and {b:?} are of two kinds"),
    }
}

fn compare_answered(a: &Answered, b: &Answered) -> Ordering {
    match (a, b) {
        (Answered::Cell(a), Answered::Cell(b)) => compare(a, b),
        (Answered::List(a), Answered::List(b)) => {
            a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        }
        (Answered::Cell(_), _) => Ordering::Less,
        (_, Answered::Cell(_)) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

pub(super) struct Columns(pub Table);

impl Columns {
    fn get<'a>(&self, row: &'a Row, name: &str) -> &'a Cell {
        &row[self.0.column(name).expect("the column exists").0]
    }

    fn has(&self, name: &str) -> bool {
        self.0.column(name).is_some()
    }

    fn time(&self, row: &Row) -> i64 {
        match self.get(row, "time") {
            Cell::I64(time) => *time,
            other => panic!("{other:?} is no time"),
        }
    }

    fn weight(&self, row: &Row) -> f64 {
        match self.has("weight").then(|| self.get(row, "weight")) {
            Some(Cell::F64(weight)) => *weight,
            _ => 1.0,
        }
    }

    pub fn passes(&self, filter: &Filter, row: &Row) -> bool {
        match filter {
            Filter::True => true,
            Filter::All(all) => all.iter().all(|filter| self.passes(filter, row)),
            Filter::Any(any) => any.iter().any(|filter| self.passes(filter, row)),
            Filter::Not(filter) => !self.passes(filter, row),
            Filter::Compare { column, op, value } => holds(self.get(row, column), *op, value),
            Filter::In { column, values } => values.iter().any(|value| holds(self.get(row, column), Op::Eq, value)),
            Filter::Contains { column, needle, ignore_case } => match self.get(row, column) {
                Cell::Text(text) if *ignore_case => text.to_ascii_lowercase().contains(&needle.to_ascii_lowercase()),
                Cell::Text(text) => text.contains(needle),
                _ => false,
            },
            Filter::Matches { column, pattern, ignore_case } => match self.get(row, column) {
                Cell::Text(text) if *ignore_case => pattern.to_ascii_lowercase().matches(&text.to_ascii_lowercase()),
                Cell::Text(text) => pattern.matches(text),
                _ => false,
            },
            Filter::IsNull { column } => *self.get(row, column) == Cell::Null,
            Filter::Attribute { scope, key, op, value } => {
                self.attribute(*scope, key, row).is_some_and(|text| ordering_fits(text.cmp(value), *op))
            }
            Filter::AttributeMatches { scope, key, pattern } => {
                self.attribute(*scope, key, row).is_some_and(|text| pattern.matches(&text))
            }
            Filter::Descendant(_) => panic!("no engine evaluates it"),
            Filter::AttributeNumber { scope, key, op, value } => self
                .attribute(*scope, key, row)
                .and_then(|text| text.parse::<f64>().ok()?.partial_cmp(value))
                .is_some_and(|order| ordering_fits(order, *op)),
            Filter::AnyAttributeContains { scope, needle } => {
                let needle = needle.to_ascii_lowercase();
                self.encoded(*scope).iter().any(|column| {
                    pairs(self.get(row, column)).iter().any(|(_, text)| text.to_ascii_lowercase().contains(&needle))
                })
            }
            Filter::HasBits { column, mask } => {
                matches!(self.get(row, column), Cell::U64(bits) if bits & mask != 0)
            }
        }
    }

    fn encoded(&self, scope: AttributeScope) -> Vec<&'static str> {
        match scope {
            AttributeScope::Record => vec!["attributes"],
            AttributeScope::Resource => vec!["resource"],
            AttributeScope::Scope => vec!["scope_attributes"],
            AttributeScope::Event => vec!["event_attributes"],
            AttributeScope::Body => Vec::new(),
            AttributeScope::Nearest => {
                let mut columns = vec!["event_attributes", "attributes", "scope_attributes", "resource"];
                columns.retain(|column| self.has(column));
                columns
            }
            AttributeScope::RecordThenResource if self.has("resource") => vec!["attributes", "resource"],
            AttributeScope::RecordThenResource => vec!["attributes"],
        }
    }

    fn attribute(&self, scope: AttributeScope, key: &str, row: &Row) -> Option<String> {
        let within = |column: &str| {
            let all = pairs(self.get(row, column));
            all.into_iter().rev().find(|(name, _)| name == key).map(|(_, text)| text)
        };
        match scope {
            AttributeScope::RecordThenResource => {
                let of_column = || match self.get(row, "server_name") {
                    Cell::Text(name) if key == "server_name" && !name.is_empty() => Some(name.clone()),
                    _ => None,
                };
                let own = within("attributes").or_else(|| if self.has("server_name") { of_column() } else { None });
                own.or_else(|| if self.has("resource") { within("resource") } else { None })
            }
            AttributeScope::Body => {
                let Cell::Text(body) = self.get(row, "body") else { return None };
                body_field(body, key).map(|field| field.into_owned())
            }
            scope => self.encoded(scope).into_iter().find_map(within),
        }
    }

    fn key(&self, key: &Key, row: &Row) -> Cell {
        match &key.source {
            KeySource::Column(name) => self.get(row, name).clone(),
            KeySource::OneOf { column, strings } => match self.get(row, column) {
                Cell::Text(text) if strings.contains(text) => Cell::Text(text.clone()),
                _ => Cell::Null,
            },
            KeySource::TimeBucket { origin, width } => {
                Cell::I64(origin + (self.time(row) - origin).div_euclid(*width) * width)
            }
            KeySource::Attribute { scope, key } => self.attribute(*scope, key, row).map_or(Cell::Null, Cell::Text),
            KeySource::AttributeKeys => {
                let mut keys: Vec<String> =
                    pairs(self.get(row, "attributes")).into_iter().map(|(key, _)| key).collect();
                keys.sort();
                keys.dedup();
                Cell::Text(keys.join(","))
            }
        }
    }

    /// `rows`: the rows of the group, `all`: the rows of the plan, both after the aggregate's own filter.
    fn aggregate(&self, function: &Function, keys: &[Key], group: &[Cell], rows: &[Row], all: &[Row]) -> Answered {
        let column = |name: &str| -> Vec<(&Row, &Cell)> {
            let cells = rows.iter().map(|row| (row, self.get(row, name)));
            cells.filter(|(_, cell)| **cell != Cell::Null).collect()
        };
        let double = |value: Option<f64>| Answered::Cell(value.map_or(Cell::Null, Cell::F64));
        let sum = |terms: Vec<f64>| exact_sum(&terms);
        match function {
            Function::Count => Answered::Cell(Cell::U64(rows.len() as u64)),
            Function::Weight => double(Some(sum(rows.iter().map(|row| self.weight(row)).collect()))),
            Function::Sum(name) => {
                let terms: Vec<f64> = column(name).iter().map(|(row, cell)| number(cell) * self.weight(row)).collect();
                double(if terms.is_empty() { None } else { Some(sum(terms)) })
            }
            Function::Min(name) => {
                let cells = column(name).into_iter().map(|(_, cell)| cell);
                Answered::Cell(cells.min_by(|a, b| compare(a, b)).cloned().unwrap_or(Cell::Null))
            }
            Function::Max(name) => {
                let cells = column(name).into_iter().map(|(_, cell)| cell);
                Answered::Cell(cells.max_by(|a, b| compare(a, b)).cloned().unwrap_or(Cell::Null))
            }
            Function::Latest { column: name } => {
                let best = column(name)
                    .into_iter()
                    .max_by(|a, b| self.time(a.0).cmp(&self.time(b.0)).then_with(|| compare(a.1, b.1)));
                Answered::Cell(best.map_or(Cell::Null, |(_, cell)| cell.clone()))
            }
            Function::Earliest { column: name } => {
                let best = column(name)
                    .into_iter()
                    .min_by(|a, b| self.time(a.0).cmp(&self.time(b.0)).then_with(|| compare(a.1, b.1)));
                Answered::Cell(best.map_or(Cell::Null, |(_, cell)| cell.clone()))
            }
            Function::Distinct(name) => {
                let mut seen: Vec<&Cell> = Vec::new();
                for (_, cell) in column(name) {
                    if !seen.contains(&cell) {
                        seen.push(cell);
                    }
                }
                Answered::Cell(Cell::U64(seen.len() as u64))
            }
            Function::Quantiles { column: name, qs } => {
                // Weights are integers here, so that every copy can be written out.
                let mut copies: Vec<f64> = Vec::new();
                for (row, cell) in column(name) {
                    (0..self.weight(row) as usize).for_each(|_| copies.push(number(cell)));
                }
                copies.sort_by(f64::total_cmp);
                if copies.is_empty() {
                    return Answered::Cell(Cell::Null);
                }
                let quantile = |q: &f64| {
                    let index = q * (copies.len() - 1) as f64;
                    let (low, high) = (copies[index.floor() as usize], copies[index.ceil() as usize]);
                    low + (high - low) * index.fract()
                };
                Answered::List(qs.iter().map(quantile).collect())
            }
            Function::Rate => {
                let width = keys.iter().find_map(|key| match &key.source {
                    KeySource::TimeBucket { width, .. } => Some(width),
                    _ => None,
                });
                let Some(width) = width else { panic!("a rate has a time bucket") };
                let mut increases = Vec::new();
                for series in self.series(all) {
                    let mut before = None;
                    for row in series {
                        let value = number(self.get(row, "value"));
                        let increase = match self.get(row, "temporality") {
                            Cell::U64(1) => Some(value),
                            Cell::U64(2) => {
                                let step = before.map(|before| value - before);
                                before = Some(value);
                                step.filter(|step| *step >= 0.0)
                            }
                            _ => None,
                        };
                        let values: Vec<Cell> = keys.iter().map(|key| self.key(key, row)).collect();
                        if let Some(increase) = increase
                            && values == group
                        {
                            increases.push(increase);
                        }
                    }
                }
                double(if increases.is_empty() { None } else { Some(sum(increases) / (*width as f64 / 1e9)) })
            }
            Function::HistogramQuantiles { qs } => {
                let mut bars = Vec::new();
                for series in self.series(all) {
                    let mut before: Option<(Vec<f64>, Vec<u64>)> = None;
                    for row in series {
                        let (Cell::Bytes(bounds), Cell::Bytes(buckets)) =
                            (self.get(row, "bounds"), self.get(row, "buckets"))
                        else {
                            continue;
                        };
                        let bounds: Vec<f64> = words(bounds).into_iter().map(f64::from_bits).collect();
                        let buckets = words(buckets);
                        if bounds.is_empty() || buckets.len() != bounds.len() + 1 {
                            continue;
                        }
                        let mut counts = Some(buckets.clone());
                        if *self.get(row, "temporality") == Cell::U64(2) {
                            counts = before.as_ref().and_then(|before| increase(before, (&bounds, &buckets)));
                            before = Some((bounds.clone(), buckets));
                        }
                        let values: Vec<Cell> = keys.iter().map(|key| self.key(key, row)).collect();
                        if values == group {
                            bars.extend(counts.iter().flat_map(|counts| bars_of(&bounds, counts)));
                        }
                    }
                }
                if bars.is_empty() { Answered::Cell(Cell::Null) } else { Answered::Buckets(bars, qs.clone()) }
            }
        }
    }

    /// Rows by project and series, each ordered by time, then value, then buckets.
    fn series<'a>(&self, rows: &'a [Row]) -> Vec<Vec<&'a Row>> {
        let mut all: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            let series = (self.get(row, "project"), self.get(row, "series"));
            all.entry(format!("{series:?}")).or_default().push(row);
        }
        for series in all.values_mut() {
            series.sort_by(|a, b| {
                let buckets = |row| match self.get(row, "buckets") {
                    Cell::Bytes(bytes) => words(bytes),
                    _ => Vec::new(),
                };
                self.time(a)
                    .cmp(&self.time(b))
                    .then(compare(self.get(a, "value"), self.get(b, "value")))
                    .then_with(|| buckets(a).cmp(&buckets(b)))
            });
        }
        all.into_values().collect()
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("whole words"))).collect()
}

fn pairs(cell: &Cell) -> Vec<(String, String)> {
    let Cell::Bytes(encoded) = cell else { return Vec::new() };
    let mut pairs = Vec::new();
    for_each_attribute_text(encoded, |key, text| pairs.push((key.to_owned(), text.into_owned())));
    pairs
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Bool(value) => f64::from(u8::from(*value)),
        Cell::U64(value) => *value as f64,
        Cell::I64(value) => *value as f64,
        Cell::F64(value) => *value,
        other => panic!("{other:?} is no number"),
    }
}

fn holds(cell: &Cell, op: Op, value: &Value) -> bool {
    if *cell == Cell::Null {
        return false;
    }
    let same_kind = match value.clone() {
        Value::Bool(value) => Cell::Bool(value),
        Value::U64(value) => Cell::U64(value),
        Value::I64(value) => Cell::I64(value),
        Value::F64(value) => Cell::F64(value),
        Value::Text(value) => Cell::Text(value),
        Value::Bytes(value) => Cell::Bytes(value),
    };
    assert!(value_of(cell).is_some());
    ordering_fits(compare(cell, &same_kind), op)
}

fn ordering_fits(ordering: Ordering, op: Op) -> bool {
    match op {
        Op::Eq => ordering.is_eq(),
        Op::Ne => ordering.is_ne(),
        Op::Lt => ordering.is_lt(),
        Op::Le => ordering.is_le(),
        Op::Gt => ordering.is_gt(),
        Op::Ge => ordering.is_ge(),
    }
}

/// The sum of the terms, largest magnitudes last to limit rounding errors.
fn exact_sum(terms: &[f64]) -> f64 {
    let mut terms = terms.to_vec();
    terms.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    terms.iter().sum()
}
