//! Parts with other attribute columns than those they are merged with.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_null_array};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use crate::attr_columns::{AttrColumns, AttrKey};
use tidewatch_store::tables::Table;
use tidewatch_store::{StoreError, arrow_schema};

/// What makes a part's rows fit those of the others.
pub enum Fit {
    AsItIs,
    /// Attribute columns are put back.
    Fold(Arc<AttrColumns>),
    /// Attribute columns that others have are added, without values: the part's column, or none, of each of the output's.
    Widen(Vec<(Option<usize>, FieldRef)>),
}

impl Fit {
    /// Of a part with such attribute columns among parts that have, together, those of `keys`.
    pub fn among(table: Table, keys: &[AttrKey], own: &AttrColumns) -> Fit {
        let Some(places) = own.places(keys) else { return Fit::AsItIs };
        let plain = arrow_schema(table);
        let first = plain.fields().len();
        let of_table = plain.fields().iter().enumerate().map(|(index, field)| (Some(index), Arc::clone(field)));
        let extra = keys.iter().zip(places).map(|(key, place)| {
            let kind = if key.is_int { DataType::Int64 } else { DataType::Utf8 };
            (place.map(|place| first + place), Arc::new(Field::new(key.column(), kind, true)))
        });
        Fit::Widen(of_table.chain(extra).collect())
    }

    /// Of batches that fit; `own` is that of the part's batches.
    pub fn schema(&self, table: Table, own: SchemaRef) -> SchemaRef {
        match self {
            Fit::AsItIs => own,
            Fit::Fold(_) => arrow_schema(table),
            Fit::Widen(columns) => {
                Arc::new(Schema::new(columns.iter().map(|(_, field)| Arc::clone(field)).collect::<Fields>()))
            }
        }
    }

    pub fn apply(&self, batch: RecordBatch) -> Result<RecordBatch, StoreError> {
        let columns = match self {
            Fit::AsItIs => return Ok(batch),
            Fit::Fold(columns) => return columns.fold(&batch),
            Fit::Widen(columns) => columns,
        };
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
            .iter()
            .map(|(place, field)| match place {
                // It may have been read as numbers.
                Some(place) => {
                    let array = batch.column(*place);
                    (field.as_ref().clone().with_data_type(array.data_type().clone()), Arc::clone(array))
                }
                None => (field.as_ref().clone(), new_null_array(field.data_type(), batch.num_rows())),
            })
            .unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        batch.map_err(StoreError::internal("add columns to a part's rows"))
    }
}
