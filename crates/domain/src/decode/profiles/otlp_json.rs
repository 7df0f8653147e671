//! Converts the JSON encoding of OTLP profiles to protobuf: profiles come rarely, and their tables are numbers.
//!
//! Unknown fields are ignored. Integers may be strings, as the JSON mapping of protobuf writes them; ids of traces and
//! spans are hex digits. Values are written as they are read, so that no tree of the body is in memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::base64;
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

/// Conversion of the value of a field.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// An integer, encoded as a varint.
    Integer,
    Fixed64,
    Boolean,
    Hex,
    /// Exporters differ: the JSON mapping of protobuf is Base64, OTLP writes ids in hex digits.
    HexOrBase64,
    Nested(&'static Fields),
}

/// Fields of a message: name in JSON, number, kind. Lists are lists of their kind.
type Fields = [(&'static str, u32, Kind)];

use Kind::{Boolean, Fixed64, Hex, HexOrBase64, Integer, Nested, Text};

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
    ("profileId", 7, HexOrBase64),
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
    let mut out = Vec::with_capacity(body.len() / 2);
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    Object { fields: REQUEST, name: "the request", out: Message(&mut out) }
        .deserialize(&mut deserializer)
        .and_then(|()| deserializer.end())
        .map_err(|error| fault!("malformed JSON: {error}"))?;
    Ok(out)
}

/// An object that is written as a message.
struct Object<'o> {
    fields: &'static Fields,
    name: &'static str,
    out: Message<'o>,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} to be an object", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(field) = map.next_key_seed(FieldName(self.fields))? {
            match field {
                Some((name, number, kind)) => {
                    let out = Message(&mut *self.out.0);
                    map.next_value_seed(Field { name, number: *number, kind: *kind, is_element: false, out })?;
                }
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

/// The name of a field of an object; `None` for an unknown one.
struct FieldName(&'static Fields);

impl<'de> DeserializeSeed<'de> for FieldName {
    type Value = Option<&'static (&'static str, u32, Kind)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldName {
    type Value = Option<&'static (&'static str, u32, Kind)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|(known, ..)| *known == name))
    }
}

/// The value of a field, or one element of its list.
struct Field<'o> {
    name: &'static str,
    number: u32,
    kind: Kind,
    is_element: bool,
    out: Message<'o>,
}

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Field<'_> {
    fn integer<E: Error>(mut self, value: u64) -> Result<(), E> {
        match self.kind {
            Integer => self.out.varint(self.number, value),
            Fixed64 => self.out.fixed64(self.number, value),
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    fn wrong<E: Error>(&self) -> E {
        E::custom(format_args!("{} has a wrong value", self.name))
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "another value of {}", self.name)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        if self.is_element { Err(self.wrong()) } else { Ok(()) }
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<(), E> {
        let Boolean = self.kind else { return Err(self.wrong()) };
        self.out.varint(self.number, value.into());
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.integer(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.integer(value as u64)
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        match self.kind {
            Text => self.out.bytes(self.number, text.as_bytes()),
            Hex => {
                let id = hex(text.as_bytes()).ok_or_else(|| self.wrong())?;
                self.out.bytes(self.number, &id);
            }
            HexOrBase64 => {
                let id = hex(text.as_bytes()).filter(|id| id.len() == 16).or_else(|| {
                    let mut id = Vec::new();
                    base64::decode(text.as_bytes(), &mut id).map(|()| id)
                });
                self.out.bytes(self.number, &id.ok_or_else(|| self.wrong())?);
            }
            _ => {
                let number = text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(|number| number as u64));
                let number = number.ok_or_else(|| self.wrong())?;
                return self.integer(number);
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if self.is_element {
            return Err(self.wrong());
        }
        let Field { name, number, kind, .. } = self;
        while let Some(()) =
            list.next_element_seed(Field { name, number, kind, is_element: true, out: Message(&mut *self.out.0) })?
        {
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        let Nested(fields) = self.kind else { return Err(self.wrong()) };
        let mut nested = Vec::new();
        Object { fields, name: self.name, out: Message(&mut nested) }.visit_map(map)?;
        self.out.bytes(self.number, &nested);
        Ok(())
    }
}

/// The bytes of an id.
fn hex(digits: &[u8]) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2)?;
        u8::from_str_radix(text, 16).ok()
    };
    digits.chunks(2).map(pair).collect()
}
