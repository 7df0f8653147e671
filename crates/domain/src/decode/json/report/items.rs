//! Reads the items of a frame: runs with their spans, exceptions, metrics, sessions, recordings.

use super::lenient::{Validity, opaque_content};
use crate::decode::batch::push;
use crate::decode::fault::Fault;
use crate::decode::json::reader::Reader;
use crate::model::{Recording, ReportBatch, ReportedException, ReportedMetric, Run, RunSpan, Session, Slice};

/// Reads the elements of a list. A value of another type is skipped.
pub(super) fn each<'a>(
    reader: &mut Reader<'a>,
    element: impl FnMut(&mut Reader<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    match reader.peek() {
        Some(b'[') => reader.list("items", element),
        _ => reader.skip(),
    }
}

/// Reads the fields of an item. False when it is invalid.
fn fields<'a>(
    reader: &mut Reader<'a>,
    mut field: impl FnMut(&mut Reader<'a>, &'a str, &mut Validity) -> Result<(), Fault>,
) -> Result<bool, Fault> {
    let mut validity = Validity::default();
    if reader.peek() != Some(b'{') {
        reader.skip()?;
        return Ok(false);
    }
    reader.object("item", |reader, key| field(reader, key, &mut validity))?;
    Ok(!validity.is_invalid)
}

pub(super) fn run<'a>(reader: &mut Reader<'a>, records_max: usize, batch: &mut ReportBatch<'a>) -> Result<(), Fault> {
    let (attributes_before, spans_before) = (batch.attributes.len(), batch.spans.len());
    let mut run = Run { sample_rate: 1.0, ..Run::default() };
    let is_valid = fields(reader, |reader, key, item| {
        match key {
            "id" => run.id = item.id(reader)?,
            "endpoint" => run.name = item.string(reader)?,
            "duration" => run.duration_ns = item.integer(reader)?,
            "recordedAt" => run.time_ns = item.time(reader)?,
            "statusCode" => run.status = item.integer(reader)?,
            "bodySize" => run.body_size = item.integer(reader)?,
            "clientIP" => run.client_ip = item.string(reader)?,
            "attributes" | "scope" => run.attributes = item.attributes(reader, &mut batch.attributes)?,
            "spans" | "segments" => {
                let start = batch.spans.len() as u32;
                each(reader, |reader| span(reader, records_max, batch))?;
                run.spans = Slice { start, end: batch.spans.len() as u32 };
            }
            "isTask" => run.is_task = item.boolean(reader)?,
            "distributedTraceId" => run.trace_id = item.id(reader)?,
            "sampleRate" => run.sample_rate = item.double(reader)?.0,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    if !(run.sample_rate > 0.0 && run.sample_rate <= 1.0) {
        run.sample_rate = 1.0;
    }
    if is_valid {
        push(&mut batch.runs, run, "traces", records_max)?;
    } else {
        batch.invalid.runs += 1;
        batch.attributes.truncate(attributes_before);
        batch.spans.truncate(spans_before);
    }
    Ok(())
}

fn span<'a>(reader: &mut Reader<'a>, records_max: usize, batch: &mut ReportBatch<'a>) -> Result<(), Fault> {
    let attributes_before = batch.attributes.len();
    let mut span = RunSpan::default();
    let is_valid = fields(reader, |reader, key, item| {
        match key {
            "id" => span.id = item.id(reader)?,
            "parentSpanId" => span.parent = item.id(reader)?,
            "name" => span.name = item.string(reader)?,
            "startTime" => span.time_ns = item.time(reader)?,
            "duration" => span.duration_ns = item.integer(reader)?,
            "attributes" => span.attributes = item.attributes(reader, &mut batch.attributes)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    if is_valid {
        push(&mut batch.spans, span, "spans", records_max)?;
    } else {
        batch.invalid.spans += 1;
        batch.attributes.truncate(attributes_before);
    }
    Ok(())
}

pub(super) fn exception<'a>(
    reader: &mut Reader<'a>,
    records_max: usize,
    batch: &mut ReportBatch<'a>,
) -> Result<(), Fault> {
    let attributes_before = batch.attributes.len();
    let mut exception = ReportedException::default();
    let is_valid = fields(reader, |reader, key, item| {
        match key {
            "traceId" | "transactionId" => exception.run = item.id(reader)?,
            "isTask" => exception.is_task = item.boolean(reader)?,
            "stackTrace" => exception.stack_trace = item.string(reader)?,
            "recordedAt" => exception.time_ns = item.time(reader)?,
            "attributes" | "scope" => exception.attributes = item.attributes(reader, &mut batch.attributes)?,
            "isMessage" => exception.is_message = item.boolean(reader)?,
            "sessionRecordingId" => exception.recording = item.string(reader)?,
            "sessionId" => exception.session = item.id(reader)?,
            "distributedTraceId" => exception.trace_id = item.id(reader)?,
            "debugIds" => exception.debug_ids = item.attributes(reader, &mut batch.attributes)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    if is_valid {
        push(&mut batch.exceptions, exception, "stack traces", records_max)?;
    } else {
        batch.invalid.exceptions += 1;
        batch.attributes.truncate(attributes_before);
    }
    Ok(())
}

pub(super) fn metric<'a>(
    reader: &mut Reader<'a>,
    records_max: usize,
    batch: &mut ReportBatch<'a>,
) -> Result<(), Fault> {
    let attributes_before = batch.attributes.len();
    let mut metric = ReportedMetric::default();
    let mut has_value = false;
    let is_valid = fields(reader, |reader, key, item| {
        match key {
            "name" => metric.name = item.string(reader)?,
            "value" => {
                (metric.value, metric.int_value) = item.double(reader)?;
                has_value = true;
            }
            "recordedAt" => metric.time_ns = item.time(reader)?,
            "tags" => metric.tags = item.attributes(reader, &mut batch.attributes)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    if is_valid && has_value && !metric.name.is_empty() {
        push(&mut batch.metrics, metric, "metrics", records_max)?;
    } else {
        batch.invalid.metrics += 1;
        batch.attributes.truncate(attributes_before);
    }
    Ok(())
}

pub(super) fn session<'a>(
    reader: &mut Reader<'a>,
    records_max: usize,
    batch: &mut ReportBatch<'a>,
) -> Result<(), Fault> {
    let attributes_before = batch.attributes.len();
    let mut session = Session::default();
    let is_valid = fields(reader, |reader, key, item| {
        match key {
            "id" => session.id = item.id(reader)?,
            "startedAt" => session.started_ns = item.time(reader)?,
            "endedAt" => session.ended_ns = item.time(reader)?,
            "attributes" => session.attributes = item.attributes(reader, &mut batch.attributes)?,
            "distributedTraceId" => session.trace_id = item.id(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    if is_valid && !session.id.is_none() {
        push(&mut batch.sessions, session, "sessions", records_max)?;
    } else {
        batch.invalid.sessions += 1;
        batch.attributes.truncate(attributes_before);
    }
    Ok(())
}

pub(super) fn recording<'a>(
    reader: &mut Reader<'a>,
    records_max: usize,
    batch: &mut ReportBatch<'a>,
) -> Result<(), Fault> {
    let mut recording = Recording::default();
    let is_valid = fields(reader, |reader, key, item| {
        match key {
            "exceptionId" => recording.exception = item.string(reader)?,
            "sessionId" => recording.session = item.id(reader)?,
            "segmentIndex" => recording.segment = item.integer(reader)?,
            "events" => recording.events = opaque_content(reader)?,
            "logs" => recording.logs = opaque_content(reader)?,
            "actions" => recording.actions = opaque_content(reader)?,
            "startedAt" => recording.started_ns = item.time(reader)?,
            "endedAt" => recording.ended_ns = item.time(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    if is_valid {
        push(&mut batch.recordings, recording, "session recordings", records_max)?;
    } else {
        batch.invalid.recordings += 1;
    }
    Ok(())
}
