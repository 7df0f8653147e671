//! AI Traces that repeat the usage of others, in any order of arrival. DECISIONS 32; docs/decisions/0021.

use std::collections::BTreeSet;

use arrow::array::{Array, AsArray};
use bumpalo::Bump;
use proptest::prelude::*;
use tidewatch_domain::model::{AnyValue, KeyValue, Resource, Slice, Span, SpanId, SpanKind, TraceBatch, TraceId};
use tidewatch_domain::project;
use tidewatch_domain::rules::ai_trace::usage::{AiUsage, UsageSpan, repeats};
use tidewatch_journal::Position;

use super::support::*;
use crate::{Lake, LakeOptions};
use tidewatch_store::columns::{NO_KEY, Rows};
use tidewatch_store::tables::Table;

/// A span: number, number of the parent, whether it is an AI Trace and whether it has usage, id of the response.
#[derive(Debug, Clone, Copy)]
struct Sent {
    number: u8,
    parent: u8,
    ai: Option<bool>,
    response: Option<&'static str>,
}

const TRACE: [u8; 16] = [7; 16];

/// Ends of spans: a span is inside of those with smaller numbers.
fn times(number: u8) -> (i64, i64) {
    (TODAY_NS + i64::from(number), TODAY_NS + 1_000 - i64::from(number))
}

fn request(sent: &[Sent]) -> Rows {
    let mut attributes = Vec::new();
    let spans = sent
        .iter()
        .map(|span| {
            let start = attributes.len() as u32;
            let mut add = |key, value| attributes.push(KeyValue { key, value });
            match span.ai {
                Some(has_usage) => {
                    add("gen_ai.operation.name", AnyValue::Str("chat"));
                    if has_usage {
                        add("gen_ai.usage.input_tokens", AnyValue::Int(10));
                    }
                    if let Some(id) = span.response {
                        add("gen_ai.response.id", AnyValue::Str(id));
                    }
                }
                None => add("a", AnyValue::Int(1)),
            }
            let (start_ns, end_ns) = times(span.number);
            Span {
                trace_id: TraceId(TRACE),
                span_id: SpanId([span.number; 8]),
                parent_span_id: SpanId([span.parent; 8]),
                name: "call",
                kind: SpanKind::Client,
                start_ns: start_ns as u64,
                end_ns: end_ns as u64,
                attributes: Slice { start, end: attributes.len() as u32 },
                ..Span::default()
            }
        })
        .collect();
    let batch = TraceBatch {
        resources: vec![Resource::default()],
        scopes: vec![Default::default()],
        spans,
        attributes,
        ..TraceBatch::default()
    };
    let mut context = context();
    context.settings.keep_unmatched_roots = true;
    let arena = Bump::new();
    Rows::traces(1, &context, &batch, &project::traces(&batch, &context, &arena))
}

/// The numbers of the stored AI Traces that repeat others.
fn stored(lake: &Lake) -> BTreeSet<u8> {
    let mut found = BTreeSet::new();
    for batch in batches(lake, Table::AiTraces) {
        let ids = batch.column_by_name("span_id").expect("the table has it").as_fixed_size_binary().clone();
        let repeats = batch.column_by_name("repeats_usage").expect("the table has it").as_boolean().clone();
        found.extend((0..batch.num_rows()).filter(|row| repeats.is_valid(*row)).map(|row| ids.value(row)[0]));
    }
    found
}

fn expected(sent: &[Sent]) -> BTreeSet<u8> {
    let span = |sent: &Sent| {
        let (start_ns, end_ns) = times(sent.number);
        UsageSpan {
            span_id: SpanId([sent.number; 8]),
            parent: SpanId([sent.parent; 8]),
            start_ns,
            end_ns,
            ai: sent.ai.map(|has_usage| AiUsage::new(has_usage, Some("chat"), sent.response)),
        }
    };
    let spans: Vec<UsageSpan> = sent.iter().map(span).collect();
    sent.iter().zip(repeats(&spans)).filter(|(_, repeats)| *repeats).map(|(sent, _)| sent.number).collect()
}

/// A trace: parents have smaller numbers.
fn any_trace() -> impl Strategy<Value = Vec<Sent>> {
    let response = prop::option::weighted(0.3, prop::sample::select(vec!["r", "s"]));
    let ai = prop_oneof![1 => Just(None), 1 => Just(Some(false)), 4 => Just(Some(true))];
    prop::collection::vec((any::<prop::sample::Index>(), ai, response), 1..9).prop_map(|spans| {
        let sent = |(index, (parent, ai, response)): (usize, (prop::sample::Index, _, _))| Sent {
            number: index as u8 + 1,
            parent: parent.index(index + 1) as u8,
            ai,
            response,
        };
        spans.into_iter().enumerate().map(sent).collect()
    })
}

/// Event after a request.
#[derive(Debug, Clone, Copy)]
enum Then {
    Nothing,
    Flush,
    /// Ends the process after a flush: what was in memory about the trace is lost.
    Reopen,
    Settle,
    /// The request arrives again.
    Retry,
}

fn any_then() -> impl Strategy<Value = Then> {
    prop::sample::select(vec![Then::Nothing, Then::Nothing, Then::Flush, Then::Reopen, Then::Settle, Then::Retry])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_order_of_arrival_marks_the_same_rows(
        trace in any_trace().prop_flat_map(|trace| (Just(trace.clone()), Just(trace).prop_shuffle())),
        size in 1..4_usize,
        then in prop::collection::vec(any_then(), 9),
        spans_max in prop::sample::select(vec![65_536, 4]),
    ) {
        let (mut trace, mut shuffled) = trace;
        if spans_max == 4 {
            // What connects AI Traces is known as long as it is in memory.
            trace.iter_mut().chain(&mut shuffled).for_each(|sent| sent.ai = sent.ai.or(Some(false)));
        }
        let bench = Bench::new(1);
        let open = || Lake::open(LakeOptions { usage_spans_max: spans_max, ..bench.options() }).expect("it opens");
        let mut lake = open();
        let mut position = 0;
        let mut apply = |lake: &Lake, sent: &[Sent]| {
            position += 1;
            lake.apply(Position(position), NO_KEY, TODAY_NS, request(sent));
        };
        for (sent, then) in shuffled.chunks(size).zip(then) {
            apply(&lake, sent);
            match then {
                Then::Nothing => {}
                Then::Flush => lake.flush().expect("the disk works"),
                Then::Reopen => {
                    lake.flush().expect("the disk works");
                    drop(lake);
                    lake = open();
                }
                Then::Settle => drop(lake.settle_usage().expect("the disk works")),
                Then::Retry => apply(&lake, sent),
            }
        }
        lake.settle_usage().expect("the disk works");
        prop_assert_eq!(stored(&lake), expected(&trace));
        lake.flush().expect("the disk works");
        drop(lake);
        let lake = open();
        lake.settle_usage().expect("the disk works");
        prop_assert_eq!(stored(&lake), expected(&trace), "after a restart");
    }
}

// Where the memory holds the rows, sums are right before anything is read or rewritten.
#[test]
fn rows_in_memory_are_corrected_at_once() {
    let span = |number, parent| Sent { number, parent, ai: Some(true), response: None };
    for order in [[span(1, 0), span(2, 1)], [span(2, 1), span(1, 0)]] {
        let bench = Bench::new(1);
        let lake = bench.open();
        for (index, sent) in order.iter().enumerate() {
            lake.apply(Position(index as u64 + 1), NO_KEY, TODAY_NS, request(&[*sent]));
            // Queries copy the growing buffer and reuse the copy.
            stored(&lake);
        }
        assert_eq!(stored(&lake), BTreeSet::from([1]));
    }
}
