//! `POST /api/report`: native reports. Spec: endpoints, limits; WIRE 1; DECISIONS 20.
//!
//! The response is exactly 200 with `{}`: clients treat every other status as a failure and send the report again. Items
//! that are not stored are counted by reason.

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

/// Stores a native report: requests, task runs, spans, exceptions and metrics.
#[utoipa::path(post, path = "/api/report", operation_id = "report", tag = "native", security(("projectToken" = [])),
    request_body(content = serde_json::Value, content_type = "application/json", description = "The report; unknown fields are ignored"),
    responses((status = 200, description = "Stored", body = serde_json::Value), (status = 400, description = "Malformed JSON", body = crate::error::ErrorBody),
        (status = 413, description = "Too large after decompression", body = crate::error::ErrorBody), (status = 503, description = "Too slow or too many; retry after `Retry-After`", body = crate::error::ErrorBody)))]
pub async fn report(
    State(accounts): State<Arc<Accounts>>,
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
    request: Request,
) -> Response {
    cors::allow_any_origin(report_response(accounts, query, ingest, process, request).await)
}

/// The response to methods other than POST and OPTIONS: 405.
pub async fn wrong_method() -> Response {
    let mut response = ApiError::MethodNotAllowed("reports are sent with POST").into_response();
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    cors::allow_any_origin(response)
}

async fn report_response(
    accounts: Arc<Accounts>,
    query: Arc<QueryContext>,
    ingest: Arc<Ingest>,
    process: Arc<Process>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let Some(project) = project_of(&accounts, &head.headers) else {
        let refused = Refused::new(RejectReason::BadToken, ExportError::Unauthorized("missing or wrong project token"));
        count_refused(&accounts, &ingest, &process, RequestKind::Report, &head, None, &refused);
        return ApiError::from(refused.error).into_response();
    };
    // The content type is not checked: some clients send none.
    match receive(&query, &ingest, &process, RequestKind::Report, Some(Encoding::Json), &project, (head, body)).await {
        Ok(_) => (StatusCode::OK, Json(json!({}))).into_response(),
        Err(refused) => {
            ingest.refused(project.number, RequestKind::Report, &refused);
            ApiError::from(refused.error).into_response()
        }
    }
}
