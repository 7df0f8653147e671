//! Gathers rows of several batches in a given order, [`BATCH_ROWS`] at a time. Ranges of rows that are consecutive in
//! the source and in the order are copied as a whole: rows of a series are adjacent in memory already (see `memtable`).

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, BooleanBufferBuilder, FixedSizeBinaryArray,
    PrimitiveArray, RecordBatch, new_null_array,
};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, Float64Type, Int16Type, Int64Type, UInt8Type, UInt32Type, UInt64Type};
use arrow::error::ArrowError;

use super::BATCH_ROWS;
use crate::schedule::yielding::yield_point;
use tidewatch_columnar::materialize::DictionaryColumn;
use tidewatch_columnar::row_ranges::{RowRange, are_long, ranges};
use tidewatch_store::StoreError;

/// Shorter runs than this are gathered row by row.
const RANGE_ROWS_MIN: usize = 4;

/// Calls `each` with the rows at `order` (index of batch, row), [`BATCH_ROWS`] at a time. All batches of one call share
/// the values of dictionary columns.
pub fn gather(
    batches: &[RecordBatch],
    order: &[(usize, usize)],
    mut each: impl FnMut(&RecordBatch) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let Some(first) = batches.first() else { return Ok(()) };
    let pieces = |column| batches.iter().map(|batch: &RecordBatch| batch.column(column).as_ref()).collect();
    let columns: Vec<Vec<&dyn Array>> = (0..first.num_columns()).map(pieces).collect();
    let shared: Result<Vec<Option<DictionaryColumn<'_>>>, _> =
        columns.iter().map(|pieces| DictionaryColumn::new(pieces)).collect();
    let shared = shared.map_err(StoreError::internal("gather rows"))?;
    for places in order.chunks(BATCH_ROWS) {
        let ranges = ranges(places);
        let gathered = columns.iter().zip(&shared).map(|(pieces, shared)| {
            yield_point();
            match shared {
                Some(shared) => shared.gather(&ranges, places.len()),
                None if are_null(pieces, &ranges) => Ok(new_null_array(pieces[0].data_type(), places.len())),
                None => {
                    let copied =
                        are_long(&ranges, places, RANGE_ROWS_MIN).then(|| copied(pieces, &ranges, places.len()));
                    let gathered = copied.flatten().map(Ok).or_else(|| ids(pieces, places));
                    gathered.unwrap_or_else(|| interleave(pieces, places))
                }
            }
        });
        let columns = gathered.collect::<Result<Vec<_>, _>>();
        let batch = columns.and_then(|columns| RecordBatch::try_new(first.schema(), columns));
        each(&batch.map_err(StoreError::internal("gather rows"))?)?;
    }
    Ok(())
}

/// Are all cells of these runs null? Sorted rows mostly have what only some have, or have it not, in long runs.
fn are_null(pieces: &[&dyn Array], ranges: &[RowRange]) -> bool {
    let nulls: Vec<Option<&NullBuffer>> = pieces.iter().map(|piece| piece.nulls()).collect();
    ranges.iter().all(|range| nulls[range.batch].is_some_and(|nulls| range.rows.clone().all(|row| nulls.is_null(row))))
}

/// The cells of these runs, run by run: numbers and flags, none of which is null. `None` for other columns.
fn copied(pieces: &[&dyn Array], ranges: &[RowRange], rows: usize) -> Option<ArrayRef> {
    if pieces.iter().any(|piece| piece.null_count() > 0) {
        return None;
    }
    Some(match pieces.first()?.data_type() {
        DataType::UInt8 => numbers::<UInt8Type>(pieces, ranges, rows),
        DataType::Int16 => numbers::<Int16Type>(pieces, ranges, rows),
        DataType::UInt32 => numbers::<UInt32Type>(pieces, ranges, rows),
        DataType::UInt64 => numbers::<UInt64Type>(pieces, ranges, rows),
        DataType::Int64 => numbers::<Int64Type>(pieces, ranges, rows),
        DataType::Float64 => numbers::<Float64Type>(pieces, ranges, rows),
        DataType::Boolean => {
            let mut flags = BooleanBufferBuilder::new(rows);
            for RowRange { batch, rows } in ranges {
                flags.append_buffer(&pieces[*batch].as_boolean().values().slice(rows.start, rows.len()));
            }
            Arc::new(BooleanArray::new(flags.finish(), None))
        }
        _ => return None,
    })
}

fn numbers<T: ArrowPrimitiveType>(pieces: &[&dyn Array], ranges: &[RowRange], rows: usize) -> ArrayRef {
    let pieces: Vec<&[T::Native]> = pieces.iter().map(|piece| &piece.as_primitive::<T>().values()[..]).collect();
    let mut numbers = Vec::with_capacity(rows);
    ranges.iter().for_each(|range| numbers.extend_from_slice(&pieces[range.batch][range.rows.clone()]));
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(numbers), None))
}

/// Like [`interleave`], for identifiers without nulls, which it does not optimize. `None` for other columns.
fn ids(pieces: &[&dyn Array], places: &[(usize, usize)]) -> Option<Result<ArrayRef, ArrowError>> {
    let ids = pieces.iter().map(|piece| piece.as_fixed_size_binary_opt().filter(|ids| ids.null_count() == 0));
    let ids: Vec<&FixedSizeBinaryArray> = ids.collect::<Option<_>>()?;
    let length = ids.first()?.value_length();
    let mut bytes = Vec::with_capacity(places.len() * length as usize);
    places.iter().for_each(|(piece, row)| bytes.extend_from_slice(ids[*piece].value(*row)));
    let gathered = FixedSizeBinaryArray::try_new(length, Buffer::from(bytes), None);
    Some(gathered.map(|ids| Arc::new(ids) as ArrayRef))
}
