//! The home page: `/api/dashboard/overview`.

use crate::http::openapi::{Failures, ProjectQuery};
use crate::query::views::overview::*;

/// What the home page shows.
#[utoipa::path(
    get,
    path = "/api/dashboard/overview",
    operation_id = "getOverview",
    tag = "overview",
    params(ProjectQuery, OverviewQuery),
    responses((status = 200, description = "The answer", body = Overview), Failures)
)]
pub async fn overview() {}
