//! Answers a [`Plan`] over parts and memory, on the `arrow` and `parquet` crates alone.
//!
//! ```text
//! plan ──plan_check──> checked plan ──prune──> row groups and memory slices to read ──> threads ──merge──> answer
//! ```
//!
//! - [`plan_check`] checks the plan; [`filter`] evaluates its tests on a batch.
//! - [`prune`] chooses the row groups and pages to read; [`read`] reads them with late materialization.
//! - [`rows`] keeps the first rows of an order; [`aggregate`] groups rows into the states of [`aggregators`].
//! - [`from_rollups`] aggregates the roll-ups of parts instead of their rows, when there are many rows.
//! - [`cursor`] reads all rows of a plan, piece by piece, for exports.
//! - [`pool`] runs the threads of one query; [`tidewatch_store::query_memory`] is the memory of all queries; [`passes`]
//!   divides a query that exceeds the memory of one query.
//!
//! The answer does not depend on the order of the sources or on how rows are divided among them, except for the order
//! of rows that the plan leaves open.
//!
//! Invariant: an answer equals that of the naive model (`tidewatch_store::conformance`).

mod aggregate;
pub(crate) mod aggregators;
mod cursor;
mod filter;
mod from_rollups;
mod open_part;
mod passes;
mod plan_check;
mod pool;
mod prune;
mod read;
mod rows;
pub(crate) mod source;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;

use crate::scan::plan_check::CheckedPlan;
use crate::scan::read::sources::OpenSources;
use crate::scan::source::Source;
use tidewatch_store::StoreError;
use tidewatch_store::plan;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::query_memory::{Budget, QueryMemory, REQUEST_BYTES_MAX, RequestMemory};

pub use cursor::RowCursor;

/// Bytes reserved per byte of an answer's columns: the answer itself, and the structures, strings and sorted list that
/// a request makes of it.
pub const ANSWER_BYTES_FACTOR: usize = 4;

/// Answers `plan` from the rows of `sources`, without roll-ups. The sources together hold every row of its table once.
/// Blocks. See [`Shape`] for the schema.
///
/// [`StoreError::BadPlan`] when the plan does not fit the tables, [`StoreError::Deadline`] soon after `deadline`,
/// [`StoreError::Budget`] beyond [`REQUEST_BYTES_MAX`].
pub fn run(plan: &Plan, sources: &[Source], deadline: Instant) -> Result<RecordBatch, StoreError> {
    run_with_budget(plan, sources, deadline, REQUEST_BYTES_MAX)
}

/// Like [`run`], but reads the roll-ups of parts where the plan allows it and there are `rows_min` rows or more to
/// read. Fewer rows are scanned, so that the quantiles of small sets are exact.
///
/// Reserves from `memory`, waits there for other requests, and leaves the answer reserved ([`ANSWER_BYTES_FACTOR`]).
pub fn run_with_rollups(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    rows_min: u64,
    memory: &RequestMemory,
) -> Result<RecordBatch, StoreError> {
    let answer = answer(plan, sources, deadline, (memory, None), Some(rows_min))?;
    keep(memory, &answer, deadline)?;
    Ok(answer)
}

fn keep(memory: &RequestMemory, answer: &RecordBatch, deadline: Instant) -> Result<(), StoreError> {
    memory.keep(answer.get_array_memory_size().saturating_mul(ANSWER_BYTES_FACTOR), deadline)
}

/// Answers a plan of rows and returns the number of rows that pass its filter, as [`run_with_rollups`] counts them.
/// Costly tests run once for both. [`StoreError::BadPlan`] for a plan of another shape.
pub fn run_page(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    rows_min: u64,
    memory: &RequestMemory,
) -> Result<(RecordBatch, u64), StoreError> {
    let checked = CheckedPlan::check(plan)?;
    let Shape::Rows { columns, order, limit, offset } = &plan.shape else {
        return Err(StoreError::BadPlan("a page is one of rows".to_owned()));
    };
    pool::check_deadline(deadline)?;
    let rows = rows::Rows { columns, order, limit: *limit, offset: *offset };
    let opened = OpenSources::open(sources, &checked, deadline)?;
    let count = plan::Function::Count.named("count");
    let counting = aggregate::Grouping::check(plan.table, &[], &[count], &[], 1, 0)?;
    let rollup_plan = counting.rollup_plan(&checked).filter(|_| opened.rows() >= rows_min);
    let budget = Budget::new(memory, deadline);
    if rollup_plan.is_none() && *limit > 0 && checked.non_time_tests().skip(1).any(|test| test.cost() > 0) {
        let counted = AtomicU64::new(0);
        let page = rows::run(&checked, &rows, &opened, Some(&counted), &budget, deadline)?;
        keep(memory, &page, deadline)?;
        return Ok((page, counted.into_inner()));
    }
    let page = rows::run(&checked, &rows, &opened, None, &budget, deadline)?;
    let count = aggregate::run(&checked, &counting, rollup_plan.as_ref(), (&opened, None), &budget, deadline)?;
    let counts = count.column(0).as_primitive_opt::<UInt64Type>();
    let counted = counts.and_then(|counts| counts.values().first().copied()).unwrap_or(0);
    keep(memory, &page, deadline)?;
    Ok((page, counted))
}

/// Like [`run`], with a memory budget of `bytes_max` bytes.
pub fn run_with_budget(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    bytes_max: usize,
) -> Result<RecordBatch, StoreError> {
    answer(plan, sources, deadline, (&separate_memory(bytes_max), None), None)
}

/// Like [`run_with_rollups`], with groups aggregated in exactly `passes` passes over the rows.
pub fn run_in_passes(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    rows_min: u64,
    passes: u32,
) -> Result<RecordBatch, StoreError> {
    answer(plan, sources, deadline, (&separate_memory(REQUEST_BYTES_MAX), Some(passes)), Some(rows_min))
}

/// The memory of a request that shares it with no other request.
fn separate_memory(bytes_max: usize) -> RequestMemory {
    RequestMemory::new(&Arc::new(QueryMemory::of_one_request(bytes_max)))
}

/// Whether roll-ups can answer the plan. [`StoreError::BadPlan`] when it does not fit the tables.
pub fn can_use_rollups(plan: &Plan) -> Result<bool, StoreError> {
    let checked = CheckedPlan::check(plan)?;
    let Shape::Groups { keys, aggregates, order, limit, offset } = &plan.shape else { return Ok(false) };
    let grouping = aggregate::Grouping::check(plan.table, keys, aggregates, order, *limit, *offset)?;
    Ok(grouping.rollup_plan(&checked).is_some())
}

fn answer(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    (memory, passes): (&RequestMemory, Option<u32>),
    rollup_rows_min: Option<u64>,
) -> Result<RecordBatch, StoreError> {
    let checked = CheckedPlan::check(plan)?;
    let budget = Budget::new(memory, deadline);
    pool::check_deadline(deadline)?;
    match &plan.shape {
        Shape::Rows { columns, order, limit, offset } => {
            let rows = rows::Rows { columns, order, limit: *limit, offset: *offset };
            let opened = OpenSources::open(sources, &checked, deadline)?;
            rows::run(&checked, &rows, &opened, None, &budget, deadline)
        }
        Shape::Groups { keys, aggregates, order, limit, offset } => {
            let grouping = aggregate::Grouping::check(plan.table, keys, aggregates, order, *limit, *offset)?;
            let opened = OpenSources::open(sources, &checked, deadline)?;
            let rollup_plan =
                rollup_rows_min.filter(|least| opened.rows() >= *least).and_then(|_| grouping.rollup_plan(&checked));
            aggregate::run(&checked, &grouping, rollup_plan.as_ref(), (&opened, passes), &budget, deadline)
        }
    }
}
