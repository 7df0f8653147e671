//! The OpenAPI document: what `routes` says about itself, with our name on it.

use utoipa::openapi::OpenApi;

use super::routes;

/// The whole document, as `/api/openapi.json` and `tidewatch openapi` show it.
pub fn document() -> OpenApi {
    routes::api().into_openapi()
}
