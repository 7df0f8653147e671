//! Messages that nothing is kept of (exemplars, entity references, the insides of exponential histograms and
//! summaries) are still walked: a body is refused for the same damage wherever it is.

use super::reader::{Known, Reader, fixed64, length, varint};
use super::value::Values;
use crate::decode::fault::Fault;

/// What a field of such a message must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// A varint, fixed number or bytes: right when its wire type is.
    Plain,
    Text(&'static str),
    Attribute,
    /// Repeated varints; `Plain` covers the unpacked form, which has another key.
    PackedVarint,
    Message(Shape),
}

/// The fields of a message type: key and content. A number may have two keys.
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

/// The fields of an `ExponentialHistogramDataPoint` that are not kept.
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

/// The fields of a `SummaryDataPoint` that are not kept.
pub(super) const SUMMARY_POINT: Shape =
    &[(fixed64(4), Content::Plain), (fixed64(5), Content::Plain), (length(6), Content::Message(QUANTILE))];

/// Walks a message to its end.
pub(super) fn check<'a>(mut message: Reader<'a>, shape: Shape, values: &mut Values<'a>) -> Result<(), Fault> {
    while !message.is_done() {
        let key = message.key()?;
        check_field(&mut message, key, shape, Known::fields(&[]), values)?;
    }
    Ok(())
}

/// Walks one field; `read` are the fields of the type that the caller reads itself.
pub(super) fn check_field<'a>(
    message: &mut Reader<'a>,
    key: u32,
    shape: Shape,
    read: Known,
    values: &mut Values<'a>,
) -> Result<(), Fault> {
    let Some((_, content)) = shape.iter().find(|(defined, _)| *defined == key) else {
        let known = shape.iter().fold(read, |known, (defined, _)| known.with(defined >> 3));
        return message.skip(key, known);
    };
    match *content {
        Content::Plain => message.skip(key, Known::fields(&[])),
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
