//! The dashboard's handlers: read the request, ask `query`, answer JSON. One file per resource.

mod drops;
mod entities;
mod export;
mod issues;
mod logs;
mod metrics;
mod overview;
mod services;
mod slow_offset;
mod symbol_files;
mod symbols;
mod traces;

use axum::middleware::from_fn;

use crate::http::api::Api;
use crate::http::incomplete;

/// Every dashboard route. All of them take the JWT and `?projectId=` (see `gate::auth::ProjectAccess`), and say when
/// their answer lacks rows (see `http::incomplete`).
pub fn routes() -> Api {
    Api::new()
        .merge(drops::routes())
        .merge(entities::routes())
        .merge(export::routes())
        .merge(issues::routes())
        .merge(logs::routes())
        .merge(metrics::routes())
        .merge(overview::routes())
        .merge(services::routes())
        .merge(slow_offset::routes())
        .merge(symbols::routes())
        .merge(traces::routes())
        .served(|router| router.route_layer(from_fn(incomplete::tell)))
}
