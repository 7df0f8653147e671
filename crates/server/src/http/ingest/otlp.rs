//! `POST /api/otel/v1/{traces,metrics,logs}`: the OTLP door. Spec: endpoints, authentication, errors; DECISIONS 19.
//!
//! In the order in which a request can fail: token (401), content type and encoding (415), body (413, 503, 400),
//! then the pipeline. Every refusal is counted under its reason.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::Signal;

use super::answer::{self, PartialSuccess};
use super::cors;
use crate::app::App;
use crate::control::Project;
use crate::error::ApiError;
use crate::http::gate::admission::Full;
use crate::http::gate::auth::bearer;
use crate::http::gate::body::{FULL, cut_error, declared_length};
use crate::http::gate::pace::Cut;
use crate::http::gate::turn::Turn;
use crate::ingest::coding;
use crate::ingest::outcome::{Refused, RejectReason, Told};
use crate::ingest::pipeline::{self, Export};
use crate::limits::{self, RouteLimits};

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

/// Any request while the store is being opened: come back soon.
pub async fn starting(headers: HeaderMap) -> Response {
    let error = ApiError::Overloaded("the server is starting");
    cors::allow_any_origin(match media_type(&headers) {
        Some(encoding @ Encoding::Protobuf) => answer::failure(encoding, &error),
        _ => error.into_response(),
    })
}

async fn export(app: Arc<App>, signal: Signal, request: Request) -> Response {
    cors::allow_any_origin(answered(app, signal, request).await)
}

async fn answered(app: Arc<App>, signal: Signal, request: Request) -> Response {
    let content_type = media_type(request.headers());
    // The refusal of a type we do not know is for a person to read: JSON.
    let encoding = content_type.unwrap_or(Encoding::Json);
    let now_ns = app.clock.now_ns();
    let Some(project) = bearer(request.headers()).and_then(|token| app.control.project_by_token(token, now_ns)) else {
        let error = ApiError::Unauthorized("missing or wrong project token");
        return refuse(&app, signal, encoding, None, Refused::new(RejectReason::BadToken, error));
    };
    match accept(&app, signal, content_type, &project, request).await {
        Ok(told) => {
            let partial = told.sentence(signal).map(|message| PartialSuccess { rejected: told.total(), message });
            answer::success(signal, encoding, partial.as_ref())
        }
        Err(refused) => refuse(&app, signal, encoding, Some(&project), refused),
    }
}

async fn accept(
    app: &Arc<App>,
    signal: Signal,
    content_type: Option<Encoding>,
    project: &Project,
    request: Request,
) -> Result<Told, Refused> {
    let unsupported = |what| Refused::new(RejectReason::UnsupportedMediaType, ApiError::UnsupportedMedia(what));
    let encoding = content_type
        .ok_or_else(|| unsupported("the content type must be application/x-protobuf or application/json".to_owned()))?;
    let coding = coding::of(request.headers()).map_err(|name| unsupported(coding::unknown(&name)))?;
    let limits = RouteLimits { body_bytes_max: app.config.otlp_body_bytes_max, ..limits::OTLP };
    let declared = declared_length(request.headers());
    let asked = Instant::now();
    let entered = Turn::enter(&app.admission, &app.bodies, project.number).await;
    app.ingest_metrics.admission.add(asked.elapsed());
    let mut turn = entered.map_err(|Full| Refused::new(RejectReason::Overloaded, FULL))?;
    let body = turn.read(request.into_body(), declared, &limits).await.map_err(|cut| {
        let reason = match cut {
            Cut::TooLarge => RejectReason::TooLarge,
            Cut::Slow => RejectReason::Slow,
            Cut::Broken => RejectReason::Malformed,
            Cut::NoMemory => RejectReason::Overloaded,
        };
        Refused::new(reason, cut_error(cut, &limits))
    })?;
    pipeline::ingest(app, Export { project, signal, encoding, coding, body, turn }).await
}

fn refuse(app: &App, signal: Signal, encoding: Encoding, project: Option<&Project>, refused: Refused) -> Response {
    app.refused(project.map_or(0, |project| project.number), signal, &refused);
    answer::failure(encoding, &refused.error)
}

/// The body's encoding, parameters and case ignored; `None` when it is no OTLP type.
fn media_type(headers: &HeaderMap) -> Option<Encoding> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types() {
        for (value, expected) in [
            ("application/x-protobuf", Some(Encoding::Protobuf)),
            ("Application/X-Protobuf; charset=utf-8", Some(Encoding::Protobuf)),
            ("application/protobuf", Some(Encoding::Protobuf)),
            ("application/json", Some(Encoding::Json)),
            ("APPLICATION/JSON;charset=UTF-8", Some(Encoding::Json)),
            ("application/json ; a=b", Some(Encoding::Json)),
            ("text/plain", None),
            ("application/x-www-form-urlencoded", None),
            ("application/jsonp", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.parse().unwrap())]);
            assert_eq!(media_type(&headers), expected, "{value:?}");
        }
        assert_eq!(media_type(&HeaderMap::new()), None);
    }
}
