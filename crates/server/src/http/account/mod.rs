//! Accounts and projects: registration, login, who may open what.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// Every account route.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
}
