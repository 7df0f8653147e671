//! Answers a [`Plan`] over parts and memory, on the `arrow` and `parquet` crates alone.
//!
//! ```text
//! plan ──question──> checked ──prune──> row groups and slices of memory that may answer ──> threads ──merge──> answer
//! ```
//!
//! - [`question`] checks the plan; [`filter`] and [`attribute`] decide which rows of a batch pass.
//! - [`work`], [`prune`] and [`stats`] find what has to be read; [`part_reader`] reads it, late and narrow.
//! - [`dictionary`] rules out row groups by their dictionaries, [`distinct`] lists a column's values from them.
//! - [`rows`] keeps the first rows of an order, [`groups`] (with [`states`]) groups and aggregates.
//! - [`rolled`] answers groups from the roll-ups of parts instead of their rows, when there are many.
//! - [`cursor`] reads all rows of a plan, piece by piece, for exports.
//! - [`pool`] is the threads of one question, [`budget`] the memory of all questions; [`passes`] divides a question that
//!   needs more than one may have.
//!
//! Sources may come in any order and split anyhow: the answer is the same, but for the order of rows that the plan
//! leaves open.

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

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;

use crate::scan::plan_check::Question;
use crate::scan::read::sources::Opened;
use crate::source::Source;
use tidewatch_store::StoreError;
use tidewatch_store::plan;
use tidewatch_store::plan::{Plan, Shape};
use tidewatch_store::query_memory::{Budget, QUESTION_BYTES_MAX, QueryMemory, RequestMemory};

pub use cursor::RowCursor;

/// Bytes that an answer and what a request makes of it take together, per byte of its columns: rows as structures, their
/// texts, and the list that is sorted.
pub const ANSWER_BYTES_FACTOR: usize = 4;

/// Answers `plan` over `sources` from rows alone, which together hold every row of its table once. Blocks; see [`Shape`] for the schema.
///
/// [`StoreError::BadPlan`] when the plan does not fit the tables, [`StoreError::Deadline`] soon after `deadline`,
/// [`StoreError::Budget`] beyond [`QUESTION_BYTES_MAX`].
pub fn run(plan: &Plan, sources: &[Source], deadline: Instant) -> Result<RecordBatch, StoreError> {
    run_within(plan, sources, deadline, QUESTION_BYTES_MAX)
}

/// As [`run`], but from the roll-ups of the parts where the plan allows it and would look at `rows_min` rows or more:
/// fewer are counted one by one, so that the quantiles of small sets are exact. It borrows from `memory`, waits there, and
/// leaves its answer in it ([`ANSWER_BYTES_FACTOR`]).
pub fn run_rolled(
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

/// The answer to a plan of rows, and how many rows pass its filter, as [`run_rolled`] would count them. Costly tests
/// are made once for both.
pub fn run_page(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    rows_min: u64,
    memory: &RequestMemory,
) -> Result<(RecordBatch, u64), StoreError> {
    let question = Question::check(plan)?;
    let Shape::Rows { columns, order, limit, offset } = &plan.shape else {
        return Err(StoreError::BadPlan("a page is one of rows".to_owned()));
    };
    pool::check_deadline(deadline)?;
    let rows = rows::Rows { columns, order, limit: *limit, offset: *offset };
    let opened = Opened::open(sources, &question, deadline)?;
    let count = plan::Function::Count.named("count");
    let counting = aggregate::Grouping::check(plan.table, &[], &[count], &[], 1, 0)?;
    let rolled = counting.rolled(&question).filter(|_| opened.rows() >= rows_min);
    let budget = Budget::new(memory, deadline);
    if rolled.is_none() && *limit > 0 && question.others().skip(1).any(|test| test.cost() > 0) {
        let counted = AtomicU64::new(0);
        let page = rows::run(&question, &rows, &opened, Some(&counted), &budget, deadline)?;
        keep(memory, &page, deadline)?;
        return Ok((page, counted.into_inner()));
    }
    let page = rows::run(&question, &rows, &opened, None, &budget, deadline)?;
    let count = aggregate::run(&question, &counting, rolled.as_ref(), (&opened, None), &budget, deadline)?;
    let counts = count.column(0).as_primitive_opt::<UInt64Type>();
    let counted = counts.and_then(|counts| counts.values().first().copied()).unwrap_or(0);
    keep(memory, &page, deadline)?;
    Ok((page, counted))
}

/// [`run`] with a memory budget of its own.
pub fn run_within(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    bytes_max: usize,
) -> Result<RecordBatch, StoreError> {
    answer(plan, sources, deadline, (&alone(bytes_max), None), None)
}

/// As [`run_rolled`], its groups in this many passes over the rows, however few they are.
pub fn run_divided(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    rows_min: u64,
    passes: u32,
) -> Result<RecordBatch, StoreError> {
    answer(plan, sources, deadline, (&alone(QUESTION_BYTES_MAX), Some(passes)), Some(rows_min))
}

/// The memory of a request that shares with no other.
fn alone(bytes_max: usize) -> RequestMemory {
    RequestMemory::new(&Arc::new(QueryMemory::of_one_request(bytes_max)))
}

/// Whether roll-ups can answer the plan at all.
pub fn can_roll(plan: &Plan) -> Result<bool, StoreError> {
    let question = Question::check(plan)?;
    let Shape::Groups { keys, aggregates, order, limit, offset } = &plan.shape else { return Ok(false) };
    let grouping = aggregate::Grouping::check(plan.table, keys, aggregates, order, *limit, *offset)?;
    Ok(grouping.rolled(&question).is_some())
}

fn answer(
    plan: &Plan,
    sources: &[Source],
    deadline: Instant,
    (memory, passes): (&RequestMemory, Option<u32>),
    rolled_from: Option<u64>,
) -> Result<RecordBatch, StoreError> {
    let question = Question::check(plan)?;
    let budget = Budget::new(memory, deadline);
    pool::check_deadline(deadline)?;
    match &plan.shape {
        Shape::Rows { columns, order, limit, offset } => {
            let rows = rows::Rows { columns, order, limit: *limit, offset: *offset };
            let opened = Opened::open(sources, &question, deadline)?;
            rows::run(&question, &rows, &opened, None, &budget, deadline)
        }
        Shape::Groups { keys, aggregates, order, limit, offset } => {
            let grouping = aggregate::Grouping::check(plan.table, keys, aggregates, order, *limit, *offset)?;
            let opened = Opened::open(sources, &question, deadline)?;
            let rolled = rolled_from.filter(|least| opened.rows() >= *least).and_then(|_| grouping.rolled(&question));
            aggregate::run(&question, &grouping, rolled.as_ref(), (&opened, passes), &budget, deadline)
        }
    }
}
