//! Spans of requests, calls between services, and queries.

use serde_json::json;
use tidewatch_domain::model::{SpanId, SpanKind, TraceId};

use super::super::instance::{Instance, Service};
use super::super::otlp::{Exception, Span};
use super::super::visitor::Visitor;
use super::Shop;

/// One-way network latency.
const NETWORK_NS: u64 = 500_000;

/// The client and server spans of a request between two services.
pub struct Call {
    /// In the caller.
    pub client: Span,
    /// In the callee.
    pub server: Span,
}

/// A method and a route. `path`: without parameters.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// `http.request.method`.
    pub method: &'static str,
    /// `http.route`; empty if no route matches.
    pub route: &'static str,
    /// `url.path`.
    pub path: &'a str,
}

impl Target<'static> {
    /// A route without parameters.
    pub fn of(method: &'static str, route: &'static str) -> Target<'static> {
        Target { method, route, path: route }
    }
}

impl Shop {
    /// A span of a trace of its own, with a random duration.
    pub fn root(&mut self, instance: Instance, kind: SpanKind, name: &str, start_ns: u64, typical_ms: f64) -> Span {
        Span {
            instance,
            trace_id: TraceId(self.random.id()),
            span_id: SpanId(self.random.id()),
            parent_id: SpanId::default(),
            kind,
            name: name.to_owned(),
            start_ns,
            end_ns: start_ns + self.latency(typical_ms),
            parent_is_remote: false,
            error: false,
            attributes: Vec::new(),
            exceptions: Vec::new(),
        }
    }

    /// A span of the same process, with a random duration.
    pub fn child(&mut self, parent: &Span, kind: SpanKind, name: &str, start_ns: u64, typical_ms: f64) -> Span {
        let mut span = self.root(parent.instance, kind, name, start_ns, typical_ms);
        span.trace_id = parent.trace_id;
        span.parent_id = parent.span_id;
        span
    }

    /// A SERVER span. Its end and its status follow. `visitor`: `None` for requests of unknown clients.
    pub fn request(&mut self, service: Service, visitor: Option<&Visitor>, target: Target<'_>, start_ns: u64) -> Span {
        let Target { method, route, path } = target;
        let name = if route.is_empty() { method.to_owned() } else { format!("{method} {route}") };
        let instance = self.instance(service, visitor.map_or(0, |visitor| visitor.region), start_ns);
        let mut span = self.root(instance, SpanKind::Server, &name, start_ns, 1.0);
        span.attributes = Vec::with_capacity(24);
        span.attributes.extend([
            ("http.request.method", json!(method)),
            ("url.path", json!(path)),
            ("url.scheme", json!("https")),
            ("server.address", json!("shop.example")),
            ("client.address", json!(format!("203.0.113.{}", self.random.below(250)))),
            ("user_agent.original", json!("Mozilla/5.0 (demo)")),
        ]);
        if !route.is_empty() {
            span.attributes.push(("http.route", json!(route)));
        }
        if let Some(visitor) = visitor {
            visitor.describe(&mut span.attributes);
        }
        span
    }

    /// A CLIENT span and the SERVER span of the request in another service. The end of both and the status follow.
    pub fn call(&mut self, from: &Span, to: Service, visitor: &Visitor, target: Target<'_>, start_ns: u64) -> Call {
        let mut client = self.child(from, SpanKind::Client, target.method, start_ns, 1.0);
        client.attributes = vec![
            ("http.request.method", json!(target.method)),
            ("server.address", json!(to.name)),
            ("url.full", json!(format!("http://{}.internal{}", to.name, target.path))),
        ];
        let mut server = self.request(to, Some(visitor), target, start_ns + NETWORK_NS);
        server.trace_id = client.trace_id;
        server.parent_id = client.span_id;
        server.parent_is_remote = true;
        Call { client, server }
    }

    /// Sets the status of a request. From 500, the span failed.
    pub fn respond(&mut self, span: &mut Span, status: u16) {
        span.attributes.push(("http.response.status_code", json!(status)));
        span.error |= status >= 500;
    }

    /// Ends a call whose server span has its end. Returns the end of the client span.
    pub fn finish_call(&mut self, mut call: Call, status: u16) -> u64 {
        self.respond(&mut call.client, status);
        self.respond(&mut call.server, status);
        call.client.error |= status >= 400;
        call.client.end_ns = call.server.end_ns + NETWORK_NS;
        let end_ns = call.client.end_ns;
        self.finish(call.client);
        self.finish(call.server);
        end_ns
    }

    /// A query to a database. Returns its end.
    pub fn query(&mut self, parent: &Span, query: Query<'_>, start_ns: u64, typical_ms: f64) -> u64 {
        let operation = query.statement.split(' ').next().unwrap_or(query.statement);
        let name = format!("{operation} {}", query.system);
        let mut span = self.child(parent, SpanKind::Client, &name, start_ns, typical_ms);
        span.attributes = vec![
            ("db.system.name", json!(query.system)),
            ("db.operation.name", json!(operation)),
            ("db.query.text", json!(query.statement)),
            ("server.address", json!(query.server)),
        ];
        let end_ns = span.end_ns;
        self.finish(span);
        end_ns
    }

    /// Records an exception at the end of a span, which failed.
    pub fn throw(&mut self, span: &mut Span, exception_type: &str, message: &str, frames: &str) {
        let stack_trace = match span.instance.service.language {
            "python" => format!("Traceback (most recent call last):\n{frames}\n{exception_type}: {message}"),
            _ => format!("{exception_type}: {message}\n{frames}"),
        };
        let (kind, message) = (exception_type.to_owned(), message.to_owned());
        span.exceptions.push(Exception { time_ns: span.end_ns, kind, message, stack_trace });
        span.error = true;
    }
}

/// A query to a database.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// `db.system.name`.
    pub system: &'static str,
    /// `db.query.text`.
    pub statement: &'static str,
    /// `server.address`.
    pub server: &'a str,
}
