//! Sums over the AI Traces of a conversation or a user.

use std::collections::HashMap;

use tidewatch_store::plan::{Aggregate, Filter, Function, Key};
use tidewatch_store::tables::Table;

use super::ai_flags;
use super::ai_metrics::{self, AiMetrics, tokens};
use super::answer::Row;
use super::entities::whole;
use super::executor::Executor;
use super::time::{self, Range};
use super::views::ai_conversation::AiTotals;
use super::{filters, plans};
use crate::error::QueryError;

/// Output columns of [`aggregates`].
const COUNT: &str = "count";
const ROWS: &str = "rows";
const ERRORS: &str = "errors";
const QUANTILES: &str = "quantiles";
const FIRST: &str = "first_seen";
const LAST: &str = "last_seen";

/// The aggregates that [`read`] reads.
pub fn aggregates() -> Vec<Aggregate> {
    let mut all = vec![
        Function::Weight.named(COUNT),
        Function::Count.named(ROWS),
        Function::Weight.named(ERRORS).only(filters::is("is_error")),
        Function::Quantiles { column: "duration", qs: vec![0.50, 0.95] }.named(QUANTILES),
        Function::Min("time").named(FIRST),
        Function::Max("time").named(LAST),
        ai_flags::flagged(),
    ];
    all.extend(ai_metrics::aggregates());
    all.extend(ai_metrics::parts_of_tokens());
    all
}

/// Reads the outputs of [`aggregates`].
pub fn read(row: Row<'_>, models: Vec<String>) -> AiTotals {
    let own = AiMetrics::read(row);
    let [cached, reasoning] = ai_metrics::read_parts_of_tokens(row);
    let quantiles = row.numbers(QUANTILES).unwrap_or_default();
    let quantile = |index: usize| quantiles.get(index).map_or(0, |ns| ns.round() as i64);
    AiTotals {
        count: whole(row.number(COUNT)),
        stored_count: row.count(ROWS),
        tool_count: whole(own.tools),
        error_count: whole(row.number(ERRORS)),
        flagged_count: whole(row.number(ai_flags::FLAGGED)),
        total_tokens: tokens(own.total_tokens),
        input_tokens: tokens(own.input_tokens),
        output_tokens: tokens(own.output_tokens),
        cached_tokens: tokens(cached),
        reasoning_tokens: tokens(reasoning),
        total_cost: own.total_cost,
        estimated_cost: own.estimated > 0,
        unpriced_count: whole(own.unpriced),
        p50_duration: quantile(0),
        p95_duration: quantile(1),
        first_seen: time::to_rfc3339(row.int(FIRST)),
        last_seen: time::to_rfc3339(row.int(LAST)),
        models,
    }
}

/// The requested models of each value of `column`, sorted.
pub async fn models(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    column: &'static str,
) -> Result<HashMap<String, Vec<String>>, QueryError> {
    let named = filters::not(Filter::IsNull { column: "model" });
    let (keys, count) = (vec![Key::column(column), Key::column("model")], vec![Function::Count.named(ROWS)]);
    let answer =
        executor.run(plans::groups(Table::AiTraces, &[project], range, filter.and(named), keys, count)).await?;
    let mut models: HashMap<String, Vec<String>> = HashMap::new();
    for row in answer.rows() {
        models.entry(row.text(column).to_owned()).or_default().push(row.text("model").to_owned());
    }
    models.values_mut().for_each(|models| models.sort_unstable());
    Ok(models)
}
