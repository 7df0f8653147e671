//! `/api/projects`: the projects of the user. WIRE 5.6.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use tidewatch_domain::project::IngestSettings;
use tidewatch_domain::rules::content_terms::{Language, normalized};
use tidewatch_domain::rules::healthcheck;

use super::view;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::project::{
    DeleteProjectRequest, NewProjectRequest, ProjectChangeRequest, ProjectView,
};
use crate::http::confirmation::Done;
use crate::http::gate::auth::{Admin, ProjectAccess, SignedIn, ViaFreshLogin, Write, check_two_factor};
use crate::http::gate::body::JsonBody;
use crate::http::openapi::{Failures, ProjectQuery};
use tidewatch_accounts::{Membership, NewProject, Permission, Project, ProjectChange, ProjectSettings as Settings};
use tidewatch_accounts::{Quota, content_lists, content_terms};
use tidewatch_ingest::origins;
use tidewatch_limits as limits;

/// The known frameworks, the default first. WIRE 5.1.
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

/// The projects that the credential may access.
#[utoipa::path(
    get,
    path = "/api/projects",
    operation_id = "listProjects",
    tag = "projects",
    responses((status = 200, description = "Success", body = Vec<ProjectView>), Failures)
)]
pub async fn list(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    caller: SignedIn,
) -> Json<Vec<ProjectView>> {
    Json(view::projects(&accounts, &process, &caller.user, &caller.via))
}

/// Creates a project.
#[utoipa::path(
    post,
    path = "/api/projects",
    operation_id = "createProject",
    tag = "projects",
    request_body = NewProjectRequest,
    responses((status = 201, description = "Created", body = ProjectView), Failures)
)]
pub async fn create(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    caller: SignedIn<Write>,
    JsonBody(request): JsonBody<NewProjectRequest>,
) -> Result<(StatusCode, Json<ProjectView>), ApiError> {
    let membership = membership(&accounts, &caller, request.organization_id)?;
    let new = NewProject {
        organization_id: membership.organization.id,
        name: check_name(&request.name)?,
        framework: check_framework(request.framework.as_deref())?,
    };
    let project = accounts.control.projects.create_project(&caller.actor(&accounts.clock), &new).await?;
    Ok((StatusCode::CREATED, Json(view::project_view(&accounts, &process, &project, membership.role, &caller.via))))
}

/// The membership in which the caller may create projects: in `organization`, by default in the first that permits it.
/// Fails with 403 if there is none.
pub fn membership<N>(
    accounts: &Accounts,
    caller: &SignedIn<N>,
    organization: Option<i64>,
) -> Result<Membership, ApiError> {
    let memberships = accounts.control.people.memberships(caller.user.id).into_iter();
    let mut writable = memberships.filter(|membership| membership.role.permits(Permission::Write));
    let membership = match organization {
        Some(id) => writable.find(|membership| membership.organization.id == id),
        None => writable.next(),
    };
    let membership = membership.ok_or(ApiError::Forbidden("you may not make projects in this organization"))?;
    check_two_factor(&caller.user, &membership.organization)?;
    Ok(membership)
}

/// Changes a project. Absent fields are unchanged.
#[utoipa::path(
    put,
    path = "/api/projects",
    operation_id = "changeProject",
    tag = "projects",
    params(ProjectQuery),
    request_body = ProjectChangeRequest,
    responses((status = 200, description = "Success", body = ProjectView), Failures)
)]
pub async fn change(
    State(accounts): State<Arc<Accounts>>,
    State(process): State<Arc<Process>>,
    access: ProjectAccess<Write>,
    JsonBody(request): JsonBody<ProjectChangeRequest>,
) -> Result<Json<ProjectView>, ApiError> {
    let change = changed(&access.project, request)?;
    let project =
        accounts.control.projects.change_project(&access.actor(&accounts.clock), &access.project, &change).await?;
    Ok(Json(view::project_view(&accounts, &process, &project, access.role, &access.via)))
}

/// Deletes a project. The body must contain the project's name.
#[utoipa::path(
    delete,
    path = "/api/projects",
    operation_id = "deleteProject",
    tag = "projects",
    params(ProjectQuery),
    request_body = DeleteProjectRequest,
    responses((status = 200, description = "Deleted", body = Done), Failures)
)]
pub async fn delete(
    State(accounts): State<Arc<Accounts>>,
    access: ProjectAccess<ViaFreshLogin<Admin>>,
    JsonBody(request): JsonBody<DeleteProjectRequest>,
) -> Result<Json<Done>, ApiError> {
    if request.name != access.project.name {
        return Err(ApiError::malformed("name is not the project's name"));
    }
    accounts.control.projects.delete_project(&access.actor(&accounts.clock), &access.project).await?;
    Ok(Json(Done { message: "the project was deleted".to_owned() }))
}

/// The changed project. Fails with 400 or 422 if a field is invalid.
fn changed(old: &Project, request: ProjectChangeRequest) -> Result<ProjectChange, ApiError> {
    let rate = |field: &str, requested: Option<f64>, old: f64| match requested {
        Some(rate) if !(0.0..=1.0).contains(&rate) => {
            Err(ApiError::unprocessable(format!("{field} must lie between 0 and 1")))
        }
        requested => Ok(requested.unwrap_or(old)),
    };
    let strings = |field: &str, requested: Option<Vec<String>>, old: &[String], most: usize| match requested {
        None => Ok(old.to_vec()),
        Some(strings) if strings.len() > most => {
            Err(ApiError::unprocessable(format!("{field} has more than {most} entries")))
        }
        Some(strings) if strings.iter().any(|text| text.chars().count() > limits::SETTING_TEXT_CHARS_MAX) => {
            Err(ApiError::unprocessable(format!("an entry of {field} is too long")))
        }
        Some(strings) => Ok(strings),
    };
    let limit = |field: &str, requested: Option<u64>, old: u64| match requested {
        Some(limit) if limit > limits::QUOTA_MAX => Err(ApiError::unprocessable(format!("{field} is too large"))),
        requested => Ok(requested.unwrap_or(old)),
    };
    let before = &old.settings;
    let source_url = request.source_url.map_or(Ok(before.source_url.clone()), |url| checked_source_url(&url))?;
    let source_root = request.source_root.unwrap_or_else(|| before.source_root.clone());
    if source_root.len() > limits::SOURCE_URL_BYTES_MAX || source_root.chars().any(char::is_control) {
        return Err(ApiError::unprocessable("sourceRoot is no folder of at most 500 bytes"));
    }
    let healthcheck_paths = match request.healthcheck_paths {
        None => before.healthcheck_paths.clone(),
        requested => check_paths(&strings("healthcheckPaths", requested, &[], limits::HEALTHCHECK_PATHS_MAX)?)?,
    };
    let (languages, own_terms) = content_lists(before.ingest.content_terms.as_deref());
    let languages = request.ai_flagged_languages.map_or(Ok(languages), |requested| check_languages(&requested))?;
    let own_terms = request.ai_flagged_terms.map_or(Ok(own_terms), |requested| check_terms(&requested))?;
    let drop_healthy_healthchecks = request.drop_healthy_healthchecks.unwrap_or(before.drop_healthy_healthchecks);
    let settings = Settings {
        ingest: IngestSettings {
            keep_unmatched_roots: request.keep_unmatched_roots.unwrap_or(before.ingest.keep_unmatched_roots),
            issues_from_logs: request.issues_from_logs.unwrap_or(before.ingest.issues_from_logs),
            ai_conventions: request.ai_conventions.unwrap_or(before.ingest.ai_conventions),
            all_metric_kinds: request.all_metric_kinds.unwrap_or(before.ingest.all_metric_kinds),
            session_recordings: request.session_recordings.unwrap_or(before.ingest.session_recordings),
            sample_rate: rate("sampleRate", request.sample_rate, before.ingest.sample_rate)?,
            error_sample_rate: rate("errorSampleRate", request.error_sample_rate, before.ingest.error_sample_rate)?,
            content_terms: content_terms(&languages, &own_terms),
            healthchecks: Settings::healthchecks(drop_healthy_healthchecks, &healthcheck_paths),
            ..IngestSettings::default()
        },
        source_url,
        source_root,
        drop_healthy_healthchecks,
        healthcheck_paths,
        profile_label_allowlist: strings(
            "profileLabelAllowlist",
            request.profile_label_allowlist,
            &before.profile_label_allowlist,
            limits::PROFILE_LABELS_MAX,
        )?,
        retention_days: match request.retention_days {
            None => before.retention_days,
            Some(0) => None,
            Some(days) if days <= limits::PROJECT_RETENTION_DAYS_MAX => Some(days),
            Some(_) => return Err(ApiError::unprocessable("retentionDays is too large")),
        },
        quota: Quota {
            bytes_a_day: limit("dailyBytesMax", request.daily_bytes_max, before.quota.bytes_a_day)?,
            records_a_day: limit("dailyRecordsMax", request.daily_records_max, before.quota.records_a_day)?,
            records_a_second: limit(
                "recordsPerSecondMax",
                request.records_per_second_max,
                before.quota.records_a_second,
            )?,
        },
        allowed_origins: match request.allowed_origins {
            None => before.allowed_origins.clone(),
            requested => check_origins(&strings("allowedOrigins", requested, &[], limits::ALLOWED_ORIGINS_MAX)?)?,
        },
    };
    Ok(ProjectChange {
        name: request.name.as_deref().map_or(Ok(old.name.clone()), check_name)?,
        framework: match request.framework.as_deref() {
            None => old.framework.clone(),
            some => check_framework(some)?,
        },
        settings,
    })
}

/// Checks languages of word lists. WIRE 8.3.
fn check_languages(codes: &[String]) -> Result<Vec<String>, ApiError> {
    match codes.iter().find(|code| Language::parse(code).is_none()) {
        None => Ok(codes.to_vec()),
        Some(code) => {
            let known = Language::ALL.map(Language::code).join(", ");
            Err(ApiError::unprocessable(format!("aiFlaggedLanguages: {code:?} is not one of {known}")))
        }
    }
}

/// The terms of content flags in normal form, without duplicates. WIRE 8.3.
fn check_terms(terms: &[String]) -> Result<Vec<String>, ApiError> {
    let most = limits::AI_FLAGGED_TERMS_MAX;
    if terms.len() > most {
        return Err(ApiError::unprocessable(format!("aiFlaggedTerms has more than {most} entries")));
    }
    let mut normal: Vec<String> = Vec::new();
    for term in terms {
        let fits = term.chars().count() <= limits::AI_FLAGGED_TERM_CHARS_MAX;
        let Some(term) = normalized(term).filter(|_| fits) else {
            let rule = "a term has 1 to 8 words of letters and digits, and at most 100 characters";
            return Err(ApiError::unprocessable(format!("aiFlaggedTerms: {term:?} is no term: {rule}")));
        };
        if !normal.contains(&term) {
            normal.push(term);
        }
    }
    let most = limits::AI_FLAGGED_TERMS_BYTES_MAX;
    if normal.iter().map(|term| term.len() + 1).sum::<usize>() > most {
        return Err(ApiError::unprocessable(format!("aiFlaggedTerms are longer than {most} bytes together")));
    }
    Ok(normal)
}

/// Checks health check paths. WIRE 8.6.
fn check_paths(paths: &[String]) -> Result<Vec<String>, ApiError> {
    if let Some(path) = paths.iter().find(|path| !healthcheck::is_own_path(path)) {
        let rule = "a path begins with /, has no spaces, and may have one * before it and one after it";
        return Err(ApiError::unprocessable(format!("healthcheckPaths: {path:?} is no path: {rule}")));
    }
    let bytes: usize = paths.iter().map(|path| path.len() + 1).sum();
    if bytes > limits::HEALTHCHECK_PATHS_BYTES_MAX {
        let most = limits::HEALTHCHECK_PATHS_BYTES_MAX;
        return Err(ApiError::unprocessable(format!("healthcheckPaths are longer than {most} bytes together")));
    }
    Ok(paths.to_vec())
}

/// The origins in canonical form, without duplicates.
fn check_origins(origins: &[String]) -> Result<Vec<String>, ApiError> {
    let mut canonical: Vec<String> = Vec::new();
    for text in origins {
        let Some(origin) = origins::canonical(text) else {
            let rule = "an origin is a scheme and a host, such as https://shop.example or https://*.shop.example";
            return Err(ApiError::unprocessable(format!("allowedOrigins: {text:?} is no origin: {rule}")));
        };
        if !canonical.contains(&origin) {
            canonical.push(origin);
        }
    }
    Ok(canonical)
}

/// The trimmed name of a project: 1 to 100 letters, digits, spaces, `-`, `_` and `.`. Otherwise fails with 400.
pub fn check_name(name: &str) -> Result<String, ApiError> {
    let name = name.trim();
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    if name.is_empty() || name.chars().count() > limits::PROJECT_NAME_CHARS_MAX || !name.chars().all(is_allowed) {
        let most = limits::PROJECT_NAME_CHARS_MAX;
        let message = format!("a project name has 1 to {most} letters, digits, spaces, dashes, underscores and dots");
        return Err(ApiError::malformed(message));
    }
    Ok(name.to_owned())
}

/// The framework, or the default if it is absent or empty. Fails with 400 if it is unknown.
pub fn check_framework(framework: Option<&str>) -> Result<String, ApiError> {
    match framework {
        None | Some("") => Ok(FRAMEWORKS[0].to_owned()),
        Some(known) if FRAMEWORKS.contains(&known) => Ok(known.to_owned()),
        Some(_) => Err(ApiError::malformed(format!("framework is not one of {}", FRAMEWORKS.join(", ")))),
    }
}

/// Checks the template of links to the code host. The host is fixed: placeholders begin after it.
fn checked_source_url(url: &str) -> Result<String, ApiError> {
    let url = url.trim();
    let malformed = || {
        let most = limits::SOURCE_URL_BYTES_MAX;
        let what = "sourceUrl is no address that begins with http:// or https:// and has {path} after the host";
        ApiError::unprocessable(format!("{what}, at most {most} bytes"))
    };
    if url.is_empty() {
        return Ok(String::new());
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).ok_or_else(malformed)?;
    let (host, path) = rest.split_once('/').ok_or_else(malformed)?;
    let is_plain = |letter: char| !letter.is_control() && !letter.is_whitespace();
    let fits = url.len() <= limits::SOURCE_URL_BYTES_MAX && url.chars().all(is_plain);
    let is_fixed = !host.is_empty() && !host.contains(['{', '}', '@', '\\']);
    if fits && is_fixed && path.contains("{path}") { Ok(url.to_owned()) } else { Err(malformed()) }
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
