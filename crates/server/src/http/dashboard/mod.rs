//! The dashboard's handlers: one file per resource.

pub mod ai_traces;
pub mod drops;
pub mod endpoints;
pub mod issues;
pub mod logs;
pub mod metrics;
pub mod overview;
pub mod tasks;
pub mod traces;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// Every dashboard route. All of them take the JWT and `?projectId=` (see `gate::auth::ProjectAccess`).
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
}
