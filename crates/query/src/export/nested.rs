//! Columns of nested types: attributes as maps, events, links and frames as lists of structures, histograms as lists.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, Float64Builder, Int64Builder, ListArray, ListBuilder, MapArray, MapBuilder,
    MapFieldNames, StringArray, StringBuilder, StructArray, TimestampNanosecondArray, UInt32Array, UInt64Builder,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, TimeUnit};
use arrow::error::ArrowError;
use arrow_json::writer::make_encoder;
use bumpalo::Bump;
use tidewatch_domain::model::KeyValue;
use tidewatch_domain::rules::profile_stack;
use tidewatch_domain::wire;

/// Name of list elements. Elements are never null, but are declared nullable, as readers expect.
const ELEMENT: &str = "element";

/// The type of a list of `kind`.
pub fn list_of(kind: DataType) -> DataType {
    DataType::List(Arc::new(Field::new(ELEMENT, kind, true)))
}

/// The type of [`attributes`].
pub fn attributes_type() -> DataType {
    let pair = Fields::from(vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, true)]);
    DataType::Map(Arc::new(Field::new("key_value", DataType::Struct(pair), false)), false)
}

/// The type of [`events`] with times in `zone`.
pub fn events_type(zone: &Arc<str>) -> DataType {
    list_of(DataType::Struct(event_fields(zone)))
}

/// The type of [`links`].
pub fn links_type() -> DataType {
    list_of(DataType::Struct(link_fields()))
}

fn event_fields(zone: &Arc<str>) -> Fields {
    Fields::from(vec![
        Field::new("time", DataType::Timestamp(TimeUnit::Nanosecond, Some(Arc::clone(zone))), true),
        Field::new("name", DataType::Utf8, false),
        Field::new("attributes", attributes_type(), false),
        Field::new("dropped_attributes", DataType::UInt32, false),
    ])
}

/// The type of [`frames`].
pub fn frames_type() -> DataType {
    list_of(DataType::Struct(frame_fields()))
}

fn frame_fields() -> Fields {
    Fields::from(vec![
        Field::new("function", DataType::Utf8, false),
        Field::new("file", DataType::Utf8, false),
        Field::new("build_id", DataType::Utf8, false),
        Field::new("address", DataType::UInt64, false),
    ])
}

fn link_fields() -> Fields {
    Fields::from(vec![
        Field::new("trace_id", DataType::Utf8, true),
        Field::new("span_id", DataType::Utf8, true),
        Field::new("trace_state", DataType::Utf8, false),
        Field::new("attributes", attributes_type(), false),
        Field::new("dropped_attributes", DataType::UInt32, false),
        Field::new("flags", DataType::UInt32, false),
    ])
}

/// Builds maps from key to string. The last value of a duplicate key wins.
struct Maps(MapBuilder<StringBuilder, StringBuilder>);

impl Maps {
    fn new() -> Maps {
        let names = MapFieldNames { entry: "key_value".to_owned(), key: "key".to_owned(), value: "value".to_owned() };
        Maps(MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new()))
    }

    /// Appends the map of one row.
    fn append(&mut self, mut pairs: Vec<(&str, Cow<'_, str>)>) {
        if !pairs.is_sorted_by(|a, b| a.0 < b.0) {
            pairs.sort_by_key(|(key, _)| *key);
        }
        for (place, (key, value)) in pairs.iter().enumerate() {
            if pairs.get(place + 1).is_some_and(|(next, _)| next == key) {
                continue;
            }
            self.0.keys().append_value(key);
            self.0.values().append_value(value);
        }
        self.0.append(true).expect("there are as many keys as values");
    }

    fn append_list(&mut self, attributes: &[KeyValue<'_>]) {
        self.append(attributes.iter().map(|pair| (pair.key, wire::value_text(pair.value))).collect());
    }

    fn finish(mut self) -> MapArray {
        self.0.finish()
    }
}

/// Decodes serialized OTLP `KeyValueList`s.
pub fn attributes(encoded: &BinaryArray) -> MapArray {
    let mut maps = Maps::new();
    for bytes in encoded {
        let mut pairs = Vec::new();
        wire::for_each_attribute_text(bytes.unwrap_or_default(), |key, text| pairs.push((key, text)));
        maps.append(pairs);
    }
    maps.finish()
}

/// A list of structures per row. `lengths`: number of structures of each row.
fn list(fields: Fields, lengths: Vec<usize>, columns: Vec<ArrayRef>) -> ListArray {
    let element: FieldRef = Arc::new(Field::new(ELEMENT, DataType::Struct(fields.clone()), true));
    let structs = StructArray::new(fields, columns, None);
    ListArray::new(element, OffsetBuffer::from_lengths(lengths), Arc::new(structs), None)
}

/// Decodes span events, with times in `zone`; a time of 0 is null.
pub fn events(encoded: &BinaryArray, zone: &Arc<str>) -> ListArray {
    let (mut lengths, mut times, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut maps) = (StringBuilder::new(), Maps::new());
    let mut arena = Bump::new();
    for bytes in encoded {
        let events = wire::decode_events(bytes.unwrap_or_default(), &arena);
        lengths.push(events.len());
        for event in &events {
            times.push(i64::try_from(event.time_ns).ok().filter(|time| *time != 0));
            names.append_value(event.name);
            maps.append_list(event.attributes);
            dropped.push(event.dropped_attributes);
        }
        drop(events);
        arena.reset();
    }
    let times = TimestampNanosecondArray::from(times).with_timezone(Arc::clone(zone));
    let columns: Vec<ArrayRef> =
        vec![Arc::new(times), Arc::new(names.finish()), Arc::new(maps.finish()), Arc::new(UInt32Array::from(dropped))];
    list(event_fields(zone), lengths, columns)
}

/// Decodes span links; ids of zeros are null.
pub fn links(encoded: &BinaryArray) -> ListArray {
    let (mut lengths, mut dropped, mut flags) = (Vec::new(), Vec::new(), Vec::new());
    let [mut traces, mut spans, mut states] = [(); 3].map(|()| StringBuilder::new());
    let mut maps = Maps::new();
    let mut arena = Bump::new();
    for bytes in encoded {
        let links = wire::decode_links(bytes.unwrap_or_default(), &arena);
        lengths.push(links.len());
        for link in &links {
            traces.append_option((!link.trace_id.is_none()).then(|| link.trace_id.to_string()));
            spans.append_option((!link.span_id.is_none()).then(|| link.span_id.to_string()));
            states.append_value(link.trace_state);
            maps.append_list(link.attributes);
            dropped.push(link.dropped_attributes);
            flags.push(link.flags);
        }
        drop(links);
        arena.reset();
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(traces.finish()),
        Arc::new(spans.finish()),
        Arc::new(states.finish()),
        Arc::new(maps.finish()),
        Arc::new(UInt32Array::from(dropped)),
        Arc::new(UInt32Array::from(flags)),
    ];
    list(link_fields(), lengths, columns)
}

/// The 64-bit little-endian words of a value.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes))
}

/// Decodes the bounds of histograms.
pub fn doubles(encoded: &BinaryArray) -> ListArray {
    let element = Field::new(ELEMENT, DataType::Float64, true);
    let mut lists = ListBuilder::new(Float64Builder::new()).with_field(element);
    for bytes in encoded {
        words(bytes.unwrap_or_default()).for_each(|bits| lists.values().append_value(f64::from_bits(bits)));
        lists.append(bytes.is_some());
    }
    lists.finish()
}

/// Decodes the bucket counts of histograms.
pub fn counts(encoded: &BinaryArray) -> ListArray {
    let element = Field::new(ELEMENT, DataType::UInt64, true);
    let mut lists = ListBuilder::new(UInt64Builder::new()).with_field(element);
    for bytes in encoded {
        words(bytes.unwrap_or_default()).for_each(|count| lists.values().append_value(count));
        lists.append(bytes.is_some());
    }
    lists.finish()
}

/// Decodes the times of samples.
pub fn offsets(encoded: &BinaryArray) -> ListArray {
    let element = Field::new(ELEMENT, DataType::Int64, true);
    let mut lists = ListBuilder::new(Int64Builder::new()).with_field(element);
    for bytes in encoded {
        words(bytes.unwrap_or_default()).for_each(|offset| lists.values().append_value(offset as i64));
        lists.append(bytes.is_some());
    }
    lists.finish()
}

/// Decodes the frames of stacks, root first.
pub fn frames(encoded: &BinaryArray) -> ListArray {
    let (mut lengths, mut addresses) = (Vec::new(), UInt64Builder::new());
    let [mut functions, mut files, mut builds] = [(); 3].map(|()| StringBuilder::new());
    for bytes in encoded {
        let mut length = 0;
        for frame in profile_stack::frames(bytes.unwrap_or_default()) {
            functions.append_value(frame.function);
            files.append_value(frame.file);
            builds.append_value(frame.build_id);
            addresses.append_value(frame.address);
            length += 1;
        }
        lengths.push(length);
    }
    let columns: Vec<ArrayRef> = vec![
        Arc::new(functions.finish()),
        Arc::new(files.finish()),
        Arc::new(builds.finish()),
        Arc::new(addresses.finish()),
    ];
    list(frame_fields(), lengths, columns)
}

/// Encodes each value as a JSON string; nulls stay null.
pub fn json(array: &ArrayRef, is_nullable: bool) -> Result<ArrayRef, ArrowError> {
    let field: FieldRef = Arc::new(Field::new("", array.data_type().clone(), is_nullable));
    let options = super::encode::json_options();
    let mut encoder = make_encoder(&field, array.as_ref(), &options)?;
    let mut text = Vec::new();
    let mut strings = StringBuilder::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            strings.append_null();
            continue;
        }
        text.clear();
        encoder.encode(row, &mut text);
        strings.append_value(std::str::from_utf8(&text).map_err(|error| ArrowError::JsonError(error.to_string()))?);
    }
    let strings: StringArray = strings.finish();
    Ok(Arc::new(strings))
}
