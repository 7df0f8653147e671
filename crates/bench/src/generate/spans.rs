//! Traces. A rich one is a request to an endpoint (or, one in ten, a task): a handler, its database, cache and calls.

use std::fmt::Write as _;

use tidewatch_domain::encode::{self, Message, RESOURCE_ATTRIBUTES, SPAN_ATTRIBUTES as ATTRIBUTES};
use tidewatch_domain::model::{Scope, Span, SpanId, SpanKind, StatusCode, TraceId};
use tidewatch_domain::units;

use super::generator::{Generator, Period};
use super::messages::{int, resource, scope, text};
use super::vocabulary::{Endpoint, RARE_KEY};
use crate::demo::random::Random;

/// Spans of a rich trace.
pub const SPANS_PER_TRACE: usize = 8;
const MILLISECOND: u64 = units::MILLISECOND_NS as u64;
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5",
    "python-requests/2.32.3",
    "okhttp/4.12.0",
];

/// W3C flags of a span: sampled, and "has is-remote information".
const FLAGS: u32 = 0x101;
/// The same flags with a remote parent.
const FLAGS_REMOTE: u32 = 0x301;

/// Writes `traces` traces of one service to an export request.
pub fn rich(generator: &mut Generator, traces: usize, period: Period, request: &mut Message<'_>) {
    let number = generator.service();
    let name = generator.vocabulary.services[number].name;
    let scope = Scope { name: "opentelemetry.instrumentation.flask", version: "0.59b0", ..Scope::default() };
    encode::block(
        request,
        |message| resource(message, name, number),
        &scope,
        |records| {
            (0..traces).for_each(|_| trace(generator, number, period, records));
        },
    );
}

fn trace(generator: &mut Generator, service: usize, period: Period, records: &mut Message<'_>) {
    let trace_id = TraceId(generator.random.id());
    let root = SpanId(generator.random.id());
    let start = generator.moment(period);
    let is_task = generator.random.chance(0.1);
    let is_ai = generator.random.chance(0.03);
    let failed = generator.random.chance(0.02);
    let services = &generator.vocabulary.services;
    let draw = generator.random.unit();
    let endpoint = &services[service].endpoints[(draw * draw * services[service].endpoints.len() as f64) as usize];
    let random = &mut generator.random;
    let duration = (random.latency_ms(endpoint.latency) * MILLISECOND as f64) as u64 + 50_000;
    let inner = |span_id, parent_span_id, name, kind, from: u64, share: u64| Span {
        trace_id,
        span_id,
        parent_span_id,
        flags: FLAGS,
        name,
        kind,
        start_ns: start + duration * from / 100,
        end_ns: start + duration * (from + share) / 100,
        ..Span::default()
    };
    let tenant = format!("tenant-{}", random.below(40));
    let user = format!("user-{}", random.below(50_000));

    let task_name = format!("run/{}", services[service].task);
    let (name, kind) = match is_task {
        true => (task_name.as_str(), SpanKind::Consumer),
        false => (endpoint.name.as_str(), SpanKind::Server),
    };
    let status = if failed { 500 } else { [200, 200, 200, 200, 201, 404][random.below(6) as usize] };
    let rare = random.chance(0.0008).then(|| format!("coupon-{}", random.below(100)));
    let status_code = if failed { StatusCode::Error } else { StatusCode::Unset };
    let span = inner(root, SpanId::default(), name, kind, 0, 100);
    encode::span(records, &Span { flags: FLAGS_REMOTE, status: status_code, ..span }, |span| {
        match is_task {
            true => task_attributes(random, &services[service].task, span),
            false => server_attributes(random, endpoint, status, &user, span),
        }
        if let Some(coupon) = &rare {
            text(span, ATTRIBUTES, RARE_KEY, coupon);
        }
        if failed {
            let stack = random.pick(&generator.vocabulary.stacks.iter().collect::<Vec<_>>());
            exception(start + duration, stack, span);
        }
    });

    // Children of the root: a step with three calls, another with two more.
    let steps = [SpanId(random.id()), SpanId(random.id())];
    for (number, step) in steps.iter().enumerate() {
        let name =
            ["authenticate", "load_cart", "price_engine.compute", "render", "validate_input"][random.below(5) as usize];
        let span = inner(*step, root, name, SpanKind::Internal, 5 + 45 * number as u64, 40);
        encode::span(records, &span, |span| {
            text(span, ATTRIBUTES, "code.function.name", name);
            text(span, ATTRIBUTES, "code.file.path", "/app/shop/services.py");
            int(span, ATTRIBUTES, "code.line.number", 1 + random.below(900));
            text(span, ATTRIBUTES, "app.tenant", &tenant);
            text(span, ATTRIBUTES, "user.id", &user);
            text(span, ATTRIBUTES, "thread.name", "MainThread");
        });
    }
    for call in 0..5u64 {
        let id = SpanId(random.id());
        let (parent, from) = if call < 3 { (steps[0], 8 + 10 * call) } else { (steps[1], 55 + 12 * (call - 3)) };
        let (name, share) = match call {
            0 | 1 | 3 => ("select shop", 8),
            4 if is_ai => ("chat gpt-4.1", 20),
            4 => ("POST", 20),
            _ => ("GET", 3),
        };
        encode::span(records, &inner(id, parent, name, SpanKind::Client, from, share), |span| match call {
            0 | 1 | 3 => {
                let statements = &services[service].statements;
                let statement = &statements[random.below(statements.len() as u64) as usize];
                text(span, ATTRIBUTES, "db.system.name", "postgresql");
                text(span, ATTRIBUTES, "db.namespace", "shop");
                text(span, ATTRIBUTES, "db.operation.name", "select");
                text(span, ATTRIBUTES, "db.query.text", statement);
                text(span, ATTRIBUTES, "server.address", "pg-main.prod.svc.cluster.local");
                int(span, ATTRIBUTES, "server.port", 5432);
                int(span, ATTRIBUTES, "db.response.returned_rows", random.below(50));
            }
            4 if is_ai => {
                text(span, ATTRIBUTES, "gen_ai.operation.name", "chat");
                text(span, ATTRIBUTES, "gen_ai.provider.name", "openai");
                text(span, ATTRIBUTES, "gen_ai.request.model", "gpt-4.1");
                text(span, ATTRIBUTES, "gen_ai.response.model", "gpt-4.1-2025-04-14");
                int(span, ATTRIBUTES, "gen_ai.usage.input_tokens", 100 + random.below(3_900));
                int(span, ATTRIBUTES, "gen_ai.usage.output_tokens", 20 + random.below(880));
                text(span, ATTRIBUTES, "server.address", "api.openai.com");
            }
            4 => {
                text(span, ATTRIBUTES, "http.request.method", "POST");
                let url = format!("https://payments.internal/v1/charges/{:016x}", random.next());
                text(span, ATTRIBUTES, "url.full", &url);
                text(span, ATTRIBUTES, "server.address", "payments.internal");
                int(span, ATTRIBUTES, "server.port", 443);
                int(span, ATTRIBUTES, "http.response.status_code", 200);
                text(span, ATTRIBUTES, "network.protocol.version", "1.1");
            }
            _ => {
                text(span, ATTRIBUTES, "db.system.name", "redis");
                text(span, ATTRIBUTES, "db.operation.name", "GET");
                let statement = format!("GET session:{:016x}", random.next());
                text(span, ATTRIBUTES, "db.query.text", &statement);
                text(span, ATTRIBUTES, "server.address", "redis.prod.svc.cluster.local");
                int(span, ATTRIBUTES, "server.port", 6379);
                text(span, ATTRIBUTES, "app.tenant", &tenant);
            }
        });
    }
}

fn server_attributes(random: &mut Random, endpoint: &Endpoint, status: u64, user: &str, span: &mut Message<'_>) {
    text(span, ATTRIBUTES, "http.request.method", endpoint.method);
    text(span, ATTRIBUTES, "http.route", &endpoint.route);
    let path = endpoint.route.replace("{id}", &random.below(100_000).to_string());
    text(span, ATTRIBUTES, "url.path", &path);
    text(span, ATTRIBUTES, "url.scheme", "https");
    int(span, ATTRIBUTES, "http.response.status_code", status);
    let draw = random.next().to_le_bytes();
    let mut address = String::new();
    let _ = write!(address, "{}.{}.{}.{}", draw[0], draw[1], draw[2] % 16, draw[3] % 16);
    text(span, ATTRIBUTES, "client.address", &address);
    text(span, ATTRIBUTES, "server.address", "shop.example.com");
    text(span, ATTRIBUTES, "user_agent.original", AGENTS[draw[4] as usize % AGENTS.len()]);
    text(span, ATTRIBUTES, "network.protocol.version", "1.1");
    text(span, ATTRIBUTES, "user.id", user);
}

fn task_attributes(random: &mut Random, task: &str, span: &mut Message<'_>) {
    text(span, ATTRIBUTES, "messaging.system", "rabbitmq");
    text(span, ATTRIBUTES, "messaging.destination.name", ["emails", "thumbnails", "billing"][random.below(3) as usize]);
    text(span, ATTRIBUTES, "messaging.operation.type", "process");
    text(span, ATTRIBUTES, "messaging.message.id", &format!("{:016x}", random.next()));
    text(span, ATTRIBUTES, "celery.task_name", task);
    text(span, ATTRIBUTES, "celery.state", "SUCCESS");
}

fn exception(time: u64, stack: &str, span: &mut Message<'_>) {
    encode::exception(span, time, "ValueError", "the answer of the upstream is not what was expected", stack);
}

/// Writes `spans` traces of one CLIENT span each, of one service, to an export request. No span is promoted.
pub fn lean(generator: &mut Generator, spans: usize, period: Period, request: &mut Message<'_>) {
    let number = generator.service();
    let name = generator.vocabulary.services[number].name;
    let resource = |resource: &mut Message<'_>| text(resource, RESOURCE_ATTRIBUTES, "service.name", name);
    encode::block(request, resource, &scope("bench"), |records| {
        for _ in 0..spans {
            let (trace_id, span_id) = (TraceId(generator.random.id()), SpanId(generator.random.id()));
            let start_ns = generator.moment(period);
            let random = &mut generator.random;
            let endpoints = &generator.vocabulary.services[number].endpoints;
            let endpoint = &endpoints[random.below(endpoints.len() as u64) as usize];
            let end_ns = start_ns + (random.latency_ms(endpoint.latency) * MILLISECOND as f64) as u64;
            let (kind, flags, name) = (SpanKind::Client, FLAGS_REMOTE, endpoint.name.as_str());
            let span = Span { trace_id, span_id, flags, name, kind, start_ns, end_ns, ..Span::default() };
            encode::span(records, &span, |span| {
                text(span, ATTRIBUTES, "http.request.method", endpoint.method);
                text(span, ATTRIBUTES, "http.route", &endpoint.route);
                int(span, ATTRIBUTES, "http.response.status_code", 200);
            });
        }
    });
}
