//! Reads `KeyValue` and `AnyValue`, with the same depth limit as in protobuf.

use super::reader::Reader;
use crate::decode::fault::Fault;
use crate::decode::values::check_depth;
use crate::model::{AnyValue, KeyValue, Slice};

impl<'a> Reader<'a> {
    /// Appends a list of attributes to `flat`.
    pub(super) fn attributes(&mut self, flat: &mut Vec<KeyValue<'a>>) -> Result<Slice, Fault> {
        let start = flat.len() as u32;
        self.list("attributes", |reader| {
            if !reader.take_null() {
                flat.push(reader.pair(1)?);
            }
            Ok(())
        })?;
        Ok(Slice { start, end: flat.len() as u32 })
    }

    fn pair(&mut self, depth: u32) -> Result<KeyValue<'a>, Fault> {
        let start = self.at;
        if let Some(pair) = self.common_pair()? {
            return Ok(pair);
        }
        self.at = start;
        let mut pair = KeyValue::default();
        self.object("attribute", |reader, key| {
            match key {
                "key" => pair.key = reader.string("attribute key")?,
                "value" => pair.value = reader.any_value(depth)?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(pair)
    }

    /// The fast path for a pair as most exporters write it: `{"key":"…","value":{"stringValue":"…"}}` or an `intValue`.
    /// `None` for any other spelling; the cursor is then undefined.
    fn common_pair(&mut self) -> Result<Option<KeyValue<'a>>, Fault> {
        if !self.take_word("{\"key\":\"") {
            return Ok(None);
        }
        let key = self.string_content()?;
        if !self.take_word(",\"value\":{\"") {
            return Ok(None);
        }
        let value = if self.take_word("stringValue\":\"") {
            AnyValue::Str(self.string_content()?)
        } else if self.take_word("intValue\":") {
            AnyValue::Int(self.int64("intValue")?)
        } else {
            return Ok(None);
        };
        Ok(self.take_word("}}").then_some(KeyValue { key, value }))
    }

    /// A value at nesting level `depth`; the value of an attribute or log body is level 1. `null` and `{}` are empty.
    pub(super) fn any_value(&mut self, depth: u32) -> Result<AnyValue<'a>, Fault> {
        check_depth(depth, self.at)?;
        let mut value = AnyValue::Empty;
        if self.take_null() {
            return Ok(value);
        }
        self.object("attribute value", |reader, key| {
            match key {
                "stringValue" => value = AnyValue::Str(reader.string("stringValue")?),
                "intValue" => value = AnyValue::Int(reader.int64("intValue")?),
                "boolValue" => value = AnyValue::Bool(reader.boolean("boolValue")?),
                "doubleValue" => value = AnyValue::Double(reader.double("doubleValue")?),
                "arrayValue" => value = reader.array(depth)?,
                "kvlistValue" => value = reader.map(depth)?,
                "bytesValue" => value = AnyValue::Bytes(reader.base64("bytesValue")?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(value)
    }

    fn array(&mut self, depth: u32) -> Result<AnyValue<'a>, Fault> {
        let base = self.stacks.elements.len();
        self.object("arrayValue", |reader, key| match key {
            "values" => {
                reader.stacks.elements.truncate(base);
                reader.list("arrayValue.values", |reader| {
                    let element = reader.any_value(depth + 1)?;
                    reader.stacks.elements.push(element);
                    Ok(())
                })
            }
            _ => reader.skip(),
        })?;
        Ok(self.stacks.take_array(base))
    }

    fn map(&mut self, depth: u32) -> Result<AnyValue<'a>, Fault> {
        let base = self.stacks.pairs.len();
        self.object("kvlistValue", |reader, key| match key {
            "values" => {
                reader.stacks.pairs.truncate(base);
                reader.list("kvlistValue.values", |reader| {
                    if !reader.take_null() {
                        let pair = reader.pair(depth + 1)?;
                        reader.stacks.pairs.push(pair);
                    }
                    Ok(())
                })
            }
            _ => reader.skip(),
        })?;
        Ok(self.stacks.take_map(base))
    }
}
