//! `/api/projects`: the projects one may open. WIRE 5.6.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidewatch_domain::project::IngestSettings;

use super::view;
use crate::app::App;
use crate::control::{NewProject, ProjectChange};
use crate::error::ApiError;
use crate::http::gate::auth::{ProjectAccess, SignedIn};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use crate::limits;
use crate::query::views::account::{NewProjectRequest, ProjectChangeRequest, ProjectView};

/// WIRE 5.1; the first is what a project gets that does not say.
const FRAMEWORKS: &[&str] = &[
    "opentelemetry",
    "gin",
    "fiber",
    "chi",
    "fasthttp",
    "stdlib",
    "custom",
    "react",
    "svelte",
    "vuejs",
    "nextjs",
    "nestjs",
    "express",
    "remix",
    "jquery",
    "react-native",
    "hono",
    "cloudflare",
    "symfony",
    "laravel",
    "django",
    "flutter",
    "android",
    "ios",
];

/// The projects one may open.
#[utoipa::path(
    get,
    path = "/api/projects",
    operation_id = "listProjects",
    tag = "projects",
    responses((status = 200, description = "The answer", body = Vec<ProjectView>), Failures)
)]
pub async fn list(State(app): State<Arc<App>>, SignedIn { user }: SignedIn) -> Json<Vec<ProjectView>> {
    Json(view::projects(&app, &user))
}

/// Makes a project.
#[utoipa::path(
    post,
    path = "/api/projects",
    operation_id = "createProject",
    tag = "projects",
    request_body = NewProjectRequest,
    responses((status = 201, description = "Made", body = ProjectView), Failures)
)]
pub async fn create(
    State(app): State<Arc<App>>,
    SignedIn { user }: SignedIn,
    JsonBody(request): JsonBody<NewProjectRequest>,
) -> Result<(StatusCode, Json<ProjectView>), ApiError> {
    let memberships = app.control.memberships(user.id);
    let mut writable = memberships.iter().filter(|membership| membership.role.may_write());
    let membership = match request.organization_id {
        Some(id) => writable.find(|membership| membership.organization.id == id),
        None => writable.next(),
    };
    let membership = membership.ok_or(ApiError::Forbidden("you may not make projects in this organization"))?;
    let new = NewProject {
        organization_id: membership.organization.id,
        name: check_name(&request.name)?,
        framework: check_framework(request.framework.as_deref())?,
    };
    let now_ns = app.clock.now_ns();
    let project = app.control(move |app| app.control.create_project(&new, now_ns)).await?;
    Ok((StatusCode::CREATED, Json(view::project_view(&app, &project, membership.role))))
}

/// Changes a project: what is absent stays.
#[utoipa::path(
    put,
    path = "/api/projects",
    operation_id = "changeProject",
    tag = "projects",
    params(ProjectQuery),
    request_body = ProjectChangeRequest,
    responses((status = 200, description = "The answer", body = ProjectView), Failures)
)]
pub async fn change(
    State(app): State<Arc<App>>,
    access: ProjectAccess,
    JsonBody(request): JsonBody<ProjectChangeRequest>,
) -> Result<Json<ProjectView>, ApiError> {
    access.require_write()?;
    let old = &access.project;
    let rate = |field: &str, asked: Option<f64>, old: f64| match asked {
        Some(rate) if !(0.0..=1.0).contains(&rate) => {
            Err(ApiError::unprocessable(format!("{field} must lie between 0 and 1")))
        }
        asked => Ok(asked.unwrap_or(old)),
    };
    let settings = IngestSettings {
        keep_unmatched_roots: request.keep_unmatched_roots.unwrap_or(old.settings.keep_unmatched_roots),
        issues_from_logs: request.issues_from_logs.unwrap_or(old.settings.issues_from_logs),
        sample_rate: rate("sampleRate", request.sample_rate, old.settings.sample_rate)?,
        error_sample_rate: rate("errorSampleRate", request.error_sample_rate, old.settings.error_sample_rate)?,
    };
    let change = ProjectChange {
        name: request.name.as_deref().map_or(Ok(old.name.clone()), check_name)?,
        framework: match request.framework.as_deref() {
            None => old.framework.clone(),
            some => check_framework(some)?,
        },
        settings,
    };
    let number = old.number;
    let project = app.control(move |app| app.control.change_project(number, &change)).await?;
    Ok(Json(view::project_view(&app, &project, access.role)))
}

/// 1 to 100 letters, digits, spaces, `-`, `_` and `.`.
pub fn check_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let right = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    if name.is_empty() || name.chars().count() > limits::PROJECT_NAME_CHARS_MAX || !name.chars().all(right) {
        let most = limits::PROJECT_NAME_CHARS_MAX;
        let message = format!("a project name has 1 to {most} letters, digits, spaces, dashes, underscores and dots");
        return Err(ApiError::malformed(message));
    }
    Ok(name.to_owned())
}

pub fn check_framework(framework: Option<&str>) -> Result<String, ApiError> {
    match framework {
        None | Some("") => Ok(FRAMEWORKS[0].to_owned()),
        Some(known) if FRAMEWORKS.contains(&known) => Ok(known.to_owned()),
        Some(_) => Err(ApiError::malformed(format!("framework is not one of {}", FRAMEWORKS.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // WIRE 5.6.
    #[test]
    fn project_names() {
        for (name, expected) in [
            ("shop", Some("shop")),
            (" My Shop_2-b.c ", Some("My Shop_2-b.c")),
            ("Größe", Some("Größe")),
            ("", None),
            ("   ", None),
            ("a/b", None),
            ("<script>", None),
        ] {
            assert_eq!(check_name(name).ok().as_deref(), expected, "{name:?}");
        }
        assert!(check_name(&"a".repeat(100)).is_ok());
        assert!(check_name(&"a".repeat(101)).is_err());
    }

    #[test]
    fn frameworks() {
        for (framework, expected) in [
            (None, Some("opentelemetry")),
            (Some(""), Some("opentelemetry")),
            (Some("gin"), Some("gin")),
            (Some("x"), None),
        ] {
            assert_eq!(check_framework(framework).ok().as_deref(), expected, "{framework:?}");
        }
    }
}
