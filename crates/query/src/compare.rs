//! `POST /api/compare`: statistics of given names in another period, for comparisons with it.
//!
//! Fewer than 20 samples give no percentage.

use tidewatch_store::plan::{Filter, Function, Key};
use tidewatch_store::tables::Table;

use crate::answer::Row;
use crate::entities::whole;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::language::{self, RowKind};
use crate::time::Range;
use crate::views::compare::*;
use crate::{ai_metrics, filters, plans};
use tidewatch_accounts::Project;
use tidewatch_limits as limits;

/// Output columns.
const COUNT: &str = "count";
const ROWS: &str = "rows";
const ERRORS: &str = "errors";
const DURATIONS: &str = "durations";
const COST: &str = "cost";

/// `POST /api/compare`.
pub async fn read(executor: &Executor, project: &Project, request: CompareRequest) -> Result<Comparison, QueryError> {
    let now = executor.context.clock.now_ns();
    let range = Range::of_list(request.from_date.as_deref(), request.to_date.as_deref(), now)?;
    if request.names.len() > limits::COMPARED_NAMES_MAX {
        let most = limits::COMPARED_NAMES_MAX;
        return Err(QueryError::unprocessable(format!("names has more than {most} names")));
    }
    let (table, rows, timed) = match request.kind {
        ComparedKind::Endpoint => (Table::Endpoints, RowKind::Endpoint, filters::is_not("is_stream")),
        ComparedKind::Task => (Table::Tasks, RowKind::Task, Filter::True),
        ComparedKind::AiTrace => (Table::AiTraces, RowKind::AiTrace, Filter::True),
    };
    let query = language::filter(rows, request.query.as_deref())?;
    if request.names.is_empty() {
        return Ok(Comparison { data: Vec::new() });
    }
    let filter = filters::strings("name", &request.names).and(query);
    let quantiles = Function::Quantiles { column: "duration", qs: vec![0.50, 0.95, 0.99] };
    let mut aggregates = vec![
        Function::Weight.named(COUNT),
        Function::Count.named(ROWS),
        Function::Weight.named(ERRORS).only(filters::is("is_error")),
        quantiles.named(DURATIONS).only(timed),
    ];
    if table == Table::AiTraces {
        let priced = ai_metrics::counted_with("total_cost");
        aggregates.push(Function::Sum("total_cost").named(COST).only(priced));
    }
    let plan = plans::groups(table, &[project.number], range, filter, vec![Key::column("name")], aggregates);
    let answer = executor.run(plan).await?;
    let compared = |row: Row<'_>| {
        let durations = row.numbers(DURATIONS).unwrap_or_default();
        Compared {
            name: row.text("name").to_owned(),
            count: whole(row.number(COUNT)),
            stored_count: row.count(ROWS),
            p50_duration: durations.first().copied(),
            p95_duration: durations.get(1).copied(),
            p99_duration: durations.get(2).copied(),
            error_count: whole(row.number(ERRORS)),
            total_cost: if table == Table::AiTraces { row.opt_number(COST) } else { None },
        }
    };
    Ok(Comparison { data: answer.rows().map(compared).collect() })
}
