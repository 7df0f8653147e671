//! Chooses the row groups and pages of a part that a query has to read, by the part's footer and indexes.

mod bloom;
pub(crate) mod stats;

use std::sync::Arc;

use parquet::arrow::arrow_reader::RowSelection;
use parquet::file::metadata::ParquetMetaData;

use super::open_part::{BATCH_ROWS, Blocks, OpenPart};
use crate::batch::datum::Datum;
use crate::index::{trace_id, trigram};
use crate::part::Part;
use crate::scan::plan_check::{CheckedPlan, Needle, Test};
use crate::scan::prune::stats::{Bounds, Verdict, judge, of_chunk, of_page};
use tidewatch_store::StoreError;
use tidewatch_store::plan::Op;
use tidewatch_store::tables::{Column, Kind};

/// Rows of a slice at least: opening a row group again costs more than fewer rows save.
const PIECE_ROWS_MIN: usize = 4 * BATCH_ROWS;

/// A row group that may contain matching rows, or a range of its rows.
#[derive(Debug, Clone)]
pub(crate) struct RowGroupSlice {
    pub row_group: usize,
    /// The tests that the footer does not show every row to pass.
    pub tests: Vec<Arc<Test>>,
    /// The rows to read; `None` means all.
    pub rows: Option<RowSelection>,
}

impl RowGroupSlice {
    /// Whether every row of the row group passes.
    pub fn is_whole(&self) -> bool {
        self.tests.is_empty() && self.rows.is_none()
    }
}

/// The row groups that may contain matching rows, in file order.
pub(crate) fn row_group_slices(open: &OpenPart, plan: &CheckedPlan) -> Result<Vec<RowGroupSlice>, StoreError> {
    let metadata = open.metadata();
    let trigram_blocks = trigram_blocks(open, plan)?;
    let mut row_group_slices = Vec::new();
    let mut first = 0;
    for row_group in 0..metadata.num_row_groups() {
        let bounds = |column: &'static Column| chunk_bounds(open, row_group, column);
        let mut tests = Vec::new();
        let count = metadata.row_group(row_group).num_rows() as usize;
        let of_blocks = |blocks: &Blocks| blocks.rows(first..first + count);
        let rows = trigram_blocks
            .iter()
            .chain(&open.trace_id_blocks)
            .filter_map(of_blocks)
            .reduce(|rows, others| rows.intersection(&others));
        first += count;
        let mut possible = rows.as_ref().is_none_or(RowSelection::selects_any);
        for test in &plan.tests {
            match judge(test, &bounds) {
                Verdict::All => {}
                Verdict::Some => tests.push(Arc::clone(test)),
                Verdict::None => {
                    possible = false;
                    break;
                }
            }
        }
        if possible && bloom_filters_may_pass(open, row_group, &tests)? {
            row_group_slices.push(RowGroupSlice { row_group, tests, rows });
        }
    }
    Ok(row_group_slices)
}

/// Divides a slice into up to `count` pieces, which several threads can read. A slice that is answered without reading
/// its rows is not divided.
pub(crate) fn pieces(open: &OpenPart, slice: RowGroupSlice, count: usize) -> Vec<RowGroupSlice> {
    if count < 2 || slice.is_whole() {
        return vec![slice];
    }
    let rows = open.metadata().row_group(slice.row_group).num_rows() as usize;
    let selected = selected(open, &slice, &slice.tests);
    let count = count.min(selected.as_ref().map_or(rows, RowSelection::row_count) / PIECE_ROWS_MIN);
    if count < 2 {
        return vec![slice];
    }
    let size = rows.div_ceil(count).next_multiple_of(BATCH_ROWS);
    let piece = |first: usize| {
        let piece = RowSelection::from_consecutive_ranges(std::iter::once(first..rows.min(first + size)), rows);
        let rows = selected.as_ref().map_or(piece.clone(), |selected| selected.intersection(&piece));
        RowGroupSlice { rows: Some(rows), ..slice.clone() }
    };
    (0..rows).step_by(size).map(piece).collect()
}

/// The rows of a slice that may pass `tests`, by the bounds of pages in the footer; `None` means all of the row group.
pub(crate) fn selected(open: &OpenPart, slice: &RowGroupSlice, tests: &[Arc<Test>]) -> Option<RowSelection> {
    match (pages(open, slice.row_group, tests), &slice.rows) {
        (Some(pages), Some(rows)) => Some(pages.intersection(rows)),
        (pages, rows) => pages.or_else(|| rows.clone()),
    }
}

/// The blocks that the trace id index leaves, for every test of equality with trace ids; `None` when no row can pass.
pub(crate) fn trace_id_blocks(part: &Part, plan: &CheckedPlan) -> Result<Option<Vec<Blocks>>, StoreError> {
    let mut all = Vec::new();
    let Some(covered) = trace_id::column(plan.table) else { return Ok(Some(all)) };
    for test in &plan.tests {
        let Some((column, values)) = equality(test) else { continue };
        if column.name != covered || values.len() > trace_id::VALUES_MAX {
            continue;
        }
        let Some(named) = part.blocks_of_ids(values.iter().filter_map(bytes_of))? else { return Ok(Some(all)) };
        let Some(last) = named.numbers.last() else { return Ok(None) };
        let count = (part.facts.rows as usize).div_ceil(named.rows).max(last + 1);
        let mut blocks = vec![false; count];
        named.numbers.iter().for_each(|number| blocks[*number] = true);
        all.push(Blocks { block_rows: named.rows, blocks });
    }
    Ok(Some(all))
}

/// The column and the values of an equality test.
fn equality(test: &Test) -> Option<(&'static Column, &[Datum])> {
    match test {
        Test::Compare { column, op: Op::Eq, value } => Some((column, std::slice::from_ref(value))),
        Test::In { column, values } => Some((column, values.as_slice())),
        _ => None,
    }
}

fn bytes_of(value: &Datum) -> Option<&[u8]> {
    match value {
        Datum::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

/// The blocks that the trigram index leaves; `None` when no test uses it or it rules out nothing.
fn trigram_blocks(open: &OpenPart, plan: &CheckedPlan) -> Result<Option<Blocks>, StoreError> {
    let Some(covered) = trigram::column(plan.table) else { return Ok(None) };
    let is_searched = |column: &Column, needle: &Needle| column.name == covered && !needle.bits.is_empty();
    let allow = |may_contain: &dyn Fn(&'static Column, &Needle) -> bool| {
        plan.tests.iter().all(|test| test.contains_may_pass(may_contain))
    };
    // If even blocks without any text may pass, the index rules out nothing.
    if allow(&|column, needle| !is_searched(column, needle)) {
        return Ok(None);
    }
    let Some(trigrams) = open.part.trigrams()? else { return Ok(None) };
    let may_pass =
        |block: usize| allow(&|column, needle| !is_searched(column, needle) || trigrams.may_have(block, &needle.bits));
    let blocks: Vec<bool> = (0..trigrams.blocks()).map(may_pass).collect();
    Ok(blocks.contains(&false).then_some(Blocks { block_rows: trigrams.block_rows, blocks }))
}

/// Bounds of a column in a row group. A column that was added after the part was written is null in all its rows.
pub(crate) fn chunk_bounds(open: &OpenPart, row_group: usize, column: &Column) -> Option<Bounds> {
    if column.nullable && open.lacks(column.name) {
        return Some(Bounds::Nulls);
    }
    let leaf = open.bounded_leaf(column.name)?;
    let group = open.metadata().row_group(row_group);
    of_chunk(column.kind, group.num_rows() as u64, group.column(leaf).statistics())
}

/// False when a bloom filter shows that no row of the row group passes.
fn bloom_filters_may_pass(open: &OpenPart, row_group: usize, tests: &[Arc<Test>]) -> Result<bool, StoreError> {
    for test in tests {
        let Some((column, values)) = equality(test) else { continue };
        if !matches!(column.kind, Kind::Text | Kind::Id8 | Kind::Id16) {
            continue;
        }
        let Some(leaf) = open.leaf(column.name) else { continue };
        let chunk = open.metadata().row_group(row_group).column(leaf);
        let values = values.iter().filter_map(bytes_of);
        if !bloom::may_hold(chunk, &open.file, values).map_err(|e| crate::error::parquet(open.part.path(), e))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The pages of a row group that may contain rows passing `tests`; `None` means all.
fn pages(open: &OpenPart, row_group: usize, tests: &[Arc<Test>]) -> Option<RowSelection> {
    let metadata = open.metadata();
    let rows = metadata.row_group(row_group).num_rows() as usize;
    let mut selection: Option<RowSelection> = None;
    for test in tests {
        let mut columns = Vec::new();
        test.columns(&mut columns);
        let [column] = columns.as_slice() else { continue };
        let Some(leaf) = open.bounded_leaf(column.name) else { continue };
        let Some(of_test) = pages_of_column(metadata, row_group, leaf, rows, column, test) else { continue };
        selection = Some(match selection {
            Some(selection) => selection.intersection(&of_test),
            None => of_test,
        });
    }
    selection
}

/// The pages of one column that may pass a test that reads only that column; `None` when every page may.
fn pages_of_column(
    metadata: &Arc<ParquetMetaData>,
    row_group: usize,
    leaf: usize,
    rows: usize,
    column: &'static Column,
    test: &Test,
) -> Option<RowSelection> {
    let index = metadata.page_index_for_row_group(row_group);
    let (bounds, pages) = (index.column_index(leaf)?, index.page_locations(leaf)?);
    let start_of = |page: usize| pages.get(page).map_or(rows, |page| page.first_row_index as usize);
    let may_pass = |page: &usize| judge(test, &|_| of_page(column.kind, bounds, *page)) != Verdict::None;
    let kept: Vec<usize> = (0..pages.len()).filter(may_pass).collect();
    if kept.len() == pages.len() {
        return None;
    }
    let ranges = kept.into_iter().map(|page| start_of(page)..start_of(page + 1));
    Some(RowSelection::from_consecutive_ranges(ranges, rows))
}
