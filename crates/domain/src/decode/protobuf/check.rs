//! Validates messages that are not stored: exemplars, entity references, the content of exponential histograms and
//! summaries. A malformed body is refused wherever the error is.

use super::reader::{KnownFields, Reader, fixed64, length, varint};
use super::value::Values;
use crate::decode::fault::Fault;

/// The expected content of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// A varint, fixed-width number or bytes: valid if the wire type is.
    Plain,
    Text(&'static str),
    Attribute,
    /// Packed repeated varints. The unpacked form has another key and is `Plain`.
    PackedVarint,
    Message(Shape),
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

const BUCKETS: Shape = &[(varint(1), Content::Plain), (varint(2), Content::Plain), (length(2), Content::PackedVarint)];

/// The unstored fields of an `ExponentialHistogramDataPoint`.
pub(super) const EXPONENTIAL_POINT: Shape = &[
    (fixed64(4), Content::Plain),
    (fixed64(5), Content::Plain),
    (varint(6), Content::Plain),
    (fixed64(7), Content::Plain),
    (length(8), Content::Message(BUCKETS)),
    (length(9), Content::Message(BUCKETS)),
    (length(11), Content::Message(EXEMPLAR)),
    (fixed64(12), Content::Plain),
    (fixed64(13), Content::Plain),
    (fixed64(14), Content::Plain),
];

const QUANTILE: Shape = &[(fixed64(1), Content::Plain), (fixed64(2), Content::Plain)];

/// The unstored fields of a `SummaryDataPoint`.
pub(super) const SUMMARY_POINT: Shape =
    &[(fixed64(4), Content::Plain), (fixed64(5), Content::Plain), (length(6), Content::Message(QUANTILE))];

/// Validates a message.
pub(super) fn check<'a>(mut message: Reader<'a>, shape: Shape, values: &mut Values<'a>) -> Result<(), Fault> {
    while !message.is_done() {
        let key = message.key()?;
        check_field(&mut message, key, shape, KnownFields::new(&[]), values)?;
    }
    Ok(())
}

/// Validates one field. `read` are the fields of the message type that the caller reads itself.
pub(super) fn check_field<'a>(
    message: &mut Reader<'a>,
    key: u32,
    shape: Shape,
    read: KnownFields,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    let Some((_, content)) = shape.iter().find(|(defined, _)| *defined == key) else {
        let known = shape.iter().fold(read, |known, (defined, _)| known.with(defined >> 3));
        return message.skip(key, known);
    };
    match *content {
        Content::Plain => message.skip(key, KnownFields::new(&[])),
        Content::Text(name) => message.string(name).map(drop),
        Content::Attribute => values.attribute_message(message.message()?).map(drop),
        Content::Message(shape) => check(message.message()?, shape, values),
        Content::PackedVarint => {
            let mut list = message.message()?;
            while !list.is_done() {
                list.varint()?;
            }
            Ok(())
        }
    }
}
