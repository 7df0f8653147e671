//! Checks a plan against the tables and resolves it: column descriptions replace names, datums replace literals.
//!
//! Invalid plans are refused here with [`StoreError::BadPlan`]; the scan itself checks nothing again.

use std::sync::Arc;

use memchr::memmem::Finder;
use tidewatch_domain::query_language::Pattern;

use crate::batch::datum::Datum;
use crate::batch::datum::holds;
use crate::batch::places::{Place, find, places};
use crate::batch::projection::Projection;
use crate::index::trigram;
use tidewatch_store::StoreError;
use tidewatch_store::plan::{Aggregate, AttributeScope, Filter, Function, GroupOrder, Key, KeySource, Op, Plan, Shape};
use tidewatch_store::tables::{Column, Kind, Table};

/// A checked plan.
#[derive(Debug, Clone)]
pub(crate) struct CheckedPlan {
    pub table: Table,
    pub projects: Vec<u32>,
    pub from: i64,
    pub to: i64,
    /// The conjunction: project, start of time, end of time, then the conjuncts of the plan's filter.
    pub tests: Vec<Arc<Test>>,
}

/// A checked [`Filter`].
#[derive(Debug, Clone)]
pub(crate) enum Test {
    True,
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    Compare {
        column: &'static Column,
        op: Op,
        value: Datum,
    },
    /// `values` ascending.
    In {
        column: &'static Column,
        values: Vec<Datum>,
    },
    Contains {
        column: &'static Column,
        needle: Needle,
    },
    /// `pattern` lower-cased (ASCII) when case is ignored.
    Matches {
        column: &'static Column,
        pattern: Pattern,
        ignore_case: bool,
    },
    IsNull {
        column: &'static Column,
    },
    Attribute {
        places: Vec<Place>,
        key: String,
        condition: AttributeCondition,
    },
    AnyAttributeContains {
        places: Vec<Place>,
        needle: Needle,
    },
    HasBits {
        column: &'static Column,
        mask: u64,
    },
}

/// A condition on an attribute as text.
#[derive(Debug, Clone)]
pub(crate) enum AttributeCondition {
    Compare(Op, String),
    Matches(Pattern),
    Number(Op, f64),
}

impl AttributeCondition {
    /// Whether a present attribute with this text meets the condition.
    pub fn holds(&self, text: &str) -> bool {
        match self {
            AttributeCondition::Compare(op, value) => holds(*op, text, value.as_str()),
            AttributeCondition::Matches(pattern) => pattern.matches(text),
            AttributeCondition::Number(op, value) => {
                text.parse::<f64>().is_ok_and(|number| !number.is_nan() && holds(*op, &number, value))
            }
        }
    }
}

/// The substring that a test searches.
#[derive(Debug, Clone)]
pub(crate) struct Needle {
    /// Lower-cased (ASCII) when case is ignored.
    pub finder: Finder<'static>,
    pub ignore_case: bool,
    /// The trigram bits that every string containing it has set, see [`trigram`].
    pub bits: Vec<u16>,
}

impl Needle {
    fn new(text: &str, ignore_case: bool) -> Needle {
        let text = if ignore_case { text.to_ascii_lowercase() } else { text.to_owned() };
        let bits = trigram::bits_of(text.as_bytes());
        Needle { finder: Finder::new(text.as_bytes()).into_owned(), ignore_case, bits }
    }
}

fn bad<T>(why: String) -> Result<T, StoreError> {
    Err(StoreError::BadPlan(why))
}

impl CheckedPlan {
    /// Checks a plan. [`StoreError::BadPlan`] when it does not fit the tables.
    pub fn check(plan: &Plan) -> Result<CheckedPlan, StoreError> {
        let table = plan.table;
        match &plan.shape {
            Shape::Rows { columns, order, .. } => {
                for name in columns.iter().chain(order.iter().map(|order| &order.column)) {
                    find(table, name)?;
                }
                if let Some(twice) = columns.iter().enumerate().find(|(i, name)| columns[..*i].contains(name)) {
                    return bad(format!("column {} is asked for twice", twice.1));
                }
            }
            Shape::Groups { keys, aggregates, order, .. } => {
                keys.iter().try_for_each(|key| check_key(table, &key.source))?;
                for aggregate in aggregates {
                    check_function(table, keys, &aggregate.function)?;
                }
                resolve_order(keys, aggregates, order)?;
            }
        }
        let mut projects = plan.projects.clone();
        projects.sort_unstable();
        projects.dedup();
        let (_, project) = find(table, "project")?;
        let (_, time) = find(table, "time")?;
        let values = projects.iter().map(|project| Datum::U64(u64::from(*project))).collect();
        let mut tests = vec![
            Arc::new(Test::In { column: project, values }),
            Arc::new(Test::Compare { column: time, op: Op::Ge, value: Datum::I64(plan.from) }),
            Arc::new(Test::Compare { column: time, op: before(plan.to), value: Datum::I64(plan.to) }),
        ];
        flatten(check_filter(table, &plan.filter)?, &mut tests);
        Ok(CheckedPlan { table, projects, from: plan.from, to: plan.to, tests })
    }

    /// The tests except the two of the time range.
    pub fn non_time_tests(&self) -> impl Iterator<Item = &Test> {
        self.tests.iter().take(1).chain(self.tests.iter().skip(3)).map(AsRef::as_ref)
    }

    /// The same plan restricted to these time ranges, `from..to` each.
    pub fn within(&self, times: &[(i64, i64)]) -> CheckedPlan {
        let Some((_, time)) = self.table.column("time") else { return self.clone() };
        let compare = |op, value| Test::Compare { column: time, op, value: Datum::I64(value) };
        let range = |(from, to): &(i64, i64)| Test::All(vec![compare(Op::Ge, *from), compare(before(*to), *to)]);
        let mut tests = self.tests.clone();
        tests.insert(3, Arc::new(Test::Any(times.iter().map(range).collect())));
        CheckedPlan { tests, ..self.clone() }
    }

    /// Whether no row can match: there is no project, or the time range is empty.
    pub fn matches_nothing(&self) -> bool {
        self.projects.is_empty() || self.from >= self.to
    }
}

/// The comparison with the end of a time range. `i64::MAX` means no end: see [`Plan::to`].
fn before(to: i64) -> Op {
    if to == i64::MAX { Op::Le } else { Op::Lt }
}

/// Appends the conjuncts of a test.
fn flatten(test: Test, into: &mut Vec<Arc<Test>>) {
    match test {
        Test::True => {}
        Test::All(tests) => tests.into_iter().for_each(|test| flatten(test, into)),
        test => into.push(Arc::new(test)),
    }
}

/// One sort criterion of groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OutputOrder {
    /// Index of the column in the answer: the keys first, then the aggregates.
    pub output: usize,
    pub descending: bool,
}

/// Resolves the sort columns. Fails when two columns of the answer have the same name, or the order names a column that
/// the answer does not have.
pub(crate) fn resolve_order(
    keys: &[Key],
    aggregates: &[Aggregate],
    order: &[GroupOrder],
) -> Result<Vec<OutputOrder>, StoreError> {
    let names = output_names(keys, aggregates);
    if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        return bad(format!("two columns of the answer are named {twice}"));
    }
    let resolve = |GroupOrder { by, descending }: &GroupOrder| match names.iter().position(|name| name == by) {
        Some(output) => Ok(OutputOrder { output, descending: *descending }),
        None => bad(format!("the order names {by}, which is no column of the answer")),
    };
    order.iter().map(resolve).collect()
}

/// Names of the answer's columns, in order.
pub(crate) fn output_names(keys: &[Key], aggregates: &[Aggregate]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).chain(aggregates.iter().map(|aggregate| aggregate.name)).collect()
}

fn check_key(table: Table, key: &KeySource) -> Result<(), StoreError> {
    match key {
        KeySource::Column(name) => find(table, name).map(drop),
        KeySource::OneOf { column, .. } => match find(table, column)?.1.kind {
            Kind::Text => Ok(()),
            _ => bad(format!("column {column} is no text")),
        },
        KeySource::TimeBucket { width, .. } if *width <= 0 => bad(format!("a time bucket of {width} ns is no bucket")),
        KeySource::TimeBucket { .. } => Ok(()),
        KeySource::Attribute { scope, key } => places(table, *scope, key).map(drop),
        KeySource::AttributeKeys => find(table, "attributes").map(drop),
    }
}

fn check_function(table: Table, keys: &[Key], function: &Function) -> Result<(), StoreError> {
    match function {
        Function::Count | Function::Weight => Ok(()),
        Function::Min(name) | Function::Max(name) | Function::Distinct(name) => find(table, name).map(drop),
        Function::Latest { column } | Function::Earliest { column } => find(table, column).map(drop),
        Function::Sum(name) => check_number(table, name),
        Function::Quantiles { column, qs } => {
            check_quantiles(qs)?;
            check_number(table, column)
        }
        Function::Rate => {
            let buckets = keys.iter().filter(|key| matches!(key.source, KeySource::TimeBucket { .. })).count();
            match (table, buckets) {
                (Table::MetricPoints, 1) => Ok(()),
                (Table::MetricPoints, _) => bad("a rate needs exactly one time bucket among the keys".to_owned()),
                _ => bad(format!("table {} has no rate", table.name())),
            }
        }
        Function::HistogramQuantiles { qs } => match table {
            Table::MetricPoints => check_quantiles(qs),
            _ => bad(format!("table {} has no histograms", table.name())),
        },
    }
}

fn check_number(table: Table, name: &str) -> Result<(), StoreError> {
    let (_, column) = find(table, name)?;
    match column.kind {
        Kind::Text | Kind::Bytes | Kind::Id8 | Kind::Id16 => bad(format!("column {name} is no number")),
        _ => Ok(()),
    }
}

fn check_quantiles(qs: &[f64]) -> Result<(), StoreError> {
    match qs.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        Some(q) => bad(format!("{q} is no quantile: not within 0 and 1")),
        None => Ok(()),
    }
}

pub(crate) fn check_filter(table: Table, filter: &Filter) -> Result<Test, StoreError> {
    let each =
        |filters: &[Filter]| filters.iter().map(|filter| check_filter(table, filter)).collect::<Result<Vec<_>, _>>();
    Ok(match filter {
        Filter::True => Test::True,
        Filter::All(filters) => Test::All(each(filters)?),
        Filter::Any(filters) => Test::Any(each(filters)?),
        Filter::Not(filter) => Test::Not(Box::new(check_filter(table, filter)?)),
        Filter::Compare { column, op, value } => {
            let (_, column) = find(table, column)?;
            Test::Compare { column, op: *op, value: Datum::literal(column, value)? }
        }
        Filter::In { column, values } => {
            let (_, column) = find(table, column)?;
            let literals: Result<Vec<Datum>, StoreError> =
                values.iter().map(|value| Datum::literal(column, value)).collect();
            let mut values = literals?;
            values.sort_unstable_by(Datum::order);
            Test::In { column, values }
        }
        Filter::Contains { column, needle, ignore_case } => {
            let (_, column) = find(table, column)?;
            if column.kind != Kind::Text {
                return bad(format!("column {} is no text", column.name));
            }
            Test::Contains { column, needle: Needle::new(needle, *ignore_case) }
        }
        Filter::Matches { column, pattern, ignore_case } => {
            let (_, column) = find(table, column)?;
            if column.kind != Kind::Text {
                return bad(format!("column {} is no text", column.name));
            }
            let pattern = if *ignore_case { pattern.to_ascii_lowercase() } else { pattern.clone() };
            Test::Matches { column, pattern, ignore_case: *ignore_case }
        }
        Filter::IsNull { column } => Test::IsNull { column: find(table, column)?.1 },
        Filter::Attribute { scope, key, op, value } => {
            attribute(table, *scope, key, AttributeCondition::Compare(*op, value.clone()))?
        }
        Filter::AttributeMatches { scope, key, pattern } => {
            attribute(table, *scope, key, AttributeCondition::Matches(pattern.clone()))?
        }
        Filter::Descendant(_) => return bad("conditions on descendants are no part of a scan".to_owned()),
        Filter::AttributeNumber { key, value, .. } if value.is_nan() => {
            return bad(format!("attribute {key} is compared with NaN"));
        }
        Filter::AttributeNumber { scope, key, op, value } => {
            attribute(table, *scope, key, AttributeCondition::Number(*op, *value))?
        }
        Filter::AnyAttributeContains { scope: AttributeScope::Body, .. } => {
            return bad("a body is searched as a text".to_owned());
        }
        Filter::AnyAttributeContains { scope, needle } => {
            let places = places(table, *scope, "")?;
            Test::AnyAttributeContains { places, needle: Needle::new(needle, true) }
        }
        Filter::HasBits { column, mask } => {
            let (_, column) = find(table, column)?;
            if !matches!(column.kind, Kind::U8 | Kind::U32 | Kind::U64) {
                return bad(format!("column {} is no unsigned number", column.name));
            }
            Test::HasBits { column, mask: *mask }
        }
    })
}

fn attribute(
    table: Table,
    scope: AttributeScope,
    key: &str,
    condition: AttributeCondition,
) -> Result<Test, StoreError> {
    Ok(Test::Attribute { places: places(table, scope, key)?, key: key.to_owned(), condition })
}

impl Test {
    /// Whether only rows with a value in this column pass.
    pub fn requires(&self, name: &str) -> bool {
        match self {
            Test::All(tests) => tests.iter().any(|test| test.requires(name)),
            Test::Not(test) => matches!(&**test, Test::IsNull { column } if column.name == name),
            Test::Compare { column, .. } | Test::In { column, .. } => column.name == name,
            _ => false,
        }
    }

    /// Adds the columns that the test reads and that `into` lacks.
    pub fn columns(&self, into: &mut Vec<&'static Column>) {
        let mut add = |column: &'static Column| {
            if !into.contains(&column) {
                into.push(column);
            }
        };
        match self {
            Test::True => {}
            Test::All(tests) | Test::Any(tests) => tests.iter().for_each(|test| test.columns(into)),
            Test::Not(test) => test.columns(into),
            Test::Compare { column, .. }
            | Test::In { column, .. }
            | Test::Contains { column, .. }
            | Test::Matches { column, .. }
            | Test::IsNull { column }
            | Test::HasBits { column, .. } => add(column),
            Test::Attribute { places, .. } | Test::AnyAttributeContains { places, .. } => {
                places.iter().for_each(|place| add(place.column()));
            }
        }
    }

    /// Adds what the test reads.
    pub fn add_to(&self, projection: &mut Projection) {
        match self {
            Test::All(tests) | Test::Any(tests) => tests.iter().for_each(|test| test.add_to(projection)),
            Test::Not(test) => test.add_to(projection),
            Test::Attribute { places, key, .. } => projection.attribute(places, key),
            Test::AnyAttributeContains { places, .. } => {
                places.iter().for_each(|place| projection.pairs(place.column().name))
            }
            _ => {
                let mut columns = Vec::new();
                self.columns(&mut columns);
                columns.iter().for_each(|column| projection.column(column.name));
            }
        }
    }

    /// False when no row can pass because of `Contains` tests, which `may_contain` evaluates.
    pub fn contains_may_pass(&self, may_contain: &dyn Fn(&'static Column, &Needle) -> bool) -> bool {
        match self {
            Test::All(tests) => tests.iter().all(|test| test.contains_may_pass(may_contain)),
            Test::Any(tests) => tests.iter().any(|test| test.contains_may_pass(may_contain)),
            Test::Contains { column, needle } => may_contain(column, needle),
            _ => true,
        }
    }

    /// Relative cost. 0: compares numbers; 1: compares text or ids; 2: searches text or decodes attributes. Cheap tests
    /// run first.
    pub fn cost(&self) -> u8 {
        let of_column = |column: &Column| match column.kind {
            Kind::Text | Kind::Bytes | Kind::Id8 | Kind::Id16 => 1,
            _ => 0,
        };
        match self {
            Test::True => 0,
            Test::All(tests) | Test::Any(tests) => tests.iter().map(Test::cost).max().unwrap_or(0),
            Test::Not(test) => test.cost(),
            Test::Compare { column, .. }
            | Test::In { column, .. }
            | Test::IsNull { column }
            | Test::HasBits { column, .. } => of_column(column),
            Test::Contains { .. }
            | Test::Matches { .. }
            | Test::Attribute { .. }
            | Test::AnyAttributeContains { .. } => 2,
        }
    }
}
