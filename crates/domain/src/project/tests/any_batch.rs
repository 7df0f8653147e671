//! Properties of the projection of any batch.

use std::sync::Arc;

use bumpalo::Bump;
use proptest::prelude::*;

use super::builder::{Traces, with_settings};
use crate::model::{
    AnyValue, HistogramPoint, InvalidId, Metric, MetricBatch, MetricKind, Point, PointData, Slice, SpanKind,
    StatusCode, TraceBatch,
};
use crate::project::{IngestSettings, TraceProjection, metrics, traces};
use crate::rules::content_terms::{ContentTerms, Languages};
use crate::rules::framework::Framework;
use crate::rules::healthcheck::Healthchecks;

const KEYS: [&str; 14] = [
    "http.request.method",
    "http.route",
    "url.path",
    "http.response.status_code",
    "console.command",
    "gen_ai.request.model",
    "gen_ai.usage.input_tokens",
    "exception.type",
    "exception.message",
    "exception.stacktrace",
    "edge.script_version.id",
    "http.url",
    "other",
    "",
];
const VALUES: [&str; 8] = ["", "GET", "/a", "*", "404", "gpt-4o", "E: m\n  at f", "é\u{0}"];

type Pair = (&'static str, &'static str);

/// Trace, id, parent; kind; flags; whether a resource block starts; attributes; event; error status; invalid id.
type Row = ((u8, u8, u8), u8, u32, bool, Vec<Pair>, Option<(&'static str, Vec<Pair>)>, bool, bool);

fn pairs() -> impl Strategy<Value = Vec<Pair>> {
    prop::collection::vec((prop::sample::select(&KEYS[..]), prop::sample::select(&VALUES[..])), 0..4)
}

fn row() -> impl Strategy<Value = Row> {
    (
        (1u8..3, 1u8..8, 0u8..8),
        0u8..6,
        prop::sample::select(&[0u32, 0x101, 0x301][..]),
        prop::bool::weighted(0.2),
        pairs(),
        prop::option::weighted(0.3, (prop::sample::select(&["exception", "log"][..]), pairs())),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
    )
}

fn settings() -> impl Strategy<Value = IngestSettings> {
    let rates = || prop::sample::select(&[1.0, 0.5, 0.0][..]);
    let healthchecks = prop::option::of(Just(Arc::new(Healthchecks::new("/*"))));
    // Spans start at 1,000 ns.
    let oldest = prop::sample::select(&[i64::MIN, 1_000, 1_500][..]);
    (any::<bool>(), rates(), rates(), healthchecks, oldest).prop_map(
        |(keep_unmatched_roots, sample_rate, error_sample_rate, healthchecks, oldest_ns)| IngestSettings {
            ai_conventions: keep_unmatched_roots,
            all_metric_kinds: keep_unmatched_roots,
            session_recordings: true,
            keep_unmatched_roots,
            issues_from_logs: true,
            sample_rate,
            error_sample_rate,
            content_terms: keep_unmatched_roots.then(|| Arc::new(ContentTerms::new(Languages(u8::MAX), "a"))),
            healthchecks,
            oldest_ns,
            // With any of the other settings.
            framework: if oldest_ns == 1_500 { Framework::Browser } else { Framework::Other },
        },
    )
}

fn build(rows: &[Row]) -> TraceBatch<'static> {
    let mut traces = Traces::default();
    for ((trace, id, parent), kind, flags, new_block, attributes, event, failed, invalid) in rows {
        if *new_block {
            traces = traces.block(&[]);
        }
        traces = traces.span_in(*trace, *id, *parent, SpanKind::from_number(i64::from(*kind)), "name", attributes);
        if let Some((name, attributes)) = event {
            traces = traces.event(name, attributes);
        }
        traces = traces.with(|span| {
            span.flags = *flags;
            span.status = if *failed { StatusCode::Error } else { StatusCode::Unset };
            span.invalid = invalid.then_some(InvalidId::ZeroSpanId);
        });
    }
    traces.batch
}

/// The rows in an order that does not depend on their indexes.
fn row_set(batch: &TraceBatch<'_>, projection: &TraceProjection<'_>) -> Vec<String> {
    let mut rows = Vec::new();
    let id = |span: u32| batch.spans[span as usize].span_id;
    rows.extend(
        projection.spans.iter().map(|row| format!("span {} {:?} {}", id(row.span), row.promoted, row.http_status)),
    );
    rows.extend(
        projection.entities.iter().map(|row| format!("{:?} {} {} {}", row.kind, row.name, row.row_id, row.status_code)),
    );
    rows.extend(projection.ai_traces.iter().map(|row| format!("ai {} {} {:?}", row.name, row.row_id, row.total_cost)));
    rows.extend(
        projection.exceptions.iter().map(|row| format!("issue {} {:x} {:?}", row.row_id, row.group, row.owner)),
    );
    rows.extend(projection.dropped.iter().map(|row| format!("dropped {} {}", id(row.record), row.reason.as_str())));
    rows.sort();
    rows
}

proptest! {
    #[test]
    fn every_span_is_accounted_for_exactly_once(rows in prop::collection::vec(row(), 0..16), settings in settings()) {
        let batch = build(&rows);
        let arena = Bump::new();
        let projection = traces(&batch, &with_settings(settings), &arena);
        let kept = projection.spans.iter().map(|row| row.span);
        let mut all: Vec<u32> = kept.chain(projection.dropped.iter().map(|row| row.record)).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..batch.spans.len() as u32).collect::<Vec<_>>());
        prop_assert!(projection.spans.is_sorted_by_key(|row| row.span));
        // Every promoted row refers to its stored span.
        for (span, kept) in projection.entities.iter().map(|row| (row.span, row.kept)).chain(projection.ai_traces.iter().map(|row| (row.span, row.kept))) {
            prop_assert_eq!(projection.spans[kept as usize].span, span);
        }
        let promoted = projection.spans.iter().filter(|row| row.promoted.endpoint || row.promoted.task).count();
        prop_assert_eq!(promoted, projection.entities.len());
        prop_assert_eq!(projection.spans.iter().filter(|row| row.promoted.ai_trace).count(), projection.ai_traces.len());
    }

    #[test]
    fn projecting_twice_gives_equal_rows(rows in prop::collection::vec(row(), 0..16), settings in settings()) {
        let batch = build(&rows);
        let (first, second) = (Bump::new(), Bump::new());
        let context = with_settings(settings);
        prop_assert_eq!(traces(&batch, &context, &first), traces(&batch, &context, &second));
    }

    // With unique ids: of two spans with the same id, the first one received is the parent of the others.
    #[test]
    fn the_order_of_spans_in_a_block_does_not_matter(
        rows in prop::collection::vec(row(), 1..16).prop_map(|mut rows: Vec<Row>| {
            rows.iter_mut().for_each(|row| row.3 = false);
            rows.sort_by_key(|row| (row.0.0, row.0.1));
            rows.dedup_by_key(|row| (row.0.0, row.0.1));
            rows
        }),
        seed in any::<u64>(),
        settings in settings(),
    ) {
        let mut shuffled = rows.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut shuffled);
        let (batch, other) = (build(&rows), build(&shuffled));
        let arena = Bump::new();
        let context = with_settings(settings);
        prop_assert_eq!(
            row_set(&batch, &traces(&batch, &context, &arena)),
            row_set(&other, &traces(&other, &context, &arena))
        );
    }

    #[test]
    fn every_point_is_accounted_for(
        kinds in prop::collection::vec((0u8..6, 0u8..5, any::<f64>(), any::<u64>(), 0u32..2, 0u32..9, 0u32..9), 0..9)
    ) {
        let mut batch = MetricBatch::default();
        for (kind, data, value, count, flags, start, end) in kinds {
            let data = match data {
                0 => PointData::Empty,
                1 => PointData::Int(count as i64),
                2 => PointData::Double(value),
                _ => PointData::Histogram(HistogramPoint { count, sum: Some(value), ..HistogramPoint::default() }),
            };
            batch.points.push(Point { data, flags, time_ns: count, ..Point::default() });
            let kind = [
                MetricKind::Empty, MetricKind::Gauge, MetricKind::Sum, MetricKind::Histogram,
                MetricKind::ExponentialHistogram, MetricKind::Summary,
            ][kind as usize];
            // Ranges may overlap and exceed the list.
            batch.metrics.push(Metric { kind, name: "m", points: Slice { start, end }, ..Metric::default() });
        }
        let arena = Bump::new();
        let projection = metrics(&batch, &with_settings(IngestSettings::default()), &arena);
        let mut all: Vec<u32> = projection.values.iter().map(|row| row.point).chain(projection.dropped.iter().map(|row| row.record)).collect();
        all.sort_unstable();
        all.dedup();
        prop_assert_eq!(all, (0..batch.points.len() as u32).collect::<Vec<_>>());
        prop_assert!(projection.values.iter().all(|row| row.value.is_finite()));
    }
}

#[test]
fn values_of_any_type_do_not_panic() {
    let deep = [AnyValue::Bytes(&[0, 255])];
    let values = [
        AnyValue::Empty,
        AnyValue::Bool(true),
        AnyValue::Int(-1),
        AnyValue::Double(f64::NAN),
        AnyValue::Array(&deep),
        AnyValue::Map(&[]),
    ];
    for value in values {
        let keys = KEYS.iter().chain(&[
            "gen_ai.response.finish_reasons",
            "gen_ai.prompt",
            "http.response.header.content-type",
            "session.id",
        ]);
        let mut batch = Traces::default().span(1, 0, SpanKind::Server, "", &[]).batch;
        batch.attributes = keys.map(|key| crate::model::KeyValue { key, value }).collect();
        let all = Slice { start: 0, end: batch.attributes.len() as u32 };
        batch.spans[0].attributes = all;
        batch.resources[0].attributes = all;
        let arena = Bump::new();
        assert_eq!(traces(&batch, &with_settings(IngestSettings::default()), &arena).spans.len(), 1);
    }
}
