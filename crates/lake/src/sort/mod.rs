//! The order of rows in a part, by the columns of [`Table::sort_key`]: comparable bytes for merging ([`SortKeys`]),
//! packed numbers for rows in memory (`packed`), and a faster sort when many rows share their first words (`grouped`).
//! `gather` copies rows in that order.

mod gather;
mod grouped;
mod packed;

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use arrow::row::{RowConverter, Rows, SortField};
use packed::{FIVE_MINUTES_NS, PackedKey};

pub use gather::gather;
pub use grouped::group_equal;

use crate::schedule::yielding::yield_point;
use tidewatch_store::StoreError;
use tidewatch_store::tables::Table;

/// Rows per gathered batch.
pub const BATCH_ROWS: usize = 8192;

/// Converts the sort columns of batches to bytes that compare like the rows.
pub struct SortKeys {
    table: Table,
    converter: RowConverter,
}

impl SortKeys {
    /// A converter for the table's sort key. Fails when a column's type is not sortable.
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

/// Sorts lists of places (batch, row) by the table's sort key; rows with equal keys keep their order.
pub fn sort_places(table: Table, batches: &[RecordBatch], lists: &mut [&mut Vec<(usize, usize)>]) {
    let keys = packed::keys(table, batches);
    for places in lists {
        yield_point();
        let of_places = places.iter().map(|(batch, row)| &keys.of_rows[*batch][*row]);
        let order = grouped::order(of_places.clone(), keys.words).unwrap_or_else(|| {
            let mut keyed: Vec<(PackedKey, u32)> = of_places.copied().zip(0..).collect();
            yield_point();
            keyed.sort_unstable();
            keyed.into_iter().map(|(_, number)| number).collect()
        });
        yield_point();
        **places = order.into_iter().map(|number| places[number as usize]).collect();
    }
}
