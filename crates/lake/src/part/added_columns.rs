//! Columns that were added to a table after a part was written: nullable, at the table's end, and null in the part's
//! rows.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{FieldRef, Schema, SchemaRef};

use tidewatch_store::tables::Table;
use tidewatch_store::{StoreError, arrow_schema};

/// The rows of a part with every column of its table; missing columns are null. Attribute columns follow the table's
/// columns.
pub fn with_all_columns(table: Table, batch: RecordBatch) -> Result<RecordBatch, StoreError> {
    let schema = schema_with_all_columns(table, batch.schema());
    with_schema(schema, batch)
}

/// The schema of the batches that [`with_all_columns`] returns for batches of schema `own`.
pub fn schema_with_all_columns(table: Table, own: SchemaRef) -> SchemaRef {
    let plain = arrow_schema(table);
    if plain.fields().iter().all(|field| own.index_of(field.name()).is_ok()) {
        return own;
    }
    let of_table = plain.fields().iter().map(|field| match own.index_of(field.name()) {
        // A column may have been read as a dictionary.
        Ok(index) => Arc::clone(&own.fields()[index]),
        Err(_) => Arc::clone(field),
    });
    let extra = own.fields().iter().filter(|field| plain.index_of(field.name()).is_err()).cloned();
    Arc::new(Schema::new_with_metadata(of_table.chain(extra).collect::<Vec<_>>(), own.metadata().clone()))
}

/// The rows with these columns of the table added where they are missing.
pub fn with_columns(table: Table, names: &[&'static str], batch: RecordBatch) -> Result<RecordBatch, StoreError> {
    let own = batch.schema();
    let missing: Vec<&&str> = names.iter().filter(|name| own.index_of(name).is_err()).collect();
    if missing.is_empty() {
        return Ok(batch);
    }
    let plain = arrow_schema(table);
    let added = missing.into_iter().filter_map(|name| plain.field_with_name(name).ok().cloned().map(Arc::new));
    let fields: Vec<FieldRef> = own.fields().iter().cloned().chain(added).collect();
    with_schema(Arc::new(Schema::new_with_metadata(fields, own.metadata().clone())), batch)
}

fn with_schema(schema: SchemaRef, batch: RecordBatch) -> Result<RecordBatch, StoreError> {
    if batch.schema_ref() == &schema {
        return Ok(batch);
    }
    let rows = batch.num_rows();
    let columns = schema.fields().iter().map(|field| match batch.column_by_name(field.name()) {
        Some(column) => Arc::clone(column),
        None => new_null_array(field.data_type(), rows),
    });
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let columns = columns.collect();
    RecordBatch::try_new_with_options(schema, columns, &options)
        .map_err(StoreError::internal("add columns that a part lacks"))
}
