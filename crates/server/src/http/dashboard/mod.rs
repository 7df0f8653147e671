//! The dashboard's handlers: one file per resource.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// Every dashboard route. All of them take the JWT and `?projectId=` (see `gate::auth::ProjectAccess`).
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
}
