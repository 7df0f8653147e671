//! Projects a native report into rows. SPEC "native", WIRE 1.
//!
//! A run becomes a root span and an Endpoint or a Task; its spans become spans; metrics become gauge points. An exception
//! has no span of its own: an entry of [`ReportProjection::traces`] that is in no list of rows carries its ids and
//! attributes.

use std::collections::{HashMap, HashSet};

use bumpalo::Bump;

use super::sessions::{Recorded, append};
use super::{
    DropReason, Dropped, Enrichment, Entity, EntityKind, Exception, KeptSpan, NativeSpanIds, Owner, ProjectContext,
    Promoted, ReportProjection, metrics,
};
use crate::model::{
    AnyValue, Attributes, KeyValue, Metric, MetricKind, NativeId, Point, PointData, ReportBatch, ReportedException,
    Resource, RowId, Run, RunSpan, Scope, Slice, Span, SpanKind, StatusCode, TraceId,
};
use crate::rules::client_sampling::rate_weight;
use crate::rules::endpoint_name::UNMATCHED;
use crate::rules::exception::{ExceptionText, Origin};
use crate::rules::grouping_rules::RuledException;
use crate::rules::http::HttpRequest;
use crate::rules::issue_group::message_group;
use crate::rules::native_ids::{Derived, derived_id, span_id_of, trace_id_of};
use crate::rules::record_time::record_time;
use crate::rules::sampling::{combined, sample};
use crate::rules::session;

/// Projects a report into rows. `client_ip`: the address of the client; empty when unknown.
pub fn report<'a>(
    report: &ReportBatch<'a>,
    client_ip: &str,
    context: &ProjectContext,
    enrichment: Enrichment<'_>,
    arena: &'a Bump,
) -> ReportProjection<'a> {
    let mut projector = Projector::new(report, context, enrichment, arena);
    for run in &report.runs {
        projector.run(run);
    }
    for exception in &report.exceptions {
        projector.exception(exception);
    }
    projector.metrics();
    let Projector { recorded, mut out, .. } = projector;
    super::sessions::project(report, (client_ip, context), enrichment, &recorded, arena, &mut out);
    out
}

struct Projector<'b, 'a> {
    report: &'b ReportBatch<'a>,
    context: &'b ProjectContext,
    enrichment: Enrichment<'b>,
    arena: &'a Bump,
    /// Runs with an exception that is no message.
    failed: HashSet<NativeId>,
    /// Traces with an error, for sampling. DECISIONS 13.
    error_traces: HashSet<TraceId>,
    /// Number of equal items without ids so far.
    ordinals: HashMap<(Derived, NativeId, i64, &'a str), u32>,
    /// Index in `rows.entities` by run.
    entities: HashMap<NativeId, usize>,
    /// Stored exceptions by the client's id of their recording.
    recorded: Recorded<'a>,
    /// Runs that are not stored, and why.
    dropped_runs: HashMap<NativeId, DropReason>,
    out: ReportProjection<'a>,
}

/// Values that the spans of a run share.
#[derive(Clone, Copy)]
struct RunContext {
    id: NativeId,
    trace_id: TraceId,
    weight: f64,
    dropped: Option<DropReason>,
}

impl<'b, 'a> Projector<'b, 'a> {
    fn new(
        report: &'b ReportBatch<'a>,
        context: &'b ProjectContext,
        enrichment: Enrichment<'b>,
        arena: &'a Bump,
    ) -> Self {
        let exceptions = report.exceptions.iter().filter(|exception| !exception.is_message);
        let runs = exceptions.clone().map(|exception| exception.run);
        let failed: HashSet<NativeId> = runs.filter(|run| !run.is_none()).collect();
        let error_runs = report.runs.iter().filter(|run| run.status >= 500 || failed.contains(&run.id));
        let error_traces = error_runs.map(|run| trace_of(run.trace_id, run.id));
        let error_traces = error_traces.chain(exceptions.map(|one| trace_of(one.trace_id, one.run)));
        let error_traces = error_traces.filter(|trace| !trace.is_none()).collect();
        let mut projector = Projector {
            report,
            context,
            enrichment,
            arena,
            failed,
            error_traces,
            ordinals: HashMap::new(),
            entities: HashMap::new(),
            recorded: HashMap::new(),
            dropped_runs: HashMap::new(),
            out: ReportProjection::default(),
        };
        projector.out.invalid = report.invalid.total();
        projector.out.traces.attributes = report.attributes.clone();
        let resource = projector.resource();
        projector.out.traces.resources.push(Resource { attributes: resource, ..Resource::default() });
        projector.out.traces.scopes.push(Scope::default());
        projector
    }

    /// Attributes of the process: what the envelope says, and the language of the project's framework.
    fn resource(&mut self) -> Slice {
        let (report, framework) = (self.report, self.context.settings.framework);
        let pairs = [
            ("service.name", report.server_name),
            ("service.version", report.app_version),
            ("telemetry.sdk.name", "traceway"),
            ("telemetry.sdk.language", framework.language()),
            ("app.debug.proguard_uuid", report.proguard_uuid),
        ];
        let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        let flat = &mut self.out.traces.attributes;
        append(flat, pairs.map(|(key, value)| KeyValue { key, value: AnyValue::Str(value) }))
    }

    fn derived(&mut self, kind: Derived, parent: NativeId, time_ns: i64, text: &'a str) -> RowId {
        let ordinal = self.ordinals.entry((kind, parent, time_ns, text)).or_default();
        *ordinal += 1;
        // An item without a time is another one in each report.
        let time_ns = if time_ns == 0 { self.context.received_ns } else { time_ns };
        derived_id(self.context.project, kind, parent, time_ns, text, *ordinal - 1)
    }

    /// The time of a record, and whether it can be stored. DECISIONS 17, 25.
    fn time(&mut self, time_ns: i64) -> Result<i64, DropReason> {
        self.out.is_untimed |= time_ns == 0;
        let time = u64::try_from(time_ns).map_err(|_| DropReason::InvalidTime)?;
        record_time(&[time], self.context.received_ns, self.context.settings.oldest_ns)
    }

    /// The weight of a trace's rows; `None` when it is not in the project's sample. DECISIONS 13.
    fn weight(&self, trace_id: TraceId, is_error: bool) -> Option<f64> {
        let settings = &self.context.settings;
        let is_error = is_error || self.error_traces.contains(&trace_id);
        sample(trace_id, if is_error { settings.error_sample_rate } else { settings.sample_rate })
    }

    fn run(&mut self, run: &Run<'a>) {
        let id = match run.id.is_none() {
            false => run.id,
            true => NativeId(self.derived(Derived::Run, run.trace_id, run.time_ns, run.name).0),
        };
        let trace_id = trace_of(run.trace_id, id);
        let time = self.time(run.time_ns);
        let is_error = run.status >= 500 || (run.is_task && self.failed.contains(&id));
        let weight = self.weight(trace_id, is_error);
        let dropped = match (time, weight) {
            (Err(reason), _) => Some(reason),
            _ if self.is_healthy_check(run) => Some(DropReason::Healthcheck),
            (Ok(_), None) => Some(DropReason::Sampled),
            (Ok(_), Some(_)) => None,
        };
        let weight = combined(weight.unwrap_or(1.0), rate_weight(run.sample_rate));
        let in_run = RunContext { id, trace_id, weight, dropped };
        let span = Span {
            trace_id,
            span_id: span_id_of(id),
            name: run.name,
            kind: if run.is_task { SpanKind::Internal } else { SpanKind::Server },
            start_ns: run.time_ns.max(0) as u64,
            end_ns: run.time_ns.max(0).saturating_add(run.duration_ns.max(0)) as u64,
            status: if is_error { StatusCode::Error } else { StatusCode::Unset },
            attributes: run.attributes,
            ..Span::default()
        };
        let position = self.push(span, id, NativeSpanIds { span: id, parent: NativeId::default() });
        match (dropped, time) {
            (None, Ok(time_ns)) => self.keep_run(position, run, &in_run, (time_ns, is_error)),
            (reason, _) => {
                let reason = reason.unwrap_or(DropReason::InvalidTime);
                self.dropped_runs.insert(id, reason);
                self.out.rows.dropped.push(Dropped { record: position, reason });
            }
        }
        for span in run.spans.of(&self.report.spans) {
            self.span(span, &in_run);
        }
    }

    /// A successful health check without an exception. WIRE 8.6.
    fn is_healthy_check(&self, run: &Run<'_>) -> bool {
        let Some(checks) = &self.context.settings.healthchecks else { return false };
        let (method, path) = run.name.split_once(' ').unwrap_or_default();
        let request = HttpRequest { method, path, status: run.status, ..HttpRequest::default() };
        !run.is_task && checks.is_healthy(&request) && !self.failed.contains(&run.id)
    }

    fn keep_run(&mut self, position: u32, run: &Run<'a>, in_run: &RunContext, (time_ns, is_error): (i64, bool)) {
        let kind = if run.is_task { EntityKind::Task } else { EntityKind::Endpoint };
        let kept = self.out.rows.spans.len() as u32;
        let http_status = if run.is_task { 0 } else { run.status };
        let promoted = Promoted { endpoint: !run.is_task, task: run.is_task, ..Promoted::default() };
        self.out.rows.spans.push(KeptSpan {
            http_status,
            promoted,
            is_error,
            ..self.kept(position, time_ns, run.duration_ns, in_run.weight)
        });
        self.entities.insert(in_run.id, self.out.rows.entities.len());
        let is_stream = Attributes(run.attributes.of(&self.report.attributes)).get("traceway.is_stream");
        self.out.rows.entities.push(Entity {
            kind,
            span: position,
            kept,
            row_id: RowId(in_run.id.0),
            // SPEC endpoint naming, rule 4: every 404 of a native report.
            name: if !run.is_task && run.status == 404 { UNMATCHED } else { run.name },
            status_code: http_status,
            is_root: true,
            is_stream: matches!(is_stream, Some(AnyValue::Str("true") | AnyValue::Bool(true))),
            is_error,
            client_ip: run.client_ip,
            body_size: run.body_size,
            linked_trace: TraceId::default(),
        });
    }

    fn kept(&self, span: u32, start_ns: i64, duration_ns: i64, weight: f64) -> KeptSpan<'a> {
        KeptSpan {
            span,
            start_ns,
            duration_ns: duration_ns.max(0),
            server_name: self.report.server_name,
            app_version: self.report.app_version,
            promoted: Promoted::default(),
            http_status: 0,
            weight,
            peer: None,
            is_error: false,
        }
    }

    fn span(&mut self, span: &RunSpan<'a>, in_run: &RunContext) {
        let id = match span.id.is_none() {
            false => span.id,
            true => NativeId(self.derived(Derived::Span, in_run.id, span.time_ns, span.name).0),
        };
        let parent = if span.parent.is_none() { in_run.id } else { span.parent };
        let time = self.time(span.time_ns);
        let start_ns = span.time_ns.max(0);
        let row = Span {
            trace_id: in_run.trace_id,
            span_id: span_id_of(id),
            parent_span_id: span_id_of(parent),
            name: span.name,
            kind: SpanKind::Internal,
            start_ns: start_ns as u64,
            end_ns: start_ns.saturating_add(span.duration_ns.max(0)) as u64,
            attributes: span.attributes,
            ..Span::default()
        };
        let position = self.push(row, id, NativeSpanIds { span: id, parent });
        match in_run.dropped.map_or(time, Err) {
            Ok(time_ns) => {
                let kept = self.kept(position, time_ns, span.duration_ns, in_run.weight);
                self.out.rows.spans.push(kept);
            }
            Err(reason) => self.out.rows.dropped.push(Dropped { record: position, reason }),
        }
    }

    fn exception(&mut self, exception: &ReportedException<'a>) {
        let trace_id = trace_of(exception.trace_id, exception.run);
        let row_id = self.derived(Derived::Exception, exception.run, exception.time_ns, exception.stack_trace);
        let attributes = self.exception_attributes(exception);
        let span = Span {
            trace_id,
            span_id: span_id_of(exception.run),
            start_ns: exception.time_ns.max(0) as u64,
            attributes,
            ..Span::default()
        };
        let ids = NativeSpanIds { span: exception.run, parent: NativeId::default() };
        let position = self.push(span, NativeId(row_id.0), ids);
        let time = self.time(exception.time_ns);
        let weight = if trace_id.is_none() { Some(1.0) } else { self.weight(trace_id, !exception.is_message) };
        let weight = match self.dropped_runs.get(&exception.run) {
            Some(DropReason::Sampled) => None,
            _ => weight,
        };
        let (time_ns, weight) = match (time, weight) {
            (Ok(time_ns), Some(weight)) => (time_ns, weight),
            (Ok(_), None) => {
                self.out.rows.dropped.push(Dropped { record: position, reason: DropReason::Sampled });
                return;
            }
            (Err(reason), _) => {
                self.out.rows.dropped.push(Dropped { record: position, reason });
                return;
            }
        };
        let text = self.text(exception, attributes);
        let (group, group_version) = match exception.is_message {
            true => (message_group(text.stack_trace), self.enrichment.grouping.newest().version),
            false => {
                let origin = Origin {
                    resource: self.out.traces.attributes(self.out.traces.resources[0].attributes),
                    record: self.out.traces.attributes(attributes),
                    ..Origin::default()
                };
                self.enrichment.group(&RuledException {
                    input: text.occurrence(origin, origin.record, "", self.arena),
                    service: self.report.server_name,
                    version: self.report.app_version,
                    event: Attributes::default(),
                    origin,
                })
            }
        };
        let owner = match self.entities.get(&exception.run) {
            Some(entity) => {
                let Entity { kind, name, .. } = self.out.rows.entities[*entity];
                Owner::Known { kind, name, span_id: span_id_of(exception.run) }
            }
            None if exception.run.is_none() => Owner::None,
            None => Owner::Above(span_id_of(exception.run)),
        };
        if !exception.recording.is_empty() {
            let own = Attributes(exception.attributes.of(&self.report.attributes));
            self.recorded.insert(exception.recording, (row_id, session::facts(own).user_id));
        }
        let event_attributes = self.event_attributes(exception);
        self.out.rows.exceptions.push(Exception {
            span: position,
            row_id,
            time_ns,
            group,
            group_version,
            exception_type: text.exception_type,
            message: text.message,
            stack_trace: text.stack_trace,
            build: text.build,
            event_attributes,
            server_name: self.report.server_name,
            app_version: self.report.app_version,
            owner,
            weight,
            is_message: exception.is_message,
            session: exception.session,
        });
    }

    /// The exception's attributes, and its session and debug ids as attributes of OpenTelemetry.
    fn exception_attributes(&mut self, exception: &ReportedException<'a>) -> Slice {
        if exception.session.is_none() && exception.debug_ids.is_empty() {
            return exception.attributes;
        }
        let own = exception.attributes.of(&self.report.attributes).iter().copied();
        let session = (!exception.session.is_none()).then(|| {
            let id = uuid::Uuid::from_bytes(exception.session.0).hyphenated();
            let id = bumpalo::format!(in self.arena, "{}", id).into_bump_str();
            KeyValue { key: "session.id", value: AnyValue::Str(id) }
        });
        let debug_ids = (!exception.debug_ids.is_empty()).then(|| {
            let ids = self.arena.alloc_slice_copy(exception.debug_ids.of(&self.report.attributes));
            KeyValue { key: "app.debug.source_map_uuids", value: AnyValue::Map(ids) }
        });
        append(&mut self.out.traces.attributes, own.chain(session).chain(debug_ids))
    }

    /// The attributes of an OpenTelemetry exception event: the stack trace as received and its language, from which it is
    /// symbolicated again when symbols are uploaded later. DECISIONS 14. A message has none.
    fn event_attributes(&mut self, exception: &ReportedException<'a>) -> Slice {
        let stack_trace = exception.stack_trace.trim();
        if exception.is_message {
            return Slice::default();
        }
        let (exception_type, message) = header(stack_trace);
        let pairs = [
            ("exception.type", exception_type),
            ("exception.message", message),
            ("exception.stacktrace", stack_trace),
            ("telemetry.sdk.language", self.context.settings.framework.language()),
        ];
        let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        let pairs = pairs.map(|(key, value)| KeyValue { key, value: AnyValue::Str(value) });
        append(&mut self.out.traces.attributes, pairs)
    }

    /// Type, message and stack trace, symbolicated. A message stays as it is.
    fn text(&self, exception: &ReportedException<'a>, attributes: Slice) -> ExceptionText<'a> {
        let stack_trace = exception.stack_trace.trim();
        if exception.is_message {
            return ExceptionText { exception_type: "", message: stack_trace, stack_trace, build: None };
        }
        let (exception_type, message) = header(stack_trace);
        let stack_trace = if stack_trace.is_empty() { "unknown exception" } else { stack_trace };
        let raw = ExceptionText { exception_type, message, stack_trace, build: None };
        let record = self.out.traces.attributes(attributes);
        let resource = self.out.traces.attributes(self.out.traces.resources[0].attributes);
        let origin = Origin { resource, scope_name: "", scope: Attributes::default(), record };
        raw.symbolicated(self.enrichment.symbols, origin, record, self.arena)
    }

    fn push(&mut self, span: Span<'a>, record: NativeId, ids: NativeSpanIds) -> u32 {
        let position = self.out.traces.spans.len() as u32;
        self.out.traces.spans.push(span);
        self.out.records.push(record);
        self.out.rows.native_ids.push(ids);
        position
    }

    /// Values as gauges of one scope. Their tags get `server_name`: WIRE 1.2.
    fn metrics(&mut self) {
        let batch = &mut self.out.metrics;
        let resource = self.out.traces.resources[0].attributes.of(&self.out.traces.attributes);
        let resource = append(&mut batch.attributes, resource.iter().copied());
        batch.resources.push(Resource { attributes: resource, ..Resource::default() });
        batch.scopes.push(Scope::default());
        for metric in &self.report.metrics {
            let tags = metric.tags.of(&self.report.attributes).iter().copied();
            let attributes = append(&mut batch.attributes, tags);
            let start = batch.points.len() as u32;
            self.out.is_untimed |= metric.time_ns == 0;
            batch.points.push(Point {
                attributes,
                // A time before 1970 becomes one that does not fit, and is dropped as such.
                time_ns: u64::try_from(metric.time_ns).unwrap_or(u64::MAX),
                data: match metric.int_value {
                    Some(integer) => PointData::Int(integer),
                    None => PointData::Double(metric.value),
                },
                ..Point::default()
            });
            let points = Slice { start, end: start + 1 };
            batch.metrics.push(Metric { name: metric.name, kind: MetricKind::Gauge, points, ..Metric::default() });
        }
        self.out.metric_rows = metrics(batch, self.context, self.arena);
    }
}

/// The trace of an item: `distributedTraceId`, else the run's id. WIRE 1.3, 1.4.
fn trace_of(distributed: NativeId, run: NativeId) -> TraceId {
    trace_id_of(if distributed.is_none() { run } else { distributed })
}

/// Type and message of the first line. A line without `Type: ` is a message: WIRE 4.4.
fn header(stack_trace: &str) -> (&str, &str) {
    let line = stack_trace.lines().next().unwrap_or("").trim_end();
    match line.split_once(": ") {
        Some((exception_type, message)) if !exception_type.contains(char::is_whitespace) => (exception_type, message),
        _ => match line.strip_suffix(':').unwrap_or(line) {
            word if !word.contains(char::is_whitespace) => (word, ""),
            _ => ("", line),
        },
    }
}

#[cfg(test)]
mod tests;
