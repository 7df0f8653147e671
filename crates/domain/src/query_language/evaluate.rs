//! The meaning of a query on one row.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::ast::{Comparison, Expr, Field, Literal};
use super::quantity::Unit;

/// A row that queries are evaluated on.
pub trait Row {
    /// The value of a field; none when the row lacks it.
    fn cell(&self, field: &Field) -> Option<Cell<'_>>;

    /// The strings that a word without a field is searched in.
    fn strings(&self) -> Vec<Cow<'_, str>>;
}

/// A value of a row, with the type that gives comparisons their meaning.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// A text, or an attribute of any type as text. It compares as a number in an ordering, when it is one.
    Text(Cow<'a, str>),
    /// A number of no unit, or of a unit that queries do not write.
    Number(f64),
    /// Nanoseconds; literals have a unit of time, or are in milliseconds.
    Duration(f64),
    /// Bytes; literals have a unit of size, or are in bytes.
    Size(f64),
    /// Nanoseconds since the epoch; literals are times of RFC 3339.
    Time(i64),
    /// One of some named numbers, such as severities; literals are names in any case, or the numbers.
    Named {
        /// The number of the row.
        number: f64,
        /// Names, and the range of numbers that each stands for, ends included.
        names: &'static [(&'static str, f64, f64)],
    },
}

/// Whether the row meets the condition.
pub fn evaluate(expr: &Expr, row: &impl Row) -> bool {
    match expr {
        Expr::All(operands) => operands.iter().all(|operand| evaluate(operand, row)),
        Expr::Any(operands) => operands.iter().any(|operand| evaluate(operand, row)),
        Expr::Not(operand) => !evaluate(operand, row),
        Expr::Text(literal) => row.strings().iter().any(|text| contains(text, literal)),
        Expr::Has(field) => row.cell(field).is_some(),
        Expr::Compare { field, comparison, literal } => {
            row.cell(field).is_some_and(|cell| compare(&cell, *comparison, literal).unwrap_or(false))
        }
    }
}

/// Whether a text contains a literal; ASCII case is ignored, and wildcards stand for any text.
fn contains(text: &str, literal: &Literal) -> bool {
    let mut text = Cow::Borrowed(text);
    text.to_mut().make_ascii_lowercase();
    let mut rest: &str = &text;
    for part in literal.pattern.parts() {
        let part = part.to_ascii_lowercase();
        let Some(place) = rest.find(&part) else { return false };
        rest = &rest[place + part.len()..];
    }
    true
}

/// Compares a value with a literal; none when the literal is not of the value's type.
pub fn compare(cell: &Cell<'_>, comparison: Comparison, literal: &Literal) -> Option<bool> {
    if comparison == Comparison::Matches && literal.pattern.matches_everything() && !literal.quoted {
        return Some(true);
    }
    let quantity = literal.quantity();
    let ordered = |value: f64, wanted: Option<f64>| {
        wanted.and_then(|wanted| value.partial_cmp(&wanted)).map(|order| comparison.holds(order))
    };
    match cell {
        Cell::Text(text) => match comparison {
            Comparison::Matches if !literal.quoted => Some(literal.pattern.matches(text)),
            Comparison::Matches | Comparison::Equals => Some(**text == literal.text()),
            _ => ordered(text.parse().ok()?, quantity.and_then(|quantity| quantity.plain())),
        },
        Cell::Number(value) => ordered(*value, quantity.and_then(|quantity| quantity.plain())),
        Cell::Duration(value) => ordered(*value, quantity.and_then(|quantity| quantity.nanoseconds())),
        Cell::Size(value) => ordered(*value, quantity.and_then(|quantity| quantity.bytes())),
        Cell::Time(value) => time(&literal.text()).map(|wanted| comparison.holds(value.cmp(&wanted))),
        Cell::Named { number, names } => {
            let text = literal.text();
            let named = names.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&text));
            let (least, greatest) = match (named, quantity) {
                (Some((_, least, greatest)), _) => (*least, *greatest),
                (None, Some(quantity)) if quantity.unit == Unit::None => (quantity.number, quantity.number),
                _ => return None,
            };
            let order = if *number < least {
                Ordering::Less
            } else if *number > greatest {
                Ordering::Greater
            } else {
                Ordering::Equal
            };
            Some(comparison.holds(order))
        }
    }
}

/// Nanoseconds since the epoch of a time of RFC 3339.
fn time(text: &str) -> Option<i64> {
    i64::try_from(text.parse::<jiff::Timestamp>().ok()?.as_nanosecond()).ok()
}
