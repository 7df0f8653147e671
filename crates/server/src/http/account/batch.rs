//! `POST /api/projects/batch`: creates several projects, all or none. WIRE 5.4 and appendix A name only the route; the
//! body is not specified.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::projects::{check_framework, check_name, membership};
use super::view;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::project::{NewProjectsRequest, ProjectView};
use crate::http::gate::auth::{SignedIn, Write};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::Failures;
use tidewatch_accounts::NewProject;
use tidewatch_limits as limits;

/// Creates several projects, all or none. The response has the order of the request.
#[utoipa::path(
    post,
    path = "/api/projects/batch",
    operation_id = "createProjects",
    tag = "projects",
    request_body = NewProjectsRequest,
    responses((status = 201, description = "Created", body = Vec<ProjectView>), Failures)
)]
pub async fn create(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    caller: SignedIn<Write>,
    JsonBody(request): JsonBody<NewProjectsRequest>,
) -> Result<(StatusCode, Json<Vec<ProjectView>>), ApiError> {
    let most = limits::PROJECTS_AT_ONCE_MAX;
    if !(1..=most).contains(&request.projects.len()) {
        return Err(ApiError::unprocessable(format!("projects has 1 to {most} entries")));
    }
    let membership = membership(&accounts, &caller, request.organization_id)?;
    let organization_id = membership.organization.id;
    let mut new = Vec::new();
    for project in &request.projects {
        let (name, framework) = (check_name(&project.name)?, check_framework(project.framework.as_deref())?);
        new.push(NewProject { organization_id, name, framework });
    }
    let created = accounts.control.projects.create_projects(&caller.actor(&accounts.clock), &new).await?;
    let views = created
        .iter()
        .map(|project| view::project_view(&accounts, &process, project, membership.role, &caller.via))
        .collect();
    Ok((StatusCode::CREATED, Json(views)))
}
