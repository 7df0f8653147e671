//! The columns of an export, and how stored rows become them.
//!
//! | stored | exported |
//! |---|---|
//! | number of the project | id of the project, text |
//! | nanoseconds since the epoch | timestamp in UTC; 0 in a column that says "0 when absent" is null |
//! | a duration | the column's name ends in `_ns` |
//! | ids | hexadecimal text, `row_id` as a UUID; an id of zeros is null |
//! | hashes (`group`, `series`) | 16 hexadecimal digits |
//! | attributes | a map from key to text, as the API shows them |
//! | events, links | a list of structures |
//! | bounds and buckets of histograms | lists of numbers |
//!
//! CSV has no maps, lists and structures: they are JSON text there.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, StringBuilder};
use arrow::array::{TimestampNanosecondArray, UInt32Array};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema, SchemaRef, TimeUnit, UInt32Type, UInt64Type};
use tidewatch_store::StoreError;
use tidewatch_store::tables::{Column, Kind, Table};
use uuid::Uuid;

use super::Format;
use super::nested;

/// Ids of projects by their number.
#[derive(Debug, Clone, Default)]
pub struct ProjectIds(HashMap<u32, String>);

impl ProjectIds {
    pub fn new(ids: impl IntoIterator<Item = (u32, Uuid)>) -> ProjectIds {
        ProjectIds(ids.into_iter().map(|(number, id)| (number, id.to_string())).collect())
    }

    /// The id; the number where it is not known.
    fn id(&self, number: u32) -> String {
        self.0.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }
}

/// What a stored column becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Export {
    Project,
    Time,
    /// 0 is none.
    OptionalTime,
    Duration,
    Id,
    Uuid,
    Hash,
    Attributes,
    Events,
    Links,
    Doubles,
    Counts,
    AsStored,
}

fn export_of(column: &Column) -> Export {
    match (column.name, column.kind) {
        ("project", _) => Export::Project,
        ("time", _) => Export::Time,
        ("observed_time" | "start_time", _) => Export::OptionalTime,
        ("duration", _) => Export::Duration,
        ("row_id", _) => Export::Uuid,
        ("group" | "series", _) => Export::Hash,
        ("events", _) => Export::Events,
        ("links", _) => Export::Links,
        ("bounds", _) => Export::Doubles,
        ("buckets", _) => Export::Counts,
        (_, Kind::Id8 | Kind::Id16) => Export::Id,
        (_, Kind::Bytes) => Export::Attributes,
        _ => Export::AsStored,
    }
}

/// The columns of an export of one table in one format.
pub struct Columns {
    table: Table,
    projects: ProjectIds,
    /// Values that hold several are JSON text.
    is_flat: bool,
    zone: Arc<str>,
    schema: SchemaRef,
}

impl Columns {
    pub fn of(table: Table, format: Format, projects: ProjectIds) -> Columns {
        let is_flat = format == Format::Csv;
        // Readers of Parquet know zones by name; arrow writes text of zones that are offsets.
        let zone = if format == Format::Parquet { "UTC" } else { "+00:00" };
        let zone: Arc<str> = Arc::from(zone);
        let fields = table.columns().iter().map(|column| field(column, is_flat, &zone));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Columns { table, projects, is_flat, zone, schema }
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Rows with all columns of the table, in its order, as rows of the export.
    pub fn export(&self, batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
        let columns = self.table.columns().iter().zip(batch.columns()).zip(self.schema.fields());
        let arrays = columns.map(|((column, array), field)| self.column(column, array, field));
        RecordBatch::try_new(Arc::clone(&self.schema), arrays.collect::<Result<_, _>>()?).map_err(failed)
    }

    fn column(&self, column: &Column, array: &ArrayRef, field: &FieldRef) -> Result<ArrayRef, StoreError> {
        let exported: ArrayRef = match export_of(column) {
            Export::AsStored | Export::Duration => Arc::clone(array),
            Export::Project => Arc::new(self.project(array.as_primitive::<UInt32Type>())),
            Export::Time => self.times(array.as_primitive::<Int64Type>().clone()),
            Export::OptionalTime => {
                let times = array.as_primitive::<Int64Type>();
                self.times(times.iter().map(|time| time.filter(|time| *time != 0)).collect())
            }
            Export::Id => Arc::new(ids(array, |id, text| {
                id.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a String takes everything"));
            })),
            Export::Uuid => Arc::new(ids(array, |id, text| {
                let id = Uuid::from_slice(id).unwrap_or_default();
                write!(text, "{}", id.hyphenated()).expect("a String takes everything");
            })),
            Export::Hash => {
                let hashes = array.as_primitive::<UInt64Type>();
                Arc::new(hashes.iter().map(|hash| hash.map(|hash| format!("{hash:016x}"))).collect::<StringArray>())
            }
            Export::Attributes => Arc::new(nested::attributes(array.as_binary())),
            Export::Events => Arc::new(nested::events(array.as_binary(), &self.zone)),
            Export::Links => Arc::new(nested::links(array.as_binary())),
            Export::Doubles => Arc::new(nested::doubles(array.as_binary())),
            Export::Counts => Arc::new(nested::counts(array.as_binary())),
        };
        match self.is_flat && exported.data_type().is_nested() {
            true => nested::json(&exported, field.is_nullable()).map_err(failed),
            false => Ok(exported),
        }
    }

    /// Rows of a project mostly follow each other.
    fn project(&self, numbers: &UInt32Array) -> StringArray {
        let mut ids = StringBuilder::with_capacity(numbers.len(), 36 * numbers.len());
        let mut last: Option<(u32, String)> = None;
        for number in numbers.values() {
            if last.as_ref().is_none_or(|(last, _)| last != number) {
                last = Some((*number, self.projects.id(*number)));
            }
            ids.append_value(last.as_ref().map_or("", |(_, id)| id));
        }
        ids.finish()
    }

    fn times(&self, times: Int64Array) -> ArrayRef {
        let times: TimestampNanosecondArray = times.reinterpret_cast();
        Arc::new(times.with_timezone(Arc::clone(&self.zone)))
    }
}

fn field(column: &Column, is_flat: bool, zone: &Arc<str>) -> Field {
    let name = if column.name == "duration" { "duration_ns" } else { column.name };
    let export = export_of(column);
    let kind = match export {
        Export::Project | Export::Id | Export::Uuid | Export::Hash => DataType::Utf8,
        Export::Time | Export::OptionalTime => DataType::Timestamp(TimeUnit::Nanosecond, Some(Arc::clone(zone))),
        Export::Attributes => nested::attributes_type(),
        Export::Events => nested::events_type(zone),
        Export::Links => nested::links_type(),
        Export::Doubles => nested::list_of(DataType::Float64),
        Export::Counts => nested::list_of(DataType::UInt64),
        Export::AsStored | Export::Duration => column.kind.data_type(),
    };
    let kind = if is_flat && kind.is_nested() { DataType::Utf8 } else { kind };
    let is_optional = matches!(export, Export::OptionalTime | Export::Id | Export::Uuid);
    Field::new(name, kind, column.nullable || is_optional)
}

/// Ids as text; zeros are null.
fn ids(array: &ArrayRef, write: impl Fn(&[u8], &mut String)) -> StringArray {
    let mut ids = StringBuilder::with_capacity(array.len(), 36 * array.len());
    let mut text = String::new();
    for id in array.as_fixed_size_binary().iter() {
        match id.filter(|id| id.iter().any(|byte| *byte != 0)) {
            Some(id) => {
                text.clear();
                write(id, &mut text);
                ids.append_value(&text);
            }
            None => ids.append_null(),
        }
    }
    ids.finish()
}

fn failed(error: arrow::error::ArrowError) -> StoreError {
    StoreError::Internal { what: "export rows", why: error.to_string() }
}
