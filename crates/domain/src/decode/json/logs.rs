//! Reads log records.

use super::envelope::Records;
use super::reader::Reader;
use super::scalar::SEVERITIES;
use crate::decode::batch::{Owner, push};
use crate::decode::fault::Fault;
use crate::decode::severity::severity_number;
use crate::model::{LogBatch, LogRecord, SpanId, TraceId};

impl<'a> Records<'a> for LogBatch<'a> {
    const RESOURCE_BLOCKS: &'static str = "resourceLogs";
    const SCOPE_BLOCKS: &'static str = "scopeLogs";
    const RECORDS: &'static str = "logRecords";

    fn record(&mut self, reader: &mut Reader<'a>, owner: Owner) -> Result<(), Fault> {
        let mut record = LogRecord { resource: owner.resource, scope: owner.scope, ..LogRecord::default() };
        reader.object("log record", |reader, key| {
            match key {
                "timeUnixNano" => record.time_ns = reader.uint64("log.timeUnixNano")?,
                "observedTimeUnixNano" => record.observed_time_ns = reader.uint64("log.observedTimeUnixNano")?,
                "severityNumber" => {
                    record.severity_number = severity_number(reader.enumeration("log.severityNumber", SEVERITIES)?);
                }
                "severityText" => record.severity_text = reader.string("log.severityText")?,
                "body" => record.body = reader.any_value(1)?,
                "attributes" => record.attributes = reader.attributes(&mut self.attributes)?,
                "droppedAttributesCount" => record.dropped_attributes = reader.uint32("log.droppedAttributesCount")?,
                "flags" => record.flags = reader.uint32("log.flags")?,
                "traceId" => record.trace_id = TraceId(reader.id()?.or_none()),
                "spanId" => record.span_id = SpanId(reader.id()?.or_none()),
                "eventName" => record.event_name = reader.string("log.eventName")?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        push(&mut self.records, record, "log records", self.body.records_max).map(drop)
    }
}
