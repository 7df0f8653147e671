//! All routes on one screen.
//!
//! | path | who may call | body limit |
//! |---|---|---|
//! | `GET /health` | anybody | |
//! | `GET /api/has-organizations`, `POST /api/register`, `POST /api/login` | anybody | `ANONYMOUS` |
//! | `GET /api/me/login-bundle`, `/api/projects` | a login | `JSON` |
//! | `/api/...` of `dashboard/` | a login and membership of `?projectId=` | `JSON` |

use std::sync::Arc;

use axum::Router;
use utoipa_axum::router::OpenApiRouter;

use super::{account, dashboard};
use crate::app::App;
use crate::error::ApiError;

/// Everything the OpenAPI document knows about.
pub fn api() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().merge(account::routes()).merge(dashboard::routes())
}

/// The whole service.
pub fn router(app: Arc<App>) -> Router {
    let (router, _) = api().split_for_parts();
    router
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed("this path does not take this method"))
        .fallback(async || ApiError::not_found("no such path"))
        .with_state(app)
}
