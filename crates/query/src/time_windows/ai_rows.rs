//! Single rows of AI Traces, and the costs of their conversations.

use std::collections::HashMap;

use tidewatch_domain::units::DAY_NS;
use tidewatch_store::plan::{Filter, Function, Key, Op, Value};
use tidewatch_store::tables::Table;

use crate::answer::Row;
use crate::error::QueryError;
use crate::executor::Executor;
use crate::plans::{self, Window};
use crate::time::Range;
use crate::views::ai::AiFlag;
use crate::{ai_flags, ai_metrics, filters, ids};

/// A row of AI Traces.
#[derive(Debug, Clone, PartialEq)]
pub struct AiRow {
    /// Its id.
    pub row_id: [u8; 16],
    /// The id in paths of pages.
    pub id: String,
    /// Name of the AI Trace.
    pub name: String,
    /// Nanoseconds since the epoch.
    pub time: i64,
    /// US dollars; 0 when unpriced, and when it repeats the cost of other rows.
    pub cost: f64,
    /// Conversation, session or trace id.
    pub conversation: String,
    /// Terms of the project's word lists that it has; empty when its content is not flagged.
    pub terms: Vec<String>,
    /// Whether its content is flagged.
    pub is_flagged: bool,
}

const COLUMNS: [&str; 8] =
    ["row_id", "name", "time", "total_cost", "conversation_id", "flags", "flagged_terms", "repeats_usage"];
/// Output column of the plan.
const COST: &str = "windows_cost";

/// Rows that cost at least `least_cost`, or have flagged content.
fn costly_or_flagged(least_cost: Option<f64>, flagged: bool) -> Filter {
    let dear = least_cost.map(|cost| {
        Filter::Compare { column: "total_cost", op: Op::Ge, value: Value::F64(cost) }.and(ai_metrics::counted())
    });
    let flagged = flagged.then(|| ai_flags::any_of(&[AiFlag::FlaggedContent]));
    Filter::Any(dear.into_iter().chain(flagged).collect())
}

/// The stored rows with these ids, at most `rows_max`, the earliest. `times`: the range of their times.
pub async fn ai_rows(
    executor: &Executor,
    project: u32,
    row_ids: &[[u8; 16]],
    times: Range,
    rows_max: usize,
) -> Result<Vec<AiRow>, QueryError> {
    read(executor, project, times, filters::ids("row_id", row_ids.iter().copied()), rows_max).await
}

/// Rows in a range that cost at least `least_cost`, or, if `flagged`, have flagged content; at most `rows_max`, the
/// earliest.
pub async fn ai_rows_since(
    executor: &Executor,
    project: u32,
    range: Range,
    least_cost: Option<f64>,
    flagged: bool,
    rows_max: usize,
) -> Result<Vec<AiRow>, QueryError> {
    read(executor, project, range, costly_or_flagged(least_cost, flagged), rows_max).await
}

async fn read(
    executor: &Executor,
    project: u32,
    range: Range,
    filter: Filter,
    rows_max: usize,
) -> Result<Vec<AiRow>, QueryError> {
    let order = vec![plans::ascending("time")];
    let window = Window::first(rows_max);
    let plan = plans::rows(Table::AiTraces, &[project], range, filter, COLUMNS.to_vec(), order, window);
    let row = |row: Row<'_>| AiRow {
        row_id: row.id16("row_id"),
        id: ids::format_row(row.id16("row_id")),
        name: row.text("name").to_owned(),
        time: row.int("time"),
        cost: match row.opt_int("repeats_usage") {
            Some(_) => 0.0,
            None => row.opt_number("total_cost").unwrap_or(0.0),
        },
        conversation: row.text("conversation_id").to_owned(),
        terms: ai_flags::terms_of_row(row),
        is_flagged: ai_flags::of_row(row).contains(&AiFlag::FlaggedContent),
    };
    Ok(executor.run(plan).await?.rows().map(row).collect())
}

/// Costs of conversations in the day that ends at `to`, US dollars, by conversation. `only`: these conversations;
/// `None`: all.
pub async fn conversation_costs(
    executor: &Executor,
    project: u32,
    to: i64,
    only: Option<&[String]>,
) -> Result<HashMap<String, f64>, QueryError> {
    let range = Range { from: to.saturating_sub(DAY_NS), to };
    let filter = only.map_or(Filter::True, |only| filters::strings("conversation_id", only));
    let keys = vec![Key::column("conversation_id")];
    let aggregates = vec![Function::Sum("total_cost").named(COST).only(ai_metrics::counted_with("total_cost"))];
    let plan = plans::groups(Table::AiTraces, &[project], range, filter, keys, aggregates);
    let answer = executor.run(plan).await?;
    let cost = |row: Row<'_>| Some((row.text("conversation_id").to_owned(), row.opt_number(COST)?));
    Ok(answer.rows().filter_map(cost).collect())
}
