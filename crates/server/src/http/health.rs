//! `GET /health` and `/readyz`: 200 once the store is open and replayed. `/livez`: 200 as soon as the process answers.

use axum::Json;
use axum::http::StatusCode;

use crate::query::views::account::Health;

/// Whether the server is ready.
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "health",
    tag = "health",
    responses((status = 200, description = "Ready", body = Health), (status = 503, description = "Not ready yet", body = Health)),
    security(())
)]
pub async fn health() -> Json<Health> {
    Json(Health { status: "ok".to_owned() })
}

/// The same before that.
pub async fn starting() -> (StatusCode, Json<Health>) {
    (StatusCode::SERVICE_UNAVAILABLE, Json(Health { status: "starting".to_owned() }))
}

/// Alive, though not ready.
pub async fn alive() -> Json<Health> {
    Json(Health { status: "starting".to_owned() })
}
