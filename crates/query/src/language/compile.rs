//! Compiles a syntax tree to a filter.

use tidewatch_domain::query_language::{Comparison, Expr, Field, Literal, ParseError, Pattern, Position, Scope, Unit};
use tidewatch_domain::rules::content_terms::{joined, normalized};
use tidewatch_store::plan::{AttributeScope, Filter, KeySource, Op, Value};
use tidewatch_store::tables::{Kind, Table};

use super::fields::{Bit, Name, RowKind, Source};
use crate::error::QueryError;
use crate::filters;

/// The filter that passes the rows on which the expression is true. [`QueryError::InQuery`] when it does not fit the
/// kind of row.
pub fn compile(kind: RowKind, expr: &Expr) -> Result<Filter, QueryError> {
    Ok(match expr {
        Expr::All(operands) => filters::all(each(kind, operands)?),
        Expr::Any(operands) => Filter::Any(each(kind, operands)?),
        Expr::Not(operand) => filters::not(compile(kind, operand)?),
        Expr::Text(literal) => any(kind.searched().iter().map(|column| text_contains(column, &literal.pattern))),
        Expr::Has(field) | Expr::Compare { field, .. }
            if field.scope == Some(Scope::Child) && kind.has_descendants() =>
        {
            Filter::Descendant(Box::new(compile(RowKind::Span, &of_span(expr))?))
        }
        Expr::Has(field) => Operand::of(kind, field)?.has(kind.table()),
        Expr::Compare { field, comparison, literal } => {
            Operand::of(kind, field)?.compare(kind.table(), &Condition { field, comparison: *comparison, literal })?
        }
    })
}

/// The condition on a span that `child.` before its field makes one on the spans below.
fn of_span(expr: &Expr) -> Expr {
    let unscoped = |field: &Field| Field { scope: None, ..field.clone() };
    match expr {
        Expr::Has(field) => Expr::Has(unscoped(field)),
        Expr::Compare { field, comparison, literal } => {
            Expr::Compare { field: unscoped(field), comparison: *comparison, literal: literal.clone() }
        }
        other => other.clone(),
    }
}

/// Where the values of a field with a scope are read, the nearest first.
pub(super) fn sources(kind: RowKind, field: &Field) -> Result<Vec<KeySource>, QueryError> {
    Ok(match Operand::of(kind, field)? {
        Operand::Source(Source::Text(column)) => vec![KeySource::Column(column)],
        Operand::Source(_) => Vec::new(),
        Operand::Attributes(candidates) => {
            candidates.into_iter().map(|(scope, key)| KeySource::Attribute { scope, key }).collect()
        }
    })
}

fn each(kind: RowKind, operands: &[Expr]) -> Result<Vec<Filter>, QueryError> {
    operands.iter().map(|operand| compile(kind, operand)).collect()
}

/// At least one of the filters; a single one stays as it is.
fn any(filters: impl Iterator<Item = Filter>) -> Filter {
    let mut filters: Vec<Filter> = filters.collect();
    if filters.len() == 1 { filters.remove(0) } else { Filter::Any(filters) }
}

/// The column contains the pattern, in any case of ASCII letters.
fn text_contains(column: &'static str, pattern: &Pattern) -> Filter {
    let contains = |part: &String| Filter::Contains { column, needle: part.clone(), ignore_case: true };
    if let [part] = pattern.parts() {
        return contains(part);
    }
    // The parts alone use the index of substrings; their order is that of the pattern.
    let parts = pattern.parts().iter().filter(|part| !part.is_empty()).map(contains);
    let around = |parts: &[String]| {
        let mut all = vec![String::new()];
        all.extend(parts.iter().cloned());
        all.push(String::new());
        Pattern::with_wildcards(all)
    };
    let whole = Filter::Matches { column, pattern: around(pattern.parts()), ignore_case: true };
    filters::all(parts.chain([whole]))
}

/// A comparison of a query.
struct Condition<'q> {
    field: &'q Field,
    comparison: Comparison,
    literal: &'q Literal,
}

impl Condition<'_> {
    /// The error of a literal that does not fit the field; `wanted`: what the field takes.
    fn misfit<T>(&self, wanted: &str) -> Result<T, QueryError> {
        Err(in_query(self.literal.position, format!("`{}` takes {wanted}", self.field.key)))
    }

    /// The pattern of `:` without quotes; `None`: the text is compared as a whole.
    fn pattern(&self) -> Option<&Pattern> {
        let is_pattern = self.comparison == Comparison::Matches && !self.literal.quoted;
        Some(&self.literal.pattern).filter(|pattern| is_pattern && pattern.as_exact().is_none())
    }

    /// `:*`
    fn is_presence(&self) -> bool {
        self.pattern().is_some_and(Pattern::matches_everything)
    }

    fn op(&self) -> Op {
        match self.comparison {
            Comparison::Matches | Comparison::Equals => Op::Eq,
            Comparison::Greater => Op::Gt,
            Comparison::GreaterOrEqual => Op::Ge,
            Comparison::Less => Op::Lt,
            Comparison::LessOrEqual => Op::Le,
        }
    }

    fn equality_only(&self, what: &str) -> Result<(), QueryError> {
        if self.comparison.is_ordering() { self.misfit(&format!("{what}, which has no order")) } else { Ok(()) }
    }

    fn plain_number(&self, wanted: &str) -> Result<f64, QueryError> {
        self.literal.quantity().and_then(|quantity| quantity.plain()).map_or_else(|| self.misfit(wanted), Ok)
    }
}

fn in_query(position: Position, message: String) -> QueryError {
    ParseError { message, position: position.0 as usize }.into()
}

/// Source of a field's values in a query.
enum Operand {
    Source(Source),
    /// The first of these attributes that the row has.
    Attributes(Vec<(AttributeScope, String)>),
}

impl Operand {
    fn of(kind: RowKind, field: &Field) -> Result<Operand, QueryError> {
        let table = kind.table();
        let has = |column: &str| table.column(column).is_some();
        let missing = |what: &str| Err(in_query(field.position, format!("{} have no {what}", kind.noun())));
        let one = |scope| Ok(Operand::Attributes(vec![(scope, field.key.clone())]));
        match field.scope {
            None => Ok(match (kind.field(&field.key), kind.body_path(&field.key)) {
                (Some(known), _) => Operand::of_source(known.source),
                (None, Some(path)) => Operand::Attributes(vec![
                    (AttributeScope::Body, path.to_owned()),
                    (AttributeScope::Nearest, field.key.clone()),
                ]),
                (None, None) => Operand::Attributes(vec![(AttributeScope::Nearest, field.key.clone())]),
            }),
            Some(Scope::Record) if has("event_attributes") => Ok(Operand::Attributes(
                [AttributeScope::Event, AttributeScope::Record].map(|scope| (scope, field.key.clone())).to_vec(),
            )),
            Some(Scope::Record) => one(AttributeScope::Record),
            Some(Scope::Resource) if has("resource") => one(AttributeScope::Resource),
            // The attributes of the resource that every table has as columns.
            Some(Scope::Resource) => match field.key.as_str() {
                "service.name" => Ok(Operand::Source(Source::Text("server_name"))),
                "service.version" if has("app_version") => Ok(Operand::Source(Source::Text("app_version"))),
                _ => missing("resource attributes"),
            },
            Some(Scope::Scope) => match field.key.as_str() {
                "name" if has("scope") => Ok(Operand::Source(Source::Text("scope"))),
                "version" if has("scope_version") => Ok(Operand::Source(Source::Text("scope_version"))),
                _ if has("scope_attributes") => one(AttributeScope::Scope),
                _ => missing("scope attributes"),
            },
            Some(Scope::Child) => Err(in_query(
                field.position,
                "`child.` is of Endpoints, Tasks and AI Traces; a search of traces has `{…} >> {…}`".to_owned(),
            )),
        }
    }

    fn of_source(source: Source) -> Operand {
        match source {
            Source::Attributes(keys) => {
                Operand::Attributes(keys.iter().map(|key| (AttributeScope::Nearest, (*key).to_owned())).collect())
            }
            source => Operand::Source(source),
        }
    }

    /// The filter on rows that have the field.
    fn has(&self, table: Table) -> Filter {
        match self {
            Operand::Attributes(candidates) => {
                any(candidates.iter().map(|(scope, key)| Filter::has_attribute(*scope, key.clone())))
            }
            Operand::Source(source) => match *source {
                Source::Text(column) => compared(column, Op::Ne, Value::Text(String::new())),
                Source::Number(column) => not_null(table, column),
                Source::NonZero(column) | Source::Size(column) => number(table, column, Op::Ne, 0.0),
                Source::Named(column, names) => has_named(table, column, names),
                Source::Id(column) => compared(column, Op::Ne, Value::Bytes(vec![0; id_bytes(table, column)])),
                Source::Duration(column) | Source::Time(column) | Source::Bool(column) | Source::Hash(column) => {
                    not_null(table, column)
                }
                Source::Bits(column, bits) => has_bits(column, bits.iter()),
                Source::Terms(column) => filters::not(Filter::IsNull { column }),
                Source::Computed => Filter::never(),
                Source::Outcome { .. } | Source::SpanError | Source::AnyBit(..) | Source::Attributes(_) => Filter::True,
            },
        }
    }

    fn compare(&self, table: Table, condition: &Condition<'_>) -> Result<Filter, QueryError> {
        if condition.is_presence() {
            return Ok(self.has(table));
        }
        match self {
            Operand::Attributes(candidates) => {
                let mut filter = Filter::never();
                for (scope, key) in candidates.iter().rev() {
                    let own = attribute(*scope, key, condition)?;
                    filter = if filter == Filter::never() {
                        own
                    } else {
                        let lacks = filters::not(Filter::has_attribute(*scope, key.clone()));
                        Filter::Any(vec![own, lacks.and(filter)])
                    };
                }
                Ok(filter)
            }
            Operand::Source(source) => of_source(*source, table, condition),
        }
    }
}

fn of_source(source: Source, table: Table, condition: &Condition<'_>) -> Result<Filter, QueryError> {
    let literal = condition.literal;
    let op = condition.op();
    match source {
        Source::Text(column) => {
            condition.equality_only("a text")?;
            Ok(match condition.pattern() {
                Some(pattern) => Filter::Matches { column, pattern: pattern.clone(), ignore_case: false },
                // An empty text is no value.
                None if literal.text().is_empty() => Filter::never(),
                None => filters::text(column, &literal.text()),
            })
        }
        Source::Number(column) => Ok(number(table, column, op, condition.plain_number("a number")?)),
        Source::NonZero(column) => {
            let wanted = condition.plain_number("a number")?;
            Ok(number(table, column, Op::Ne, 0.0).and(number(table, column, op, wanted)))
        }
        Source::Duration(column) => match literal.quantity().and_then(|quantity| quantity.nanoseconds()) {
            Some(wanted) => Ok(number(table, column, op, wanted)),
            None => condition.misfit("a duration such as 200ms"),
        },
        Source::Size(column) => match literal.quantity().and_then(|quantity| quantity.bytes()) {
            Some(wanted) => Ok(number(table, column, Op::Ne, 0.0).and(number(table, column, op, wanted))),
            None => condition.misfit("a size such as 64kB"),
        },
        Source::Time(column) => match literal.text().parse::<jiff::Timestamp>() {
            Ok(time) => match i64::try_from(time.as_nanosecond()) {
                Ok(time) => Ok(filters::compare(column, op, time)),
                Err(_) => condition.misfit("a time from 1677 to 2262"),
            },
            Err(_) => condition.misfit("a time such as 2026-11-23T09:04:00Z"),
        },
        Source::Named(column, names) => named(table, column, names, condition),
        Source::Bool(column) => boolean(condition).map(|wanted| Filter::eq(column, Value::Bool(wanted))),
        Source::Id(column) => id(table, column, condition),
        Source::Hash(column) => {
            condition.equality_only("a hash")?;
            match crate::ids::parse_hash(&literal.text()) {
                Ok(hash) => Ok(Filter::eq(column, Value::U64(hash))),
                Err(_) => condition.misfit("16 hexadecimal digits"),
            }
        }
        Source::Outcome { error, code } => match literal.text().to_ascii_lowercase().as_str() {
            outcome @ ("error" | "ok") => {
                condition.equality_only("`error`, `ok` or an HTTP status; the first two have no order")?;
                Ok(Filter::eq(error, Value::Bool(outcome == "error")))
            }
            _ => {
                let wanted = condition.plain_number("`error`, `ok` or an HTTP status")?;
                Ok(number(table, code, Op::Ne, 0.0).and(number(table, code, op, wanted)))
            }
        },
        Source::SpanError => {
            let is_error = filters::span_error();
            Ok(if boolean(condition)? { is_error } else { filters::not(is_error) })
        }
        Source::Bits(column, bits) => named_bits(column, bits, condition),
        Source::AnyBit(column, bits) => {
            let has_any = has_bits(column, bits.iter());
            Ok(if boolean(condition)? { has_any } else { filters::not(has_any) })
        }
        Source::Terms(column) => {
            condition.equality_only("a term")?;
            // A term without a word is in no row.
            let Some(term) = normalized(&literal.text()) else { return Ok(Filter::never()) };
            Ok(Filter::Contains { column, needle: joined(&[&term]), ignore_case: false })
        }
        Source::Computed => Err(in_query(
            condition.field.position,
            format!("`{}` is computed for lists of sessions, and searched only there", condition.field.key),
        )),
        // Fields of attributes are `Operand::Attributes`.
        Source::Attributes(_) => Ok(Filter::never()),
    }
}

fn attribute(scope: AttributeScope, key: &str, condition: &Condition<'_>) -> Result<Filter, QueryError> {
    let key = key.to_owned();
    if condition.comparison.is_ordering() {
        let value = condition.plain_number("a number without a unit here, as attributes have no unit")?;
        return Ok(Filter::AttributeNumber { scope, key, op: condition.op(), value });
    }
    Ok(match condition.pattern() {
        Some(pattern) => Filter::AttributeMatches { scope, key, pattern: pattern.clone() },
        None => Filter::Attribute { scope, key, op: Op::Eq, value: condition.literal.text() },
    })
}

fn boolean(condition: &Condition<'_>) -> Result<bool, QueryError> {
    condition.equality_only("true or false")?;
    match condition.literal.text().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => condition.misfit("true or false"),
    }
}

fn named(table: Table, column: &'static str, names: &[Name], condition: &Condition<'_>) -> Result<Filter, QueryError> {
    let text = condition.literal.text();
    let (least, greatest) = match names.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&text)) {
        Some((_, least, greatest)) => (*least, *greatest),
        None => match condition.literal.quantity() {
            Some(quantity) if quantity.unit == Unit::None => (quantity.number, quantity.number),
            _ => {
                let known: Vec<&str> = names.iter().map(|(name, ..)| *name).collect();
                return condition.misfit(&format!("{}, or a number", known.join(", ")));
            }
        },
    };
    let comparison = match condition.comparison {
        Comparison::Matches | Comparison::Equals => {
            number(table, column, Op::Ge, least).and(number(table, column, Op::Le, greatest))
        }
        Comparison::Greater => number(table, column, Op::Gt, greatest),
        Comparison::GreaterOrEqual => number(table, column, Op::Ge, least),
        Comparison::Less => number(table, column, Op::Lt, least),
        Comparison::LessOrEqual => number(table, column, Op::Le, greatest),
    };
    Ok(has_named(table, column, names).and(comparison))
}

/// The rows with a bit of this name; a pattern stands for several.
fn named_bits(column: &'static str, bits: &[Bit], condition: &Condition<'_>) -> Result<Filter, QueryError> {
    condition.equality_only("a flag")?;
    let text = condition.literal.text();
    let is_meant = |(name, _): &&Bit| match condition.pattern() {
        Some(pattern) => pattern.matches(name),
        None => name.eq_ignore_ascii_case(&text),
    };
    if !bits.iter().any(|bit| is_meant(&bit)) {
        let known: Vec<&str> = bits.iter().map(|(name, _)| *name).collect();
        return condition.misfit(&format!("one of {}", known.join(", ")));
    }
    Ok(has_bits(column, bits.iter().filter(is_meant)))
}

/// The rows with at least one of these bits.
fn has_bits<'b>(column: &'static str, bits: impl Iterator<Item = &'b Bit>) -> Filter {
    Filter::HasBits { column, mask: bits.fold(0, |mask, (_, bit)| mask | bit) }
}

/// The rows with a named number: all of them when 0 has a name.
fn has_named(table: Table, column: &'static str, names: &[Name]) -> Filter {
    let zero_is_named = names.iter().any(|(_, least, _)| *least == 0.0);
    if zero_is_named { Filter::True } else { number(table, column, Op::Ne, 0.0) }
}

/// An id as a whole, or the beginning of one: `4bf92f*`.
fn id(table: Table, column: &'static str, condition: &Condition<'_>) -> Result<Filter, QueryError> {
    let bytes = id_bytes(table, column);
    let wanted = format!("{} hexadecimal digits, or the first ones and `*`", 2 * bytes);
    condition.equality_only(&wanted)?;
    let (digits, is_beginning) = match condition.pattern().map(Pattern::parts) {
        Some([beginning, rest]) if rest.is_empty() => (beginning.clone(), true),
        Some(_) => return condition.misfit(&wanted),
        None => (condition.literal.text(), false),
    };
    let digits: String = digits.chars().filter(|digit| *digit != '-').collect();
    let fits = if is_beginning { digits.len() <= 2 * bytes } else { digits.len() == 2 * bytes };
    if !fits || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return condition.misfit(&wanted);
    }
    let filled = |filler: &str| {
        let all = digits.clone() + &filler.repeat(2 * bytes - digits.len());
        let byte = |at: usize| u8::from_str_radix(&all[at..at + 2], 16).unwrap_or(0);
        Value::Bytes((0..all.len()).step_by(2).map(byte).collect())
    };
    let has = compared(column, Op::Ne, Value::Bytes(vec![0; bytes]));
    Ok(match is_beginning {
        true => has.and(compared(column, Op::Ge, filled("0"))).and(compared(column, Op::Le, filled("f"))),
        false => has.and(Filter::eq(column, filled("0"))),
    })
}

fn id_bytes(table: Table, column: &str) -> usize {
    match table.column(column) {
        Some((_, column)) if column.kind == Kind::Id8 => 8,
        _ => 16,
    }
}

fn compared(column: &'static str, op: Op, value: Value) -> Filter {
    Filter::Compare { column, op, value }
}

/// The column is not null.
fn not_null(table: Table, column: &'static str) -> Filter {
    match table.column(column) {
        Some((_, found)) if found.nullable => filters::not(Filter::IsNull { column }),
        _ => Filter::True,
    }
}

/// A numeric column compared with a double; exact for the integers of a column up to 2^53.
fn number(table: Table, column: &'static str, op: Op, wanted: f64) -> Filter {
    let kind = table.column(column).map(|(_, column)| column.kind);
    if kind == Some(Kind::F64) {
        return compared(column, op, Value::F64(wanted));
    }
    let is_unsigned = matches!(kind, Some(Kind::U8 | Kind::U32 | Kind::U64));
    let (least, greatest) = if is_unsigned { (0.0, u64::MAX as f64) } else { (i64::MIN as f64, i64::MAX as f64) };
    let whole = match op {
        Op::Eq | Op::Ne if wanted.fract() != 0.0 => {
            return if op == Op::Eq { Filter::never() } else { not_null(table, column) };
        }
        Op::Eq | Op::Ne => wanted,
        // `x > 1.5` is `x > 1`, and `x < 1.5` is `x < 2`.
        Op::Gt | Op::Le => wanted.floor(),
        Op::Ge | Op::Lt => wanted.ceil(),
    };
    if whole < least || whole > greatest {
        let all = match op {
            Op::Eq => false,
            Op::Ne => true,
            Op::Gt | Op::Ge => whole < least,
            Op::Lt | Op::Le => whole > greatest,
        };
        return if all { not_null(table, column) } else { Filter::never() };
    }
    let value = if is_unsigned { Value::U64(whole as u64) } else { Value::I64(whole as i64) };
    compared(column, op, value)
}
