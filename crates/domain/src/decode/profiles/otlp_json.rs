//! Converts the JSON encoding of OTLP profiles to protobuf: profiles come rarely, and their tables are numbers.
//!
//! Unknown fields are ignored. Integers may be strings, as the JSON mapping of protobuf writes them; ids of traces and
//! spans are hex digits.

use serde_json::Value;

use crate::decode::fault::{Fault, fault};

/// Writes fields of one message; zeros included, because they may be elements of lists.
struct Message<'o>(&'o mut Vec<u8>);

impl Message<'_> {
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn varint(&mut self, field: u32, value: u64) {
        self.number(u64::from(field << 3));
        self.number(value);
    }

    fn fixed64(&mut self, field: u32, value: u64) {
        self.number(u64::from(field << 3 | 1));
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, value: &[u8]) {
        self.number(u64::from(field << 3 | 2));
        self.number(value.len() as u64);
        self.0.extend(value);
    }
}

/// How the value of a field is converted.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// An integer, encoded as a varint.
    Integer,
    Fixed64,
    Boolean,
    Hex,
    Nested(&'static Fields),
}

/// Fields of a message: name in JSON, number, kind. Lists are lists of their kind.
type Fields = [(&'static str, u32, Kind)];

use Kind::{Boolean, Fixed64, Hex, Integer, Nested, Text};

const REQUEST: &Fields = &[("resourceProfiles", 1, Nested(RESOURCE_PROFILES)), ("dictionary", 2, Nested(DICTIONARY))];
const RESOURCE_PROFILES: &Fields = &[("resource", 1, Nested(RESOURCE)), ("scopeProfiles", 2, Nested(SCOPE_PROFILES))];
const RESOURCE: &Fields = &[("attributes", 1, Nested(PAIR))];
const PAIR: &Fields = &[("key", 1, Text), ("value", 2, Nested(VALUE)), ("keyStrindex", 3, Integer)];
const VALUE: &Fields = &[
    ("stringValue", 1, Text),
    ("boolValue", 2, Boolean),
    ("intValue", 3, Integer),
    ("stringValueStrindex", 8, Integer),
];
const SCOPE_PROFILES: &Fields = &[("profiles", 2, Nested(PROFILE))];
const PROFILE: &Fields = &[
    ("sampleType", 1, Nested(VALUE_TYPE)),
    ("samples", 2, Nested(SAMPLE)),
    ("timeUnixNano", 3, Fixed64),
    ("durationNano", 4, Integer),
];
const VALUE_TYPE: &Fields = &[("typeStrindex", 1, Integer), ("unitStrindex", 2, Integer)];
const SAMPLE: &Fields = &[
    ("stackIndex", 1, Integer),
    ("attributeIndices", 2, Integer),
    ("linkIndex", 3, Integer),
    ("values", 4, Integer),
    ("timestampsUnixNano", 5, Fixed64),
];
const DICTIONARY: &Fields = &[
    ("mappingTable", 1, Nested(MAPPING)),
    ("locationTable", 2, Nested(LOCATION)),
    ("functionTable", 3, Nested(FUNCTION)),
    ("linkTable", 4, Nested(LINK)),
    ("stringTable", 5, Text),
    ("attributeTable", 6, Nested(ATTRIBUTE)),
    ("stackTable", 7, Nested(STACK)),
];
const MAPPING: &Fields = &[
    ("memoryStart", 1, Integer),
    ("fileOffset", 3, Integer),
    ("filenameStrindex", 4, Integer),
    ("attributeIndices", 5, Integer),
];
const LOCATION: &Fields = &[("mappingIndex", 1, Integer), ("address", 2, Integer), ("lines", 3, Nested(LINE))];
const LINE: &Fields = &[("functionIndex", 1, Integer)];
const FUNCTION: &Fields =
    &[("nameStrindex", 1, Integer), ("systemNameStrindex", 2, Integer), ("filenameStrindex", 3, Integer)];
const LINK: &Fields = &[("traceId", 1, Hex), ("spanId", 2, Hex)];
const ATTRIBUTE: &Fields = &[("keyStrindex", 1, Integer), ("value", 2, Nested(VALUE))];
const STACK: &Fields = &[("locationIndices", 1, Integer)];

/// The request as protobuf.
pub(super) fn to_protobuf(body: &[u8]) -> Result<Vec<u8>, Fault> {
    let value: Value = serde_json::from_slice(body).map_err(|error| fault!("malformed JSON: {error}"))?;
    let mut out = Vec::with_capacity(body.len() / 2);
    message(&value, REQUEST, "the request", &mut Message(&mut out))?;
    Ok(out)
}

fn message(value: &Value, fields: &Fields, name: &str, out: &mut Message<'_>) -> Result<(), Fault> {
    let Value::Object(object) = value else { return Err(fault!("{name} is not an object")) };
    for (name, number, kind) in fields {
        match object.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::Array(list)) => list.iter().try_for_each(|value| field(value, name, *number, *kind, out))?,
            Some(value) => field(value, name, *number, *kind, out)?,
        }
    }
    Ok(())
}

fn field(value: &Value, name: &str, number: u32, kind: Kind, out: &mut Message<'_>) -> Result<(), Fault> {
    let wrong = || fault!("{name} has a wrong value");
    match kind {
        Text => out.bytes(number, value.as_str().ok_or_else(wrong)?.as_bytes()),
        Integer => out.varint(number, integer(value).ok_or_else(wrong)?),
        Fixed64 => out.fixed64(number, integer(value).ok_or_else(wrong)?),
        Boolean => out.varint(number, value.as_bool().ok_or_else(wrong)?.into()),
        Hex => {
            let digits = value.as_str().ok_or_else(wrong)?.as_bytes();
            let pairs = digits.chunks(2).map(|pair| {
                let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2)?;
                u8::from_str_radix(text, 16).ok()
            });
            out.bytes(number, &pairs.collect::<Option<Vec<u8>>>().ok_or_else(wrong)?);
        }
        Nested(fields) => {
            let mut nested = Vec::new();
            message(value, fields, name, &mut Message(&mut nested))?;
            out.bytes(number, &nested);
        }
    }
    Ok(())
}

/// The bits of an integer, written as a number or a string.
fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_i64().map(|number| number as u64)),
        Value::String(text) => {
            text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(|number| number as u64))
        }
        _ => None,
    }
}
