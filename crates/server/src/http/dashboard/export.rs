//! Exports of a table as a file: `GET /api/export`.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::Version;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use tidewatch_store::StoreError;
use tidewatch_store::plan::Plan;
use tidewatch_store::tables::Table;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::api::{Api, Descriptions, routes};
use crate::http::connection::streamed_body::{self, BodySender, SendError, StreamedRequest};
use crate::http::gate::auth::ProjectAccess;
use crate::http::gate::global_filter::{GlobalFilterQuery, SelectedRecords};
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;
use tidewatch_query::export::columns::ProjectIds;
use tidewatch_query::export::{self, Export, Format};
use tidewatch_query::projects::Projects;
use tidewatch_query::time::{self, Range};

pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new().routes(routes!(export_table))
}

/// The parameters of an export.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `spans`, `endpoints`, `tasks`, `ai_traces`, `exceptions`, `logs`, `metric_points` or `ingest_counts`.
    table: String,
    /// Start of the time range, RFC 3339.
    from: String,
    /// End of the time range (exclusive), RFC 3339.
    to: String,
    /// `parquet`, `ndjson` or `csv`; `parquet` when absent.
    format: Option<String>,
    /// `true`: export every project that the caller may read, instead of `projectId` alone.
    all_projects: Option<bool>,
}

/// Exports all rows of a table in a time range as a file. Each row appears once, in no particular order, as stored when
/// the export started. If the export fails, the server closes the connection before the end of the body.
#[utoipa::path(
    get,
    path = "/api/export",
    operation_id = "exportTable",
    tag = "export",
    params(ProjectQuery, GlobalFilterQuery, ExportQuery),
    responses(
        (status = 200, description = "The file", body = String, content_type = "application/vnd.apache.parquet"),
        Failures
    )
)]
async fn export_table(
    State(accounts): State<Arc<Accounts>>,
    State(context): State<Arc<QueryContext>>,
    access: ProjectAccess,
    SelectedRecords(selected): SelectedRecords,
    version: Version,
    query: Result<Query<ExportQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::malformed(error.body_text()))?;
    let table = export::table(&query.table)
        .ok_or_else(|| ApiError::malformed(format!("table is not one of {}", export::table_names())))?;
    let format = query.format.as_deref().map_or(Some(Format::Parquet), Format::parse);
    let format = format.ok_or_else(|| ApiError::malformed("format is not one of parquet, ndjson, csv"))?;
    let range = Range { from: time::parse(&query.from, "from")?, to: time::parse(&query.to, "to")? };
    if range.to < range.from {
        return Err(ApiError::unprocessable("to is before from"));
    }
    let projects = match query.all_projects.unwrap_or(false) {
        true => Projects::new(access.readable_projects(&accounts.control.projects)),
        false => Projects::one(&access.project),
    };
    let plan = export::plan(table, projects.numbers(), range);
    respond(accounts, context, access.user.id, version, &projects, selected.applied(plan), format).await
}

/// Starts the export of a plan of rows and responds with its file. 503 while [`limits::EXPORTS_MAX`] exports run.
pub(super) async fn respond(
    accounts: Arc<Accounts>,
    query: Arc<QueryContext>,
    user: i64,
    version: Version,
    projects: &Projects,
    plan: Plan,
    format: Format,
) -> Result<Response, ApiError> {
    // An HTTP/1.0 body ends with the connection, so that a client cannot recognize an incomplete one.
    if version < Version::HTTP_11 {
        return Err(ApiError::malformed("an export needs HTTP/1.1 or later; a proxy must pass it on"));
    }
    let table = plan.table;
    let permit = query.exports.clone().try_acquire_owned();
    let permit = permit.map_err(|_| ApiError::Overloaded("too many exports at once; try again later"))?;
    let ids = projects.numbers().into_iter().map(|number| (number, projects.id(number)));
    let names = ProjectIds::new(ids.clone());
    let cursor = query.cursor(plan).await?;
    let export = Export::start(cursor, table, format, names)?;
    let (sender, body) = streamed_body::channel();
    let answered = StreamedRequest::default();
    let transfer = ExportTransfer {
        projects: ids.map(|(_, id)| id).collect(),
        user,
        accounts: accounts.clone(),
        query: query.clone(),
        table,
        answered: answered.clone(),
        _permit: permit,
    };
    tokio::spawn(transfer.run(export, sender));
    let name = format!("attachment; filename=\"{}.{}\"", table.name(), format.name());
    let headers = [(CONTENT_TYPE, format.content_type().to_owned()), (CONTENT_DISPOSITION, name)];
    let mut response = (headers, Body::new(body)).into_response();
    response.extensions_mut().insert(answered);
    Ok(response)
}

/// Sends an export to its client. Holds one permit of concurrent exports.
struct ExportTransfer {
    accounts: Arc<Accounts>,
    query: Arc<QueryContext>,
    table: Table,
    user: i64,
    projects: Vec<Uuid>,
    answered: StreamedRequest,
    _permit: OwnedSemaphorePermit,
}

impl ExportTransfer {
    async fn run(self, export: Export, body: BodySender) {
        let table = self.table.name();
        match tokio::time::timeout(limits::EXPORT_MAX, self.send(export, &body)).await {
            Ok(Ok(())) => return body.end().await,
            Ok(Err(Some(why))) => tracing::warn!(table, user = self.user, "an export of {table} broke off: {why}"),
            // The client has disconnected.
            Ok(Err(None)) => {}
            Err(_) => tracing::warn!(table, user = self.user, "an export of {table} broke off: it took too long"),
        }
        self.answered.give_up();
    }

    /// Sends the file. On failure returns the reason; `None` when the client has disconnected.
    async fn send(&self, mut export: Export, body: &BodySender) -> Result<(), Option<String>> {
        loop {
            let (rest, piece) = self.piece(export).await?;
            export = rest;
            let Some(mut bytes) = piece.map(Bytes::from) else { return Ok(()) };
            if !self.is_allowed() {
                return Err(Some("its user may no longer read the project".to_owned()));
            }
            while !bytes.is_empty() {
                let chunk = bytes.split_to(bytes.len().min(limits::EXPORT_CHUNK_BYTES));
                body.send_within(chunk, limits::EXPORT_CHUNK_MAX).await.map_err(|untaken| match untaken {
                    SendError::Disconnected => None,
                    SendError::TimedOut => Some("its client reads too slowly".to_owned()),
                })?;
            }
        }
    }

    /// Reads the next bytes of the file, `None` after its end, on a query thread. Takes the export and returns it.
    async fn piece(&self, mut export: Export) -> Result<(Export, Option<Vec<u8>>), Option<String>> {
        let mut tries = 0;
        loop {
            let next = self.query.run_queued(move |store| {
                let memory = store.request_memory();
                let piece = export.next(&memory, Instant::now() + limits::EXPORT_PIECE_MAX);
                (export, piece)
            });
            let (rest, piece) = next.await.map_err(|error| Some(error.to_string()))?;
            export = rest;
            tries += 1;
            match piece {
                Ok(piece) => return Ok((export, piece)),
                Err(StoreError::Deadline) if tries < limits::EXPORT_PIECE_TRIES => {}
                Err(error) => return Err(Some(error.to_string())),
            }
        }
    }

    /// Whether the user still has a role in each project.
    fn is_allowed(&self) -> bool {
        let control = &self.accounts.control;
        self.projects.iter().all(|project| {
            control
                .projects
                .project_by_id(*project)
                .is_some_and(|project| control.people.role_in(self.user, &project).is_some())
        })
    }
}
