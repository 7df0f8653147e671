//! Projects log records into rows. Every record with a valid time is stored, whether or not its trace is.

use std::borrow::Cow;

use bumpalo::Bump;

use super::{Dropped, Enrichment, Exception, KeptLog, LogProjection, Owner, ProjectContext};
use crate::model::{Attributes, LogBatch, LogRecord, NativeId, Slice};
use crate::rules::edge_platform::Process;
use crate::rules::exception::{ExceptionText, Origin, has_exception_attributes};
use crate::rules::grouping_rules::RuledException;
use crate::rules::log_mapping::severity_text;
use crate::rules::record_time::record_time;
use crate::rules::row_id::log_exception_row_id;
use crate::rules::span_facts::SpanFacts;
use crate::rules::value_text::value_text;

/// Projects log records into rows; with `issues_from_logs`, into exceptions too (DECISIONS 9).
pub fn logs<'a>(batch: &LogBatch<'a>, context: &ProjectContext, arena: &'a Bump) -> LogProjection<'a> {
    logs_with(batch, context, Enrichment::default(), arena)
}

/// Like [`logs`], with the given enrichment.
pub fn logs_with<'a>(
    batch: &LogBatch<'a>,
    context: &ProjectContext,
    enrichment: Enrichment<'_>,
    arena: &'a Bump,
) -> LogProjection<'a> {
    let processes: Vec<Process<'a>> =
        batch.resources.iter().map(|resource| Process::read(batch.attributes(resource.attributes))).collect();
    let mut projection = LogProjection { logs: Vec::with_capacity(batch.records.len()), ..LogProjection::default() };
    for (position, record) in batch.records.iter().enumerate() {
        let times = [record.time_ns, record.observed_time_ns];
        let time_ns = match record_time(&times, context.received_ns, context.settings.oldest_ns) {
            Ok(time_ns) => time_ns,
            Err(reason) => {
                projection.dropped.push(Dropped { record: position as u32, reason });
                continue;
            }
        };
        let process = processes.get(record.resource as usize).copied().unwrap_or_default();
        let log = KeptLog {
            record: position as u32,
            time_ns,
            server_name: process.server_name,
            severity_text: match severity_text(record.severity_text, record.severity_number) {
                Cow::Borrowed(text) => text,
                Cow::Owned(text) => arena.alloc_str(&text),
            },
            severity_number: record.severity_number,
            body: value_text(record.body, arena),
        };
        projection.logs.push(log);
        let attributes = batch.attributes(record.attributes);
        if context.settings.issues_from_logs && has_exception_attributes(attributes.0) {
            let resource = batch.resources.get(record.resource as usize).map(|resource| resource.attributes);
            let resource = batch.attributes(resource.unwrap_or_default());
            let scope = batch.scopes.get(record.scope as usize);
            let origin = Origin {
                resource,
                scope_name: scope.map_or("", |scope| scope.name),
                scope: batch.attributes(scope.map(|scope| scope.attributes).unwrap_or_default()),
                record: attributes,
            };
            let text = ExceptionText::read(attributes, arena);
            let text = text.symbolicated(enrichment.symbols, origin, attributes, arena);
            let app_version = process.app_version(SpanFacts::read(attributes.0).script_version(attributes.0));
            let grouped = enrichment.group(&RuledException {
                input: text.occurrence(origin, attributes, origin.scope_name, arena),
                service: log.server_name,
                version: app_version,
                event: Attributes::default(),
                origin,
            });
            projection.exceptions.push(exception(record, &log, app_version, (text, grouped), context));
        }
    }
    projection
}

fn exception<'a>(
    record: &LogRecord<'a>,
    log: &KeptLog<'a>,
    app_version: &'a str,
    (text, (group, group_version)): (ExceptionText<'a>, (u64, u8)),
    context: &ProjectContext,
) -> Exception<'a> {
    Exception {
        span: log.record,
        row_id: log_exception_row_id(context.project, record.trace_id, record.span_id, log.time_ns, log.record),
        time_ns: log.time_ns,
        group,
        group_version,
        exception_type: text.exception_type,
        message: text.message,
        stack_trace: text.stack_trace,
        build: text.build,
        event_attributes: Slice::default(),
        server_name: log.server_name,
        app_version,
        owner: if record.span_id.is_none() { Owner::None } else { Owner::Above(record.span_id) },
        weight: 1.0,
        is_message: false,
        session: NativeId::default(),
    }
}
