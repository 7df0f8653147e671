//! Queries of Issues with conditions on owners, which hold for owners that arrived after the exception too.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tidewatch_accounts::Project;
use tidewatch_domain::query_language::{Cell, Expr, Field, Row, evaluate, parse};
use tidewatch_store::plan::Filter;

use crate::error::QueryError;
use crate::executor::Executor;
use crate::language::fields::Source;
use crate::language::{self, RowKind};
use crate::time::Range;
use crate::{filters, owners};

/// Row ids of exceptions by the name of their owner.
type Late = BTreeMap<String, Vec<[u8; 16]>>;

/// The filter of a query of exceptions, like [`language::filter`].
pub async fn filter(
    executor: &Executor,
    project: &Project,
    range: Range,
    query: Option<&str>,
) -> Result<Filter, QueryError> {
    let stored = language::filter(RowKind::Issue, query)?;
    let expr = parse(query.unwrap_or(""), language::LIMITS)?;
    if !has_owner(&expr) {
        return Ok(stored);
    }
    let late = owners::late(executor, project, range).await?;
    if late.is_empty() { Ok(stored) } else { completed(&expr, &late) }
}

fn is_owner(field: &Field) -> bool {
    let known = RowKind::Issue.field(&field.key).filter(|_| field.scope.is_none());
    known.is_some_and(|known| known.source == Source::Text("owner_name"))
}

/// Whether a query has a condition on owners.
fn has_owner(expr: &Expr) -> bool {
    match expr {
        Expr::All(operands) | Expr::Any(operands) => operands.iter().any(has_owner),
        Expr::Not(operand) => has_owner(operand),
        Expr::Text(_) => false,
        Expr::Has(field) | Expr::Compare { field, .. } => is_owner(field),
    }
}

/// The filter of a query. A condition on owners is false without a stored owner; it also passes the exceptions whose
/// late owners meet it.
fn completed(expr: &Expr, late: &Late) -> Result<Filter, QueryError> {
    let each =
        |operands: &[Expr]| operands.iter().map(|operand| completed(operand, late)).collect::<Result<Vec<_>, _>>();
    Ok(match expr {
        Expr::All(operands) => filters::all(each(operands)?),
        Expr::Any(operands) => Filter::Any(each(operands)?),
        Expr::Not(operand) => filters::not(completed(operand, late)?),
        Expr::Has(field) | Expr::Compare { field, .. } if is_owner(field) => {
            let owned = late.iter().filter(|(name, _)| evaluate(expr, &Owner(name)));
            let rows = filters::ids("row_id", owned.flat_map(|(_, rows)| rows.iter().copied()));
            Filter::Any(vec![language::compile(RowKind::Issue, expr)?, rows])
        }
        other => language::compile(RowKind::Issue, other)?,
    })
}

/// An exception of which only the name of the owner is known.
struct Owner<'a>(&'a str);

impl Row for Owner<'_> {
    fn cell(&self, _: &Field) -> Option<Cell<'_>> {
        Some(Cell::Text(Cow::Borrowed(self.0)))
    }

    fn strings(&self) -> Vec<Cow<'_, str>> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(query: &str) -> Filter {
        let late = Late::from([("GET /pay".to_owned(), vec![[1; 16], [2; 16]]), ("job".to_owned(), vec![[3; 16]])]);
        let expr = parse(query, language::LIMITS).expect("a query");
        completed(&expr, &late).expect("a query of issues")
    }

    fn extended(query: &str, rows: &[[u8; 16]]) -> Filter {
        let stored = language::filter(RowKind::Issue, Some(query)).expect("a query of issues");
        Filter::Any(vec![stored, filters::ids("row_id", rows.iter().copied())])
    }

    #[test]
    fn conditions_on_owners_pass_rows_of_late_owners() {
        for (query, rows) in [
            (r#"owner:"GET /pay""#, &[[1; 16], [2; 16]][..]),
            ("owner:*pay", &[[1; 16], [2; 16]]),
            ("owner=job", &[[3; 16]]),
            ("has:owner", &[[1; 16], [2; 16], [3; 16]]),
            ("owner:other", &[]),
        ] {
            assert_eq!(of(query), extended(query, rows), "{query}");
        }
        assert_eq!(of("-owner:job"), filters::not(extended("owner:job", &[[3; 16]])));
        let both = of("type:PayError owner:job");
        let of_type = language::filter(RowKind::Issue, Some("type:PayError")).expect("a query of issues");
        assert_eq!(both, of_type.and(extended("owner:job", &[[3; 16]])));
    }

    #[test]
    fn other_conditions_stay_as_they_are() {
        for query in ["type:PayError", "PayError", "record.owner:x", "(type:a OR hash:00000000000000aa)"] {
            assert!(!has_owner(&parse(query, language::LIMITS).expect("a query")), "{query}");
            assert_eq!(of(query), language::filter(RowKind::Issue, Some(query)).expect("a query of issues"), "{query}");
        }
    }
}
