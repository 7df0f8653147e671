//! Searches of the query language, and metrics, as values of windows.

use tidewatch_store::plan::{Aggregate, Filter, Function};
use tidewatch_store::tables::Table;

use super::{Windows, grouped};
use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::filters;
use crate::language::{self, RowKind};

/// Measure of the rows of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchMeasure {
    /// Weighted number of rows.
    Count,
    /// Failed share of the rows, percent.
    ErrorRate,
    /// A quantile of the durations, 0 to 1; milliseconds.
    Duration(f64),
}

/// Output columns of the plan.
const TOTAL: &str = "windows_total";
const ERRORS: &str = "windows_errors";
const QUANTILE: &str = "windows_quantile";

/// Checks a query of the query language. Fails like [`language::filter`].
pub fn parsed_query(kind: RowKind, query: &str) -> Result<Filter, QueryError> {
    language::filter(kind, Some(query))
}

/// The weight of a row, where the table has one.
fn count(table: Table) -> Function {
    if table.columns().iter().any(|column| column.name == "weight") { Function::Weight } else { Function::Count }
}

/// Measures the rows that meet a query in each window. Windows without rows have no duration and no share.
pub async fn measured(
    executor: &Executor,
    project: u32,
    kind: RowKind,
    query: &str,
    measure: SearchMeasure,
    windows: Windows,
) -> Result<Vec<(i64, f64)>, QueryError> {
    let table = kind.table();
    let has = |name: &str| table.columns().iter().any(|column| column.name == name);
    let mut aggregates: Vec<Aggregate> = vec![count(table).named(TOTAL)];
    match measure {
        SearchMeasure::Count => {}
        SearchMeasure::ErrorRate if has("is_error") => {
            let is_error = if table == Table::Spans { filters::span_error() } else { filters::is("is_error") };
            aggregates.push(count(table).named(ERRORS).only(is_error));
        }
        SearchMeasure::Duration(share) if has("duration") => {
            aggregates.push(Function::Quantiles { column: "duration", qs: vec![share] }.named(QUANTILE));
        }
        SearchMeasure::ErrorRate | SearchMeasure::Duration(_) => {
            return Err(QueryError::unprocessable(format!("{} have no such value", kind.noun())));
        }
    }
    let plan = grouped(table, project, windows, parsed_query(kind, query)?, vec![], aggregates);
    let answer = executor.run(plan).await?;
    let value = |row: Row<'_>| {
        let total = row.number(TOTAL);
        match measure {
            SearchMeasure::Count => Some(total),
            SearchMeasure::ErrorRate => (total > 0.0).then(|| 100.0 * row.number(ERRORS) / total),
            SearchMeasure::Duration(_) => Some(row.numbers(QUANTILE)?.first().copied()? / 1e6),
        }
    };
    Ok(answer.rows().filter_map(|row| Some((windows.index(row), value(row)?))).collect())
}
