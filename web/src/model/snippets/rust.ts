// Rust, with tracing and axum.
import { environment, request, SERVICE, type Snippet, type Target } from "./types";

export function rust(target: Target): Snippet {
  // The exporter's HTTP client supports TLS only with this feature.
  const tls = target.otlp.startsWith("https:") ? ",reqwest-rustls" : "";
  return {
    key: "rust",
    label: "Rust",
    group: "Backend",
    signals: ["traces", "metrics", "logs"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: `[ -e Cargo.toml ] || cargo init --name ${SERVICE}
cargo add opentelemetry@0.33 opentelemetry_sdk@0.33 opentelemetry-http@0.33 opentelemetry-appender-tracing@0.33
cargo add opentelemetry-otlp@0.33 --no-default-features --features trace,metrics,logs,http-proto,gzip-http,reqwest-blocking-client${tls}
cargo add tracing@0.1 tracing-subscriber@0.3 tracing-opentelemetry@0.34
cargo add axum@0.8 && cargo add tokio@1 --features macros,rt-multi-thread,signal # for the example`,
      },
      {
        title: "Telemetry: src/telemetry.rs",
        language: "rust",
        file: "src/telemetry.rs",
        code: RUST_TELEMETRY,
      },
      {
        title: "An app to try it with: src/main.rs",
        language: "rust",
        file: "src/main.rs",
        code: rustMain(target.port),
      },
      {
        title: "Run with these settings",
        language: "sh",
        code: `${environment(target)}
cargo run`,
      },
    ],
    check: { request: request(target), endpoint: "GET /users/{id}", service: SERVICE },
    note: 'Whatever the framework: a request\'s span needs otel.kind = "server", http.request.method and http.route to become an Endpoint.',
  };
}

const RUST_TELEMETRY = `use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{KeyValue, global};
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{LogExporter, MetricExporter, SpanExporter};
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Instrument, field::Empty, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::{layer::SubscriberExt, util::SubscriberInitExt};

pub type Error = Box<dyn std::error::Error>;

pub struct Telemetry {
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    logs: SdkLoggerProvider,
}

impl Telemetry {
    /// The exporters read the OTEL_ variables.
    pub fn start() -> Result<Self, Error> {
        let spans = SpanExporter::builder().with_http().build()?;
        let points = MetricExporter::builder().with_http().build()?;
        let records = LogExporter::builder().with_http().build()?;
        let traces = SdkTracerProvider::builder().with_batch_exporter(spans).build();
        let metrics = SdkMeterProvider::builder().with_periodic_exporter(points).build();
        let logs = SdkLoggerProvider::builder().with_batch_exporter(records).build();

        global::set_text_map_propagator(TraceContextPropagator::new());
        global::set_meter_provider(metrics.clone());
        // What the exporters log themselves would be exported too.
        let filter = Targets::new()
            .with_default(LevelFilter::INFO)
            .with_target("opentelemetry", LevelFilter::OFF);
        tracing_subscriber::registry()
            .with(filter)
            .with(tracing_opentelemetry::layer().with_tracer(traces.tracer("app")))
            .with(OpenTelemetryTracingBridge::new(&logs))
            .init();
        Ok(Telemetry { traces, metrics, logs })
    }

    /// Sends what is still queued.
    pub fn shutdown(self) -> Result<(), Error> {
        self.traces.shutdown()?;
        self.logs.shutdown()?;
        self.metrics.shutdown()?;
        Ok(())
    }
}

/// A SERVER span and a duration for each request.
pub async fn trace(request: Request, next: Next) -> Response {
    let method = request.method().to_string();
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str).to_owned();
    let span = info_span!(
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        url.path = request.uri().path(),
    );
    let caller = global::get_text_map_propagator(|propagator| {
        propagator.extract(&HeaderExtractor(request.headers()))
    });
    let _ = span.set_parent(caller);

    let start = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    span.record("http.response.status_code", response.status().as_u16());
    if response.status().is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    let meter = global::meter("app");
    let durations = meter.f64_histogram("http.server.request.duration").with_unit("s").build();
    durations.record(start.elapsed().as_secs_f64(), &[KeyValue::new("http.route", route)]);
    response
}`;

const rustMain = (port: number) => `mod telemetry;

use axum::{Router, extract::Path, middleware, routing::get};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> Result<(), telemetry::Error> {
    let telemetry = telemetry::Telemetry::start()?;
    let app = Router::new()
        .route("/users/{id}", get(user))
        .layer(middleware::from_fn(telemetry::trace));
    let listener = tokio::net::TcpListener::bind("localhost:${port}").await?;
    axum::serve(listener, app).with_graceful_shutdown(stopped()).await?;
    telemetry.shutdown()
}

async fn user(Path(id): Path<String>) -> String {
    tracing::info!("user {id} asked for");
    format!("user {id}\\n")
}

async fn stopped() {
    let mut terminate = signal(SignalKind::terminate()).expect("a runtime with signals");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}`;
