//! `POST /api/profiles/ingest`: profiles in the format of pprof. Spec: endpoints, limits; WIRE 2.1; DECISIONS 20.
//!
//! The body is a `profile.proto`, usually compressed with gzip. Service, server and version are query parameters.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::ALLOW;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::RequestKind;

use super::cors;
use super::otlp::{count_refused, project_of, receive};
use crate::contexts::{Accounts, Ingest, Process};
use crate::error::ApiError;
use tidewatch_ingest::error::ExportError;
use tidewatch_ingest::outcome::{Refused, RejectReason};
use tidewatch_query::context::QueryContext;

/// Stores a profile in the format of pprof, compressed with gzip or not.
#[utoipa::path(post, path = "/api/profiles/ingest", operation_id = "ingestProfile", tag = "native", security(("projectToken" = [])),
    params(("service" = Option<String>, Query, description = "Name of the service; the project's name when absent"),
        ("serverName" = Option<String>, Query, description = "Name of the server or instance"),
        ("appVersion" = Option<String>, Query, description = "Version of the application")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "profile.proto; the content type is not checked"),
    responses((status = 200, description = "Stored", body = serde_json::Value), (status = 400, description = "Not a profile", body = crate::error::ErrorBody),
        (status = 413, description = "Too large after decompression", body = crate::error::ErrorBody), (status = 503, description = "Too slow or too many; retry after `Retry-After`", body = crate::error::ErrorBody)))]
pub async fn ingest(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    request: Request,
) -> Response {
    cors::allow_any_origin(response(accounts, query, ingest, process, request).await)
}

/// The response to methods other than POST and OPTIONS: 405.
pub async fn wrong_method() -> Response {
    let mut response = ApiError::MethodNotAllowed("profiles are sent with POST").into_response();
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    cors::allow_any_origin(response)
}

async fn response(
    accounts: Arc<Accounts>,
    query: Arc<QueryContext>,
    ingest: Arc<Ingest>,
    process: Arc<Process>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let Some(project) = project_of(&accounts, &head.headers) else {
        let refused = Refused::new(RejectReason::BadToken, ExportError::Unauthorized("missing or wrong project token"));
        count_refused(&accounts, &ingest, &process, RequestKind::Profile, &head, None, &refused);
        return ApiError::from(refused.error).into_response();
    };
    match receive(&query, &ingest, &process, RequestKind::Profile, Some(Encoding::Protobuf), &project, (head, body))
        .await
    {
        Ok(_) => (StatusCode::OK, Json(json!({}))).into_response(),
        Err(refused) => {
            ingest.refused(project.number, RequestKind::Profile, &refused);
            ApiError::from(refused.error).into_response()
        }
    }
}
