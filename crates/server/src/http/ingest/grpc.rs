//! Responses to OTLP/gRPC, which is not supported: a gRPC status that names the HTTP path. The requests are counted.
//!
//! The response has the "trailers only" form: HTTP status 200, and `grpc-status` in the headers.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use axum::routing::post;
use bytes::Bytes;
use http_body_util::BodyExt;
use tidewatch_domain::model::Signal;

use super::otlp;
use crate::app::App;
use tidewatch_ingest::error::ExportError;
use tidewatch_ingest::outcome::{Refused, RejectReason};
use tidewatch_limits as limits;

/// A google.rpc.Code, like [`UNAVAILABLE`].
const UNIMPLEMENTED: HeaderValue = HeaderValue::from_static("12");
const UNAVAILABLE: HeaderValue = HeaderValue::from_static("14");

/// The routes of the three OTLP services.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/opentelemetry.proto.collector.trace.v1.TraceService/Export", post(traces))
        .route("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export", post(metrics))
        .route("/opentelemetry.proto.collector.logs.v1.LogsService/Export", post(logs))
}

async fn traces(State(app): State<Arc<App>>, request: Request) -> Response {
    refused(&app, Signal::Traces, request).await
}

async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    refused(&app, Signal::Metrics, request).await
}

async fn logs(State(app): State<Arc<App>>, request: Request) -> Response {
    refused(&app, Signal::Logs, request).await
}

async fn refused(app: &App, signal: Signal, request: Request) -> Response {
    let message = format!("OTLP/gRPC is not supported here: send http/protobuf to /api/otel/v1/{}", signal.as_str());
    let project = otlp::project_of(app, request.headers());
    let refused = Refused::new(RejectReason::Grpc, ExportError::UnsupportedMedia(message.clone()));
    otlp::count_refused(app, signal, &request, project.as_deref(), &refused);
    discard(request.into_body()).await;
    status(UNIMPLEMENTED, &message)
}

/// Reads and discards the body, within limits: HTTP/2 resets the stream of a request whose response precedes the end of
/// its body, and clients then report the reset instead of the status.
async fn discard(mut body: Body) {
    let mut left = limits::OTLP.body_bytes_max;
    let read = async {
        while let Some(Ok(frame)) = body.frame().await {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(bytes) else { return };
            left = rest;
        }
    };
    // The stream of a slow client is reset.
    let _ = tokio::time::timeout(limits::LINGER_MAX, read).await;
}

/// Whether a request is gRPC, according to its content type.
pub fn is_grpc(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let name = b"application/grpc";
    content_type.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        && content_type.get(name.len()).is_none_or(|next| b"+;- ".contains(next))
}

/// The response to a call of an unknown service.
pub async fn unknown_method(body: Body) -> Response {
    discard(body).await;
    status(UNIMPLEMENTED, "no such gRPC service: OTLP is taken by HTTP at /api/otel/v1/traces, /metrics and /logs")
}

/// The response to any call while the store is being opened.
pub fn starting() -> Response {
    status(UNAVAILABLE, "the server is starting")
}

/// `message` is printable ASCII without `%`, so that it needs no percent-encoding.
fn status(code: HeaderValue, message: &str) -> Response {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("grpc-status", code);
    headers.insert("grpc-message", HeaderValue::from_str(message).expect("messages here are printable ASCII"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types() {
        for (value, expected) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("Application/GRPC;x=y", true),
            ("application/grpc-web", true),
            ("application/grpcx", false),
            ("application/x-protobuf", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
            assert_eq!(is_grpc(&headers), expected, "{value:?}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }
}
