//! The dashboard's handlers: parse the request, run queries, respond with JSON. One file per resource.

mod ai_conversations;
mod channels;
mod compare;
mod deploys;
mod drops;
mod entities;
mod explain;
mod export;
mod grouping_rules;
mod issues;
mod log_tail;
mod logs;
mod metrics;
mod monitors;
mod notification_history;
mod notification_rules;
mod overview;
mod profiles;
mod query;
mod saved_views;
mod services;
mod sessions;
mod slow_offset;
mod symbol_bodies;
mod symbol_files;
mod symbols;
mod traces;
mod triage;

use axum::middleware::from_fn;

use crate::http::api::{Api, Descriptions};
use crate::http::incomplete;

/// All dashboard routes. They take the JWT and `?projectId=` (see `gate::auth::ProjectAccess`), and mark responses that
/// lack rows (see `http::incomplete`).
pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .merge(ai_conversations::routes())
        .merge(channels::routes())
        .merge(compare::routes())
        .merge(deploys::routes())
        .merge(drops::routes())
        .merge(entities::routes())
        .merge(explain::routes())
        .merge(export::routes())
        .merge(grouping_rules::routes())
        .merge(issues::routes())
        .merge(log_tail::routes())
        .merge(logs::routes())
        .merge(metrics::routes())
        .merge(notification_history::routes())
        .merge(notification_rules::routes())
        .merge(monitors::routes())
        .merge(overview::routes())
        .merge(profiles::routes())
        .merge(query::routes())
        .merge(saved_views::routes())
        .merge(services::routes())
        .merge(sessions::routes())
        .merge(slow_offset::routes())
        .merge(symbols::routes())
        .merge(traces::routes())
        .merge(triage::routes())
        .served(|router| router.route_layer(from_fn(incomplete::add_header)))
}
