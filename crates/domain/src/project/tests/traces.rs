//! Projection of spans; expectations have one clause per row.

use std::sync::Arc;

use bumpalo::Bump;

use super::builder::{RECEIVED_NS, Traces, context, with_settings};
use crate::model::{InvalidId, SpanKind, StatusCode};
use crate::project::{DropReason, EntityKind, IngestSettings, Owner, ProjectContext, TraceProjection, traces};
use crate::rules::healthcheck::Healthchecks;

use SpanKind::{Client, Consumer, Internal, Producer, Server};

const GET: (&str, &str) = ("http.request.method", "GET");
const OK: (&str, &str) = ("http.response.status_code", "200");

/// `endpoint GET /a 200 root | span 2 | dropped 3 unmatched_root | issue E: m by GET /a`, in order of the lists.
fn summary(projection: &TraceProjection<'_>) -> String {
    let mut lines = Vec::new();
    for entity in &projection.entities {
        let kind = if entity.kind == EntityKind::Endpoint { "endpoint" } else { "task" };
        let status =
            if entity.kind == EntityKind::Endpoint { format!(" {}", entity.status_code) } else { String::new() };
        let root = if entity.is_root { " root" } else { "" };
        let stream = if entity.is_stream { " stream" } else { "" };
        let error = if entity.is_error { " error" } else { "" };
        lines.push(format!("{kind} {}{status}{root}{stream}{error}", entity.name));
    }
    for ai_trace in &projection.ai_traces {
        lines.push(format!("ai {}{}", ai_trace.name, if ai_trace.is_root { " root" } else { "" }));
    }
    for span in &projection.spans {
        if span.promoted == Default::default() {
            lines.push(format!("span {}", span.span));
        }
    }
    for dropped in &projection.dropped {
        lines.push(format!("dropped {} {}", dropped.record, dropped.reason.as_str()));
    }
    for exception in &projection.exceptions {
        let owner = match exception.owner {
            Owner::Known { name, .. } => format!("by {name}"),
            Owner::None => "without owner".to_owned(),
            Owner::Above(id) => format!("owner above {}", id.0[0]),
        };
        lines.push(format!("issue {} {owner}", exception.stack_trace.replace('\n', "/")));
    }
    lines.join(" | ")
}

#[track_caller]
fn check(batch: Traces, expected: &str) {
    check_in(batch, &context(), expected);
}

#[track_caller]
fn check_in(batch: Traces, context: &ProjectContext, expected: &str) {
    let arena = Bump::new();
    assert_eq!(summary(&traces(&batch.batch, context, &arena)), expected);
}

// Spec: classification, the table and rules 1, 2; entity rows, is_root.
#[test]
fn a_request_with_its_steps() {
    let batch = Traces::default()
        .span(1, 0, Server, "GET", &[GET, ("http.route", "/cart/:id"), OK])
        .span(2, 1, Internal, "handler", &[("http.route", "/cart/:id")])
        .span(3, 2, Client, "SELECT", &[("db.system.name", "postgresql")])
        .span(4, 3, Consumer, "mail process", &[]);
    check(batch, "endpoint GET /cart/:id 200 root | task mail process | span 1 | span 2");
}

#[test]
fn an_upstream_service_makes_it_non_root() {
    check(Traces::default().span(1, 9, Server, "GET", &[GET, ("http.route", "/a"), OK]), "endpoint GET /a 200");
    check(Traces::default().span(1, 9, Consumer, "job", &[]), "task job");
}

// Spec: classification, rule 2.
#[test]
fn a_middleware_span_without_its_parent_is_a_junk_endpoint() {
    let batch = Traces::default().span(2, 1, Internal, "middleware - auth", &[("http.route", "/checkout")]);
    check(batch, "endpoint middleware - auth 0");
}

// Spec: classification, last row; DECISIONS 4.
#[test]
fn unmatched_roots_are_dropped_their_children_stay() {
    let batch = || {
        Traces::default()
            .span(1, 0, Internal, "cron", &[])
            .span(2, 1, Internal, "step", &[])
            .span(3, 0, Producer, "send", &[])
            .span(4, 0, Client, "GET", &[GET, ("url.full", "http://h/x")])
            .span(5, 0, Internal, "app:sync", &[("console.command", "app:sync")])
    };
    check(batch(), "task app:sync root | span 1 | span 3 | dropped 0 unmatched_root | dropped 2 unmatched_root");
    let keep = with_settings(IngestSettings { keep_unmatched_roots: true, ..IngestSettings::default() });
    check_in(batch(), &keep, "task app:sync root | span 0 | span 1 | span 2 | span 3");
}

// DECISIONS 26: model calls of other conventions are promoted by a project setting.
#[test]
fn model_calls_without_gen_ai_are_promoted_by_a_project_setting() {
    let batch = || {
        Traces::default()
            .span(1, 0, Internal, "LangGraph", &[("openinference.span.kind", "CHAIN")])
            .span(2, 1, Internal, "ChatOpenAI", &[("openinference.span.kind", "LLM"), ("llm.model_name", "gpt-4o")])
            .span(3, 0, Internal, "answer", &[("langfuse.observation.type", "generation")])
            .span(4, 1, Internal, "ai.embed", &[("ai.operationId", "ai.embed")])
            .span(5, 4, Internal, "ai.embed.doEmbed", &[("ai.operationId", "ai.embed.doEmbed")])
            .span(6, 4, Internal, "doGenerate", &[("ai.operationId", "ai.x.doGenerate"), ("gen_ai.system", "openai")])
    };
    let off = "ai doGenerate | span 1 | span 3 | span 4 | dropped 0 unmatched_root | dropped 2 unmatched_root";
    check(batch(), off);
    let arena = Bump::new();
    assert_eq!(traces(&batch().batch, &context(), &arena).other_ai, 3);
    let on = with_settings(IngestSettings { ai_conventions: true, ..IngestSettings::default() });
    check_in(
        batch(),
        &on,
        "ai ChatOpenAI | ai answer root | ai ai.embed.doEmbed | ai doGenerate | span 3 | dropped 0 unmatched_root",
    );
    let promoted = traces(&batch().batch, &on, &arena);
    assert_eq!((promoted.other_ai, promoted.ai_traces[0].model), (0, Some("gpt-4o")));
}

// Spec: entity rows: a request handler that calls an LLM yields both rows; DECISIONS 4: one span may be both.
#[test]
fn endpoints_and_ai_traces() {
    let model = ("gen_ai.request.model", "gpt-4o");
    let batch = Traces::default()
        .span(1, 0, Server, "POST", &[("http.request.method", "POST"), ("http.route", "/ask"), OK, model])
        .span(2, 1, Client, "chat gpt-4o", &[model, ("trace.name", "Plan my trip")]);
    check(batch, "endpoint POST /ask 200 root | ai POST root | ai Plan my trip");
}

// DECISIONS 5.
#[test]
fn an_invalid_span_is_rejected_alone() {
    let batch = Traces::default()
        .span(1, 0, Server, "GET", &[GET, ("http.route", "/a"), OK])
        .span(2, 1, Internal, "bad", &[("exception.type", "E")])
        .with(|span| span.invalid = Some(InvalidId::SpanId));
    let arena = Bump::new();
    let projection = traces(&batch.batch, &context(), &arena);
    assert_eq!(summary(&projection), "endpoint GET /a 200 root | dropped 1 invalid_id");
    assert_eq!(projection.rejected, [(1, InvalidId::SpanId)]);
}

// Spec: classification, rules 3 to 5; DECISIONS 7, 8.
#[test]
fn issues_and_their_owners() {
    let server = [GET, ("http.route", "/a"), OK];
    let boom: &[(&str, &str)] =
        &[("exception.type", "E"), ("exception.message", "m"), ("exception.stacktrace", "E: m\n at f")];
    check(
        Traces::default().span(1, 0, Server, "GET", &server).event("exception", boom).event("exception", boom),
        "endpoint GET /a 200 root | issue E: m/ at f by GET /a | issue E: m/ at f by GET /a",
    );
    check(
        Traces::default().span(1, 0, Server, "GET", &server).span(2, 1, Internal, "s", &[("exception.message", "m")]),
        "endpoint GET /a 200 root | span 1 | issue m by GET /a",
    );
    // Attributes and events on one span: only the events count. Events with another name are not exceptions.
    check(
        Traces::default()
            .span(1, 9, Internal, "s", &[("exception.type", "A")])
            .event("log", boom)
            .event("exception", boom),
        "span 0 | issue E: m/ at f owner above 9",
    );
    check(Traces::default().span(1, 9, Internal, "s", &[]).event("log", boom), "span 0");
    // An exception without attributes still counts.
    check(
        Traces::default().span(1, 9, Internal, "s", &[]).event("exception", &[]),
        "span 0 | issue unknown exception owner above 9",
    );
    // An error status alone is not an exception.
    check(Traces::default().span(1, 9, Internal, "s", &[]).with(|span| span.status = StatusCode::Error), "span 0");
    // A dropped root and its child.
    check(
        Traces::default().span(1, 0, Internal, "cron", boom).span(2, 1, Internal, "step", boom),
        "span 1 | dropped 0 unmatched_root | issue E: m/ at f without owner | issue E: m/ at f without owner",
    );
    // An AI Trace is not an owner; a Task is. 4xx exceptions are Issues too.
    check(
        Traces::default()
            .span(1, 0, Client, "chat", &[("gen_ai.system", "x")])
            .event("exception", &[("exception.type", "E")]),
        "ai chat root | issue E without owner",
    );
    check(
        Traces::default()
            .span(1, 0, Consumer, "job", &[])
            .event("exception", &[("exception.type", "NotFoundHttpException")]),
        "task job root | issue NotFoundHttpException by job",
    );
    // The owner is found in another resource block, and before or after the span.
    check(
        Traces::default()
            .block(&[])
            .span(2, 1, Internal, "step", &[("exception.type", "E")])
            .block(&[])
            .span(1, 0, Server, "GET", &server),
        "endpoint GET /a 200 root | span 0 | issue E by GET /a",
    );
}

// Spec: edge-platform exports.
#[test]
fn edge_platform_fields() {
    let batch = Traces::default().block(&[("service.name", "edge-shop"), ("service.version", "9")]).span(
        1,
        0,
        Server,
        "fetch",
        &[
            GET,
            ("url.path", "/api/users/42"),
            OK,
            ("edge.script_version.id", "7f3b-0a1b"),
            ("edge.outcome", "exception"),
        ],
    );
    let batch = batch.span(2, 1, Internal, "step", &[]);
    let arena = Bump::new();
    let projection = traces(&batch.batch, &context(), &arena);
    assert_eq!(summary(&projection), "endpoint GET /api/users/42 200 root | span 1");
    let versions: Vec<_> = projection.spans.iter().map(|span| (span.server_name, span.app_version)).collect();
    assert_eq!(versions, [("edge-shop", "0a1b"), ("edge-shop", "9")]);
}

#[test]
fn times_table() {
    for (start, end, expected_start, expected_duration) in [
        (1_000, 5_000, 1_000, 4_000),
        (5_000, 1_000, 5_000, 0),
        (0, 5_000, RECEIVED_NS, 0),
        (0, 0, RECEIVED_NS, 0),
        (1_000, 0, 1_000, 0),
        (i64::MAX as u64 - 1, i64::MAX as u64 - 1, i64::MAX - 1, 0),
        (1, i64::MAX as u64 - 1, 1, i64::MAX - 2),
    ] {
        let batch =
            Traces::default().span(1, 9, Internal, "s", &[]).with(|span| (span.start_ns, span.end_ns) = (start, end));
        let arena = Bump::new();
        let kept = traces(&batch.batch, &context(), &arena).spans[0];
        assert_eq!((kept.start_ns, kept.duration_ns), (expected_start, expected_duration), "{start} to {end}");
    }
}

// DECISIONS 25.
#[test]
fn spans_with_invalid_times_are_dropped_with_their_entities_and_exceptions() {
    let context = with_settings(IngestSettings { oldest_ns: 500, ..IngestSettings::default() });
    for (start, end, expected) in [
        (500, 600, None),
        (499, 600, Some(DropReason::TooOld)),
        (0, 600, None),
        (i64::MAX as u64, 600, Some(DropReason::InvalidTime)),
        (u64::MAX, u64::MAX, Some(DropReason::InvalidTime)),
        (600, i64::MAX as u64, Some(DropReason::InvalidTime)),
    ] {
        let attributes = &[("http.request.method", "GET"), ("exception.type", "E")];
        let batch = Traces::default()
            .span(1, 0, Server, "s", attributes)
            .with(|span| (span.start_ns, span.end_ns) = (start, end));
        let arena = Bump::new();
        let projection = traces(&batch.batch, &context, &arena);
        let reasons: Vec<_> = projection.dropped.iter().map(|dropped| dropped.reason).collect();
        assert_eq!(reasons, Vec::from_iter(expected), "{start} to {end}");
        let rows = [projection.spans.len(), projection.entities.len(), projection.exceptions.len()];
        assert_eq!(rows, [usize::from(expected.is_none()); 3], "{start} to {end}");
    }
}

/// An event time that cannot be stored is replaced by the start of its span.
#[test]
fn an_exception_has_a_valid_time() {
    for (time, expected) in [(0, 1_000), (7, 7), (i64::MAX as u64, 1_000), (u64::MAX, 1_000)] {
        let mut batch =
            Traces::default().span(1, 9, Internal, "s", &[]).event("exception", &[("exception.type", "E")]).batch;
        batch.events[0].time_ns = time;
        let arena = Bump::new();
        assert_eq!(traces(&batch, &context(), &arena).exceptions[0].time_ns, expected, "{time}");
    }
}

// DECISIONS 13: a trace is an error trace when any span in the request has error status, a 5xx or an exception.
#[test]
fn sampling_keeps_error_traces() {
    let context =
        with_settings(IngestSettings { sample_rate: 0.0, error_sample_rate: 1.0, ..IngestSettings::default() });
    let server = [GET, ("http.route", "/a"), OK];
    let failed = [GET, ("http.route", "/a"), ("http.response.status_code", "500")];
    check_in(Traces::default().span(1, 0, Server, "GET", &server), &context, "dropped 0 sampled");
    check_in(Traces::default().span(1, 0, Server, "GET", &failed), &context, "endpoint GET /a 500 root error");
    check_in(
        Traces::default()
            .span(1, 0, Server, "GET", &server)
            .span(2, 1, Internal, "s", &[])
            .with(|span| span.status = StatusCode::Error),
        &context,
        "endpoint GET /a 200 root | span 1",
    );
    check_in(
        Traces::default().span(1, 0, Server, "GET", &server).event("exception", &[("exception.type", "E")]),
        &context,
        "endpoint GET /a 200 root | issue E by GET /a",
    );
    let none = with_settings(IngestSettings { sample_rate: 0.0, error_sample_rate: 0.0, ..IngestSettings::default() });
    check_in(
        Traces::default().span(1, 0, Server, "GET", &failed).event("exception", &[("exception.type", "E")]).span_in(
            2,
            7,
            0,
            Internal,
            "cron",
            &[],
        ),
        &none,
        "dropped 0 sampled | dropped 1 unmatched_root",
    );
}

#[test]
fn sampled_rows_have_the_inverse_of_the_rate_as_weight() {
    let context =
        with_settings(IngestSettings { sample_rate: 0.25, error_sample_rate: 0.25, ..IngestSettings::default() });
    let mut batch = Traces::default();
    for trace in 1..=250 {
        batch = batch.span_in(trace, 1, 0, Server, "GET", &[GET, ("http.route", "/a"), OK]);
        batch = batch.event("exception", &[("exception.type", "E")]);
    }
    let arena = Bump::new();
    let projection = traces(&batch.batch, &context, &arena);
    assert!(!projection.spans.is_empty() && projection.spans.len() < 250);
    assert!(projection.spans.iter().all(|span| span.weight == 4.0));
    assert!(projection.exceptions.iter().all(|exception| exception.weight == 4.0));
    assert_eq!(projection.spans.len() + projection.dropped.len(), 250);
    assert!(projection.dropped.iter().all(|dropped| dropped.reason == DropReason::Sampled));
}

// docs/decisions/0012: a span's own statements, and not those of other spans of the trace.
#[test]
fn rows_of_sampled_spans_have_the_weight_that_the_sender_states() {
    let route = ("http.route", "/a");
    let batch = Traces::default()
        .span_in(1, 1, 0, Server, "GET", &[GET, route, OK])
        .with(|span| span.trace_state = "ot=th:c")
        .event("exception", &[("exception.type", "E")])
        .span_in(1, 2, 1, Server, "GET", &[GET, route, OK, ("sampling.probability", "0.1")])
        .span_in(1, 3, 1, Server, "GET", &[GET, route, OK]);
    let arena = Bump::new();
    let projection = traces(&batch.batch, &with_settings(IngestSettings::default()), &arena);
    assert_eq!(projection.spans.iter().map(|span| span.weight).collect::<Vec<_>>(), [4.0, 10.0, 1.0]);
    assert_eq!(projection.exceptions.iter().map(|exception| exception.weight).collect::<Vec<_>>(), [4.0]);
}

// WIRE 8.6: a successful health check is dropped with its span subtree, unless an exception belongs to it.
#[test]
fn successful_health_checks_are_dropped_with_their_descendants() {
    let healthchecks = Some(Arc::new(Healthchecks::default()));
    let on = with_settings(IngestSettings { healthchecks, ..IngestSettings::default() });
    let probe = [GET, ("url.path", "/healthz"), OK];
    let order = [GET, ("http.route", "/orders"), OK];
    let check = |batch: Traces, expected: &str| check_in(batch, &on, expected);
    // Descendants in the request are dropped, in any process and order. Siblings and ancestors stay.
    check(
        Traces::default()
            .span(3, 2, Client, "SELECT", &[])
            .span(1, 0, Server, "GET", &probe)
            .span(2, 1, Internal, "check db", &[])
            .span(5, 0, Server, "GET", &order)
            .span(6, 5, Client, "SELECT", &[])
            .span_in(2, 3, 2, Client, "SELECT", &[])
            .block(&[])
            .span(4, 3, Server, "GET", &order),
        "endpoint GET /orders 200 root | span 4 | span 5 | dropped 0 healthcheck | dropped 1 healthcheck \
         | dropped 2 healthcheck | dropped 6 healthcheck",
    );
    // With the setting off, nothing is dropped.
    check_in(Traces::default().span(1, 0, Server, "GET", &probe), &context(), "endpoint GET /healthz 200 root");
    // A span that is not an Endpoint, or has a failure status, stays.
    check(Traces::default().span(1, 0, Client, "GET", &probe), "span 0");
    check(
        Traces::default().span(1, 0, Server, "GET", &order).span(2, 1, Internal, "h", &probe),
        "endpoint GET /orders 200 root | span 1",
    );
    check(
        Traces::default().span(
            1,
            0,
            Server,
            "GET",
            &[GET, ("url.path", "/healthz"), ("http.response.status_code", "503")],
        ),
        "endpoint GET /healthz 503 root error",
    );
    // An exception keeps the check above it with all its descendants, but not a check below.
    check(
        Traces::default()
            .span(1, 0, Server, "GET", &probe)
            .span(2, 1, Internal, "check db", &[])
            .event("exception", &[("exception.type", "E")])
            .span(3, 1, Internal, "check disk", &[]),
        "endpoint GET /healthz 200 root | span 1 | span 2 | issue E by GET /healthz",
    );
    check(
        Traces::default()
            .span(1, 0, Server, "GET", &probe)
            .event("exception", &[("exception.type", "E")])
            .span(2, 1, Client, "GET", &[])
            .block(&[])
            .span(3, 2, Server, "GET", &probe),
        "endpoint GET /healthz 200 root | span 1 | dropped 2 healthcheck | issue E by GET /healthz",
    );
}

// DECISIONS 11.
#[test]
fn a_retried_export_gives_the_same_ids() {
    let batch = Traces::default()
        .span(1, 0, Server, "GET", &[GET, ("http.route", "/a"), ("gen_ai.system", "x")])
        .event("other", &[])
        .event("exception", &[("exception.type", "E")])
        .event("exception", &[("exception.type", "E")])
        .batch;
    let (first_arena, second_arena) = (Bump::new(), Bump::new());
    let (first, second) = (traces(&batch, &context(), &first_arena), traces(&batch, &context(), &second_arena));
    assert_eq!(first, second);
    assert_eq!(first.entities[0].row_id, first.ai_traces[0].row_id);
    assert_ne!(first.exceptions[0].row_id, first.exceptions[1].row_id);
}

// WIRE 8.3: conversation id, else session id (span, then resource), else trace id.
#[test]
fn conversation_ids() {
    let ai = ("gen_ai.system", "x");
    for (resource, span, expected) in [
        ("r", vec![ai, ("gen_ai.conversation.id", "c"), ("session.id", "s")], "c"),
        ("r", vec![ai, ("session.id", "s")], "s"),
        ("r", vec![ai], "r"),
        ("", vec![ai], "01010101010101010101010101010101"),
    ] {
        let batch = Traces::default().block(&[("session.id", resource)]).span(1, 0, Client, "chat", &span);
        let arena = Bump::new();
        assert_eq!(traces(&batch.batch, &context(), &arena).ai_traces[0].conversation_id, expected);
    }
}
