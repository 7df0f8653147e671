//! Aligns the attribute columns of parts that are merged.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_null_array};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use crate::attr_columns::{AttrColumns, AttrKey};
use tidewatch_store::tables::Table;
use tidewatch_store::{StoreError, arrow_schema};

/// The conversion of a part's rows to the schema of the merge.
pub enum SchemaAlignment {
    /// The schema is the same.
    Unchanged,
    /// Attribute columns are folded back into the encoded attributes.
    FoldAttributes(Arc<AttrColumns>),
    /// Attribute columns of other parts are added as nulls: for each output column, the index of the part's column, or
    /// none.
    AddColumns(Vec<(Option<usize>, FieldRef)>),
}

impl SchemaAlignment {
    /// The conversion of a part with the attribute columns `own` to parts that together have those of `keys`.
    pub fn for_part(table: Table, keys: &[AttrKey], own: &AttrColumns) -> SchemaAlignment {
        let Some(places) = own.places(keys) else { return SchemaAlignment::Unchanged };
        let plain = arrow_schema(table);
        let first = plain.fields().len();
        let of_table = plain.fields().iter().enumerate().map(|(index, field)| (Some(index), Arc::clone(field)));
        let extra = keys.iter().zip(places).map(|(key, place)| {
            let kind = if key.is_int { DataType::Int64 } else { DataType::Utf8 };
            (place.map(|place| first + place), Arc::new(Field::new(key.column(), kind, true)))
        });
        SchemaAlignment::AddColumns(of_table.chain(extra).collect())
    }

    /// The schema of converted batches; `own` is the schema of the part's batches.
    pub fn schema(&self, table: Table, own: SchemaRef) -> SchemaRef {
        match self {
            SchemaAlignment::Unchanged => own,
            SchemaAlignment::FoldAttributes(_) => arrow_schema(table),
            SchemaAlignment::AddColumns(columns) => {
                Arc::new(Schema::new(columns.iter().map(|(_, field)| Arc::clone(field)).collect::<Fields>()))
            }
        }
    }

    pub fn apply(&self, batch: RecordBatch) -> Result<RecordBatch, StoreError> {
        let columns = match self {
            SchemaAlignment::Unchanged => return Ok(batch),
            SchemaAlignment::FoldAttributes(columns) => return columns.fold(&batch),
            SchemaAlignment::AddColumns(columns) => columns,
        };
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
            .iter()
            .map(|(place, field)| match place {
                // The column may be a dictionary array.
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
