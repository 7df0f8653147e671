//! Reads spans, their events and links.

use super::envelope::{Records, each};
use super::reader::Reader;
use super::scalar::{SPAN_KINDS, STATUS_CODES};
use crate::decode::batch::{Owner, push};
use crate::decode::fault::Fault;
use crate::decode::ids::SpanIds;
use crate::model::{Event, KeyValue, Link, Slice, Span, SpanId, SpanKind, StatusCode, TraceBatch, TraceId};

impl<'a> Records<'a> for TraceBatch<'a> {
    const RESOURCE_BLOCKS: &'static str = "resourceSpans";
    const SCOPE_BLOCKS: &'static str = "scopeSpans";
    const RECORDS: &'static str = "spans";

    fn record(&mut self, reader: &mut Reader<'a>, owner: Owner) -> Result<(), Fault> {
        let mut span = Span { resource: owner.resource, scope: owner.scope, ..Span::default() };
        let mut ids = SpanIds::default();
        let before = (self.attributes.len(), self.events.len(), self.links.len());
        reader.object("span", |reader, key| {
            match key {
                "traceId" => ids.trace = reader.id()?,
                "spanId" => ids.span = reader.id()?,
                "parentSpanId" => ids.parent = reader.id()?,
                "name" => span.name = reader.string("span.name")?,
                "kind" => span.kind = SpanKind::from_number(reader.enumeration("span.kind", SPAN_KINDS)?),
                "startTimeUnixNano" => span.start_ns = reader.uint64("span.startTimeUnixNano")?,
                "endTimeUnixNano" => span.end_ns = reader.uint64("span.endTimeUnixNano")?,
                "attributes" => span.attributes = reader.attributes(&mut self.attributes)?,
                "status" => status(reader, &mut span)?,
                "events" => {
                    let start = self.events.len() as u32;
                    each(reader, "span.events", |reader| {
                        let event = event(reader, &mut self.attributes)?;
                        push(&mut self.events, event, "span events", self.body.records_max).map(drop)
                    })?;
                    span.events = Slice { start, end: self.events.len() as u32 };
                }
                "links" => {
                    let start = self.links.len() as u32;
                    each(reader, "span.links", |reader| {
                        let link = link(reader, &mut self.attributes)?;
                        push(&mut self.links, link, "span links", self.body.records_max).map(drop)
                    })?;
                    span.links = Slice { start, end: self.links.len() as u32 };
                }
                "flags" => span.flags = reader.uint32("span.flags")?,
                "traceState" => span.trace_state = reader.string("span.traceState")?,
                "droppedAttributesCount" => span.dropped_attributes = reader.uint32("span.droppedAttributesCount")?,
                "droppedEventsCount" => span.dropped_events = reader.uint32("span.droppedEventsCount")?,
                "droppedLinksCount" => span.dropped_links = reader.uint32("span.droppedLinksCount")?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        ids.assign_to(&mut span);
        if let Some(invalid) = span.invalid {
            // A refused span leaves nothing else in the batch.
            self.attributes.truncate(before.0);
            self.events.truncate(before.1);
            self.links.truncate(before.2);
            return push(&mut self.refused, invalid, "spans", self.body.records_max).map(drop);
        }
        push(&mut self.spans, span, "spans", self.body.records_max).map(drop)
    }
}

fn status<'a>(reader: &mut Reader<'a>, span: &mut Span<'a>) -> Result<(), Fault> {
    (span.status, span.status_message) = (StatusCode::Unset, "");
    reader.object("span.status", |reader, key| {
        match key {
            "code" => span.status = StatusCode::from_number(reader.enumeration("status.code", STATUS_CODES)?),
            "message" => span.status_message = reader.string("status.message")?,
            _ => reader.skip()?,
        }
        Ok(())
    })
}

fn event<'a>(reader: &mut Reader<'a>, attributes: &mut Vec<KeyValue<'a>>) -> Result<Event<'a>, Fault> {
    let mut event = Event::default();
    reader.object("event", |reader, key| {
        match key {
            "timeUnixNano" => event.time_ns = reader.uint64("event.timeUnixNano")?,
            "name" => event.name = reader.string("event.name")?,
            "attributes" => event.attributes = reader.attributes(attributes)?,
            "droppedAttributesCount" => event.dropped_attributes = reader.uint32("event.droppedAttributesCount")?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(event)
}

fn link<'a>(reader: &mut Reader<'a>, attributes: &mut Vec<KeyValue<'a>>) -> Result<Link<'a>, Fault> {
    let mut link = Link::default();
    reader.object("link", |reader, key| {
        match key {
            "traceId" => link.trace_id = TraceId(reader.id()?.or_none()),
            "spanId" => link.span_id = SpanId(reader.id()?.or_none()),
            "traceState" => link.trace_state = reader.string("link.traceState")?,
            "attributes" => link.attributes = reader.attributes(attributes)?,
            "droppedAttributesCount" => link.dropped_attributes = reader.uint32("link.droppedAttributesCount")?,
            "flags" => link.flags = reader.uint32("link.flags")?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(link)
}
