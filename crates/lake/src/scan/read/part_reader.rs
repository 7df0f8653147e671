//! Reads rows of a part with late materialization, and only the requested columns.
//!
//! A row group is read in steps. Pages are chosen by their bounds; cheap tests read their columns of those pages;
//! costlier tests read their columns of the remaining rows; all requested columns are read for rows that pass every
//! test. Text that the part stores as a dictionary stays a dictionary, so that a test or a group key reads every
//! distinct value once.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use parquet::arrow::ProjectionMask;
use parquet::arrow::RowNumber;
use parquet::arrow::arrow_reader::{
    ArrowPredicate, ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
    RowFilter, RowSelection,
};

use super::dictionary;
use crate::attr_columns::AttrColumns;
use crate::batch::projection::Projection;
use crate::part::Part;
use crate::part::added_columns;
use crate::scan::filter::passes_all;
use crate::scan::open_part::{BATCH_ROWS, OpenPart};
use crate::scan::plan_check::{CheckedPlan, Test};
use crate::scan::pool::check_deadline;
use crate::scan::prune;
use crate::scan::prune::RowGroupSlice;
use crate::schedule::yielding::yield_point;
use tidewatch_store::StoreError;
use tidewatch_store::query_memory::Budget;
use tidewatch_store::tables::Table;

/// Reading fewer than one in this many rows of a row group costs less than reading its dictionaries.
const FEW_ROWS_SHARE: usize = 8;

/// Virtual column: the row's number in its part, I64.
pub(crate) const ROW_NUMBER: &str = "row number";

/// What to read for the rows that pass.
pub(crate) struct ReadOptions<'a> {
    pub projection: &'a Projection,
    /// Adds [`ROW_NUMBER`].
    pub row_numbers: bool,
    /// Memory for the buffers that rows are decoded into.
    pub budget: &'a Budget<'a>,
    pub deadline: Instant,
}

impl OpenPart {
    /// `None` when the part's trace id index rules out every row: its footer is not read then.
    pub fn open(part: &Arc<Part>, plan: &CheckedPlan) -> Result<Option<OpenPart>, StoreError> {
        let Some(trace_id_blocks) = prune::trace_id_blocks(part, plan)? else { return Ok(None) };
        Ok(Some(OpenPart {
            part: Arc::clone(part),
            file: part.file()?,
            footer: part.metadata()?,
            extras: part.attr_columns()?,
            trace_id_blocks,
        }))
    }

    /// Calls `each` with the rows of a row group that pass its tests and `more`, batch by batch.
    pub fn read(
        &self,
        slice: &RowGroupSlice,
        more: Option<&Arc<Test>>,
        options: &ReadOptions<'_>,
        mut each: impl FnMut(RecordBatch) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        check_deadline(options.deadline)?;
        let tests: Vec<Arc<Test>> = slice.tests.iter().chain(more).map(Arc::clone).collect();
        let pages = prune::selected(self, slice, &tests);
        if pages.as_ref().is_some_and(|pages| !pages.selects_any()) {
            return Ok(());
        }
        let Some(tests) = self.narrowed(slice.row_group, tests, pages.as_ref())? else { return Ok(()) };
        let mut buffers = options.budget.share();
        let decoding = self.decode_bytes(slice.row_group, options.projection, &tests);
        buffers.holds(decoding)?;
        let wrong = |error| crate::error::parquet(self.part.path(), error);
        let footer = self.footer_for(slice.row_group, options.row_numbers).map_err(wrong)?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), footer)
            .with_row_groups(vec![slice.row_group])
            .with_batch_size(BATCH_ROWS)
            .with_projection(self.mask(options.projection))
            .with_row_filter(self.row_filter(tests, options.deadline));
        if let Some(pages) = pages {
            builder = builder.with_row_selection(pages);
        }
        let reader = builder.build().map_err(wrong)?;
        for batch in reader {
            check_deadline(options.deadline)?;
            let batch = batch.map_err(|error| self.part.damaged(&error))?;
            buffers.holds(decoding + batch.get_array_memory_size())?;
            each(self.whole(options.projection, batch)?)?;
        }
        // After the deadline the tests pass no row and return no error.
        check_deadline(options.deadline)
    }

    /// The tests simplified by the row group's dictionaries; `None` when no row can pass. For few rows the dictionaries
    /// are not read.
    fn narrowed(
        &self,
        row_group: usize,
        tests: Vec<Arc<Test>>,
        pages: Option<&RowSelection>,
    ) -> Result<Option<Vec<Arc<Test>>>, StoreError> {
        let rows = self.metadata().row_group(row_group).num_rows() as usize;
        if pages.is_some_and(|pages| pages.row_count() < rows / FEW_ROWS_SHARE) {
            return Ok(Some(tests));
        }
        let mut narrowed = Vec::with_capacity(tests.len());
        for test in tests {
            let Some(test) = dictionary::narrow(self, row_group, &test)? else { return Ok(None) };
            narrowed.push(test);
        }
        Ok(Some(narrowed))
    }

    /// Reads rows by their numbers in the part. `rows` is ascending.
    pub fn fetch(
        &self,
        rows: &[usize],
        options: &ReadOptions<'_>,
        mut each: impl FnMut(RecordBatch) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let wrong = |error| crate::error::parquet(self.part.path(), error);
        let mut buffers = options.budget.share();
        let mut first = 0;
        let mut rest = rows;
        for (index, group) in self.metadata().row_groups().iter().enumerate() {
            let end = first + group.num_rows() as usize;
            let (here, after) = rest.split_at(rest.partition_point(|row| *row < end));
            if !here.is_empty() {
                buffers.holds(self.decode_bytes(index, options.projection, &[]))?;
                let ranges = here.iter().map(|row| row - first..row - first + 1);
                let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.footer.clone())
                    .with_row_groups(vec![index])
                    .with_batch_size(BATCH_ROWS)
                    .with_projection(self.mask(options.projection))
                    .with_row_selection(RowSelection::from_consecutive_ranges(ranges, end - first))
                    .build()
                    .map_err(wrong)?;
                for batch in reader {
                    check_deadline(options.deadline)?;
                    let batch = batch.map_err(|error| self.part.damaged(&error))?;
                    each(self.whole(options.projection, batch)?)?;
                }
            }
            (first, rest) = (end, after);
        }
        Ok(())
    }

    /// Approximate bytes that decoding rows of a row group takes besides the rows: for every column read, its
    /// dictionary twice (as read and as an array) and two pages.
    fn decode_bytes(&self, row_group: usize, projection: &Projection, tests: &[Arc<Test>]) -> usize {
        let group = self.metadata().row_group(row_group);
        let pages = self.metadata().page_index_for_row_group(row_group);
        let mut tested = Projection::default();
        tests.iter().for_each(|test| test.add_to(&mut tested));
        let mut leaves: Vec<usize> =
            [projection, &tested].into_iter().flat_map(|projection| self.leaves(projection)).collect();
        leaves.sort_unstable();
        leaves.dedup();
        let bytes = leaves.into_iter().map(|leaf| {
            let chunk = group.column(leaf);
            let (whole, compressed) = (chunk.uncompressed_size().max(0), chunk.compressed_size().max(1));
            let dictionary = chunk.dictionary_page_offset().map_or(0, |at| chunk.data_page_offset().saturating_sub(at));
            // Assumes the compression ratio of the whole chunk.
            let dictionary = (dictionary.max(0) as u128 * whole as u128 / compressed as u128) as usize;
            let page = whole as usize / pages.page_locations(leaf).map_or(1, |pages| pages.len().max(1));
            (2 * (dictionary + page)).min(2 * whole as usize)
        });
        bytes.sum()
    }

    /// The columns of the file that hold the projection.
    fn mask(&self, projection: &Projection) -> ProjectionMask {
        ProjectionMask::leaves(self.metadata().file_metadata().schema_descr(), self.leaves(projection))
    }

    fn leaves(&self, projection: &Projection) -> Vec<usize> {
        let mut names: Vec<&str> = Vec::new();
        // Folding needs every encoded column that is read, with all its attribute columns.
        let whole = if folds(&self.extras, projection) { projection.table_columns() } else { projection.pairs.clone() };
        for encoded in whole {
            names.push(encoded);
            names.extend(self.extras.of_column(encoded).map(|extra| extra.name.as_str()));
        }
        names.extend(&projection.columns);
        for (encoded, key) in &projection.attributes {
            let extra = self.extras.find(encoded, key);
            names.extend(extra.map(|extra| extra.name.as_str()));
            if extra.is_none_or(|extra| !extra.complete) {
                names.push(encoded);
            }
        }
        names.iter().filter_map(|name| self.leaf(name)).collect()
    }

    /// Folds attribute columns back into encoded columns that are needed whole.
    fn whole(&self, projection: &Projection, batch: RecordBatch) -> Result<RecordBatch, StoreError> {
        whole(self.part.facts.table, &self.extras, projection, batch)
    }

    /// Evaluates cheap tests first, each cost level on the rows that passed the previous one.
    fn row_filter(&self, tests: Vec<Arc<Test>>, deadline: Instant) -> RowFilter {
        let mut predicates: Vec<Box<dyn ArrowPredicate>> = Vec::new();
        for cost in 0..=2 {
            let level: Vec<Arc<Test>> = tests.iter().filter(|test| test.cost() == cost).map(Arc::clone).collect();
            if level.is_empty() {
                continue;
            }
            let mut projection = Projection::default();
            level.iter().for_each(|test| test.add_to(&mut projection));
            let mask = self.mask(&projection);
            let (table, extras) = (self.part.facts.table, Arc::clone(&self.extras));
            let predicate = move |batch: RecordBatch| {
                yield_point();
                if Instant::now() >= deadline {
                    return Ok(BooleanArray::from(vec![false; batch.num_rows()]));
                }
                let whole = whole(table, &extras, &projection, batch);
                let mask = whole.and_then(|batch| passes_all(level.iter().map(Arc::as_ref), &batch));
                mask.map(|mask| BooleanArray::new(mask, None))
                    .map_err(|error| ArrowError::ExternalError(Box::new(error)))
            };
            predicates.push(Box::new(ArrowPredicateFn::new(mask, predicate)));
        }
        RowFilter::new(predicates)
    }

    /// The footer with text columns typed as dictionaries where the row group stores them as dictionaries.
    fn footer_for(
        &self,
        row_group: usize,
        row_numbers: bool,
    ) -> Result<ArrowReaderMetadata, parquet::errors::ParquetError> {
        let group = self.metadata().row_group(row_group);
        let fields: Vec<Field> = self
            .footer
            .schema()
            .fields()
            .iter()
            .enumerate()
            .map(|(leaf, field)| {
                let dictionary = group.column(leaf).dictionary_page_offset().is_some();
                if dictionary && *field.data_type() == DataType::Utf8 {
                    let text = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                    Field::new(field.name(), text, field.is_nullable())
                } else {
                    field.as_ref().clone()
                }
            })
            .collect();
        let mut options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
        if row_numbers {
            let field = Field::new(ROW_NUMBER, DataType::Int64, false).with_extension_type(RowNumber);
            options = options.with_virtual_columns(vec![Arc::new(field)])?;
        }
        ArrowReaderMetadata::try_new(Arc::clone(self.metadata()), options)
    }
}

/// Whether an encoded column is needed whole and the part stores some of its attributes separately.
fn folds(extras: &AttrColumns, projection: &Projection) -> bool {
    projection.columns.iter().any(|name| extras.of_column(name).next().is_some())
}

/// Restores encoded columns that are needed whole, and adds nulls for columns that the part lacks.
fn whole(
    table: Table,
    extras: &AttrColumns,
    projection: &Projection,
    batch: RecordBatch,
) -> Result<RecordBatch, StoreError> {
    let batch = if folds(extras, projection) { extras.fold(&batch)? } else { batch };
    // An encoded column that exists may not have been read, because a column of one attribute has all values.
    let may_lack = |name: &&'static str| table.column(name).is_some_and(|(_, column)| column.nullable);
    let columns: Vec<&'static str> = projection.table_columns().into_iter().filter(may_lack).collect();
    added_columns::with_columns(table, &columns, batch)
}
