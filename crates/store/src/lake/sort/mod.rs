//! The order of rows in a part, by the columns of [`Table::sort_key`]: comparable bytes for merging ([`SortKeys`]),
//! packed numbers for rows in memory (`packed`), by their first words where many rows share them (`grouped`).

mod grouped;
mod packed;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, Int64Array, RecordBatch, new_null_array};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::compute::interleave;
use arrow::datatypes::Int64Type;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};
use packed::PackedKey;

use super::give_way::give_way;
use super::unshare::SharedColumn;
use crate::StoreError;
use crate::tables::Table;

const FIVE_MINUTES_NS: i64 = 5 * 60 * 1_000_000_000;
/// Rows gathered at a time.
pub const BATCH_ROWS: usize = 8192;

/// Turns the sort columns of batches into bytes that compare as the rows do.
pub struct SortKeys {
    table: Table,
    converter: RowConverter,
}

impl SortKeys {
    pub fn new(table: Table) -> Result<SortKeys, StoreError> {
        let field = |key: &&str| {
            let name = key.split('/').next().unwrap_or(key);
            let (_, column) = table.column(name).expect("sort keys are columns of the table");
            SortField::new(column.kind.data_type())
        };
        let fields = table.sort_key().iter().map(field).collect();
        let converter = RowConverter::new(fields).map_err(StoreError::internal("compare the sort columns"))?;
        Ok(SortKeys { table, converter })
    }

    /// One key per row of the batch.
    pub fn of(&mut self, batch: &RecordBatch) -> Result<Rows, StoreError> {
        let columns: Vec<ArrayRef> = self.table.sort_key().iter().map(|key| sort_column(batch, key)).collect();
        self.converter.convert_columns(&columns).map_err(StoreError::internal("compare the sort columns"))
    }
}

fn sort_column(batch: &RecordBatch, key: &str) -> ArrayRef {
    let column = |name| batch.column_by_name(name).expect("sort keys are columns of the table");
    match key {
        "time/5m" => {
            let time = column("time").as_primitive::<Int64Type>();
            debug_assert!(time.null_count() == 0);
            Arc::new(Int64Array::from_iter_values(time.values().iter().map(|time| time.div_euclid(FIVE_MINUTES_NS))))
        }
        name => Arc::clone(column(name)),
    }
}

/// Sorts places (batch, row) by the table's sort key; rows with equal keys keep their order.
pub fn sort_places(table: Table, batches: &[RecordBatch], lists: &mut [&mut Vec<(usize, usize)>]) {
    let keys = packed::keys(table, batches);
    for places in lists {
        give_way();
        let of_places = places.iter().map(|(batch, row)| &keys.of_rows[*batch][*row]);
        let order = grouped::order(of_places.clone(), keys.words).unwrap_or_else(|| {
            let mut keyed: Vec<(PackedKey, u32)> = of_places.copied().zip(0..).collect();
            give_way();
            keyed.sort_unstable();
            keyed.into_iter().map(|(_, number)| number).collect()
        });
        give_way();
        **places = order.into_iter().map(|number| places[number as usize]).collect();
    }
}

/// The rows at these places, [`BATCH_ROWS`] at a time; each shared column with one list of values for all of them.
pub fn gather(
    batches: &[RecordBatch],
    order: &[(usize, usize)],
    mut each: impl FnMut(&RecordBatch) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let Some(first) = batches.first() else { return Ok(()) };
    let pieces = |column| batches.iter().map(|batch: &RecordBatch| batch.column(column).as_ref()).collect();
    let columns: Vec<Vec<&dyn Array>> = (0..first.num_columns()).map(pieces).collect();
    let shared: Result<Vec<Option<SharedColumn<'_>>>, _> =
        columns.iter().map(|pieces| SharedColumn::new(pieces)).collect();
    let shared = shared.map_err(StoreError::internal("gather rows"))?;
    for places in order.chunks(BATCH_ROWS) {
        let gathered = columns.iter().zip(&shared).map(|(pieces, shared)| {
            give_way();
            match shared {
                Some(shared) => shared.gather(places),
                None if are_null(pieces, places) => Ok(new_null_array(pieces[0].data_type(), places.len())),
                None => ids(pieces, places).unwrap_or_else(|| interleave(pieces, places)),
            }
        });
        let columns = gathered.collect::<Result<Vec<_>, _>>();
        let batch = columns.and_then(|columns| RecordBatch::try_new(first.schema(), columns));
        each(&batch.map_err(StoreError::internal("gather rows"))?)?;
    }
    Ok(())
}

/// Are all cells at these places null? Sorted rows mostly have what only some have, or have it not, in long runs.
fn are_null(pieces: &[&dyn Array], places: &[(usize, usize)]) -> bool {
    let nulls: Vec<Option<&NullBuffer>> = pieces.iter().map(|piece| piece.nulls()).collect();
    places.iter().all(|(piece, row)| nulls[*piece].is_some_and(|nulls| nulls.is_null(*row)))
}

/// As [`interleave`], of identifiers: it has no way of its own for them. `None` for other columns.
fn ids(pieces: &[&dyn Array], places: &[(usize, usize)]) -> Option<Result<ArrayRef, ArrowError>> {
    let ids = pieces.iter().map(|piece| piece.as_fixed_size_binary_opt().filter(|ids| ids.null_count() == 0));
    let ids: Vec<&FixedSizeBinaryArray> = ids.collect::<Option<_>>()?;
    let length = ids.first()?.value_length();
    let mut bytes = Vec::with_capacity(places.len() * length as usize);
    places.iter().for_each(|(piece, row)| bytes.extend_from_slice(ids[*piece].value(*row)));
    let gathered = FixedSizeBinaryArray::try_new(length, Buffer::from(bytes), None);
    Some(gathered.map(|ids| Arc::new(ids) as ArrayRef))
}
