//! Rows of spans, Endpoints, Tasks, AI Traces and exceptions of a trace export.

use tidewatch_domain::model::{KeyValue, NativeId, Signal, Span, SpanId, TraceBatch};
use tidewatch_domain::project::{
    AiTrace, Entity, EntityKind, Exception, KeptSpan, NativeSpanIds, Owner, ProjectContext, TraceProjection,
};
use tidewatch_domain::rules::group_versions::FIRST_VERSION;
use tidewatch_domain::wire;

use super::attributes::{SharedAttributes, SortedEncoder, encode_sorted, trimmed};
use super::block::BLOCK_ROWS;
use super::dictionary_cells::NameCache;
use super::senders::environment_of;
use super::{ExceptionKeys, NO_KEY, Rows, Senders, TableRows, span_key};
use crate::tables::Table;

/// Bits of the `promoted` column.
const ENDPOINT: u8 = 1;
const TASK: u8 = 1 << 1;
const AI_TRACE: u8 = 1 << 2;
const HAS_EXCEPTIONS: u8 = 1 << 3;

/// Index of the column `attributes` of spans.
const SPAN_ATTRIBUTES: usize = 19;

impl Rows {
    /// Builds the rows of a trace export. `project`: number of the project in the control database.
    pub fn traces(
        project: u32,
        context: &ProjectContext,
        batch: &TraceBatch<'_>,
        projection: &TraceProjection<'_>,
    ) -> Rows {
        let environments = batch.resources.iter().map(|resource| environment_of(batch.attributes(resource.attributes)));
        let environments = environments.collect();
        let writer = Writer { project, batch, resources: resources(batch, projection), environments };
        let mut spans = TableRows::new(Table::Spans);
        let mut endpoints = TableRows::new(Table::Endpoints);
        let mut tasks = TableRows::new(Table::Tasks);
        let mut ai_traces = TableRows::new(Table::AiTraces);
        let mut exceptions = TableRows::new(Table::Exceptions);

        let with_exceptions = spans_with_exceptions(batch.spans.len(), &projection.exceptions);
        writer.spans(&mut spans, projection, &with_exceptions);
        // Entities have the attributes of their span, which are copied, not encoded again.
        let attributes = |kept: u32| spans.buffer.cell(SPAN_ATTRIBUTES, kept as usize);
        let mut entities = Vec::with_capacity(projection.entities.len());
        for (kind, table) in [(EntityKind::Endpoint, &mut endpoints), (EntityKind::Task, &mut tasks)] {
            let of_kind = projection.entities.iter().filter(|entity| entity.kind == kind);
            entities.clear();
            entities.extend(of_kind.map(|entity| (entity, &projection.spans[entity.kept as usize])));
            writer.entities(table, &entities, attributes);
        }
        for ai in &projection.ai_traces {
            writer.ai_trace(&mut ai_traces, ai, &projection.spans[ai.kept as usize], attributes(ai.kept));
        }
        for exception in &projection.exceptions {
            let native = projection.native_ids.get(exception.span as usize).map(|ids| ids.span);
            writer.exception(&mut exceptions, exception, native.unwrap_or_default());
            if context.settings.issues_from_logs {
                let span = &batch.spans[exception.span as usize];
                exceptions.exception_keys.push(ExceptionKeys::new(
                    project,
                    (&span.trace_id.0, &span.span_id.0),
                    exception,
                    false,
                ));
            }
        }

        let tables = vec![spans, endpoints, tasks, ai_traces, exceptions];
        let mut rows = Rows::new(project, Signal::Traces, tables, batch.spans.len(), &projection.dropped);
        let key = |span: &Span<'_>| match span.invalid {
            Some(_) => NO_KEY,
            None => span_key(project, span.trace_id, span.span_id, span.kind),
        };
        rows.refused = batch.refused.len();
        rows.ai_usage = projection.ai_traces.iter().map(AiTrace::usage).collect();
        let stored = projection.spans.iter();
        rows.senders = Senders::new(
            stored.map(|kept| (kept.span, batch.spans[kept.span as usize].resource, kept.server_name, kept.start_ns)),
            |resource| batch.attributes(batch.resources[resource as usize].attributes),
        );
        rows.keys = batch.spans.iter().map(key).collect();
        let is_trimmed = |span: u32| writer.resources[batch.spans[span as usize].resource as usize].is_trimmed;
        rows.is_untimed = batch.spans.iter().any(|span| span.start_ns == 0);
        rows.trimmed = trimmed(projection.spans.iter().map(|kept| (kept.span, is_trimmed(kept.span))));
        rows
    }
}

/// Encodes every resource, by index; empty when no kept span and no exception has it.
fn resources(batch: &TraceBatch<'_>, projection: &TraceProjection<'_>) -> Vec<SharedAttributes> {
    let mut repeats = vec![0; batch.resources.len()];
    for kept in &projection.spans {
        repeats[batch.spans[kept.span as usize].resource as usize] += 1;
    }
    for exception in &projection.exceptions {
        let repeats = &mut repeats[batch.spans[exception.span as usize].resource as usize];
        *repeats = (*repeats).max(1);
    }
    let resources = batch.resources.iter().zip(repeats);
    resources
        .map(|(resource, repeats)| SharedAttributes::new(batch.attributes(resource.attributes).0, repeats))
        .collect()
}

fn spans_with_exceptions(spans: usize, exceptions: &[Exception<'_>]) -> Vec<bool> {
    let mut with = vec![false; spans];
    for exception in exceptions {
        with[exception.span as usize] = true;
    }
    with
}

struct Writer<'b, 'a> {
    project: u32,
    batch: &'b TraceBatch<'a>,
    resources: Vec<SharedAttributes>,
    /// By resource; empty when it names none.
    environments: Vec<&'a str>,
}

impl Writer<'_, '_> {
    fn spans(&self, table: &mut TableRows, projection: &TraceProjection<'_>, with_exceptions: &[bool]) {
        let TraceProjection { spans: all, native_ids, .. } = projection;
        let Writer { project, batch, ref resources, .. } = *self;
        let mut pairs = Vec::with_capacity(BLOCK_ROWS.min(all.len()));
        let mut attributes = SortedEncoder::new(&batch.body, &batch.attributes);
        let mut names = NameCache::new();
        for block in all.chunks(BLOCK_ROWS) {
            pairs.clear();
            pairs.extend(block.iter().map(|kept| (kept, &batch.spans[kept.span as usize])));
            let rows = || pairs.iter().copied();
            let scope = |span: &Span<'_>| &batch.scopes[span.scope as usize];
            let bit = |set: bool, bit: u8| if set { bit } else { 0 };
            let promoted = |kept: &KeptSpan<'_>| {
                bit(kept.promoted.endpoint, ENDPOINT)
                    | bit(kept.promoted.task, TASK)
                    | bit(kept.promoted.ai_trace, AI_TRACE)
                    | bit(with_exceptions[kept.span as usize], HAS_EXCEPTIONS)
            };
            let mut cells = table.block(block.iter().map(|kept| kept.span));
            cells
                .u32(rows().map(|_| project))
                .id16(rows().map(|(_, span)| span.trace_id.0))
                .id8(rows().map(|(_, span)| span.span_id.0))
                .id8(rows().map(|(_, span)| span.parent_span_id.0))
                .i64(rows().map(|(kept, _)| kept.start_ns))
                .i64(rows().map(|(kept, _)| kept.duration_ns))
                .name(rows().map(|(_, span)| span.name), &mut names)
                .u8(rows().map(|(_, span)| span.kind as u8))
                .u8(rows().map(|(_, span)| span.status as u8))
                .text(rows().map(|(_, span)| span.status_message))
                .i16(rows().map(|(kept, _)| kept.http_status))
                .u8(rows().map(|(kept, _)| promoted(kept)))
                .text(rows().map(|(kept, _)| kept.server_name))
                .text(rows().map(|(kept, _)| kept.app_version))
                .text(rows().map(|(_, span)| scope(span).name))
                .text(rows().map(|(_, span)| scope(span).version))
                .text(rows().map(|(_, span)| span.trace_state))
                .u32(rows().map(|(_, span)| span.flags))
                .f64(rows().map(|(kept, _)| kept.weight))
                .bytes_with(rows(), |(_, span), out| attributes.encode(span.attributes, span.layout, out))
                .dictionary(resources.iter().map(SharedAttributes::bytes), rows().map(|(_, span)| span.resource))
                .bytes_with(rows(), |(_, span), out| wire::encode_events(batch, span, out))
                .bytes_with(rows(), |(_, span), out| wire::encode_links(batch, span, out))
                .u32(rows().map(|(_, span)| span.dropped_attributes))
                .u32(rows().map(|(_, span)| span.dropped_events))
                .u32(rows().map(|(_, span)| span.dropped_links));
            match native_ids.is_empty() {
                true => cells.nulls(),
                false => {
                    cells.optional_bytes_with(block.iter().map(|kept| native_ids.get(kept.span as usize)), put_ids)
                }
            };
            cells
                .non_empty_text(block.iter().map(|kept| kept.peer.map_or("", |peer| peer.name)))
                .optional_u8(block.iter().map(|kept| kept.peer.map(|peer| peer.kind as u8)))
                .non_empty_text(block.iter().map(|_| ""))
                .optional_bool(block.iter().map(|kept| Some(kept.is_error)))
                .non_empty_text(rows().map(|(_, span)| self.environments[span.resource as usize]));
        }
    }

    /// `attributes` returns the encoded attributes of a kept span.
    fn entities<'s>(
        &self,
        table: &mut TableRows,
        all: &[(&Entity<'_>, &KeptSpan<'_>)],
        attributes: impl Fn(u32) -> &'s [u8],
    ) {
        for block in all.chunks(BLOCK_ROWS) {
            let rows = || block.iter().copied();
            let spans = || rows().map(|(entity, _)| &self.batch.spans[entity.span as usize]);
            let mut cells = table.block(block.iter().map(|(entity, _)| entity.span));
            cells
                .u32(rows().map(|_| self.project))
                .text(rows().map(|(entity, _)| entity.name))
                .i64(rows().map(|(_, kept)| kept.start_ns))
                .i64(rows().map(|(_, kept)| kept.duration_ns))
                .i16(rows().map(|(entity, _)| entity.status_code))
                .id16(spans().map(|span| span.trace_id.0))
                .id8(spans().map(|span| span.span_id.0))
                .id8(spans().map(|span| span.parent_span_id.0))
                .id16(rows().map(|(entity, _)| entity.row_id.0))
                .bool(rows().map(|(entity, _)| entity.is_root))
                .bool(rows().map(|(entity, _)| entity.is_stream))
                .bool(rows().map(|(entity, _)| entity.is_error))
                .text(rows().map(|(_, kept)| kept.server_name))
                .text(rows().map(|(_, kept)| kept.app_version))
                .text(rows().map(|(entity, _)| entity.client_ip))
                .i64(rows().map(|(entity, _)| entity.body_size))
                .f64(rows().map(|(_, kept)| kept.weight))
                .bytes_with(rows(), |(entity, _), out| out.extend_from_slice(attributes(entity.kept)));
            let linked = |entity: &Entity<'_>| Some(entity.linked_trace).filter(|trace| !trace.is_none());
            match rows().all(|(entity, _)| linked(entity).is_none()) {
                true => cells.nulls(),
                false => cells.optional_bytes_with(rows().map(|(entity, _)| linked(entity)), |trace, out| {
                    out.extend_from_slice(&trace.0);
                }),
            };
            cells.non_empty_text(spans().map(|span| self.environments[span.resource as usize])).optional_dictionary(
                self.resources.iter().map(SharedAttributes::bytes),
                spans().map(|span| span.resource),
            );
        }
    }

    fn ai_trace(&self, table: &mut TableRows, ai: &AiTrace<'_>, kept: &KeptSpan<'_>, attributes: &[u8]) {
        let span = &self.batch.spans[ai.span as usize];
        table
            .row(ai.span)
            .u32(self.project)
            .text(ai.name)
            .i64(kept.start_ns)
            .i64(kept.duration_ns)
            .i16(kept.http_status)
            .id(&span.trace_id.0)
            .id(&span.span_id.0)
            .id(&span.parent_span_id.0)
            .id(&ai.row_id.0)
            .bool(ai.is_root)
            .bool(ai.is_error)
            .text(kept.server_name)
            .text(kept.app_version)
            .optional_text(ai.model)
            .optional_text(ai.response_model)
            .optional_text(ai.provider)
            .optional_text(ai.operation)
            .optional_i64(ai.input_tokens)
            .optional_i64(ai.output_tokens)
            .optional_i64(ai.total_tokens)
            .optional_i64(ai.cached_tokens)
            .optional_i64(ai.reasoning_tokens)
            .optional_f64(ai.input_cost)
            .optional_f64(ai.output_cost)
            .optional_f64(ai.total_cost)
            .bool(ai.cost_estimated)
            .optional_text(ai.finish_reason)
            .optional_text(ai.user_id)
            .text(ai.conversation_id)
            .i64(ai.tool_call_count)
            .f64(kept.weight)
            .bytes(attributes)
            .optional_u32(Some(ai.flags.0))
            .optional_text(ai.flagged_terms)
            .optional_bool(ai.has_event_messages.then_some(true))
            .optional_text(self.environment(span))
            .optional_bytes(Some(self.resources[span.resource as usize].bytes()))
            .optional_text(ai.call_id)
            .optional_i64(ai.cache_write_tokens)
            .optional_bool(ai.repeats_usage.then_some(true));
    }

    fn exception(&self, table: &mut TableRows, exception: &Exception<'_>, native: NativeId) {
        let span = &self.batch.spans[exception.span as usize];
        let attributes = self.batch.span_attributes(span).0;
        let event = self.batch.attributes(exception.event_attributes).0;
        let ids = (&span.trace_id.0, &span.span_id.0, native);
        let resource = (self.environments[span.resource as usize], self.resources[span.resource as usize].bytes());
        write_exception(table, self.project, ids, exception, [attributes, event], resource);
    }

    /// The environment of a span's resource; `None` when it names none.
    fn environment(&self, span: &Span<'_>) -> Option<&str> {
        Some(self.environments[span.resource as usize]).filter(|environment| !environment.is_empty())
    }
}

/// Writes the row of an exception of a span or log record. `ids`: its trace id, its span id, and the UUID of the latter.
/// `attributes`: those of the span or record, and those of the event. `resource`: its environment, empty when unknown,
/// and its encoded attributes.
pub(super) fn write_exception(
    table: &mut TableRows,
    project: u32,
    ids: (&[u8; 16], &[u8; 8], NativeId),
    exception: &Exception<'_>,
    [attributes, event_attributes]: [&[KeyValue<'_>]; 2],
    (environment, resource): (&str, &[u8]),
) {
    let (owner_kind, owner_name, owner_span) = match exception.owner {
        Owner::None => (0, "", SpanId::default()),
        Owner::Known { kind, name, span_id } => (kind as u8, name, span_id),
        Owner::Above(span_id) => (255, "", span_id),
    };
    table
        .row(exception.span)
        .u32(project)
        .u64(exception.group)
        .i64(exception.time_ns)
        .id(ids.0)
        .id(ids.1)
        .id(&exception.row_id.0)
        .text(exception.exception_type)
        .text(exception.message)
        .text(exception.stack_trace)
        .text(exception.server_name)
        .text(exception.app_version)
        .u8(owner_kind)
        .text(owner_name)
        .id(&owner_span.0)
        .f64(exception.weight)
        .bytes_with(|out| encode_sorted(attributes, out))
        .bytes_with(|out| match exception.build {
            Some(build) => encode_sorted(&[event_attributes, &[build]].concat(), out),
            None => encode_sorted(event_attributes, out),
        })
        .optional_bytes(Some(&ids.2.0[..]).filter(|_| !ids.2.is_none()))
        .optional_bool(exception.is_message.then_some(true))
        .optional_bytes(Some(&exception.session.0[..]).filter(|_| !exception.session.is_none()))
        .optional_text(Some(environment).filter(|environment| !environment.is_empty()))
        .optional_bytes(Some(resource))
        .optional_u8(Some(exception.group_version).filter(|version| *version != FIRST_VERSION));
}

/// The span's UUID, then its parent's if there is one.
fn put_ids(ids: &NativeSpanIds, out: &mut Vec<u8>) {
    out.extend_from_slice(&ids.span.0);
    if !ids.parent.is_none() {
        out.extend_from_slice(&ids.parent.0);
    }
}
