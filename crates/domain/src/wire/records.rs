//! Decodes stored events and links.

use bumpalo::Bump;

use super::messages;
use crate::decode::fault::Fault;
use crate::decode::protobuf::reader::{KnownFields, Reader, fixed32, fixed64, length, varint};
use crate::decode::protobuf::value::Values;
use crate::model::{KeyValue, SpanId, TraceId};

/// A stored span event.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StoredEvent<'a> {
    /// Nanoseconds since the epoch; 0 when absent.
    pub time_ns: u64,
    /// Empty when absent.
    pub name: &'a str,
    /// In the order received.
    pub attributes: &'a [KeyValue<'a>],
    /// `dropped_attributes_count`.
    pub dropped_attributes: u32,
}

/// A stored span link. Absent and refused ids are all zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StoredLink<'a> {
    /// Trace of the linked span.
    pub trace_id: TraceId,
    /// The linked span.
    pub span_id: SpanId,
    /// W3C `tracestate`.
    pub trace_state: &'a str,
    /// In the order received.
    pub attributes: &'a [KeyValue<'a>],
    /// `dropped_attributes_count`.
    pub dropped_attributes: u32,
    /// W3C trace flags in the low byte.
    pub flags: u32,
}

/// Decodes stored events, in order. Damage ends the list.
pub fn decode_events<'a>(bytes: &'a [u8], arena: &'a Bump) -> Vec<StoredEvent<'a>> {
    let mut values = Values::new(arena);
    messages(bytes, length(11)).map_while(|message| event(message, arena, &mut values).ok()).collect()
}

/// Decodes stored links, in order. Damage ends the list.
pub fn decode_links<'a>(bytes: &'a [u8], arena: &'a Bump) -> Vec<StoredLink<'a>> {
    let mut values = Values::new(arena);
    messages(bytes, length(13)).map_while(|message| link(message, arena, &mut values).ok()).collect()
}

fn event<'a>(mut message: Reader<'a>, arena: &'a Bump, values: &mut Values<'a>) -> Result<StoredEvent<'a>, Fault> {
    const TIME: u32 = fixed64(1);
    const NAME: u32 = length(2);
    const ATTRIBUTE: u32 = length(3);
    const DROPPED: u32 = varint(4);
    let mut event = StoredEvent::default();
    let mut attributes = bumpalo::collections::Vec::new_in(arena);
    while !message.is_done() {
        match message.key()? {
            TIME => event.time_ns = message.fixed64()?,
            NAME => event.name = message.string("event name")?,
            ATTRIBUTE => attributes.push(values.attribute_message(message.message()?)?),
            DROPPED => event.dropped_attributes = message.uint32()?,
            other => message.skip(other, KnownFields::new(&[]))?,
        }
    }
    event.attributes = attributes.into_bump_slice();
    Ok(event)
}

fn link<'a>(mut message: Reader<'a>, arena: &'a Bump, values: &mut Values<'a>) -> Result<StoredLink<'a>, Fault> {
    const TRACE_ID: u32 = length(1);
    const SPAN_ID: u32 = length(2);
    const TRACE_STATE: u32 = length(3);
    const ATTRIBUTE: u32 = length(4);
    const DROPPED: u32 = varint(5);
    const FLAGS: u32 = fixed32(6);
    let mut link = StoredLink::default();
    let mut attributes = bumpalo::collections::Vec::new_in(arena);
    while !message.is_done() {
        match message.key()? {
            TRACE_ID => link.trace_id = TraceId(message.bytes()?.try_into().unwrap_or_default()),
            SPAN_ID => link.span_id = SpanId(message.bytes()?.try_into().unwrap_or_default()),
            TRACE_STATE => link.trace_state = message.string("link trace state")?,
            ATTRIBUTE => attributes.push(values.attribute_message(message.message()?)?),
            DROPPED => link.dropped_attributes = message.uint32()?,
            FLAGS => link.flags = message.fixed32()?,
            other => message.skip(other, KnownFields::new(&[]))?,
        }
    }
    link.attributes = attributes.into_bump_slice();
    Ok(link)
}
