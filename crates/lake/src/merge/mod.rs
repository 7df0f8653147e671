//! Merges small parts into a large one, streaming, in bounded memory ([`policy`] chooses the parts).
//!
//! A merge takes parts of one table and day. Rows of equal identity become one row: the one in the oldest part. The
//! inputs stay unchanged; the caller swaps them for the output in one catalog transaction.

pub(crate) mod policy;
mod schema_alignment;

use std::cmp::Ordering;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{AsArray, FixedSizeBinaryArray, PrimitiveArray, RecordBatch, RecordBatchReader as _};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::{DataType, Fields, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow::row::Rows;
use hashbrown::HashSet;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::basic::Encoding;
use tidewatch_domain::model::SpanKind;
use xxhash_rust::xxh3::Xxh3;

use super::attr_columns::{self, AttrColumns};
use super::dedup::{self, KeyHasher};
use super::part::{Part, PartFacts};
use super::sort::{BATCH_ROWS, SortKeys};
use crate::memtable::counts::Counts;
use crate::merge::schema_alignment::SchemaAlignment;
use crate::part::added_columns;
use crate::part::pages;
use crate::part::pages::Decompressor;
use crate::write::flush::Layout;
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

/// Maximum size of a decoded batch of one input.
const INPUT_BATCH_BYTES: u64 = 512 * 1024;

/// Merges parts of one table and day into a new, unregistered part. `None` when `stop` returned true.
///
/// `stop` is called after every few thousand rows.
pub fn merge(
    layout: &Layout,
    parts: &[Arc<Part>],
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<PartFacts>, StoreError> {
    let first = &parts.first().expect("at least two parts are merged").facts;
    let first_id = parts.iter().map(|part| part.facts.first_id).min();
    let level = parts.iter().map(|part| part.facts.level).max().unwrap_or(0).saturating_add(1);
    let table = first.table;

    let mut parts: Vec<&Arc<Part>> = parts.iter().collect();
    parts.sort_by_key(|part| part.facts.first_id);
    let received_min = parts.iter().map(|part| part.facts.received_min).min().unwrap_or(i64::MIN);
    let received_max = parts.iter().map(|part| part.facts.received_max).max().unwrap_or(i64::MAX);
    // Records received within one window were deduplicated on receipt, so there are no duplicates. DECISIONS 11. Stacks
    // are stored again after a start.
    let is_unique = table != Table::ProfileStacks && received_max.saturating_sub(received_min) <= dedup::WINDOW_NS;
    let duplicates = match is_unique {
        true => vec![Vec::new(); parts.len()],
        false => duplicates(table, &parts)?,
    };
    let received = |facts: PartFacts| Some(PartFacts { received_min, received_max, ..facts });

    let rows: u64 = parts.iter().map(|part| part.facts.rows).sum();
    let columns = parts.iter().map(|part| part.attr_columns()).collect::<Result<Vec<_>, _>>()?;
    // Usually all parts have similar attribute columns, and rows are copied from part to part unchanged.
    let merged = AttrColumns::merged(&columns);
    let keys = match &merged {
        Some((keys, _)) => keys.clone(),
        None if layout.splits_attributes(rows as usize) => attr_columns::choose(&samples(&parts)?, &[]),
        None => Vec::new(),
    };
    let mut writer = layout.create_part(table, first.day, level, first_id, keys, rows as usize)?;
    if table == Table::IngestCounts {
        writer.write(&sum_counts(&parts)?)?;
        return writer.finish().map(received);
    }
    let aligned = |columns: Arc<AttrColumns>| match &merged {
        Some((keys, _)) => SchemaAlignment::for_part(table, keys, &columns),
        None if columns.is_empty() => SchemaAlignment::Unchanged,
        None => SchemaAlignment::FoldAttributes(columns),
    };
    // Then strings are copied as dictionary indices, except in parts with roll-ups.
    let as_dictionaries = merged.is_some() && !writer.is_rolled_up();
    let inputs = parts.iter().zip(duplicates).zip(columns);
    let decompressor = Decompressor::default();
    let inputs = inputs.map(|((part, duplicates), columns)| {
        Input::new(part, duplicates, aligned(columns), as_dictionaries, &decompressor)
    });
    let mut merge =
        Merge { inputs: inputs.collect::<Result<_, _>>()?, keys: SortKeys::new(table)?, places: Vec::new() };
    merge.inputs.iter_mut().try_for_each(|input| input.refill(&mut merge.keys))?;
    if let Some((_, incomplete)) = &merged {
        writer.mark_incomplete(incomplete);
    }
    let mut write = |batches: &[&RecordBatch], places: &[(usize, usize)]| {
        if as_dictionaries {
            return writer.write_split_from(batches, places);
        }
        let batch = interleave_record_batch(batches, places).map_err(StoreError::internal("gather rows"))?;
        if merged.is_some() { writer.write_split(&batch) } else { writer.write(&batch) }
    };
    while merge.next_rows(&mut write)? {
        if stop() {
            return Ok(None);
        }
    }
    writer.finish().map(received)
}

/// Sums the counts of rows with equal keys.
fn sum_counts(parts: &[&Arc<Part>]) -> Result<RecordBatch, StoreError> {
    let mut counts = Counts::default();
    for part in parts {
        for batch in open(part, ProjectionMask::all(), BATCH_ROWS)? {
            counts.add_batch(&batch.map_err(|e| part.damaged(&e))?);
        }
    }
    Ok(counts.to_batch())
}

/// Reads the rows of a part as they are stored.
pub(super) fn open(
    part: &Part,
    columns: ProjectionMask,
    batch_rows: usize,
) -> Result<ParquetRecordBatchReader, StoreError> {
    ParquetRecordBatchReaderBuilder::new_with_metadata(part.file()?, part.metadata()?)
        .with_projection(columns)
        .with_batch_size(batch_rows)
        .build()
        .map_err(|e| crate::error::parquet(part.path(), e))
}

/// Rows of the part in a decoded batch of bounded size.
pub(super) fn batch_rows(part: &Part) -> Result<usize, StoreError> {
    let metadata = part.metadata()?;
    let groups = metadata.metadata().row_groups().iter();
    let row_bytes = groups.map(|group| group.total_byte_size().max(1) as u64 / group.num_rows().max(1) as u64).max();
    Ok((INPUT_BATCH_BYTES / row_bytes.unwrap_or(1).max(1)).clamp(16, BATCH_ROWS as u64) as usize)
}

/// The part's columns, with a dictionary type where every page is dictionary-encoded, except the columns of the sort
/// key.
fn as_dictionaries(part: &Part) -> Result<Fields, StoreError> {
    let metadata = part.metadata()?;
    let sorted_by = part.facts.table.sort_key();
    let has_numbers = |leaf: usize| {
        let chunks = metadata.metadata().row_groups().iter().map(|group| group.column(leaf));
        chunks.into_iter().all(|chunk| {
            let only = chunk.page_encoding_stats_mask();
            only.is_some_and(|mask| mask.is_only(Encoding::RLE_DICTIONARY))
        })
    };
    let fields = metadata.schema().fields().iter().enumerate().map(|(leaf, field)| {
        let is_text = matches!(field.data_type(), DataType::Utf8 | DataType::Binary);
        match is_text && !sorted_by.contains(&field.name().as_str()) && has_numbers(leaf) {
            true => {
                let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(field.data_type().clone()));
                Arc::new(field.as_ref().clone().with_data_type(kind))
            }
            false => Arc::clone(field),
        }
    });
    Ok(Fields::from(fields.collect::<Vec<_>>()))
}

/// Samples some rows of every row group, with all of their attributes.
fn samples(parts: &[&Arc<Part>]) -> Result<Vec<RecordBatch>, StoreError> {
    let mut samples = Vec::new();
    for part in parts {
        let (metadata, columns) = (part.metadata()?, part.attr_columns()?);
        let schema = metadata.parquet_schema();
        let wanted = schema.columns().iter().enumerate().filter(|(_, column)| {
            let name = column.name();
            columns.is_encoded_or_extra(name)
        });
        let mask = ProjectionMask::leaves(schema, wanted.map(|(leaf, _)| leaf));
        for group in 0..metadata.metadata().num_row_groups() {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(part.file()?, metadata.clone())
                .with_row_groups(vec![group])
                .with_projection(mask.clone())
                .with_batch_size(attr_columns::SAMPLE_ROWS)
                .with_limit(attr_columns::SAMPLE_ROWS)
                .build()
                .map_err(|e| crate::error::parquet(part.path(), e))?;
            for batch in reader {
                samples.push(columns.fold(&batch.map_err(|e| part.damaged(&e))?)?);
            }
        }
    }
    Ok(samples)
}

/// By part, the rows, ascending, whose identity an older part or an earlier row has.
///
/// Takes 16 bytes per row of the output; reads only the identity columns.
fn duplicates(table: Table, parts: &[&Arc<Part>]) -> Result<Vec<Vec<usize>>, StoreError> {
    let identity = table.identity();
    if identity.is_empty() {
        return Ok(vec![Vec::new(); parts.len()]);
    }
    let mut known: HashSet<u128, BuildHasherDefault<KeyHasher>> = HashSet::default();
    let mut all = Vec::new();
    for part in parts {
        let metadata = part.metadata()?;
        let mask = ProjectionMask::columns(metadata.parquet_schema(), identity.iter().copied());
        let (mut duplicates, mut row) = (Vec::new(), 0);
        for batch in open(part, mask, BATCH_ROWS)? {
            for key in identities(identity, &batch.map_err(|e| part.damaged(&e))?) {
                if !known.insert(key) {
                    duplicates.push(row);
                }
                row += 1;
            }
        }
        all.push(duplicates);
    }
    Ok(all)
}

/// A column of [`Table::identity`].
enum Identity<'b> {
    Project(&'b PrimitiveArray<UInt32Type>),
    Time(&'b PrimitiveArray<Int64Type>),
    /// Only the side of a span's kind is part of its identity. DECISIONS 11.
    Kind(&'b PrimitiveArray<UInt8Type>),
    Stack(&'b PrimitiveArray<UInt64Type>),
    Id(&'b FixedSizeBinaryArray),
}

/// A hash per row of the columns of [`Table::identity`].
fn identities(identity: &[&str], batch: &RecordBatch) -> Vec<u128> {
    let columns: Vec<Identity<'_>> = identity
        .iter()
        .map(|name| {
            let column = batch.column_by_name(name).expect("identity columns are in every part");
            match *name {
                "project" => Identity::Project(column.as_primitive()),
                "time" => Identity::Time(column.as_primitive()),
                "kind" => Identity::Kind(column.as_primitive()),
                "stack" => Identity::Stack(column.as_primitive()),
                _ => Identity::Id(column.as_fixed_size_binary()),
            }
        })
        .collect();
    (0..batch.num_rows())
        .map(|row| {
            let mut hasher = Xxh3::new();
            for column in &columns {
                match column {
                    Identity::Project(projects) => hasher.update(&projects.value(row).to_le_bytes()),
                    Identity::Time(times) => hasher.update(&times.value(row).to_le_bytes()),
                    Identity::Kind(kinds) => {
                        let kind = SpanKind::from_number(kinds.value(row).into());
                        hasher.update(&[u8::from(kind.is_server_side())]);
                    }
                    Identity::Stack(stacks) => hasher.update(&stacks.value(row).to_le_bytes()),
                    Identity::Id(ids) => hasher.update(ids.value(row)),
                }
            }
            hasher.digest128()
        })
        .collect()
}

/// An input of the merge: its current batch and the position in it.
struct Input {
    part: Arc<Part>,
    reader: ParquetRecordBatchReader,
    alignment: SchemaAlignment,
    /// Rows to leave out, ascending, by row of the part; `skipped` of them are passed.
    duplicates: Vec<usize>,
    skipped: usize,
    batch: RecordBatch,
    keys: Option<Rows>,
    row: usize,
    /// Row of the part at which the batch starts.
    start: usize,
}

impl Input {
    fn new(
        part: &Arc<Part>,
        duplicates: Vec<usize>,
        alignment: SchemaAlignment,
        as_dictionaries: bool,
        decompressor: &Decompressor,
    ) -> Result<Input, StoreError> {
        let metadata = part.metadata()?;
        let batch_rows = batch_rows(part)?;
        let (fields, batch_rows) = match as_dictionaries {
            // Batches that end at the ends of row groups keep the dictionary of the row group.
            true => (self::as_dictionaries(part)?, 1 << batch_rows.ilog2()),
            false => (metadata.schema().fields().clone(), batch_rows),
        };
        let reader = pages::open(part, &fields, batch_rows, decompressor)?;
        let table = part.facts.table;
        let schema = alignment.schema(table, added_columns::schema_with_all_columns(table, reader.schema()));
        Ok(Input {
            reader,
            alignment,
            part: Arc::clone(part),
            duplicates,
            skipped: 0,
            batch: RecordBatch::new_empty(schema),
            keys: None,
            row: 0,
            start: 0,
        })
    }

    /// Moves to the next row that is no duplicate, and reads the next batch at the end of this one. At the end of the
    /// part, `keys` is `None`.
    fn refill(&mut self, keys: &mut SortKeys) -> Result<(), StoreError> {
        self.skip();
        while self.row == self.batch.num_rows() {
            self.start += self.batch.num_rows();
            self.row = 0;
            match self.reader.next() {
                Some(batch) => {
                    let batch = batch.map_err(|e| self.part.damaged(&e))?;
                    self.batch =
                        self.alignment.apply(added_columns::with_all_columns(self.part.facts.table, batch)?)?;
                }
                None => {
                    self.keys = None;
                    return Ok(());
                }
            }
            self.keys = Some(keys.of(&self.batch)?);
            self.skip();
        }
        Ok(())
    }

    /// Skips duplicates within the batch.
    fn skip(&mut self) {
        while self.row < self.batch.num_rows() && self.duplicates.get(self.skipped) == Some(&(self.start + self.row)) {
            self.skipped += 1;
            self.row += 1;
        }
    }

    fn key(&self) -> Option<&[u8]> {
        self.keys.as_ref().map(|keys| keys.row(self.row).data())
    }
}

struct Merge {
    /// Oldest first.
    inputs: Vec<Input>,
    keys: SortKeys,
    /// Rows chosen from the current batches: (input, row).
    places: Vec<(usize, usize)>,
}

impl Merge {
    /// Writes the next rows in order, given as places (input, row) in the inputs' batches. False at the end.
    fn next_rows(
        &mut self,
        write: &mut impl FnMut(&[&RecordBatch], &[(usize, usize)]) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        self.places.clear();
        while let Some((least, bound)) = self.least() {
            let bound = bound.map(|input| (input, self.inputs[input].key().expect("the bound has a row").to_vec()));
            let used_up = self.take_range(least, bound.as_ref().map(|(input, key)| (*input, key.as_slice())));
            // A batch at its end is about to be replaced, so the rows chosen from it are written first.
            if used_up || self.places.len() >= BATCH_ROWS {
                let batches: Vec<&RecordBatch> = self.inputs.iter().map(|input| &input.batch).collect();
                write(&batches, &self.places)?;
                if used_up {
                    self.inputs[least].refill(&mut self.keys)?;
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The input with the least row, and the input with the least row among the others. Of equal rows, the older
    /// input's comes first.
    fn least(&self) -> Option<(usize, Option<usize>)> {
        let mut least: Option<(usize, &[u8])> = None;
        let mut second: Option<(usize, &[u8])> = None;
        for (number, input) in self.inputs.iter().enumerate() {
            let Some(key) = input.key() else { continue };
            if least.is_none_or(|(_, known)| key < known) {
                second = least;
                least = Some((number, key));
            } else if second.is_none_or(|(_, known)| key < known) {
                second = Some((number, key));
            }
        }
        least.map(|(number, _)| (number, second.map(|(number, _)| number)))
    }

    /// Takes rows of an input while they sort before the row of `bound`, another input; of equal rows, the older
    /// input's sort first. True when its batch is at its end.
    fn take_range(&mut self, number: usize, bound: Option<(usize, &[u8])>) -> bool {
        let input = &mut self.inputs[number];
        let rows_max = BATCH_ROWS - self.places.len();
        // The first row is the least of all. No row before the next duplicate must be skipped.
        let next_duplicate = input.duplicates.get(input.skipped).map_or(usize::MAX, |row| row - input.start);
        let end = input.batch.num_rows().min(next_duplicate).min(input.row + rows_max);
        let run = match (bound, &input.keys) {
            (Some((other, bound)), Some(keys)) => {
                run_length(input.row..end, |row| match keys.row(row).data().cmp(bound) {
                    Ordering::Less => true,
                    Ordering::Equal => number < other,
                    Ordering::Greater => false,
                })
            }
            _ => end - input.row,
        };
        let taken = input.row..input.row + run.max(1);
        input.row = taken.end;
        self.places.extend(taken.map(|row| (number, row)));
        input.skip();
        input.row == input.batch.num_rows()
    }
}

/// The number of leading rows of a sorted range that are within a bound, by exponential search, because runs have one
/// row or thousands.
fn run_length(rows: Range<usize>, is_within: impl Fn(usize) -> bool) -> usize {
    let (mut within, mut step) = (0, 1);
    while within + step <= rows.len() && is_within(rows.start + within + step - 1) {
        within += step;
        step *= 2;
    }
    // The row at `within + step - 1` is above the bound or does not exist.
    let (mut low, mut high) = (within, (within + step - 1).min(rows.len()));
    while low < high {
        let middle = low + (high - low) / 2;
        match is_within(rows.start + middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::run_length;

    #[test]
    fn runs_of_any_length_are_found() {
        for (length, within) in (0..40).flat_map(|length| (0..=length).map(move |within| (length, within))) {
            assert_eq!(run_length(5..5 + length, |row| row < 5 + within), within, "{within} of {length}");
        }
    }
}
