//! Validates messages that are not stored: exemplars and entity references. A malformed body is refused wherever the
//! error is.

use super::reader::{KnownFields, Reader, fixed64, length};
use super::value::Values;
use crate::decode::fault::Fault;

/// The expected content of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// A varint, fixed-width number or bytes: valid if the wire type is.
    Plain,
    Text(&'static str),
    Attribute,
}

/// The fields of a message type: key and content. One field number may have two keys.
pub(super) type Shape = &'static [(u32, Content)];

pub(super) const ENTITY_REF: Shape = &[
    (length(1), Content::Text("entity schema url")),
    (length(2), Content::Text("entity type")),
    (length(3), Content::Text("entity id key")),
    (length(4), Content::Text("entity description key")),
];

pub(super) const EXEMPLAR: Shape = &[
    (fixed64(2), Content::Plain),
    (fixed64(3), Content::Plain),
    (length(4), Content::Plain),
    (length(5), Content::Plain),
    (fixed64(6), Content::Plain),
    (length(7), Content::Attribute),
];

/// Validates a message.
pub(super) fn check<'a>(mut message: Reader<'a>, shape: Shape, values: &mut Values<'a>) -> Result<(), Fault> {
    while !message.is_done() {
        let key = message.key()?;
        let Some((_, content)) = shape.iter().find(|(defined, _)| *defined == key) else {
            let none = KnownFields::new(&[]);
            message.skip(key, shape.iter().fold(none, |known, (defined, _)| known.with(defined >> 3)))?;
            continue;
        };
        match *content {
            Content::Plain => message.skip(key, KnownFields::new(&[]))?,
            Content::Text(name) => drop(message.string(name)?),
            Content::Attribute => drop(values.attribute_message(message.message()?)?),
        }
    }
    Ok(())
}
