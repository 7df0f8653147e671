//! Rows of AI Traces whose usage repeats that of others. DECISIONS 32; docs/decisions/0021.
//!
//! Frameworks write the usage of a model call again on the spans above it: on the run of the agent, on the workflow, on
//! the call of another library that wraps the first. Only the lowest span counts:
//!
//! 1. An AI span with an AI span below it that carries usage repeats that. Spans of other kinds may be between both. A run
//!    of a tool repeats only if it carries usage itself: that a model used another model is a run all the same.
//! 2. Of the remaining AI spans with the same response id, or runs of a tool with the same id of the tool call, one inside
//!    the other in time, the innermost counts.
//!
//! The result depends on the set of spans, never on their order.

use std::collections::HashMap;

use xxhash_rust::xxh3::{Xxh3Builder, xxh3_64};

use super::EXECUTE_TOOL;
use crate::model::SpanId;

/// Spans above a span that are considered.
const ANCESTORS_MAX: usize = 1_000;

/// A span of one trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageSpan {
    /// The span.
    pub span_id: SpanId,
    /// Its parent; zeros for a root.
    pub parent: SpanId,
    /// Start, nanoseconds since the epoch.
    pub start_ns: i64,
    /// End, nanoseconds since the epoch.
    pub end_ns: i64,
    /// `None` for a span that is no AI Trace.
    pub ai: Option<AiUsage>,
}

/// The part of an AI Trace that decides whether it repeats others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AiUsage {
    /// Whether it has tokens or a cost.
    pub has_usage: bool,
    /// Whether it is a run of a tool.
    pub is_tool: bool,
    /// Hash of the id of the response, or of the tool call.
    pub call: Option<u64>,
}

impl AiUsage {
    /// Of an AI Trace with this operation and id of its call.
    pub fn new(has_usage: bool, operation: Option<&str>, call_id: Option<&str>) -> AiUsage {
        let call = call_id.filter(|id| !id.is_empty()).map(|id| xxh3_64(id.as_bytes()));
        AiUsage { has_usage, is_tool: operation == Some(EXECUTE_TOOL), call }
    }
}

/// Whether each span of a trace repeats the usage of others, by index.
pub fn repeats(spans: &[UsageSpan]) -> Vec<bool> {
    let mut repeats = has_usage_below(spans);
    for (repeats, span) in repeats.iter_mut().zip(spans) {
        *repeats &= span.ai.is_some_and(|ai| ai.has_usage || !ai.is_tool);
    }
    for (_, mut same) in by_call(spans) {
        same.retain(|&index| !repeats[index]);
        let (used, unused): (Vec<usize>, Vec<usize>) =
            same.into_iter().partition(|&index| spans[index].ai.is_some_and(|ai| ai.has_usage));
        keep_innermost(spans, used.clone(), &mut repeats);
        // A run without usage repeats one that has it, whichever is inside: the usage counts.
        let is_inside =
            |one: &UsageSpan, other: &UsageSpan| other.start_ns <= one.start_ns && one.end_ns <= other.end_ns;
        let (said, alone): (Vec<usize>, Vec<usize>) = unused.into_iter().partition(|&index| {
            let (own, mut used) = (&spans[index], used.iter().map(|&index| &spans[index]));
            used.any(|used| is_inside(own, used) || is_inside(used, own))
        });
        said.into_iter().for_each(|index| repeats[index] = true);
        keep_innermost(spans, alone, &mut repeats);
    }
    repeats
}

/// Marks the spans that have another one inside of them in time.
fn keep_innermost(spans: &[UsageSpan], mut same: Vec<usize>, repeats: &mut [bool]) {
    // Whatever follows a span in this order starts inside of it.
    same.sort_unstable_by_key(|&index| {
        let span = &spans[index];
        (span.start_ns, std::cmp::Reverse(span.end_ns), std::cmp::Reverse(span.span_id))
    });
    let mut earliest_end = i64::MAX;
    for index in same.into_iter().rev() {
        repeats[index] |= earliest_end <= spans[index].end_ns;
        earliest_end = earliest_end.min(spans[index].end_ns);
    }
}

/// Whether an AI span that carries usage is below each span.
fn has_usage_below(spans: &[UsageSpan]) -> Vec<bool> {
    let mut by_id: HashMap<SpanId, usize, Xxh3Builder> = HashMap::default();
    for (index, span) in spans.iter().enumerate() {
        by_id.entry(span.span_id).or_insert(index);
    }
    let mut below = vec![false; spans.len()];
    for span in spans.iter().filter(|span| span.ai.is_some_and(|ai| ai.has_usage)) {
        let mut parent = span.parent;
        for _ in 0..ANCESTORS_MAX {
            let Some(&above) = by_id.get(&parent).filter(|_| !parent.is_none() && parent != span.span_id) else {
                break;
            };
            // All spans above a marked one are marked, as far as they are known.
            if std::mem::replace(&mut below[above], true) {
                break;
            }
            parent = spans[above].parent;
        }
    }
    below
}

/// The spans of each call that has an id, by index.
fn by_call(spans: &[UsageSpan]) -> HashMap<(bool, u64), Vec<usize>, Xxh3Builder> {
    let mut calls: HashMap<(bool, u64), Vec<usize>, Xxh3Builder> = HashMap::default();
    for (index, span) in spans.iter().enumerate() {
        if let Some(AiUsage { has_usage, is_tool, call: Some(id) }) = span.ai
            && (has_usage || is_tool)
        {
            calls.entry((is_tool, id)).or_default().push(index);
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const USED: AiUsage = AiUsage { has_usage: true, is_tool: false, call: None };
    const UNUSED: AiUsage = AiUsage { has_usage: false, ..USED };
    const TOOL: AiUsage = AiUsage { has_usage: false, is_tool: true, call: None };

    fn id(number: u8) -> SpanId {
        SpanId([0, 0, 0, 0, 0, 0, 0, number])
    }

    /// A span with number and parent; it lasts from its start to its end.
    fn span((number, parent): (u8, u8), (start_ns, end_ns): (i64, i64), ai: Option<AiUsage>) -> UsageSpan {
        UsageSpan { span_id: id(number), parent: id(parent), start_ns, end_ns, ai }
    }

    fn call(id: &str) -> Option<AiUsage> {
        Some(AiUsage::new(true, None, Some(id)))
    }

    #[track_caller]
    fn check(what: &str, spans: &[UsageSpan], expected: &[u8]) {
        let found = |spans: &[UsageSpan]| {
            let repeats = repeats(spans);
            let mut found: Vec<u8> =
                spans.iter().zip(repeats).filter(|(_, is)| *is).map(|(span, _)| span.span_id.0[7]).collect();
            found.sort_unstable();
            found
        };
        let backwards: Vec<_> = spans.iter().rev().copied().collect();
        assert_eq!(found(spans), expected, "{what}");
        assert_eq!(found(&backwards), expected, "{what}, backwards");
    }

    // DECISIONS 32.
    #[test]
    fn leaves_table() {
        let t = (0, 9);
        check("an agent without calls counts", &[span((1, 0), t, Some(USED))], &[]);
        check(
            "an agent with two calls repeats them",
            &[span((1, 0), t, Some(USED)), span((2, 1), t, Some(USED)), span((3, 1), t, Some(USED))],
            &[1],
        );
        check(
            "workflow, agent, a span of no kind, a call",
            &[
                span((1, 0), t, Some(USED)),
                span((2, 1), t, Some(USED)),
                span((3, 2), t, None),
                span((4, 3), t, Some(USED)),
            ],
            &[1, 2],
        );
        check(
            "a call that failed leaves the usage to the agent",
            &[span((1, 0), t, Some(USED)), span((2, 1), t, Some(UNUSED))],
            &[],
        );
        check(
            "an agent that states no usage is no call without a price",
            &[span((1, 0), t, Some(UNUSED)), span((2, 1), t, Some(USED))],
            &[1],
        );
        check(
            "a tool that asks a model runs all the same",
            &[span((1, 0), t, Some(TOOL)), span((2, 1), t, Some(USED))],
            &[],
        );
        check(
            "a tool that repeats its model does not count",
            &[span((1, 0), t, Some(AiUsage { has_usage: true, ..TOOL })), span((2, 1), t, Some(USED))],
            &[1],
        );
        check("siblings both count", &[span((1, 9), t, Some(USED)), span((2, 9), t, Some(USED))], &[]);
        check("a circle ends", &[span((1, 2), t, Some(USED)), span((2, 1), t, Some(USED))], &[1, 2]);
        check("its own parent", &[span((1, 1), t, Some(USED))], &[]);
    }

    #[test]
    fn one_response_table() {
        check("one inside the other", &[span((1, 9), (0, 9), call("r")), span((2, 9), (1, 8), call("r"))], &[1]);
        check(
            "three",
            &[span((1, 9), (0, 9), call("r")), span((2, 9), (1, 8), call("r")), span((3, 9), (2, 3), call("r"))],
            &[1, 2],
        );
        check("the same times", &[span((1, 9), (0, 9), call("r")), span((2, 9), (0, 9), call("r"))], &[2]);
        check("one after the other", &[span((1, 9), (0, 4), call("r")), span((2, 9), (5, 8), call("r"))], &[]);
        check("overlapping", &[span((1, 9), (0, 6), call("r")), span((2, 9), (5, 8), call("r"))], &[]);
        check("other responses", &[span((1, 9), (0, 9), call("r")), span((2, 9), (1, 8), call("s"))], &[]);
        let tool = |id| Some(AiUsage::new(false, Some(EXECUTE_TOOL), Some(id)));
        check("one tool call", &[span((1, 9), (0, 9), tool("r")), span((2, 9), (1, 8), tool("r"))], &[1]);
        let with_usage = |id| Some(AiUsage { has_usage: true, ..AiUsage::new(true, Some(EXECUTE_TOOL), Some(id)) });
        check("usage outside", &[span((1, 9), (0, 9), with_usage("r")), span((2, 9), (1, 8), tool("r"))], &[2]);
        check("a tool call is no response", &[span((1, 9), (0, 9), tool("r")), span((2, 9), (1, 8), call("r"))], &[]);
    }

    fn any_span() -> impl Strategy<Value = UsageSpan> {
        let ai = prop::option::of((any::<bool>(), any::<bool>(), prop::option::of(0..2_u64)));
        ((1..12_u8, 0..12_u8), (0..6_i64, 0..6_i64), ai).prop_map(|(ids, (start, length), ai)| {
            let ai = ai.map(|(has_usage, is_tool, call)| AiUsage { has_usage, is_tool, call });
            span(ids, (start, start + length), ai)
        })
    }

    proptest! {
        // The order of spans decides nothing, and usage without circles is never lost.
        #[test]
        fn any_trace_in_any_order(
            trace in prop::collection::vec(any_span(), 0..12).prop_map(|mut trace| {
                trace.sort_by_key(|span| span.span_id);
                trace.dedup_by_key(|span| span.span_id);
                // Parents have smaller numbers: no circles.
                trace.iter_mut().filter(|span| span.parent >= span.span_id).for_each(|span| span.parent = id(0));
                trace
            }),
            seed in any::<prop::sample::Index>(),
        ) {
            let expected = repeats(&trace);
            let turn = if trace.is_empty() { 0 } else { seed.index(trace.len()) };
            let mut turned = trace.clone();
            turned.rotate_left(turn);
            let mut found = repeats(&turned);
            found.rotate_right(turn);
            prop_assert_eq!(&found, &expected);
            let used = |span: &UsageSpan| span.ai.is_some_and(|ai| ai.has_usage);
            let counted = trace.iter().zip(&expected).any(|(span, repeats)| used(span) && !repeats);
            prop_assert_eq!(counted, trace.iter().any(used));
        }
    }
}
