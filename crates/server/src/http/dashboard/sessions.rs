//! Sessions and their recordings: `/api/sessions…`. WIRE 8.7.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::contexts::{Accounts, Ingest};
use crate::error::ApiError;
use crate::http::api::{Api, Descriptions, routes};
use crate::http::gate::auth::{Admin, ProjectAccess, ViaLogin};
use crate::http::gate::body::JsonBody;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, NotFound, ProjectQuery};
use tidewatch_accounts::Project;
use tidewatch_domain::rules::framework::Framework;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::error::QueryError;
use tidewatch_query::executor::Executor;
use tidewatch_query::sessions::RecordingDocument;
use tidewatch_query::views::page::Page;
use tidewatch_query::views::session::*;
use tidewatch_query::{ids, sessions, time};
use tidewatch_store::tables::Table;
use tidewatch_store::{Deletion, StoreError};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(list, delete)).routes(routes!(detail)).routes(routes!(recording)).routes(routes!(clip))
}

fn executor(query: &Arc<QueryContext>) -> Executor {
    Executor::within(query.clone(), limits::LIST_DEADLINE)
}

/// Sessions that started in the time range, each once, in its newest state.
#[utoipa::path(
    post,
    path = "/api/sessions",
    operation_id = "listRecordedSessions",
    tag = "sessions",
    params(ProjectQuery, GlobalFilterQuery),
    request_body = SessionListRequest,
    responses((status = 200, description = "Success", body = Page<SessionRow>), Failures)
)]
async fn list(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    JsonBody(request): JsonBody<SessionListRequest>,
) -> Result<Json<Page<SessionRow>>, ApiError> {
    Ok(Json(sessions::list(&executor(&query).filtered(selected), &access.project, request).await?))
}

/// One session with its segments and errors.
#[utoipa::path(
    post,
    path = "/api/sessions/{id}",
    operation_id = "getRecordedSession",
    tag = "sessions",
    params(ProjectQuery, ("id" = String, Path, description = "UUID of the session", format = "uuid")),
    request_body = SessionDetailRequest,
    responses((status = 200, description = "Success", body = SessionDetail), Failures, NotFound)
)]
async fn detail(
    State(query): State<Arc<QueryContext>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<SessionDetailRequest>,
) -> Result<Json<SessionDetail>, ApiError> {
    let started_at = time::parse_optional(request.started_at.as_deref(), "startedAt")?;
    let id = ids::parse_row(&id)?;
    Ok(Json(sessions::detail(&executor(&query), &access.project, id, started_at).await?))
}

/// Selects a segment of a recording.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct SegmentQuery {
    /// Index of the segment; 0 when absent.
    #[serde(default)]
    segment: u32,
}

/// A segment of a session's recording as JSON: `events`, `logs` and `actions` as the client sent them, `startedAt`,
/// `endedAt`.
#[utoipa::path(
    get,
    path = "/api/sessions/{id}/recording",
    operation_id = "getSessionRecording",
    tag = "sessions",
    params(ProjectQuery, SegmentQuery, ("id" = String, Path, description = "UUID of the session", format = "uuid")),
    responses((status = 200, description = "Success", body = serde_json::Value), Failures, NotFound)
)]
async fn recording(
    State(context): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    Path(id): Path<String>,
    query: Result<Query<SegmentQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let id = ids::parse_row(&id)?;
    let document = sessions::segment_document(&executor(&context), &access.project, id, query.segment).await?;
    resolved(ingest, access.project, document).await
}

/// The recording of an exception as JSON, in the form of a segment.
#[utoipa::path(
    get,
    path = "/api/exception-stack-traces/by-id/{id}/recording",
    operation_id = "getOccurrenceRecording",
    tag = "sessions",
    params(ProjectQuery, ("id" = String, Path, description = "Row id", format = "uuid")),
    responses((status = 200, description = "Success", body = serde_json::Value), Failures, NotFound)
)]
async fn clip(
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let id = ids::parse_row(&id)?;
    let document = sessions::clip_document(&executor(&query), &access.project, id).await?;
    resolved(ingest, access.project, document).await
}

/// A document with symbolicated errors. WIRE 1.7.
async fn resolved(
    ingest: Arc<Ingest>,
    project: Arc<Project>,
    document: RecordingDocument,
) -> Result<Response, ApiError> {
    let framework = Framework::of_project(&project.framework);
    let time = (ingest.pipeline.clock.now_ns(), limits::RESOLVE_RECORDING_MAX);
    let RecordingDocument { json, app_version } = document;
    let resolve = move || ingest.symbols.resolve_recording(project.id, framework, json, &app_version, time);
    let document = tokio::task::spawn_blocking(resolve).await.map_err(ApiError::internal)?;
    Ok(([(CONTENT_TYPE, "application/json")], document).into_response())
}

/// Selects the sessions to delete.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct DeleteQuery {
    /// The exact id of the user, as the sessions have it.
    user_id: String,
}

/// Deletes the sessions of a user, their recordings, and the recordings of their exceptions. What clients send
/// afterwards is stored.
#[utoipa::path(
    delete,
    path = "/api/sessions",
    operation_id = "deleteRecordedSessions",
    tag = "sessions",
    params(ProjectQuery, DeleteQuery),
    responses((status = 200, description = "Success", body = DeletedSessions), Failures)
)]
async fn delete(
    State(accounts): State<Arc<Accounts>>,
    State(context): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
    access: ProjectAccess<ViaLogin<Admin>>,
    query: Result<Query<DeleteQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<DeletedSessions>, ApiError> {
    let Query(DeleteQuery { user_id }) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    if user_id.is_empty() {
        return Err(ApiError::malformed("userId is empty"));
    }
    let found = sessions::of_user(&executor(&context), &access.project, &user_id).await?;
    let deleted = found.sessions.len() as u64;
    accounts.control.audit_log.record_sessions_removal(&access.actor(&context.clock), &access.project, deleted).await?;
    let project = access.project.number;
    let work = tokio::task::spawn_blocking(move || remove(&context, &ingest, project, &found, &user_id));
    work.await.map_err(QueryError::internal)?.map_err(QueryError::from)?;
    Ok(Json(DeletedSessions { deleted }))
}

/// Removes rows for good, all or none of them.
fn remove(
    query: &Arc<QueryContext>,
    ingest: &Ingest,
    project: u32,
    found: &sessions::OfUser,
    user: &str,
) -> Result<(), StoreError> {
    let ids = |ids: &BTreeSet<[u8; 16]>| ids.iter().map(|id| id.to_vec()).collect::<BTreeSet<_>>();
    let sessions = ids(&found.sessions);
    let segments = [
        ("session_id", sessions.clone()),
        ("exception_id", ids(&found.exceptions)),
        ("user_id", [user.as_bytes().to_vec()].into()),
    ];
    query.store.delete(&[
        Deletion { project, table: Table::SessionSegments, any: &segments },
        Deletion { project, table: Table::Sessions, any: &[("session_id", sessions)] },
    ])?;
    // The journal has the reports as they were received.
    ingest.durable_store.tidy_journal(true);
    Ok(())
}
