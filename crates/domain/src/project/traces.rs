//! Projects spans into rows: classification, entity rows, then Issues.

use std::cell::OnceCell;

use bumpalo::Bump;

use super::nested_exceptions;
use super::{
    AiTrace, DropReason, Dropped, Enrichment, Entity, EntityKind, Exception, IngestSettings, KeptSpan, Owner,
    ProjectContext, Promoted, TraceProjection, ai_usage, healthchecks,
};
use crate::grouping::Occurrence;
use crate::model::{Attributes, NativeId, Span, StatusCode, TraceBatch, TraceId};
use crate::rules::ai_trace::{self, Flag, Flagged, ModelCall};
use crate::rules::classify::{Class, classify};
use crate::rules::client_sampling::{attributes_weight, trace_state_weight};
use crate::rules::content_terms;
use crate::rules::edge_platform::Process;
use crate::rules::endpoint_name::endpoint_name;
use crate::rules::entry_point::is_entry_point;
use crate::rules::exception::{ExceptionText, Origin, exceptions_of, has_exception_event};
use crate::rules::grouping_rules::RuledException;
use crate::rules::http::{HttpRequest, is_message_of_a_stream};
use crate::rules::owner::{End, Owners};
use crate::rules::peer::peer;
use crate::rules::record_time::{record_time, storable_time};
use crate::rules::row_id::{entity_row_id, exception_row_id};
use crate::rules::sampling::{combined, sample};
use crate::rules::span_facts::{FactsReader, SpanFacts};
use crate::rules::span_index::SpanIndex;

/// Projects spans into rows, with the built-in prices and without symbolication.
pub fn traces<'a>(batch: &TraceBatch<'a>, context: &ProjectContext, arena: &'a Bump) -> TraceProjection<'a> {
    traces_with(batch, context, Enrichment::default(), arena)
}

/// Like [`traces`], with the given enrichment.
pub fn traces_with<'a>(
    batch: &TraceBatch<'a>,
    context: &ProjectContext,
    enrichment: Enrichment<'_>,
    arena: &'a Bump,
) -> TraceProjection<'a> {
    let facts = facts_of(batch);
    let processes =
        batch.resources.iter().map(|resource| Process::read(batch.attributes(resource.attributes))).collect();
    let projector = Projector { batch, context, enrichment, arena, facts, processes, index: OnceCell::new() };
    projector.run()
}

/// The facts of every span.
fn facts_of(batch: &TraceBatch<'_>) -> Vec<SpanFacts> {
    let mut reader = FactsReader::new(&batch.attributes);
    let mut facts = Vec::with_capacity(batch.spans.len());
    for span in &batch.spans {
        reader.read(span.attributes, span.layout, &mut facts);
        if let (false, Some(facts)) = (span.events.is_empty(), facts.last_mut()) {
            facts.exception_event = has_exception_event(span.events.of(&batch.events));
        }
    }
    facts
}

struct Projector<'b, 'a> {
    batch: &'b TraceBatch<'a>,
    context: &'b ProjectContext,
    enrichment: Enrichment<'b>,
    arena: &'a Bump,
    /// By span.
    facts: Vec<SpanFacts>,
    /// By resource block.
    processes: Vec<Process<'a>>,
    /// Built on the first look-up of a parent.
    index: OnceCell<SpanIndex<'b, 'a>>,
}

/// Initial capacity for Endpoints and Tasks.
const ENTITIES_CAPACITY: usize = 128;

/// A valid span in the sample.
#[derive(Clone, Copy)]
struct Accepted<'b, 'a> {
    position: u32,
    span: &'b Span<'a>,
    facts: SpanFacts,
    process: &'b Process<'a>,
    /// See [`KeptSpan::weight`].
    weight: f64,
}

impl<'b, 'a> Projector<'b, 'a> {
    fn run(&self) -> TraceProjection<'a> {
        let spans = &self.batch.spans;
        let mut rows = TraceProjection {
            spans: Vec::with_capacity(spans.len()),
            entities: Vec::with_capacity(spans.len().min(ENTITIES_CAPACITY)),
            ..TraceProjection::default()
        };
        let sampler = Sampler::new(self.batch, &self.facts, &self.context.settings);
        let in_healthy_check = self.in_healthy_check();
        let mut with_exceptions = Vec::new();
        for (position, span) in spans.iter().enumerate() {
            let record = position as u32;
            if let Some(invalid) = span.invalid {
                rows.dropped.push(Dropped { record, reason: DropReason::InvalidId });
                rows.rejected.push((record, invalid));
                continue;
            }
            if let Err(reason) = self.check_times(span) {
                rows.dropped.push(Dropped { record, reason });
                continue;
            }
            let facts = self.facts[position];
            let class = self.class(span, &facts);
            if !self.context.settings.ai_conventions && self.is_other_ai(span, &facts) {
                rows.other_ai += 1;
            }
            let weight = sampler.weight(span.trace_id).map(|weight| self.weighted(weight, span, &facts));
            if let Some(weight) = weight
                && (facts.exception || facts.exception_event)
            {
                with_exceptions.push((record, weight));
            }
            let is_healthy_check = in_healthy_check.get(position).copied().unwrap_or_default();
            match (class, weight) {
                (Class::Dropped(reason), _) => rows.dropped.push(Dropped { record, reason }),
                (Class::Kept(_), _) if is_healthy_check => {
                    rows.dropped.push(Dropped { record, reason: DropReason::Healthcheck });
                }
                (Class::Kept(_), None) => rows.dropped.push(Dropped { record, reason: DropReason::Sampled }),
                (Class::Kept(promoted), Some(weight)) => {
                    let process = self.process(span);
                    self.keep(&Accepted { position: record, span, facts, process, weight }, promoted, &mut rows);
                }
            }
        }
        ai_usage::mark(self.batch, |span| times(span, self.context.received_ns), &mut rows, self.arena);
        self.exceptions(&with_exceptions, &mut rows);
        rows
    }

    /// The weight of the span's rows. `server`: the weight of its trace in the project's sample.
    #[inline]
    fn weighted(&self, server: f64, span: &Span<'a>, facts: &SpanFacts) -> f64 {
        if span.trace_state.is_empty() && !facts.sampling {
            return server;
        }
        let by_attributes = if facts.sampling { attributes_weight(self.batch.span_attributes(span).0) } else { 1.0 };
        combined(server, trace_state_weight(span.trace_state).max(by_attributes))
    }

    /// Whether the span's times can be stored. DECISIONS 25.
    fn check_times(&self, span: &Span<'_>) -> Result<(), DropReason> {
        storable_time(span.end_ns).ok_or(DropReason::InvalidTime)?;
        record_time(&[span.start_ns], self.context.received_ns, self.context.settings.oldest_ns).map(drop)
    }

    /// The attributes and names that symbolication and build detection need.
    fn origin(&self, span: &Span<'a>) -> Origin<'b, 'a> {
        let resource = self.batch.resources.get(span.resource as usize).map(|resource| resource.attributes);
        let scope = self.batch.scopes.get(span.scope as usize);
        Origin {
            resource: self.batch.attributes(resource.unwrap_or_default()),
            scope_name: scope.map_or("", |scope| scope.name),
            scope: self.batch.attributes(scope.map(|scope| scope.attributes).unwrap_or_default()),
            record: self.batch.span_attributes(span),
        }
    }

    fn process(&self, span: &Span<'_>) -> &Process<'a> {
        &self.processes[span.resource as usize]
    }

    fn index(&self) -> &SpanIndex<'b, 'a> {
        self.index.get_or_init(|| SpanIndex::new(self.batch))
    }

    fn class(&self, span: &Span<'_>, facts: &SpanFacts) -> Class {
        let as_ai;
        let facts = match facts.ai_marker != 0 && self.context.settings.ai_conventions && self.is_other_ai(span, facts)
        {
            true => {
                as_ai = SpanFacts { gen_ai: true, ..*facts };
                &as_ai
            }
            false => facts,
        };
        let is_root = span.parent_span_id.is_none();
        let entry_point = || is_root || is_entry_point(self.batch, &self.facts, self.index(), span);
        match classify(span.kind, facts, is_root, entry_point) {
            Class::Kept(promoted) if self.context.settings.framework.is_front_end() => {
                Class::Kept(Promoted { endpoint: false, task: false, ..promoted })
            }
            Class::Dropped(DropReason::UnmatchedRoot) if self.context.settings.keep_unmatched_roots => {
                Class::Kept(Promoted::default())
            }
            class => class,
        }
    }

    fn is_other_ai(&self, span: &Span<'_>, facts: &SpanFacts) -> bool {
        facts.ai_marker != 0 && facts.is_other_ai(self.batch.span_attributes(span).0)
    }

    /// Whether each span belongs to a successful health check. Empty when there are none.
    fn in_healthy_check(&self) -> Vec<bool> {
        let Some(checks) = &self.context.settings.healthchecks else { return Vec::new() };
        let is_endpoint = |position: usize| {
            let class = self.class(&self.batch.spans[position], &self.facts[position]);
            matches!(class, Class::Kept(promoted) if promoted.endpoint)
        };
        healthchecks::healthy(checks, self.batch, &self.facts, || self.index(), is_endpoint)
    }

    fn keep(&self, accepted: &Accepted<'_, 'a>, promoted: Promoted, rows: &mut TraceProjection<'a>) {
        let Accepted { position, span, facts, process, weight } = *accepted;
        let attributes = self.batch.span_attributes(span).0;
        let kept = rows.spans.len() as u32;
        let (start_ns, duration_ns) = times(span, self.context.received_ns);
        rows.spans.push(KeptSpan {
            span: position,
            start_ns,
            duration_ns,
            server_name: process.server_name,
            app_version: process.app_version(facts.script_version(attributes)),
            promoted,
            http_status: facts.http_status,
            weight,
            peer: peer(span.kind, attributes, self.arena),
            is_error: is_failed_call(span, &facts),
        });
        if promoted.endpoint {
            rows.entities.push(self.endpoint(accepted, kept));
        }
        if promoted.task {
            rows.entities.push(self.task(accepted, kept));
        }
        if promoted.ai_trace {
            rows.ai_traces.push(self.ai_trace(accepted, kept, start_ns));
        }
    }

    fn endpoint(&self, accepted: &Accepted<'_, 'a>, kept: u32) -> Entity<'a> {
        let request = HttpRequest::read(self.batch.span_attributes(accepted.span).0);
        let name = endpoint_name(&request, accepted.span.name, self.arena);
        Entity {
            kind: EntityKind::Endpoint,
            name: name.name,
            status_code: name.status,
            is_stream: request.is_stream || self.has_messages_of_a_stream(accepted.span),
            client_ip: request.client_address,
            body_size: request.body_size,
            linked_trace: accepted.facts.linked_trace(self.batch.span_attributes(accepted.span).0),
            ..self.task(accepted, kept)
        }
    }

    fn has_messages_of_a_stream(&self, span: &Span<'a>) -> bool {
        let events = span.events.of(&self.batch.events);
        events.iter().any(|event| is_message_of_a_stream(event.name, self.batch.attributes(event.attributes)))
    }

    fn task(&self, accepted: &Accepted<'_, 'a>, kept: u32) -> Entity<'a> {
        let span = accepted.span;
        Entity {
            kind: EntityKind::Task,
            span: accepted.position,
            kept,
            row_id: entity_row_id(self.context.project, span.trace_id, span.span_id),
            name: span.name,
            status_code: 0,
            is_root: span.parent_span_id.is_none(),
            is_stream: false,
            is_error: is_error(span, &accepted.facts),
            client_ip: "",
            body_size: 0,
            linked_trace: TraceId::default(),
        }
    }

    fn ai_trace(&self, accepted: &Accepted<'_, 'a>, kept: u32, start_ns: i64) -> AiTrace<'a> {
        let Accepted { span, process, .. } = *accepted;
        let attributes = self.batch.span_attributes(span).0;
        let call = ModelCall::read(attributes, self.arena);
        let (cost, cost_estimated) = call.cost(self.enrichment.prices, start_ns);
        let session = Some(process.session_id).filter(|id| !id.trim().is_empty());
        let conversation_id = call.conversation_id.or(session);
        let flagged = Flagged {
            operation: call.operation,
            finish_reason: call.finish_reason,
            output_tokens: call.tokens.output,
            tool_call_count: call.tool_call_count,
            is_error: is_error(span, &accepted.facts),
        };
        let mut flags = ai_trace::flags(flagged, Attributes(attributes));
        let events = || {
            let events = span.events.of(&self.batch.events).iter();
            events.map(|event| (event.name, self.batch.attributes(event.attributes)))
        };
        let flagged_terms = self.context.settings.content_terms.as_ref().and_then(|terms| {
            let conversation = ai_trace::conversation(Attributes(attributes), events());
            Some(terms.of_conversation(&conversation)).filter(|found| !found.is_empty())
        });
        if flagged_terms.is_some() {
            flags.set(Flag::FlaggedContent);
        }
        AiTrace {
            span: accepted.position,
            kept,
            row_id: entity_row_id(self.context.project, span.trace_id, span.span_id),
            name: call.name.unwrap_or(span.name),
            is_root: span.parent_span_id.is_none(),
            is_error: is_error(span, &accepted.facts),
            model: call.model,
            response_model: call.response_model,
            provider: call.provider,
            operation: call.operation,
            input_tokens: call.tokens.input,
            output_tokens: call.tokens.output,
            total_tokens: call.total_tokens,
            cached_tokens: call.tokens.cached,
            reasoning_tokens: call.tokens.reasoning,
            cache_write_tokens: call.tokens.cache_write,
            input_cost: cost.input,
            output_cost: cost.output,
            total_cost: cost.total,
            cost_estimated,
            finish_reason: call.finish_reason,
            user_id: call.user_id,
            conversation_id: conversation_id
                .unwrap_or_else(|| bumpalo::format!(in self.arena, "{}", span.trace_id).into_bump_str()),
            tool_call_count: call.tool_call_count,
            flags,
            has_event_messages: ai_trace::has_messages(events()),
            flagged_terms: flagged_terms.map(|found| &*self.arena.alloc_str(&content_terms::joined(&found))),
            call_id: call.call_id,
            repeats_usage: false,
        }
    }

    /// Projects exceptions after all spans, because an owner may be anywhere in the request. The span of an exception
    /// may be a dropped root (SPEC rule 3).
    fn exceptions(&self, spans: &[(u32, f64)], rows: &mut TraceProjection<'a>) {
        if spans.is_empty() {
            return;
        }
        let mut owners = Owners::new(self.batch, self.index());
        let first = rows.exceptions.len();
        let mut occurrences: Vec<Occurrence<'a>> = Vec::with_capacity(spans.len());
        for (position, weight) in spans {
            let span = &self.batch.spans[*position as usize];
            let facts = &self.facts[*position as usize];
            let entity_at = |position: u32| rows.entities.binary_search_by_key(&position, |entity| entity.span).ok();
            let owner = match owners.end(*position, |span| entity_at(span).is_some()) {
                End::None => Owner::None,
                End::Above(span_id) => Owner::Above(span_id),
                End::Entity(position) => {
                    entity_at(position).map_or(Owner::None, |index| known_owner(&rows.entities[index], self.batch))
                }
            };
            let process = self.process(span);
            let (start_ns, _) = times(span, self.context.received_ns);
            for found in exceptions_of(self.batch, span, facts) {
                let attributes = self.batch.attributes(found.attributes);
                let text = ExceptionText::read(attributes, self.arena);
                let text = text.symbolicated(self.enrichment.symbols, self.origin(span), attributes, self.arena);
                let app_version = process.app_version(facts.script_version(self.batch.span_attributes(span).0));
                let occurrence = text.occurrence(self.origin(span), attributes, span.name, self.arena);
                occurrences.push(occurrence);
                let (group, group_version) = self.enrichment.group(&RuledException {
                    input: occurrence,
                    service: process.server_name,
                    version: app_version,
                    event: if found.from_event { attributes } else { Attributes::default() },
                    origin: self.origin(span),
                });
                rows.exceptions.push(Exception {
                    span: *position,
                    row_id: exception_row_id(self.context.project, span.trace_id, span.span_id, found.event_index),
                    // An event without a storable time gets the start of its span.
                    time_ns: storable_time(found.time_ns).filter(|time| *time != 0).unwrap_or(start_ns),
                    group,
                    group_version,
                    exception_type: text.exception_type,
                    message: text.message,
                    stack_trace: text.stack_trace,
                    build: text.build,
                    event_attributes: if found.from_event { found.attributes } else { Default::default() },
                    server_name: process.server_name,
                    app_version,
                    owner,
                    weight: *weight,
                    is_message: false,
                    session: NativeId::default(),
                });
            }
        }
        if let Some(exceptions @ [_, _, ..]) = rows.exceptions.get_mut(first..) {
            nested_exceptions::join(self.batch, self.index(), exceptions, &occurrences);
        }
    }
}

fn known_owner<'a>(entity: &Entity<'a>, batch: &TraceBatch<'a>) -> Owner<'a> {
    Owner::Known { kind: entity.kind, name: entity.name, span_id: batch.spans[entity.span as usize].span_id }
}

fn nanoseconds(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

/// Start and duration in nanoseconds. A span without a start gets the receive time; one that ends before its start gets
/// duration 0.
fn times(span: &Span<'_>, received_ns: i64) -> (i64, i64) {
    match span.start_ns {
        0 => (received_ns, 0),
        start => (nanoseconds(start), nanoseconds(span.end_ns.saturating_sub(start))),
    }
}

fn is_error(span: &Span<'_>, facts: &SpanFacts) -> bool {
    span.status == StatusCode::Error || facts.http_status >= 500
}

/// Whether the call that a span makes or serves failed. The HTTP status decides alike for both sides: HTTP clients set
/// the error status for 400 to 499 too, where the callee refused as it should. docs/use/services.md.
fn is_failed_call(span: &Span<'_>, facts: &SpanFacts) -> bool {
    is_error(span, facts) && !(400..500).contains(&facts.http_status)
}

/// Sampling by trace. DECISIONS 13: a trace is an error trace when any span in the request is an error or has an
/// exception.
struct Sampler<'s> {
    settings: &'s IngestSettings,
    /// Ascending. Empty when both rates are equal.
    error_traces: Vec<TraceId>,
}

impl<'s> Sampler<'s> {
    fn new(batch: &TraceBatch<'_>, facts: &[SpanFacts], settings: &'s IngestSettings) -> Self {
        let mut error_traces = Vec::new();
        if settings.sample_rate != settings.error_sample_rate {
            let errors = batch.spans.iter().zip(facts).filter(|(span, facts)| {
                span.invalid.is_none() && (is_error(span, facts) || facts.exception || facts.exception_event)
            });
            error_traces.extend(errors.map(|(span, _)| span.trace_id));
            error_traces.sort_unstable();
            error_traces.dedup();
        }
        Sampler { settings, error_traces }
    }

    /// The weight of the trace's rows; `None` when the trace is not in the sample.
    fn weight(&self, trace_id: TraceId) -> Option<f64> {
        let is_error = self.error_traces.binary_search(&trace_id).is_ok();
        sample(trace_id, if is_error { self.settings.error_sample_rate } else { self.settings.sample_rate })
    }
}
