//! Reads fields of report items. A value of the wrong type marks its item invalid and does not refuse the body.

use jiff::Timestamp;
use uuid::Uuid;

use crate::decode::fault::{Fault, fault};
use crate::decode::json::number::whole;
use crate::decode::json::reader::Reader;
use crate::model::{AnyValue, KeyValue, NativeId, Slice};

/// Maximum nesting depth of opaque JSON: a recorded DOM nests two levels an element.
const OPAQUE_DEPTH_MAX: usize = 8192;

/// An item with a field of the wrong type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Validity {
    pub is_invalid: bool,
}

impl Validity {
    fn invalid<T: Default>(&mut self, reader: &mut Reader<'_>) -> Result<T, Fault> {
        self.is_invalid = true;
        reader.skip()?;
        Ok(T::default())
    }

    pub(super) fn string<'a>(&mut self, reader: &mut Reader<'a>) -> Result<&'a str, Fault> {
        match reader.peek() {
            Some(b'"') => reader.string("string"),
            _ => self.invalid(reader),
        }
    }

    pub(super) fn boolean(&mut self, reader: &mut Reader<'_>) -> Result<bool, Fault> {
        match reader.peek() {
            Some(b't' | b'f') => reader.boolean("boolean"),
            _ => self.invalid(reader),
        }
    }

    /// A number, or a string with one.
    fn number<'a>(&mut self, reader: &mut Reader<'a>) -> Result<&'a str, Fault> {
        match reader.peek() {
            Some(b'"') => reader.string("number"),
            Some(b'-' | b'0'..=b'9') => reader.number_text("number"),
            _ => self.invalid(reader),
        }
    }

    /// An integer; a fraction is cut off.
    pub(super) fn integer<T: TryFrom<i128> + Default>(&mut self, reader: &mut Reader<'_>) -> Result<T, Fault> {
        let text = self.number(reader)?;
        if self.is_invalid {
            return Ok(T::default());
        }
        let cut = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| number as i128);
        match whole(text).or_else(cut).and_then(|number| T::try_from(number).ok()) {
            Some(number) => Ok(number),
            None => {
                self.is_invalid = true;
                Ok(T::default())
            }
        }
    }

    /// A double and, where it is an integer that the double does not hold exactly, that integer.
    pub(super) fn double(&mut self, reader: &mut Reader<'_>) -> Result<(f64, Option<i64>), Fault> {
        let text = self.number(reader)?;
        if self.is_invalid {
            return Ok((0.0, None));
        }
        let exact = whole(text).and_then(|number| i64::try_from(number).ok());
        match text.parse() {
            Ok(number) if f64::is_finite(number) => {
                Ok((number, exact.filter(|exact| *exact as f64 as i128 != i128::from(*exact))))
            }
            _ => {
                self.is_invalid = true;
                Ok((0.0, None))
            }
        }
    }

    /// An RFC 3339 time in nanoseconds since the epoch; 0 for an empty string.
    pub(super) fn time(&mut self, reader: &mut Reader<'_>) -> Result<i64, Fault> {
        let text = self.string(reader)?;
        if text.is_empty() {
            return Ok(0);
        }
        let time = text.parse::<Timestamp>().ok().and_then(|time| i64::try_from(time.as_nanosecond()).ok());
        self.is_invalid |= time.is_none();
        Ok(time.unwrap_or_default())
    }

    /// A UUID. Another string reads as none and does not mark the item invalid: WIRE 1.3.
    pub(super) fn id(&mut self, reader: &mut Reader<'_>) -> Result<NativeId, Fault> {
        let text = self.string(reader)?;
        Ok(NativeId(Uuid::try_parse(text).map(Uuid::into_bytes).unwrap_or_default()))
    }

    /// An object of attributes, appended to `flat`. Nested values are kept as JSON.
    pub(super) fn attributes<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        flat: &mut Vec<KeyValue<'a>>,
    ) -> Result<Slice, Fault> {
        let start = flat.len() as u32;
        if reader.peek() != Some(b'{') {
            return self.invalid(reader);
        }
        reader.object("attributes", |reader, key| {
            let value = match reader.peek() {
                Some(b'"') => AnyValue::Str(reader.string("attribute")?),
                Some(b't' | b'f') => AnyValue::Bool(reader.boolean("attribute")?),
                Some(b'-' | b'0'..=b'9') => number(reader.number_text("attribute")?),
                _ => AnyValue::Str(opaque(reader)?),
            };
            flat.push(KeyValue { key, value });
            Ok(())
        })?;
        Ok(Slice { start, end: flat.len() as u32 })
    }
}

fn number(text: &str) -> AnyValue<'_> {
    match whole(text).and_then(|number| i64::try_from(number).ok()) {
        Some(number) => AnyValue::Int(number),
        None => match text.parse() {
            Ok(number) if f64::is_finite(number) => AnyValue::Double(number),
            _ => AnyValue::Str(text),
        },
    }
}

/// The JSON of a value, borrowed from the body.
pub(super) fn opaque<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Fault> {
    reader.peek();
    let start = reader.at;
    skip_deep(reader)?;
    Ok(&reader.text[start..reader.at])
}

/// Like [`opaque`], but empty for an empty array or object.
pub(super) fn opaque_content<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Fault> {
    let json = opaque(reader)?;
    let inside = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
    let is_container = json.starts_with(['[', '{']);
    Ok(if is_container && inside.trim_ascii().is_empty() { "" } else { json })
}

/// Skips one value without recursion.
fn skip_deep(reader: &mut Reader<'_>) -> Result<(), Fault> {
    let mut open: Vec<u8> = Vec::new();
    loop {
        match reader.peek() {
            Some(bracket @ (b'{' | b'[')) => {
                if open.len() >= OPAQUE_DEPTH_MAX {
                    return Err(fault!("JSON nested deeper than {OPAQUE_DEPTH_MAX} levels at byte {}", reader.at));
                }
                reader.at += 1;
                if reader.take(closing(bracket)) {
                    // An empty container is a complete value.
                } else {
                    open.push(bracket);
                    if bracket == b'{' {
                        reader.key()?;
                    }
                    continue;
                }
            }
            _ => reader.skip()?,
        }
        // A value is complete: closes containers until another value follows.
        loop {
            let Some(&bracket) = open.last() else { return Ok(()) };
            if reader.take(closing(bracket)) {
                open.pop();
                continue;
            }
            reader.expect(b',')?;
            if bracket == b'{' {
                reader.key()?;
            }
            break;
        }
    }
}

fn closing(bracket: u8) -> u8 {
    if bracket == b'{' { b'}' } else { b']' }
}
