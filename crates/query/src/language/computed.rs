//! Queries of sessions: their duration and number of errors are no columns, but computed for a list.

use std::borrow::Cow;

use tidewatch_domain::query_language::{self as ql, Cell, Expr, Field, ParseError, Row};
use tidewatch_store::plan::Filter;

use super::{LIMITS, RowKind, compile};
use crate::error::QueryError;
use crate::filters;

/// Values that a list computes for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionValues {
    /// Nanoseconds.
    pub duration: i64,
    /// Number of errors.
    pub errors: u64,
}

impl Row for SessionValues {
    fn cell(&self, field: &Field) -> Option<Cell<'_>> {
        match (field.scope, field.key.as_str()) {
            (None, "duration") => Some(Cell::Duration(self.duration as f64)),
            (None, "errors") => Some(Cell::Number(self.errors as f64)),
            _ => None,
        }
    }

    fn strings(&self) -> Vec<Cow<'_, str>> {
        Vec::new()
    }
}

const ANY: SessionValues = SessionValues { duration: 0, errors: 0 };

/// The filter of a query on stored states, and its conditions on what is computed. Each term of the query is of one or
/// of the other; a mixed one, such as `duration>1m OR user:ann`, is [`QueryError::InQuery`].
pub fn of_sessions(query: Option<&str>) -> Result<(Filter, Expr), QueryError> {
    let terms = match ql::parse(query.unwrap_or(""), LIMITS)? {
        Expr::All(terms) => terms,
        term => vec![term],
    };
    let (mut stored, mut computed) = (Vec::new(), Vec::new());
    for term in terms {
        let mut found = Found::default();
        found.add(&term)?;
        match found.computed {
            None => stored.push(compile(RowKind::Session, &term)?),
            Some(_) if !found.is_mixed => computed.push(term),
            Some(field) => {
                let message = format!("`{}` of sessions is no alternative of another condition", field.key);
                return Err(ParseError { message, position: field.position.0 as usize }.into());
            }
        }
    }
    Ok((filters::all(stored), Expr::All(computed)))
}

/// The fields of a term.
#[derive(Default)]
struct Found {
    /// The first computed one.
    computed: Option<Field>,
    /// Others, or words, besides.
    is_mixed: bool,
}

impl Found {
    /// [`QueryError::InQuery`] when a literal does not fit its computed field.
    fn add(&mut self, expr: &Expr) -> Result<(), QueryError> {
        match expr {
            Expr::All(operands) | Expr::Any(operands) => operands.iter().try_for_each(|operand| self.add(operand)),
            Expr::Not(operand) => self.add(operand),
            Expr::Text(_) => {
                self.is_mixed = true;
                Ok(())
            }
            Expr::Has(field) => {
                self.field(field);
                Ok(())
            }
            Expr::Compare { field, comparison, literal } => {
                self.field(field);
                match ANY.cell(field) {
                    Some(cell) if ql::compare(&cell, *comparison, literal).is_none() => {
                        let wanted = if field.key == "errors" { "a number" } else { "a duration such as 200ms" };
                        let message = format!("`{}` takes {wanted}", field.key);
                        Err(ParseError { message, position: literal.position.0 as usize }.into())
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    fn field(&mut self, field: &Field) {
        if ANY.cell(field).is_none() {
            self.is_mixed = true;
        } else if self.computed.is_none() {
            self.computed = Some(field.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, wanted: Option<[bool; 3]>) {
        let found = of_sessions(Some(query)).ok().map(|(_, computed)| {
            [(30, 0), (90, 0), (600, 3)].map(|(seconds, errors)| {
                ql::evaluate(&computed, &SessionValues { duration: seconds * 1_000_000_000, errors })
            })
        });
        assert_eq!(found, wanted, "{query}");
    }

    #[test]
    fn duration_and_errors_are_compared_with_what_is_computed() {
        check("", Some([true, true, true]));
        check("user:ann", Some([true, true, true]));
        check("duration>1m", Some([false, true, true]));
        check("duration>1m errors>0 browser:Firefox", Some([false, false, true]));
        check("-errors>0", Some([true, true, false]));
        check("(duration<60000 OR errors>=3)", Some([true, false, true]));
        check("duration>1m OR user:ann", None);
        check("duration>1m OR ann", None);
        check("errors:many", None);
        check("duration>5MB", None);
    }
}
