//! What became of what was received: `/api/drops`.

use crate::http::openapi::{Failures, ProjectQuery};
use crate::query::views::drops::*;

/// Accepted and rejected requests, kept and dropped records.
#[utoipa::path(
    post,
    path = "/api/drops",
    operation_id = "getDrops",
    tag = "drops",
    params(ProjectQuery),
    request_body = DropsRequest,
    responses((status = 200, description = "The answer", body = Drops), Failures)
)]
pub async fn drops() {}
