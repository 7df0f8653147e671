//! Reports and profiles: their responses, which are JSON with the same statuses.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
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

/// Stores the body of a request for the project of its token. 200 with `{}`, or an error.
pub async fn store(
    accounts: &Accounts,
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    process: &Process,
    kind: RequestKind,
    encoding: Encoding,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let response = match project_of(accounts, &head.headers) {
        Some(project) => match receive(query, ingest, process, kind, Some(encoding), &project, (head, body)).await {
            Ok(_) => (StatusCode::OK, Json(json!({}))).into_response(),
            Err(refused) => {
                ingest.refused(project.number, kind, &refused);
                ApiError::from(refused.error).into_response()
            }
        },
        None => {
            let missing = ExportError::Unauthorized("missing or wrong project token");
            let refused = Refused::new(RejectReason::BadToken, missing);
            count_refused(accounts, ingest, process, kind, &head, None, &refused);
            ApiError::from(refused.error).into_response()
        }
    };
    cors::allow_any_origin(response)
}

/// 405 with the reason and the allowed methods.
pub fn wrong_method(reason: &'static str) -> Response {
    let mut response = ApiError::MethodNotAllowed(reason).into_response();
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    cors::allow_any_origin(response)
}
