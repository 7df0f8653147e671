//! OTLP/gRPC on the port of OTLP/HTTP: `Export` of the OTLP services, and `Check` of the health service.
//!
//! The message of a call has the path of an OTLP/HTTP body: token, origin, quota, admission, limits, decoder and journal
//! are the same, so that a retry over the other protocol stores nothing twice. Framing: `frame.rs`.
//!
//! An error has the "trailers only" form: HTTP status 200, and `grpc-status` in the headers. Errors that a client may
//! retry have a `google.rpc.RetryInfo`, without which OTLP exporters do not retry `RESOURCE_EXHAUSTED`.

pub mod frame;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Version};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use base64::Engine;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::encode::Message;
use tidewatch_domain::model::{RequestKind, Signal};

use self::frame::{Frame, FrameError};
use super::response::{self, PartialSuccess, grpc_code};
use super::unread_body::UnreadBody;
use super::{otlp, profile_attributes};
use crate::app::AppState;
use crate::contexts::{Accounts, Ingest, Process};
use crate::error::ApiError;
use tidewatch_accounts::Project;
use tidewatch_ingest::accept::Export;
use tidewatch_ingest::coding::Coding;
use tidewatch_ingest::error::ExportError;
use tidewatch_ingest::outcome::{Refused, RejectReason, Rejections};
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;

const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const OK: HeaderValue = HeaderValue::from_static("0");
/// The compressions of [`coding_of`].
const ACCEPTED_ENCODINGS: HeaderValue = HeaderValue::from_static("gzip,zstd,deflate,identity");
const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";
const RESOURCE_EXHAUSTED: u64 = 8;
const SERVICES: [&str; 4] = [
    "opentelemetry.proto.collector.trace.v1.TraceService",
    "opentelemetry.proto.collector.metrics.v1.MetricsService",
    "opentelemetry.proto.collector.logs.v1.LogsService",
    "opentelemetry.proto.collector.profiles.v1development.ProfilesService",
];

/// The routes of the OTLP services and of the health service.
pub fn routes() -> Router<AppState> {
    let [traces_service, metrics_service, logs_service, profiles_service] = SERVICES;
    Router::new()
        .route(&format!("/{traces_service}/Export"), exports(Signal::Traces.into()))
        .route(&format!("/{metrics_service}/Export"), exports(Signal::Metrics.into()))
        .route(&format!("/{logs_service}/Export"), exports(Signal::Logs.into()))
        .route(&format!("/{profiles_service}/Export"), exports(RequestKind::OtlpProfiles))
        .route("/grpc.health.v1.Health/Check", post(health))
}

/// The route of an export of this kind.
fn exports(kind: RequestKind) -> MethodRouter<AppState> {
    post(
        move |State(accounts): State<Arc<Accounts>>,
              State(query): State<Arc<QueryContext>>,
              State(ingest): State<Arc<Ingest>>,
              State(process): State<Arc<Process>>,
              request: Request| async move { export(&accounts, &query, &ingest, &process, kind, request).await },
    )
}

async fn export(
    accounts: &Accounts,
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    kind: RequestKind,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let body = UnreadBody::new(body);
    let project = otlp::project_of(accounts, &head.headers);
    let result = match &project {
        Some(project) => receive(query, ingest, process, kind, project, &head, body.body()).await,
        None => {
            let error = ExportError::Unauthorized("missing or wrong project token");
            Err(Refused::new(RejectReason::BadToken, error))
        }
    };
    match result {
        Ok(rejections) => success(response::message(PartialSuccess::of(&rejections, kind).as_ref())),
        Err(refused) => {
            otlp::count_refused(accounts, ingest, process, kind, &head, project.as_deref(), &refused);
            // HTTP/2 resets the stream of a request whose response precedes the end of its body, and clients then
            // report the reset instead of the status.
            body.discard().await;
            match is_grpc(&head.headers) {
                true => failure(&refused.error.into()),
                false => ApiError::from(refused.error).into_response(),
            }
        }
    }
}

async fn receive(
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    kind: RequestKind,
    project: &Project,
    head: &Parts,
    body: Body,
) -> Result<Rejections, Refused> {
    otlp::admit(query, ingest, process, project, &head.headers).await?;
    let compression = check_call(head)?;
    let (body, body_permit) =
        otlp::read(ingest, process, kind, project.number, &head.headers, body, frame::PREFIX_BYTES).await?;
    let Frame { is_compressed, message } = frame::only(body).map_err(|error| Refused::malformed(error.to_string()))?;
    let coding = match (is_compressed, compression) {
        (false, _) => Coding::Identity,
        (true, Coding::Identity) => return Err(Refused::malformed(FrameError::NoEncoding.to_string())),
        (true, coding) => coding,
    };
    let attributes = match kind {
        RequestKind::OtlpProfiles => profile_attributes::labels(project),
        _ => RequestAttributes::default(),
    };
    let encoding = Encoding::Protobuf;
    otlp::store(ingest, Export { project, kind, encoding, coding, attributes, body: message, body_permit }).await
}

/// Checks the headers of a call. Returns the compression of compressed messages.
fn check_call(head: &Parts) -> Result<Coding, Refused> {
    let refused = |message: &str| Refused::new(RejectReason::Grpc, ExportError::UnsupportedMedia(message.to_owned()));
    let content_type = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let subtype = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    if !is_grpc(&head.headers) {
        return Err(refused("this is a path of OTLP/gRPC: the content type must be application/grpc"));
    }
    if ![&b"application/grpc"[..], b"application/grpc+proto"].iter().any(|name| subtype.eq_ignore_ascii_case(name)) {
        return Err(refused("only application/grpc and application/grpc+proto are supported"));
    }
    if head.version < Version::HTTP_2 {
        return Err(refused("gRPC needs HTTP/2: a proxy on the way speaks HTTP/1.1 to this server"));
    }
    coding_of(&head.headers).ok_or_else(|| refused("grpc-encoding is not one of gzip, zstd, deflate, identity"))
}

/// The compression that `grpc-encoding` names; `None` if it is not supported.
fn coding_of(headers: &HeaderMap) -> Option<Coding> {
    match headers.get("grpc-encoding").map_or(&b"identity"[..], HeaderValue::as_bytes) {
        b"identity" | b"" => Some(Coding::Identity),
        b"gzip" => Some(Coding::Gzip),
        b"deflate" => Some(Coding::Deflate),
        b"zstd" => Some(Coding::Zstd),
        _ => None,
    }
}

/// Whether a request is gRPC, according to its content type.
pub fn is_grpc(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let name = b"application/grpc";
    content_type.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        && content_type.get(name.len()).is_none_or(|next| b"+;- ".contains(next))
}

/// `grpc.health.v1.Health/Check` of the server (no service) and of the OTLP services: SERVING. Needs no token.
async fn health(request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = UnreadBody::new(body);
    let service = async {
        check_call(&head).map_err(|refused| ApiError::from(refused.error))?;
        let message = body.read(limits::ANONYMOUS.body_bytes_max).await.and_then(|bytes| frame::only(bytes).ok());
        let service = message.and_then(|frame| frame::health_service(&frame.message));
        service.ok_or_else(|| ApiError::malformed("this is no HealthCheckRequest"))
    };
    let service = service.await;
    body.discard().await;
    match service {
        // HealthCheckResponse { status = 1: SERVING = 1 }.
        Ok(service) if service.is_empty() || SERVICES.contains(&service.as_str()) => success(vec![8, 1]),
        Ok(_) => failure(&ApiError::not_found("no such gRPC service")),
        Err(error) => failure(&error),
    }
}

/// The response to a call of an unknown service.
pub async fn unknown_method(body: Body) -> Response {
    UnreadBody::new(body).discard().await;
    let message =
        "no such gRPC service: this server has Export of the OTLP services of traces, metrics, logs and profiles";
    failure(&ApiError::UnsupportedMedia(message.to_owned()))
}

/// The response to any call while the store is being opened.
pub fn starting() -> Response {
    failure(&ApiError::Overloaded("the server is starting"))
}

fn success(message: Vec<u8>) -> Response {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", OK);
    let body = Full::new(Bytes::from(frame::encode(&message))).with_trailers(async { Some(Ok(trailers)) });
    let mut response = Response::new(Body::new(body));
    response.headers_mut().insert(CONTENT_TYPE, GRPC);
    response.headers_mut().insert("grpc-accept-encoding", ACCEPTED_ENCODINGS);
    response
}

/// The google.rpc.Code of an error.
fn code(error: &ApiError) -> u64 {
    match error {
        // Not retried, because it has no RetryInfo.
        ApiError::TooLarge(_) => RESOURCE_EXHAUSTED,
        error => grpc_code(error.status()),
    }
}

fn failure(error: &ApiError) -> Response {
    let (code, message) = (code(error), error.to_string());
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, GRPC);
    headers.insert("grpc-status", HeaderValue::from(code));
    headers.insert("grpc-accept-encoding", ACCEPTED_ENCODINGS);
    let encoded = frame::percent_encoded(&message);
    headers.insert("grpc-message", HeaderValue::from_str(&encoded).expect("percent-encoded text is printable ASCII"));
    if let Some(seconds) = error.retry_after_seconds() {
        let details = BASE64_STANDARD_NO_PAD.encode(status(code, &message, seconds));
        let details = HeaderValue::from_str(&details).expect("Base64 is printable ASCII");
        headers.insert("grpc-status-details-bin", details);
    }
    response
}

/// google.rpc.Status { code = 1, message = 2, details = 3: Any { type_url = 1, value = 2: RetryInfo { retry_delay = 1:
/// Duration { seconds = 1 } } } }.
fn status(code: u64, message: &str, retry_seconds: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut status = Message(&mut bytes);
    status.uint(1, code);
    status.text(2, message);
    status.message(3, |any| {
        any.text(1, RETRY_INFO);
        any.message(2, |retry_info| retry_info.message(1, |duration| duration.uint(1, retry_seconds)));
    });
    bytes
}

#[cfg(test)]
mod tests;
