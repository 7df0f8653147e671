//! Health routes: whether requests are served, whether exports can be stored, whether the threads that store are alive.
//!
//! | route | 200 | 503 |
//! |---|---|---|
//! | `/livez` | the threads that store get on, also while the store is being opened | a thread is missing: restart the process |
//! | `/health`, `/readyz` | the store is open, and exports can be stored | it is being opened, a thread is missing, or the disk refuses |
//!
//! `/livez` names missing threads that do not store (`background`) too: 200 with the status `degraded`.
//!
//! A 503 names what is wrong. Nothing of the disk's paths or of the data is in it: anybody may ask.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidewatch_journal::heartbeat::Missing;

use crate::app::App;
use tidewatch_limits as limits;
use tidewatch_query::views::account::Health;

/// Whether the server is ready: started, and able to store what comes.
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "health",
    tag = "health",
    responses((status = 200, description = "Ready", body = Health), (status = 503, description = "Not ready", body = Health)),
    security(())
)]
pub async fn ready(State(app): State<Arc<App>>) -> (StatusCode, Json<Health>) {
    let mut problems = missing_threads(&app);
    if !app.intake.is_writable() {
        problems.push("the journal cannot be written".to_owned());
    }
    if app.store.write_failure().is_some() {
        problems.push("the last flush failed".to_owned());
    }
    answer(problems)
}

/// Before the store is open.
pub async fn starting() -> (StatusCode, Json<Health>) {
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: "starting".to_owned(), problems: Vec::new() }))
}

/// Whether the threads get on.
pub async fn alive(State(app): State<Arc<App>>) -> (StatusCode, Json<Health>) {
    let of_store = missing_threads(&app);
    let others: Vec<String> = app.background.missing(Instant::now()).iter().map(Missing::to_string).collect();
    if of_store.is_empty() && !others.is_empty() {
        return (StatusCode::OK, Json(Health { status: "degraded".to_owned(), problems: others }));
    }
    answer([of_store, others].concat())
}

/// Before the store is open: alive, though not ready.
pub async fn alive_starting() -> Json<Health> {
    Json(Health { status: "starting".to_owned(), problems: Vec::new() })
}

fn missing_threads(app: &App) -> Vec<String> {
    let now = Instant::now();
    let missing = app.intake.heartbeats().filter_map(|beat| beat.missing(now, limits::HEARTBEAT_SILENCE_MAX));
    missing.map(|missing| missing.to_string()).collect()
}

fn answer(problems: Vec<String>) -> (StatusCode, Json<Health>) {
    match problems.is_empty() {
        true => (StatusCode::OK, Json(Health { status: "ok".to_owned(), problems })),
        false => (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: "failing".to_owned(), problems })),
    }
}
