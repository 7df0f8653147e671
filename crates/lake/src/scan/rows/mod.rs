//! The shape `Rows`: the first rows in an order. The answer's columns are read for these rows only.
//!
//! The first pass reads the columns of the order for every row that passes; each thread keeps its best rows. Row groups
//! with the best bounds are read first, and row groups whose bounds are worse than enough kept rows are not opened. The
//! second pass reads the answer's columns of the top rows.

mod order;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as AtomicOrdering};
use std::time::Instant;

use arrow::array::{RecordBatch, RecordBatchOptions, UInt32Array, new_empty_array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use parking_lot::Mutex;

use super::pool::{check_deadline, for_each_parallel};
use super::prune::chunk_bounds;
use crate::batch::cells::{Cells, cells};
use crate::batch::datum::Datum;
use crate::batch::projection::Projection;
use crate::scan::plan_check::{CheckedPlan, Test};
pub(crate) use crate::scan::prune::stats::{Bounds, Verdict, judge};
use crate::scan::read::part_reader::{ROW_NUMBER, ReadOptions};
use crate::scan::read::sources::{OpenSources, Work};
use crate::scan::rows::order::{By, Encoder, total_order};
use tidewatch_store::StoreError;
use tidewatch_store::plan::{Op, Order};
use tidewatch_store::query_memory::{Budget, Share};
use tidewatch_store::tables::Table;

/// The shape `Rows` of a checked plan.
pub(crate) struct Rows<'a> {
    pub columns: &'a [&'static str],
    pub order: &'a [Order],
    pub limit: usize,
    pub offset: usize,
}

/// A row kept by the first pass. Compares by order, then by position, so that the order of equal rows is deterministic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    key: Vec<u8>,
    source: u32,
    row: u32,
}

impl Candidate {
    fn bytes(&self) -> usize {
        self.key.len() + size_of::<Candidate>()
    }
}

/// The schema of the answer: the requested columns with the table's types.
pub(crate) fn answer_schema(table: Table, columns: &[&'static str]) -> SchemaRef {
    let field = |name: &&'static str| {
        let (_, column) = table.column(name).expect("the plan was checked");
        Field::new(column.name, column.kind.data_type(), column.nullable)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Runs a plan of rows. With `counted`, which receives the number of rows that pass, no row group is skipped for its
/// bounds.
pub(crate) fn run(
    plan: &CheckedPlan,
    rows: &Rows<'_>,
    opened: &OpenSources<'_>,
    counted: Option<&AtomicU64>,
    budget: &Budget<'_>,
    deadline: Instant,
) -> Result<RecordBatch, StoreError> {
    let schema = answer_schema(plan.table, rows.columns);
    let kept = rows.limit.saturating_add(rows.offset);
    if rows.limit == 0 {
        return Ok(RecordBatch::new_empty(schema));
    }
    let order = total_order(plan.table, rows.order)?;
    let mut work = opened.pieces(opened.work(plan, None, deadline)?);
    best_first(&mut work, opened, order.first());
    let scan = TopRowsScan { plan, order: &order, kept, threshold: Mutex::new(None), counted, budget, deadline };
    let bests =
        for_each_parallel(&work, || TopRows::new(kept, budget.share()), |best, work| scan.visit(best, opened, work))?;
    let mut share_of_top_rows = budget.share();
    share_of_top_rows.holds(bests.iter().map(|best| best.bytes).sum())?;
    let mut top_rows: Vec<Candidate> = bests.into_iter().flat_map(|best| best.heap).collect();
    top_rows.sort_unstable();
    top_rows.truncate(kept);
    top_rows.drain(..rows.offset.min(top_rows.len()));
    fetch(&top_rows, rows.columns, schema, opened, budget, deadline)
}

/// Sorts the work by bounds, so that sources that may have the best rows are read first.
fn best_first(work: &mut [Work], opened: &OpenSources<'_>, by: Option<&By>) {
    let Some(by) = by else { return };
    work.sort_by_cached_key(|work| {
        let bounds = match work {
            Work::Part { source, slice } => {
                opened.part(*source).and_then(|part| chunk_bounds(part, slice.row_group, by.column))
            }
            // Memory first: it is cheap to read and mostly recent.
            Work::Memory { .. } | Work::Cells { .. } => None,
        };
        let mut bound = Vec::new();
        match bounds {
            Some(Bounds::Values { min, max, .. }) => {
                bound.push(1);
                let best = if by.descending { max } else { min };
                best.encode(by.descending, &mut bound);
            }
            // Nulls come last in descending order.
            Some(Bounds::Nulls) if by.descending => bound.push(2),
            Some(Bounds::Nulls) | None => {}
        }
        bound
    });
}

/// The best rows of one thread, as a heap with the worst on top.
struct TopRows<'a> {
    kept: usize,
    heap: BinaryHeap<Candidate>,
    bytes: usize,
    share: Share<'a>,
    key: Vec<u8>,
}

impl<'a> TopRows<'a> {
    fn new(kept: usize, share: Share<'a>) -> TopRows<'a> {
        TopRows { kept, heap: BinaryHeap::new(), bytes: 0, share, key: Vec::new() }
    }

    /// False when no row whose key begins with `key` is among the best.
    fn may_keep(&self) -> bool {
        let worst = self.heap.peek().filter(|_| self.heap.len() >= self.kept);
        worst.is_none_or(|worst| self.key.as_slice() <= &worst.key[..self.key.len().min(worst.key.len())])
    }

    fn offer(&mut self, source: u32, row: u32) {
        if self.heap.len() < self.kept {
            return self.keep(source, row);
        }
        let Some(worst) = self.heap.peek() else { return };
        let place = (self.key.as_slice(), source, row);
        if place < (worst.key.as_slice(), worst.source, worst.row) {
            self.bytes -= self.heap.pop().map_or(0, |worst| worst.bytes());
            self.keep(source, row);
        }
    }

    fn keep(&mut self, source: u32, row: u32) {
        let candidate = Candidate { key: self.key.clone(), source, row };
        self.bytes += candidate.bytes();
        self.heap.push(candidate);
    }
}

/// The first pass.
struct TopRowsScan<'a> {
    plan: &'a CheckedPlan,
    order: &'a [By],
    kept: usize,
    /// The first order column of the worst kept row of a thread that kept enough rows; the best of all threads.
    threshold: Mutex<Option<Datum>>,
    /// Receives the number of rows that pass, if requested.
    counted: Option<&'a AtomicU64>,
    budget: &'a Budget<'a>,
    deadline: Instant,
}

impl TopRowsScan<'_> {
    fn visit(&self, best: &mut TopRows<'_>, opened: &OpenSources<'_>, work: &Work) -> Result<(), StoreError> {
        match work {
            Work::Memory { source, batch, first } => {
                check_deadline(self.deadline)?;
                let mask = self.plan.passes(batch)?;
                self.take(best, *source, batch, mask.set_indices().map(|row| (row, (first + row) as u32)))
            }
            Work::Part { source, slice } => {
                let Some(part) = opened.part(*source) else { return Ok(()) };
                let threshold_test = self.threshold_test();
                let beaten =
                    |test: &Test| judge(test, &|column| chunk_bounds(part, slice.row_group, column)) == Verdict::None;
                if threshold_test.as_deref().is_some_and(beaten) {
                    return Ok(());
                }
                let projection = Projection::of_columns(self.order.iter().map(|by| by.column.name));
                let options = ReadOptions {
                    projection: &projection,
                    row_numbers: true,
                    budget: self.budget,
                    deadline: self.deadline,
                };
                part.read(slice, threshold_test.as_ref(), &options, |batch| {
                    let Cells::I64(numbers) = cells(&batch, ROW_NUMBER)? else { return Ok(()) };
                    let numbers = numbers.values().iter().enumerate();
                    self.take(best, *source, &batch, numbers.map(|(row, number)| (row, *number as u32)))
                })
            }
            // Plans of rows have no cells.
            Work::Cells { .. } => Ok(()),
        }
    }

    /// Offers rows of a batch to `best`. `rows`: number in the batch and number in the source.
    fn take(
        &self,
        best: &mut TopRows<'_>,
        source: usize,
        batch: &RecordBatch,
        rows: impl Iterator<Item = (usize, u32)>,
    ) -> Result<(), StoreError> {
        let encoder = Encoder::new(batch, self.order)?;
        let mut passed = 0;
        for (row, number) in rows {
            passed += 1;
            encoder.encode_first(row, &mut best.key);
            // Most rows are ruled out by the first column.
            if best.may_keep() {
                encoder.encode_rest(row, &mut best.key);
                best.offer(source as u32, number);
            }
        }
        if let Some(counted) = self.counted {
            counted.fetch_add(passed, AtomicOrdering::Relaxed);
        }
        if best.heap.len() >= self.kept
            && let (Some(worst), Some(by)) = (best.heap.peek(), self.order.first())
            && let Some(value) = by.first_number(&worst.key)
        {
            let mut threshold = self.threshold.lock();
            let better = |threshold: &Datum| {
                value.order(threshold) == if by.descending { Ordering::Greater } else { Ordering::Less }
            };
            if threshold.as_ref().is_none_or(better) {
                *threshold = Some(value);
            }
        }
        best.share.holds(best.bytes)
    }

    /// A test that every row passes that can still be among the top rows; `None` when there is none yet.
    fn threshold_test(&self) -> Option<Arc<Test>> {
        let by = self.order.first().filter(|_| self.counted.is_none())?;
        let value = self.threshold.lock().clone()?;
        let op = if by.descending { Op::Ge } else { Op::Le };
        // A null comes first in ascending order, and would fail the comparison.
        let decides = by.descending || !by.column.nullable;
        decides.then(|| Arc::new(Test::Compare { column: by.column, op, value }))
    }
}

/// A source and its top rows: number in the source and index in the answer, by number.
type SourceRows = (usize, Vec<(usize, usize)>);

/// Reads the answer's columns of the top rows, in their order.
fn fetch(
    top_rows: &[Candidate],
    columns: &[&'static str],
    schema: SchemaRef,
    opened: &OpenSources<'_>,
    budget: &Budget<'_>,
    deadline: Instant,
) -> Result<RecordBatch, StoreError> {
    let internal = StoreError::internal("put rows together");
    if columns.is_empty() || top_rows.is_empty() {
        let options = RecordBatchOptions::new().with_row_count(Some(top_rows.len()));
        let none = schema.fields().iter().map(|field| new_empty_array(field.data_type())).collect();
        return RecordBatch::try_new_with_options(schema, none, &options).map_err(internal);
    }
    let mut sources_of_rows: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (place, top_row) in top_rows.iter().enumerate() {
        sources_of_rows.entry(top_row.source as usize).or_default().push((top_row.row as usize, place));
    }
    let mut sources_of_rows: Vec<SourceRows> = sources_of_rows.into_iter().collect();
    sources_of_rows.iter_mut().for_each(|(_, rows)| rows.sort_unstable());
    let make = || (Vec::new(), 0, budget.share());
    let read = for_each_parallel(&sources_of_rows, make, |(pieces, bytes, share), (source, rows)| {
        let numbers: Vec<usize> = rows.iter().map(|(row, _)| *row).collect();
        let mut places = rows.iter().map(|(_, place)| *place);
        opened.fetch(*source, &numbers, columns, (budget, deadline), |batch| {
            *bytes += batch.get_array_memory_size();
            share.holds(*bytes)?;
            let here: Vec<usize> = places.by_ref().take(batch.num_rows()).collect();
            pieces.push((here, in_order(&batch, &schema)?));
            Ok(())
        })
    })?;
    let pieces: Vec<(Vec<usize>, RecordBatch)> = read.into_iter().flat_map(|(pieces, ..)| pieces).collect();
    let batches = pieces.iter().map(|(_, batch)| batch);
    let all = concat_batches(&schema, batches).map_err(StoreError::internal("put rows together"))?;
    let mut indices = vec![0_u32; top_rows.len()];
    for (index, place) in pieces.iter().flat_map(|(places, _)| places).enumerate() {
        indices[*place] = index as u32;
    }
    take_record_batch(&all, &UInt32Array::from(indices)).map_err(internal)
}

/// Reorders the columns of a batch by the schema: parts have their own column order.
pub(super) fn in_order(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, StoreError> {
    let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
        Some(array) => Ok(Arc::clone(array)),
        None => Err(StoreError::Internal { what: "read rows", why: format!("column {} is missing", field.name()) }),
    };
    let columns = schema.fields().iter().map(column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(StoreError::internal("read rows"))
}
