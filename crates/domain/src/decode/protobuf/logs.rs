//! Reads log records.

use super::envelope::Records;
use super::reader::{KnownFields, Reader, fixed32, fixed64, length, varint};
use super::value::{Open, Values};
use crate::decode::batch::{Owner, push};
use crate::decode::fault::Fault;
use crate::decode::ids::Received;
use crate::decode::severity::severity_number;
use crate::model::{LogBatch, LogRecord, SpanId, TraceId};

impl<'a> Records<'a> for LogBatch<'a> {
    fn record(&mut self, mut message: Reader<'a>, owner: Owner, values: &mut Values<'a>) -> Result<(), Fault> {
        const TIME: u32 = fixed64(1);
        const SEVERITY_NUMBER: u32 = varint(2);
        const SEVERITY_TEXT: u32 = length(3);
        const BODY: u32 = length(5);
        const ATTRIBUTE: u32 = length(6);
        const DROPPED_ATTRIBUTES: u32 = varint(7);
        const FLAGS: u32 = fixed32(8);
        const TRACE_ID: u32 = length(9);
        const SPAN_ID: u32 = length(10);
        const OBSERVED_TIME: u32 = fixed64(11);
        const EVENT_NAME: u32 = length(12);
        const LOG_RECORD: KnownFields = KnownFields::new(&[1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12]);

        let mut record = LogRecord { resource: owner.resource, scope: owner.scope, ..LogRecord::default() };
        let mut body = Open::default();
        while !message.is_done() {
            match message.key()? {
                TIME => record.time_ns = message.fixed64()?,
                SEVERITY_NUMBER => record.severity_number = severity_number(message.int32()?.into()),
                SEVERITY_TEXT => record.severity_text = message.string("log severity text")?,
                BODY => values.merge(&mut body, message.message()?, 1)?,
                ATTRIBUTE => {
                    values.attributes(&mut message, &mut self.attributes, &mut record.attributes)?;
                }
                DROPPED_ATTRIBUTES => record.dropped_attributes = message.uint32()?,
                FLAGS => record.flags = message.fixed32()?,
                TRACE_ID => record.trace_id = TraceId(Received::bytes(message.bytes()?).or_none()),
                SPAN_ID => record.span_id = SpanId(Received::bytes(message.bytes()?).or_none()),
                OBSERVED_TIME => record.observed_time_ns = message.fixed64()?,
                EVENT_NAME => record.event_name = message.string("log event name")?,
                other => message.skip(other, LOG_RECORD)?,
            }
        }
        record.body = values.close(body);
        push(&mut self.records, record, "log records", self.body.records_max).map(drop)
    }
}
