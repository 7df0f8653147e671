//! `POST /api/report`: native reports. Spec: endpoints, limits; WIRE 1; DECISIONS 20.
//!
//! The response is exactly 200 with `{}`: clients treat every other status as a failure and send the report again. Items
//! that are not stored are counted by reason.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::RequestKind;

use super::native;
use crate::contexts::{Accounts, Ingest, Process};
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
    // The content type is not checked: some clients send none.
    native::store(&accounts, &query, &ingest, &process, RequestKind::Report, Encoding::Json, request).await
}

/// The response to methods other than POST and OPTIONS: 405.
pub async fn wrong_method() -> Response {
    native::wrong_method("reports are sent with POST")
}
