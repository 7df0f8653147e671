//! The columns of an export, and the conversion of stored rows.
//!
//! | stored | exported |
//! |---|---|
//! | number of the project | id of the project, string |
//! | nanoseconds since the epoch | timestamp in UTC; in `observed_time`, `start_time` and `end_time`, 0 is null |
//! | a duration | the column's name ends in `_ns` |
//! | ids | hexadecimal string, `row_id` as a UUID; an id of zeros is null |
//! | hashes (`group`, `series`, `stack`) | 16 hexadecimal digits |
//! | attributes | a map from key to string, as in the API |
//! | events, links | a list of structures |
//! | bounds and buckets of histograms | lists of numbers |
//! | frames of a stack | a list of structures, root first |
//! | timestamps of samples | a list of nanoseconds since the profile's start |
//!
//! CSV has no nested types: maps and lists are JSON strings there.

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

/// Ids of projects by number.
#[derive(Debug, Clone, Default)]
pub struct ProjectIds(HashMap<u32, String>);

impl ProjectIds {
    /// Collects pairs of a project's number and its id.
    pub fn new(ids: impl IntoIterator<Item = (u32, Uuid)>) -> ProjectIds {
        ProjectIds(ids.into_iter().map(|(number, id)| (number, id.to_string())).collect())
    }

    /// The id of a project; its number when the id is unknown.
    fn id(&self, number: u32) -> String {
        self.0.get(&number).cloned().unwrap_or_else(|| number.to_string())
    }
}

/// The conversion of a stored column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    Project,
    Time,
    /// 0 is null.
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
    Frames,
    Offsets,
    AsStored,
}

fn conversion_of(column: &Column) -> Conversion {
    match (column.name, column.kind) {
        ("project", _) => Conversion::Project,
        ("time", _) => Conversion::Time,
        ("observed_time" | "start_time" | "end_time", _) => Conversion::OptionalTime,
        ("duration", _) => Conversion::Duration,
        ("row_id", _) => Conversion::Uuid,
        ("group" | "series" | "stack", _) => Conversion::Hash,
        ("events", _) => Conversion::Events,
        ("links", _) => Conversion::Links,
        ("bounds", _) => Conversion::Doubles,
        ("buckets", _) => Conversion::Counts,
        ("frames", _) => Conversion::Frames,
        ("timestamps", _) => Conversion::Offsets,
        ("native_ids" | "linked_trace_id" | "session_id", _) | (_, Kind::Id8 | Kind::Id16) => Conversion::Id,
        ("document", _) => Conversion::AsStored,
        (_, Kind::Bytes) => Conversion::Attributes,
        _ => Conversion::AsStored,
    }
}

/// The columns of an export of one table in one format.
pub struct Columns {
    table: Table,
    projects: ProjectIds,
    /// Nested values are JSON strings.
    is_flat: bool,
    zone: Arc<str>,
    schema: SchemaRef,
}

impl Columns {
    /// The columns of `table` in `format`.
    pub fn of(table: Table, format: Format, projects: ProjectIds) -> Columns {
        let is_flat = format == Format::Csv;
        // Parquet readers expect the name of a zone; arrow's text writers need its offset.
        let zone = if format == Format::Parquet { "UTC" } else { "+00:00" };
        let zone: Arc<str> = Arc::from(zone);
        let fields = table.columns().iter().map(|column| field(column, is_flat, &zone));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Columns { table, projects, is_flat, zone, schema }
    }

    /// The Arrow schema of exported batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Converts a batch with all columns of the table, in the table's order.
    pub fn export(&self, batch: &RecordBatch) -> Result<RecordBatch, StoreError> {
        let columns = self.table.columns().iter().zip(batch.columns()).zip(self.schema.fields());
        let arrays = columns.map(|((column, array), field)| self.column(column, array, field));
        RecordBatch::try_new(Arc::clone(&self.schema), arrays.collect::<Result<_, _>>()?).map_err(failed)
    }

    fn column(&self, column: &Column, array: &ArrayRef, field: &FieldRef) -> Result<ArrayRef, StoreError> {
        let exported: ArrayRef = match conversion_of(column) {
            Conversion::AsStored | Conversion::Duration => Arc::clone(array),
            Conversion::Project => Arc::new(self.project(array.as_primitive::<UInt32Type>())),
            Conversion::Time => self.times(array.as_primitive::<Int64Type>().clone()),
            Conversion::OptionalTime => {
                let times = array.as_primitive::<Int64Type>();
                self.times(times.iter().map(|time| time.filter(|time| *time != 0)).collect())
            }
            Conversion::Id => Arc::new(ids(array, |id, text| {
                id.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a String takes everything"));
            })),
            Conversion::Uuid => Arc::new(ids(array, |id, text| {
                let id = Uuid::from_slice(id).unwrap_or_default();
                write!(text, "{}", id.hyphenated()).expect("a String takes everything");
            })),
            Conversion::Hash => {
                let hashes = array.as_primitive::<UInt64Type>();
                Arc::new(hashes.iter().map(|hash| hash.map(|hash| format!("{hash:016x}"))).collect::<StringArray>())
            }
            Conversion::Attributes => Arc::new(nested::attributes(array.as_binary())),
            Conversion::Events => Arc::new(nested::events(array.as_binary(), &self.zone)),
            Conversion::Links => Arc::new(nested::links(array.as_binary())),
            Conversion::Doubles => Arc::new(nested::doubles(array.as_binary())),
            Conversion::Counts => Arc::new(nested::counts(array.as_binary())),
            Conversion::Frames => Arc::new(nested::frames(array.as_binary())),
            Conversion::Offsets => Arc::new(nested::offsets(array.as_binary())),
        };
        match self.is_flat && exported.data_type().is_nested() {
            true => nested::json(&exported, field.is_nullable()).map_err(failed),
            false => Ok(exported),
        }
    }

    /// Converts numbers of projects to ids. Caches the last one, because rows of one project are mostly consecutive.
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
    let export = conversion_of(column);
    let kind = match export {
        Conversion::Project | Conversion::Id | Conversion::Uuid | Conversion::Hash => DataType::Utf8,
        Conversion::Time | Conversion::OptionalTime => {
            DataType::Timestamp(TimeUnit::Nanosecond, Some(Arc::clone(zone)))
        }
        Conversion::Attributes => nested::attributes_type(),
        Conversion::Events => nested::events_type(zone),
        Conversion::Links => nested::links_type(),
        Conversion::Doubles => nested::list_of(DataType::Float64),
        Conversion::Counts => nested::list_of(DataType::UInt64),
        Conversion::Frames => nested::frames_type(),
        Conversion::Offsets => nested::list_of(DataType::Int64),
        Conversion::AsStored | Conversion::Duration => column.kind.data_type(),
    };
    let kind = if is_flat && kind.is_nested() { DataType::Utf8 } else { kind };
    let is_optional = matches!(export, Conversion::OptionalTime | Conversion::Id | Conversion::Uuid);
    Field::new(name, kind, column.nullable || is_optional)
}

/// Converts ids to strings with `write`; ids of zeros are null.
fn ids(array: &ArrayRef, write: impl Fn(&[u8], &mut String)) -> StringArray {
    let mut ids = StringBuilder::with_capacity(array.len(), 36 * array.len());
    let mut text = String::new();
    let ids_of_rows: Box<dyn Iterator<Item = Option<&[u8]>>> = match array.data_type() {
        DataType::FixedSizeBinary(_) => Box::new(array.as_fixed_size_binary().iter()),
        _ => Box::new(array.as_binary::<i32>().iter()),
    };
    for id in ids_of_rows {
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
