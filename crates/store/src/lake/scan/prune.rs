//! Which row groups and pages of a part a question has to read, by the part's footer alone.

use std::sync::Arc;

use parquet::arrow::arrow_reader::RowSelection;
use parquet::bloom_filter::Sbbf;
use parquet::data_type::ByteArray;
use parquet::file::metadata::ParquetMetaData;

use super::datum::Datum;
use super::part_reader::OpenPart;
use super::question::{Question, Test};
use super::stats::{Bounds, Verdict, judge, of_chunk, of_page};
use crate::StoreError;
use crate::plan::Op;
use crate::tables::{Column, Kind};

/// A row group that may hold answers.
#[derive(Debug, Clone)]
pub(crate) struct Stretch {
    pub row_group: usize,
    /// Tests that the footer does not already answer with "every row".
    pub tests: Vec<Arc<Test>>,
}

/// The row groups that may hold answers, in file order.
pub(crate) fn stretches(open: &OpenPart, question: &Question) -> Result<Vec<Stretch>, StoreError> {
    let metadata = open.metadata();
    let mut stretches = Vec::new();
    for row_group in 0..metadata.num_row_groups() {
        let bounds = |column: &'static Column| chunk_bounds(open, row_group, column);
        let mut tests = Vec::new();
        let mut possible = true;
        for test in &question.tests {
            match judge(test, &bounds) {
                Verdict::All => {}
                Verdict::Some => tests.push(Arc::clone(test)),
                Verdict::None => {
                    possible = false;
                    break;
                }
            }
        }
        if possible && blooms_allow(open, row_group, &tests)? {
            stretches.push(Stretch { row_group, tests });
        }
    }
    Ok(stretches)
}

/// Bounds of a column in a row group.
pub(crate) fn chunk_bounds(open: &OpenPart, row_group: usize, column: &Column) -> Option<Bounds> {
    let leaf = open.bounded_leaf(column.name)?;
    of_chunk(column.kind, open.metadata().row_group(row_group).column(leaf).statistics())
}

/// False when a bloom filter knows that no row of the group passes.
fn blooms_allow(open: &OpenPart, row_group: usize, tests: &[Arc<Test>]) -> Result<bool, StoreError> {
    for test in tests {
        let (column, values) = match test.as_ref() {
            Test::Compare { column, op: Op::Eq, value } => (column, std::slice::from_ref(value)),
            Test::In { column, values } => (column, values.as_slice()),
            _ => continue,
        };
        if !matches!(column.kind, Kind::Text | Kind::Id8 | Kind::Id16) {
            continue;
        }
        let Some(bloom) = bloom(open, row_group, column)? else { continue };
        let may_hold = |value: &Datum| match value {
            Datum::Bytes(bytes) => bloom.check(&ByteArray::from(bytes.clone())),
            _ => true,
        };
        if !values.iter().any(may_hold) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn bloom(open: &OpenPart, row_group: usize, column: &Column) -> Result<Option<Sbbf>, StoreError> {
    let Some(leaf) = open.leaf(column.name) else { return Ok(None) };
    let chunk = open.metadata().row_group(row_group).column(leaf);
    Sbbf::read_from_column_chunk(chunk, &open.file).map_err(|error| StoreError::parquet(open.part.path(), error))
}

/// The pages of a row group that may hold rows passing `tests`; `None`: all of it.
pub(crate) fn pages(open: &OpenPart, row_group: usize, tests: &[Arc<Test>]) -> Option<RowSelection> {
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

/// The pages of one column that may pass a test of that column alone; `None` when every page may.
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
