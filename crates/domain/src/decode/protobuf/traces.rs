//! Reads spans, their events and links.

use super::envelope::{Records, pieces_of};
use super::reader::{KnownFields, Reader, fixed32, fixed64, length, varint};
use super::value::Values;
use crate::decode::batch::{Owner, push};
use crate::decode::fault::Fault;
use crate::decode::ids::{Received, SpanIds};
use crate::model::{
    Event, InvalidId, KeyValue, Layout, Link, Slice, Span, SpanId, SpanKind, StatusCode, TraceBatch, TraceId,
};

impl<'a> Records<'a> for TraceBatch<'a> {
    fn record(&mut self, mut message: Reader<'a>, owner: Owner, values: &mut Values<'a>) -> Result<(), Fault> {
        const TRACE_ID: u32 = length(1);
        const SPAN_ID: u32 = length(2);
        const TRACE_STATE: u32 = length(3);
        const PARENT_SPAN_ID: u32 = length(4);
        const NAME: u32 = length(5);
        const KIND: u32 = varint(6);
        const START: u32 = fixed64(7);
        const END: u32 = fixed64(8);
        const ATTRIBUTE: u32 = length(9);
        const DROPPED_ATTRIBUTES: u32 = varint(10);
        const EVENT: u32 = length(11);
        const DROPPED_EVENTS: u32 = varint(12);
        const LINK: u32 = length(13);
        const DROPPED_LINKS: u32 = varint(14);
        const STATUS: u32 = length(15);
        const FLAGS: u32 = fixed32(16);
        const SPAN: KnownFields = KnownFields::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

        let beginning = message.position();
        let index = push(&mut self.spans, Span::default(), "spans", self.body.records_max)?;
        let before = [self.attributes.len(), self.events.len(), self.links.len()];
        let span = &mut self.spans[index as usize];
        (span.resource, span.scope) = (owner.resource, owner.scope);
        let mut ids = SpanIds::default();
        let mut scattered = false;
        read_common_start(&mut message, span, &mut ids, values);
        ids.assign_to(span);
        while !message.is_done() {
            match message.key()? {
                TRACE_ID => {
                    ids.trace = Received::bytes(message.bytes()?);
                    ids.assign_to(span);
                }
                SPAN_ID => {
                    ids.span = Received::bytes(message.bytes()?);
                    ids.assign_to(span);
                }
                TRACE_STATE => span.trace_state = message.string("span trace state")?,
                PARENT_SPAN_ID => {
                    ids.parent = Received::bytes(message.bytes()?);
                    ids.assign_to(span);
                }
                NAME => span.name = message.string("span name")?,
                KIND => span.kind = SpanKind::from_number(message.int32()?.into()),
                START => span.start_ns = message.fixed64()?,
                END => span.end_ns = message.fixed64()?,
                ATTRIBUTE => {
                    scattered |= !values.attributes(&mut message, &mut self.attributes, &mut span.attributes)?;
                    span.layout = values.layout(&self.attributes, span.attributes);
                    read_common_end(&mut message, span);
                }
                DROPPED_ATTRIBUTES => span.dropped_attributes = message.uint32()?,
                EVENT => {
                    let event = event(message.message()?, &mut self.attributes, values)?;
                    let index = push(&mut self.events, event, "span events", self.body.records_max)?;
                    extend(&mut span.events, index);
                }
                DROPPED_EVENTS => span.dropped_events = message.uint32()?,
                LINK => {
                    let link = link(message.message()?, &mut self.attributes, values)?;
                    let index = push(&mut self.links, link, "span links", self.body.records_max)?;
                    extend(&mut span.links, index);
                }
                DROPPED_LINKS => span.dropped_links = message.uint32()?,
                // An empty status, the most common one.
                STATUS if message.take_byte(0) => {}
                STATUS => status(message.message()?, span)?,
                FLAGS => span.flags = message.fixed32()?,
                other => message.skip(other, SPAN)?,
            }
        }
        if scattered {
            // Attributes of events are between the span's own. Read the span's attributes again, contiguously.
            let start = self.attributes.len() as u32;
            for attribute in pieces_of(message.from(beginning), ATTRIBUTE) {
                self.attributes.push(values.attribute_message(attribute?)?);
            }
            span.attributes = Slice { start, end: self.attributes.len() as u32 };
            span.layout = Layout::default();
        }
        if let Some(invalid) = span.invalid {
            values.forget(before[0]);
            self.refuse(invalid, before)?;
        }
        Ok(())
    }
}

impl TraceBatch<'_> {
    /// Replaces the last span by its refusal. `before`: number of attributes, events and links before the span.
    fn refuse(&mut self, invalid: InvalidId, before: [usize; 3]) -> Result<(), Fault> {
        self.spans.pop();
        self.attributes.truncate(before[0]);
        self.events.truncate(before[1]);
        self.links.truncate(before[2]);
        push(&mut self.refused, invalid, "spans", self.body.records_max).map(drop)
    }
}

/// The fast path for a span's first fields: in the order of their numbers, with at most the parent missing, as SDKs
/// write them. Fields that it does not read are read one by one.
#[inline]
fn read_common_start<'a>(message: &mut Reader<'a>, span: &mut Span<'a>, ids: &mut SpanIds, values: &mut Values<'a>) {
    let Some(([0x0a, 16, first @ ..], rest)) = message.rest().split_first_chunk::<28>() else { return };
    let Some((trace_id, [0x12, 8, span_id @ ..])) = first.split_first_chunk::<16>() else { return };
    let (Some(span_id), mut rest) = (span_id.first_chunk::<8>(), rest) else { return };
    (ids.trace, ids.span) = (Received::Bytes(*trace_id), Received::Bytes(*span_id));
    message.go_to(rest);
    if let Some(([0x22, 8, parent @ ..], after)) = rest.split_first_chunk::<10>() {
        ids.parent = parent.first_chunk().map_or(Received::Absent, |parent| Received::Bytes(*parent));
        rest = after;
        message.go_to(rest);
    }
    let [0x2a, length @ 0..0x80, after @ ..] = rest else { return };
    let Some((name, rest)) = after.split_at_checked((*length).into()) else { return };
    let Some(([0x30, kind @ 0..0x80, 0x39, times @ ..], rest)) = rest.split_first_chunk::<20>() else { return };
    let (Some((start, [0x41, end @ ..])), Some(name)) = (times.split_first_chunk(), values.name(name)) else { return };
    span.name = name;
    span.kind = SpanKind::from_number((*kind).into());
    span.start_ns = u64::from_le_bytes(*start);
    span.end_ns = end.first_chunk().map_or(0, |end| u64::from_le_bytes(*end));
    message.go_to(rest);
}

/// The fast path for an empty status and the flags at the end of a span, as SDKs write them.
#[inline]
fn read_common_end(message: &mut Reader<'_>, span: &mut Span<'_>) {
    if let [0x7a, 0, 0x85, 1, flags @ ..] = message.rest()
        && let Ok(flags) = <[u8; 4]>::try_from(flags)
    {
        span.flags = u32::from_le_bytes(flags);
        message.go_to(&[]);
    }
}

/// Extends the slice by the element just appended. Events and links of one span are contiguous.
fn extend(slice: &mut Slice, index: u32) {
    if slice.is_empty() {
        slice.start = index;
    }
    slice.end = index + 1;
}

fn status<'a>(mut message: Reader<'a>, span: &mut Span<'a>) -> Result<(), Fault> {
    const MESSAGE: u32 = length(2);
    const CODE: u32 = varint(3);
    while !message.is_done() {
        match message.key()? {
            MESSAGE => span.status_message = message.string("status message")?,
            CODE => span.status = StatusCode::from_number(message.int32()?.into()),
            other => message.skip(other, KnownFields::new(&[2, 3]))?,
        }
    }
    Ok(())
}

fn event<'a>(
    mut message: Reader<'a>,
    attributes: &mut Vec<KeyValue<'a>>,
    values: &mut Values<'a>,
) -> Result<Event<'a>, Fault> {
    const TIME: u32 = fixed64(1);
    const NAME: u32 = length(2);
    const ATTRIBUTE: u32 = length(3);
    const DROPPED: u32 = varint(4);
    let mut event = Event::default();
    while !message.is_done() {
        match message.key()? {
            TIME => event.time_ns = message.fixed64()?,
            NAME => event.name = message.string("event name")?,
            ATTRIBUTE => {
                values.attributes(&mut message, attributes, &mut event.attributes)?;
            }
            DROPPED => event.dropped_attributes = message.uint32()?,
            other => message.skip(other, KnownFields::new(&[1, 2, 3, 4]))?,
        }
    }
    Ok(event)
}

fn link<'a>(
    mut message: Reader<'a>,
    attributes: &mut Vec<KeyValue<'a>>,
    values: &mut Values<'a>,
) -> Result<Link<'a>, Fault> {
    const TRACE_ID: u32 = length(1);
    const SPAN_ID: u32 = length(2);
    const TRACE_STATE: u32 = length(3);
    const ATTRIBUTE: u32 = length(4);
    const DROPPED: u32 = varint(5);
    const FLAGS: u32 = fixed32(6);
    let mut link = Link::default();
    while !message.is_done() {
        match message.key()? {
            TRACE_ID => link.trace_id = TraceId(Received::bytes(message.bytes()?).or_none()),
            SPAN_ID => link.span_id = SpanId(Received::bytes(message.bytes()?).or_none()),
            TRACE_STATE => link.trace_state = message.string("link trace state")?,
            ATTRIBUTE => {
                values.attributes(&mut message, attributes, &mut link.attributes)?;
            }
            DROPPED => link.dropped_attributes = message.uint32()?,
            FLAGS => link.flags = message.fixed32()?,
            other => message.skip(other, KnownFields::new(&[1, 2, 3, 4, 5, 6]))?,
        }
    }
    Ok(link)
}
