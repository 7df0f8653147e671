//! Accounts and projects: registration, login, who may open what. WIRE 5.

mod login;
mod me;
mod password;
mod projects;
mod register;
mod view;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// Every account route.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(register::has_organizations))
        .routes(routes!(register::register))
        .routes(routes!(login::login))
        .routes(routes!(login::bundle))
        .routes(routes!(me::change_password))
        .routes(routes!(projects::list, projects::create, projects::change, projects::delete))
        .routes(routes!(projects::rotate_token))
        .routes(routes!(projects::rotate_upload_token))
}
