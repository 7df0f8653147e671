//! `POST /api/otel/v1/{traces,metrics,logs}` and `/api/otel/v1development/profiles`: OTLP/HTTP. Spec: endpoints, authentication, errors; DECISIONS 19.
//!
//! The checks, in order: token (401), origin (403), the project's quota (429), content type and encoding (415), body
//! (413, 503, 400), then the pipeline. Refusals are counted by reason.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{RequestKind, Signal};

use super::cors;
use super::profile_attributes;
use super::response::{self, PartialSuccess};
use crate::contexts::{Accounts, Ingest, Process};
use crate::error::ApiError;
use crate::http::gate::auth::{ClientInfo, bearer};
use crate::http::gate::body::declared_length;
use tidewatch_accounts::Project;
use tidewatch_ingest::accept;
use tidewatch_ingest::accept::{Accepted, Export};
use tidewatch_ingest::coding;
use tidewatch_ingest::error::ExportError;
use tidewatch_ingest::origins;
use tidewatch_ingest::outcome::{Refused, RejectReason, Rejections};
use tidewatch_ingest::refusals;
use tidewatch_ingest::refusals::UnknownSender;
use tidewatch_ingest::request_attributes::RequestAttributes;
use tidewatch_limits as limits;
use tidewatch_limits::admission::FULL;
use tidewatch_limits::admission::body_permit::BodyPermit;
use tidewatch_limits::admission::slots::Full;
use tidewatch_limits::admission::slow_client::BodyError;
use tidewatch_limits::{RouteLimits, SlowResponse};
use tidewatch_query::context::QueryContext;

/// The project number for refused requests whose token belongs to no project.
const NO_PROJECT: u32 = 0;

/// Stores spans, sent as an OTLP export request.
#[utoipa::path(post, path = "/api/otel/v1/traces", operation_id = "exportTraces", tag = "otlp", security(("projectToken" = [])),
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "ExportTraceServiceRequest"),
    responses((status = 200, description = "ExportTraceServiceResponse in the request's encoding"), (status = "default", description = "google.rpc.Status in the request's encoding")))]
pub async fn traces(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    request: Request,
) -> Response {
    export(accounts, query, ingest, process, Signal::Traces, request).await
}

/// Stores metric points, sent as an OTLP export request.
#[utoipa::path(post, path = "/api/otel/v1/metrics", operation_id = "exportMetrics", tag = "otlp", security(("projectToken" = [])),
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "ExportMetricsServiceRequest"),
    responses((status = 200, description = "ExportMetricsServiceResponse in the request's encoding"), (status = "default", description = "google.rpc.Status in the request's encoding")))]
pub async fn metrics(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    request: Request,
) -> Response {
    export(accounts, query, ingest, process, Signal::Metrics, request).await
}

/// Stores log records, sent as an OTLP export request.
#[utoipa::path(post, path = "/api/otel/v1/logs", operation_id = "exportLogs", tag = "otlp", security(("projectToken" = [])),
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "ExportLogsServiceRequest"),
    responses((status = 200, description = "ExportLogsServiceResponse in the request's encoding"), (status = "default", description = "google.rpc.Status in the request's encoding")))]
pub async fn logs(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    request: Request,
) -> Response {
    export(accounts, query, ingest, process, Signal::Logs, request).await
}

/// Stores profiles, sent as an OTLP export request of the development version of the signal.
#[utoipa::path(post, path = "/api/otel/v1development/profiles", operation_id = "exportProfiles", tag = "otlp", security(("projectToken" = [])),
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "ExportProfilesServiceRequest"),
    responses((status = 200, description = "ExportProfilesServiceResponse in the request's encoding"), (status = "default", description = "google.rpc.Status in the request's encoding")))]
pub async fn profiles(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    request: Request,
) -> Response {
    export(accounts, query, ingest, process, RequestKind::OtlpProfiles, request).await
}

/// The response to methods other than POST and OPTIONS: 405.
pub async fn wrong_method(headers: HeaderMap) -> Response {
    let encoding = media_type(&headers).unwrap_or(Encoding::Json);
    let mut response = response::failure(encoding, &ApiError::MethodNotAllowed("exports are sent with POST"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    cors::allow_any_origin(response)
}

async fn export(
    accounts: Arc<Accounts>,
    query: Arc<QueryContext>,
    ingest: Arc<Ingest>,
    process: Arc<Process>,
    kind: impl Into<RequestKind>,
    request: Request,
) -> Response {
    cors::allow_any_origin(export_response(accounts, query, ingest, process, kind.into(), request).await)
}

async fn export_response(
    accounts: Arc<Accounts>,
    query: Arc<QueryContext>,
    ingest: Arc<Ingest>,
    process: Arc<Process>,
    kind: RequestKind,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let content_type = media_type(&head.headers);
    // Requests with an unknown content type get a JSON response.
    let encoding = content_type.unwrap_or(Encoding::Json);
    let Some(project) = project_of(&accounts, &head.headers) else {
        let refused = Refused::new(RejectReason::BadToken, ExportError::Unauthorized("missing or wrong project token"));
        count_refused(&accounts, &ingest, &process, kind, &head, None, &refused);
        return response::failure(encoding, &refused.error.clone().into());
    };
    match receive(&query, &ingest, &process, kind, content_type, &project, (head, body)).await {
        Ok(rejections) => {
            let partial = PartialSuccess::of(&rejections, kind);
            response::success(kind, encoding, partial.as_ref())
        }
        Err(refused) => {
            ingest.refused(project.number, kind, &refused);
            response::failure(encoding, &refused.error.clone().into())
        }
    }
}

/// Checks, reads and stores a request. `content_type`: `None` if it is not one of this kind of request.
pub async fn receive(
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    kind: RequestKind,
    content_type: Option<Encoding>,
    project: &Project,
    (head, body): (Parts, Body),
) -> Result<Rejections, Refused> {
    let unsupported = |what| Refused::new(RejectReason::UnsupportedMediaType, ExportError::UnsupportedMedia(what));
    admit(query, ingest, process, project, &head.headers).await?;
    let encoding = content_type
        .ok_or_else(|| unsupported("the content type must be application/x-protobuf or application/json".to_owned()))?;
    let coding = coding::of(&head.headers).map_err(|name| unsupported(coding::unknown(&name)))?;
    let attributes = attributes(process, project, kind, &head)?;
    let (body, body_permit) = read(ingest, process, kind, project.number, &head.headers, body, 0).await?;
    store(ingest, Export { project, kind, encoding, coding, attributes, body, body_permit }).await
}

/// Checks what does not depend on the body: the origin and the project's quota.
pub async fn admit(
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    project: &Project,
    headers: &HeaderMap,
) -> Result<(), Refused> {
    if let Some(origin) = headers.get(ORIGIN)
        && !origins::allows(&project.settings.allowed_origins, origin.as_bytes())
    {
        let error = ExportError::Forbidden("this project takes nothing from pages of this origin");
        return Err(Refused::new(RejectReason::Origin, error));
    }
    ingest.quotas.admit(query, project, process.config.project_quota(), ingest.pipeline.clock.now_ns()).await
}

/// Reads a body as received, within the limits of its kind. `prefix_bytes` precede its content and do not count.
pub async fn read(
    ingest: &Ingest,
    process: &Process,
    kind: RequestKind,
    project: u32,
    headers: &HeaderMap,
    body: Body,
    prefix_bytes: usize,
) -> Result<(Bytes, BodyPermit), Refused> {
    let limits = match kind {
        RequestKind::Report | RequestKind::Profile => process.config.report(),
        RequestKind::Otlp(_) | RequestKind::OtlpProfiles => {
            RouteLimits { body_bytes_max: process.config.otlp_body_bytes_max, ..limits::OTLP }
        }
    };
    let bytes_max = limits.body_bytes_max;
    let limits = RouteLimits { body_bytes_max: bytes_max + prefix_bytes, ..limits };
    let declared = declared_length(headers);
    let wait_start = Instant::now();
    let entered = BodyPermit::enter(&ingest.admission, &ingest.bodies, project).await;
    ingest.pipeline.metrics.admission.add(wait_start.elapsed());
    let mut body_permit = entered.map_err(|Full| Refused::overloaded(FULL))?;
    let body = body_permit.read(body, declared, &limits).await.map_err(|error| match error {
        BodyError::TooLarge => Refused::too_large(bytes_max),
        BodyError::Slow => Refused::new(RejectReason::Slow, slow_error(limits.slow_response)),
        BodyError::Broken => Refused::malformed("the request body ended early"),
        BodyError::NoMemory => Refused::overloaded(FULL),
    })?;
    Ok((body, body_permit))
}

/// Stores a body. When this returns `Ok`, its records are durable.
pub async fn store(ingest: &Ingest, export: Export<'_>) -> Result<Rejections, Refused> {
    let project = export.project.number;
    let Accepted { rejections, bytes, records } = accept::accept(&ingest.pipeline, export).await?;
    ingest.quotas.charge(project, bytes, records);
    Ok(rejections)
}

/// The inputs of a request that its rows depend on and its body lacks.
fn attributes(
    process: &Process,
    project: &Project,
    kind: RequestKind,
    head: &Parts,
) -> Result<RequestAttributes, Refused> {
    Ok(match kind {
        RequestKind::Report => {
            let client = ClientInfo::of(&head.headers, &head.extensions, process);
            RequestAttributes { client_address: Some(client.address), ..RequestAttributes::default() }
        }
        RequestKind::Profile => profile_attributes::attributes(project, head.uri.query())?,
        RequestKind::OtlpProfiles => profile_attributes::labels(project),
        RequestKind::Otlp(_) => RequestAttributes::default(),
    })
}

fn slow_error(slow_response: SlowResponse) -> ExportError {
    match slow_response {
        SlowResponse::Timeout408 => ExportError::Slow,
        SlowResponse::Retry503 => ExportError::Overloaded("the request body came too slowly"),
    }
}

/// The project of the request's token. `None` without a valid token.
pub fn project_of(accounts: &Accounts, headers: &HeaderMap) -> Option<Arc<Project>> {
    accounts.control.credentials.project_by_token(bearer(headers)?, accounts.clock.now_ns())
}

/// Counts a refused export. One without a project is recorded with details that identify its sender.
pub fn count_refused(
    accounts: &Accounts,
    ingest: &Ingest,
    process: &Process,
    kind: impl Into<RequestKind>,
    head: &Parts,
    project: Option<&Project>,
    refused: &Refused,
) {
    ingest.refused(project.map_or(NO_PROJECT, |project| project.number), kind, refused);
    if project.is_some() {
        return;
    }
    let at_ns = ingest.pipeline.clock.now_ns();
    let is_upload_token = |token: &str| accounts.control.credentials.project_by_upload_token(token, at_ns).is_some();
    let (message, token_start) = refusals::unknown_credential(&head.headers, is_upload_token);
    let ClientInfo { address, user_agent, .. } = ClientInfo::of(&head.headers, &head.extensions, process);
    let (path, reason) = (head.uri.path().to_owned(), refused.reason);
    ingest.refusals.add_unknown(UnknownSender { at_ns, address, path, token_start, user_agent, reason, message });
}

/// The encoding that the content type names; parameters and case are ignored. `None` if it is not a type of OTLP.
pub fn media_type(headers: &HeaderMap) -> Option<Encoding> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/x-protobuf") || essence.eq_ignore_ascii_case("application/protobuf") {
        Some(Encoding::Protobuf)
    } else if essence.eq_ignore_ascii_case("application/json") {
        Some(Encoding::Json)
    } else {
        None
    }
}
