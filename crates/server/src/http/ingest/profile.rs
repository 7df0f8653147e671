//! `POST /api/profiles/ingest`: profiles in the format of pprof. Spec: endpoints, limits; WIRE 2.1; DECISIONS 20.
//!
//! The body is a `profile.proto`, usually compressed with gzip. Service, server and version are query parameters.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::RequestKind;

use super::native;
use crate::contexts::{Accounts, Ingest, Process};
use tidewatch_query::context::QueryContext;

/// Stores a profile in the format of pprof, compressed with gzip or not.
#[utoipa::path(post, path = "/api/profiles/ingest", operation_id = "ingestProfile", tag = "native", security(("projectToken" = [])),
    params(("service" = Option<String>, Query, description = "Name of the service; the project's name when absent"),
        ("serverName" = Option<String>, Query, description = "Name of the server or instance"),
        ("appVersion" = Option<String>, Query, description = "Version of the application"),
        ("processId" = Option<String>, Query, description = "Id of the process, if several of them have one server name: cumulative values are compared within a process")),
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
    native::store(&accounts, &query, &ingest, &process, RequestKind::Profile, Encoding::Protobuf, request).await
}

/// The response to methods other than POST and OPTIONS: 405.
pub async fn wrong_method() -> Response {
    native::wrong_method("profiles are sent with POST")
}
