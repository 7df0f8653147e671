//! AI Traces of one request that belong together: usage that is repeated, and users that spans above name. DECISIONS 32.

use std::collections::HashMap;

use bumpalo::Bump;
use xxhash_rust::xxh3::Xxh3Builder;

use super::TraceProjection;
use crate::model::{Span, SpanId, TraceBatch, TraceId};
use crate::rules::ai_trace::usage::{self, UsageSpan};

/// Spans above an AI Trace that may name its user and conversation.
const INHERITED_FROM_MAX: usize = 64;

/// Marks the AI Traces that repeat the usage of others of the request. Those that earlier and later requests bring are
/// compared in the store. `times`: start and duration of a span, nanoseconds.
pub(super) fn mark<'a>(
    batch: &TraceBatch<'a>,
    times: impl Fn(&Span<'a>) -> (i64, i64),
    rows: &mut TraceProjection<'a>,
    arena: &'a Bump,
) {
    if rows.ai_traces.len() < 2 {
        return;
    }
    let spans = &batch.spans;
    let mut counts: HashMap<TraceId, u32, Xxh3Builder> = HashMap::default();
    for ai in &rows.ai_traces {
        *counts.entry(spans[ai.span as usize].trace_id).or_default() += 1;
    }
    // The only one of its trace repeats none of the request.
    let several = counts.into_iter().filter(|(_, count)| *count > 1);
    let mut by_trace: HashMap<TraceId, Vec<u32>, Xxh3Builder> =
        several.map(|(trace_id, _)| (trace_id, Vec::new())).collect();
    if by_trace.is_empty() {
        return;
    }
    for (position, span) in spans.iter().enumerate().filter(|(_, span)| span.invalid.is_none()) {
        if let Some(of_trace) = by_trace.get_mut(&span.trace_id) {
            of_trace.push(position as u32);
        }
    }
    for (trace_id, positions) in by_trace {
        inherit(batch, trace_id, &positions, rows, arena);
        let ai_at = |position: &u32| rows.ai_traces.binary_search_by_key(position, |ai| ai.span).ok();
        let span = |position: &u32| {
            let span = &spans[*position as usize];
            let ai = ai_at(position).map(|index| rows.ai_traces[index].usage());
            let (start_ns, duration_ns) = times(span);
            UsageSpan {
                span_id: span.span_id,
                parent: span.parent_span_id,
                start_ns,
                end_ns: start_ns.saturating_add(duration_ns),
                ai,
            }
        };
        let of_trace: Vec<UsageSpan> = positions.iter().map(span).collect();
        let repeats = usage::repeats(&of_trace);
        let repeating = positions.iter().zip(repeats).filter(|(_, repeats)| *repeats);
        let indexes: Vec<usize> = repeating.filter_map(|(position, _)| ai_at(position)).collect();
        indexes.into_iter().for_each(|index| rows.ai_traces[index].repeats_usage = true);
    }
}

/// Gives the AI Traces of a trace that name no user or conversation those of the nearest AI Trace above in the request:
/// frameworks name them on the run of an agent, and the calls below carry the usage.
fn inherit<'a>(
    batch: &TraceBatch<'a>,
    trace_id: TraceId,
    positions: &[u32],
    rows: &mut TraceProjection<'a>,
    arena: &'a Bump,
) {
    let spans = &batch.spans;
    let of_trace = bumpalo::format!(in arena, "{}", trace_id).into_bump_str();
    let parents: HashMap<SpanId, u32, Xxh3Builder> =
        positions.iter().map(|position| (spans[*position as usize].span_id, *position)).collect();
    for position in positions {
        let Ok(index) = rows.ai_traces.binary_search_by_key(position, |ai| ai.span) else { continue };
        let own = rows.ai_traces[index];
        let (mut user, mut conversation) =
            (own.user_id, Some(own.conversation_id).filter(|conversation| *conversation != of_trace));
        let mut above = spans[*position as usize].parent_span_id;
        for _ in 0..INHERITED_FROM_MAX {
            if (user.is_some() && conversation.is_some()) || above.is_none() {
                break;
            }
            let Some(parent) = parents.get(&above) else { break };
            if let Ok(ai) = rows.ai_traces.binary_search_by_key(parent, |ai| ai.span) {
                let ai = rows.ai_traces[ai];
                user = user.or(ai.user_id);
                conversation = conversation.or(Some(ai.conversation_id).filter(|id| *id != of_trace));
            }
            above = spans[*parent as usize].parent_span_id;
        }
        let row = &mut rows.ai_traces[index];
        (row.user_id, row.conversation_id) = (user, conversation.unwrap_or(of_trace));
    }
}
