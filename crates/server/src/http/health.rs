//! Health routes: whether requests are served, whether exports can be stored, whether the storing threads are alive.
//!
//! | route | 200 | 503 |
//! |---|---|---|
//! | `/livez` | the storing threads make progress, or the store is being opened | a thread is missing: restart the process |
//! | `/health`, `/readyz` | the store is open, and exports can be stored | the store is being opened, a thread is missing, or the disk fails |
//!
//! `/livez` also names missing threads that do not store (`background`): 200 with the status `degraded`.
//!
//! A 503 names the problems. It contains no paths and no stored data, because the routes need no authentication.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tidewatch_journal::heartbeat::Missing;
use utoipa::ToSchema;

use crate::contexts::{Ingest, Process};
use crate::error::health_status;
use tidewatch_limits as limits;
use tidewatch_query::context::QueryContext;

/// `GET /health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Health {
    /// `ok`, `starting` or `failing`.
    pub status: String,
    /// Failing parts, one sentence each; absent when nothing fails.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Whether the server is ready: started, and able to store telemetry.
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "health",
    tag = "health",
    responses((status = 200, description = "Ready", body = Health), (status = 503, description = "Not ready", body = Health)),
    security(())
)]
pub async fn ready(
    State(query): State<Arc<QueryContext>>,
    State(ingest): State<Arc<Ingest>>,
) -> (StatusCode, Json<Health>) {
    let mut problems = missing_threads(&ingest);
    if !ingest.durable_store.is_writable() {
        problems.push("the journal cannot be written".to_owned());
    }
    if query.store.write_failure().is_some() {
        problems.push("the last flush failed".to_owned());
    }
    health_response(problems)
}

/// The response of `/health` and `/readyz` while the store is being opened.
pub async fn starting() -> (StatusCode, Json<Health>) {
    (health_status(false), Json(Health { status: "starting".to_owned(), problems: Vec::new() }))
}

/// Whether the threads make progress.
pub async fn alive(
    State(ingest): State<Arc<Ingest>>,
    State(process): State<Arc<Process>>,
) -> (StatusCode, Json<Health>) {
    let of_store = missing_threads(&ingest);
    let others: Vec<String> = process.background.missing(Instant::now()).iter().map(Missing::to_string).collect();
    if of_store.is_empty() && !others.is_empty() {
        return (StatusCode::OK, Json(Health { status: "degraded".to_owned(), problems: others }));
    }
    health_response([of_store, others].concat())
}

/// The response of `/livez` while the store is being opened: alive, but not ready.
pub async fn alive_starting() -> Json<Health> {
    Json(Health { status: "starting".to_owned(), problems: Vec::new() })
}

fn missing_threads(ingest: &Ingest) -> Vec<String> {
    let now = Instant::now();
    let missing = ingest.durable_store.heartbeats().filter_map(|beat| beat.missing(now, limits::HEARTBEAT_SILENCE_MAX));
    missing.map(|missing| missing.to_string()).collect()
}

fn health_response(problems: Vec<String>) -> (StatusCode, Json<Health>) {
    let is_healthy = problems.is_empty();
    let status = if is_healthy { "ok" } else { "failing" };
    (health_status(is_healthy), Json(Health { status: status.to_owned(), problems }))
}
