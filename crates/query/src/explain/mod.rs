//! Explains the difference between some rows and others: `POST /api/explain`.
//!
//! ```text
//! request ─> sets (four filters) ─> sample (rows) ─> spans (those below each row) ─> columns ─> domain::explain ─> view
//! ```
//!
//! - [`sets`]: the selection, and what it is compared with. [`sample`]: rows of each set, uniform by trace id.
//! - [`columns`]: attributes by row, dictionary-encoded. [`spans`]: own time and attributes of the spans of a row.
//! - [`answer`]: the response. [`breakdown`]: own time by operation of all rows of a time.

mod answer;
mod breakdown;
mod columns;
mod defining;
mod evidence;
mod sample;
mod sets;
mod spans;
mod stored;

use std::time::Instant;

use tidewatch_accounts::Project;
use tidewatch_domain::explain::{self as engine, OperationTime};
use tidewatch_limits as limits;
use tidewatch_store::plan::Filter;
use tidewatch_store::tables::Table;

use crate::error::QueryError;
use crate::executor::Executor;
use crate::time::Range;
use crate::views::explain::{ExplainMode, ExplainRequest, Explanation};
pub use breakdown::breakdown;
use evidence::Evidence;
use sets::Sets;
pub use sets::timed_rows;
use spans::Below;
pub use stored::Operation;

/// The operations that add time to the rows of a table that pass a filter, from the time `before` to the time `on`. The
/// spans of at most `rows` rows of each time are read.
pub async fn added_time(
    executor: &Executor,
    project: u32,
    table: Table,
    filter: Filter,
    [before, on]: [Range; 2],
    rows: usize,
) -> Result<Vec<(Operation, OperationTime)>, QueryError> {
    let sets = Sets { before: Some(before), ..Sets::all(table, filter, on, limits::EXPLAIN_BUDGET) };
    let sample = sample::read(executor, project, &sets).await?.at_most(rows);
    let below = spans::read(executor, project, &sets, &sample, Instant::now()).await?;
    let evidence = Evidence { defining: sets.defining, sample, below, is_named: true };
    executor.context.run_queued(move |_| evidence.own_time()).await
}

/// Explains a selection. A query that is none is [`QueryError::InQuery`] (400), an end before its start
/// [`QueryError::Unprocessable`] (422), an unknown Issue [`QueryError::NotFound`] (404).
pub async fn explain(
    executor: &Executor,
    project: &Project,
    request: ExplainRequest,
) -> Result<Explanation, QueryError> {
    let started = Instant::now();
    let sets = Sets::read(executor, project.number, &request).await?;
    let sample = sample::read(executor, project.number, &sets).await?;
    let below = match sets.has_spans() {
        true => spans::read(executor, project.number, &sets, &sample, started + sets.budget).await?,
        false => Below::default(),
    };
    let (is_time, is_named) = (sets.is_time, sets.is_named);
    let evidence = Evidence { defining: sets.defining, sample, below, is_named };
    let (evidence, found) = executor.context.run_queued(move |_| evidence.explained()).await?;
    let mode = match found.explanation.mode {
        _ if is_time => ExplainMode::TimeBefore,
        engine::Mode::Excess => ExplainMode::Excess,
        engine::Mode::SameMinutes => ExplainMode::SameMinutes,
    };
    Ok(answer::answer(&evidence, found, mode))
}
