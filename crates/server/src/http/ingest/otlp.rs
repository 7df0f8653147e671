//! `POST /api/otel/v1/{traces,metrics,logs}`: the OTLP door. Spec: endpoints, authentication, errors; DECISIONS 19.
//!
//! In the order in which a request can fail: token (401), the page it comes from (403), the project's quota (429),
//! content type and encoding (415), body (413, 503, 400),
//! then the pipeline. Every refusal is counted under its reason.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::Signal;

use super::answer::{self, PartialSuccess};
use super::cors;
use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{Origin, bearer};
use crate::http::gate::body::declared_length;
use tidewatch_accounts::Project;
use tidewatch_ingest::accept;
use tidewatch_ingest::accept::{Accepted, Export};
use tidewatch_ingest::coding;
use tidewatch_ingest::error::ExportError;
use tidewatch_ingest::origins;
use tidewatch_ingest::outcome::{Refused, RejectReason, Told};
use tidewatch_ingest::refusals;
use tidewatch_ingest::refusals::UnknownSender;
use tidewatch_limits as limits;
use tidewatch_limits::admission::FULL;
use tidewatch_limits::admission::pace::Cut;
use tidewatch_limits::admission::slots::Full;
use tidewatch_limits::admission::turn::Turn;
use tidewatch_limits::{RouteLimits, SlowAnswer};

/// Counts of refused requests whose token belongs to no project.
const NO_PROJECT: u32 = 0;

/// An export of spans.
#[utoipa::path(post, path = "/api/otel/v1/traces", operation_id = "exportTraces", tag = "otlp", security(("projectToken" = [])),
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "ExportTraceServiceRequest"),
    responses((status = 200, description = "ExportTraceServiceResponse in the request's encoding"), (status = "default", description = "google.rpc.Status in the request's encoding")))]
pub async fn traces(State(app): State<Arc<App>>, request: Request) -> Response {
    export(app, Signal::Traces, request).await
}

/// An export of metric points.
#[utoipa::path(post, path = "/api/otel/v1/metrics", operation_id = "exportMetrics", tag = "otlp", security(("projectToken" = [])),
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "ExportMetricsServiceRequest"),
    responses((status = 200, description = "ExportMetricsServiceResponse in the request's encoding"), (status = "default", description = "google.rpc.Status in the request's encoding")))]
pub async fn metrics(State(app): State<Arc<App>>, request: Request) -> Response {
    export(app, Signal::Metrics, request).await
}

/// An export of log records.
#[utoipa::path(post, path = "/api/otel/v1/logs", operation_id = "exportLogs", tag = "otlp", security(("projectToken" = [])),
    request_body(content((Vec<u8> = "application/x-protobuf"), (serde_json::Value = "application/json")), description = "ExportLogsServiceRequest"),
    responses((status = 200, description = "ExportLogsServiceResponse in the request's encoding"), (status = "default", description = "google.rpc.Status in the request's encoding")))]
pub async fn logs(State(app): State<Arc<App>>, request: Request) -> Response {
    export(app, Signal::Logs, request).await
}

/// Another method than POST or OPTIONS.
pub async fn wrong_method(headers: HeaderMap) -> Response {
    let encoding = media_type(&headers).unwrap_or(Encoding::Json);
    let mut response = answer::failure(encoding, &ApiError::MethodNotAllowed("exports are sent with POST"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    cors::allow_any_origin(response)
}

async fn export(app: Arc<App>, signal: Signal, request: Request) -> Response {
    cors::allow_any_origin(answered(app, signal, request).await)
}

async fn answered(app: Arc<App>, signal: Signal, request: Request) -> Response {
    let content_type = media_type(request.headers());
    // The refusal of a type we do not know is for a person to read: JSON.
    let encoding = content_type.unwrap_or(Encoding::Json);
    let Some(project) = project_of(&app, request.headers()) else {
        let refused = Refused::new(RejectReason::BadToken, ExportError::Unauthorized("missing or wrong project token"));
        count_refused(&app, signal, &request, None, &refused);
        return answer::failure(encoding, &refused.error.clone().into());
    };
    match accept(&app, signal, content_type, &project, request).await {
        Ok(told) => {
            let partial = told.sentence(signal).map(|message| PartialSuccess { rejected: told.total(), message });
            answer::success(signal, encoding, partial.as_ref())
        }
        Err(refused) => {
            app.refused(project.number, signal, &refused);
            answer::failure(encoding, &refused.error.clone().into())
        }
    }
}

async fn accept(
    app: &Arc<App>,
    signal: Signal,
    content_type: Option<Encoding>,
    project: &Project,
    request: Request,
) -> Result<Told, Refused> {
    let unsupported = |what| Refused::new(RejectReason::UnsupportedMediaType, ExportError::UnsupportedMedia(what));
    if let Some(origin) = request.headers().get(ORIGIN)
        && !origins::allows(&project.settings.allowed_origins, origin.as_bytes())
    {
        let error = ExportError::Forbidden("this project takes nothing from pages of this origin");
        return Err(Refused::new(RejectReason::Origin, error));
    }
    app.quotas.admit(&app.query, project, app.config.project_quota(), app.clock.now_ns()).await?;
    let encoding = content_type
        .ok_or_else(|| unsupported("the content type must be application/x-protobuf or application/json".to_owned()))?;
    let coding = coding::of(request.headers()).map_err(|name| unsupported(coding::unknown(&name)))?;
    let limits = RouteLimits { body_bytes_max: app.config.otlp_body_bytes_max, ..limits::OTLP };
    let declared = declared_length(request.headers());
    let asked = Instant::now();
    let entered = Turn::enter(&app.admission, &app.bodies, project.number).await;
    app.ingest.metrics.admission.add(asked.elapsed());
    let mut turn = entered.map_err(|Full| Refused::overloaded(FULL))?;
    let body = turn.read(request.into_body(), declared, &limits).await.map_err(|cut| match cut {
        Cut::TooLarge => Refused::too_large(limits.body_bytes_max),
        Cut::Slow => Refused::new(RejectReason::Slow, slow_error(limits.slow_answer)),
        Cut::Broken => Refused::malformed("the request body ended early"),
        Cut::NoMemory => Refused::overloaded(FULL),
    })?;
    let export = Export { project, signal, encoding, coding, body, turn };
    let Accepted { told, bytes, records } = accept::accept(&app.ingest, export).await?;
    app.quotas.charge(project.number, bytes, records);
    Ok(told)
}

fn slow_error(answer: SlowAnswer) -> ExportError {
    match answer {
        SlowAnswer::Timeout408 => ExportError::Slow,
        SlowAnswer::Retry503 => ExportError::Overloaded("the request body came too slowly"),
    }
}

/// The project that the request's token belongs to.
pub fn project_of(app: &App, headers: &HeaderMap) -> Option<Arc<Project>> {
    app.control.project_by_token(bearer(headers)?, app.clock.now_ns())
}

/// Counts a refused export. One that belongs to no project is remembered with what its sender needs to be found.
pub fn count_refused(app: &App, signal: Signal, request: &Request, project: Option<&Project>, refused: &Refused) {
    app.refused(project.map_or(NO_PROJECT, |project| project.number), signal, refused);
    if project.is_some() {
        return;
    }
    let at_ns = app.clock.now_ns();
    let is_upload_token = |token: &str| app.control.project_by_upload_token(token, at_ns).is_some();
    let (message, token_start) = refusals::unknown_credential(request.headers(), is_upload_token);
    let Origin { address, user_agent, .. } = Origin::of(request.headers(), request.extensions(), app);
    let (path, reason) = (request.uri().path().to_owned(), refused.reason);
    app.refusals.add_unknown(UnknownSender { at_ns, address, path, token_start, user_agent, reason, message });
}

/// The body's encoding, parameters and case ignored; `None` when it is no OTLP type.
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
