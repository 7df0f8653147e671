//! Accounts and projects as JSON.

use jiff::Timestamp;

use crate::app::App;
use crate::error::ApiError;
use crate::http::gate::auth::{Origin, SignedIn, Via};
use crate::http::gate::session_cookie::{Cookie, Page};
use tidewatch_accounts::{By, Need, Project, Role, User};
use tidewatch_limits as limits;
use tidewatch_query::views::account::{LoginBundle, OrganizationView, ProjectSettings, ProjectView, UserView};

/// What a read-only member sees in place of a token. WIRE 5.3.
const HIDDEN_TOKEN: &str = "read-only-hidden-token";

/// A new session's login, and everything the user may open.
pub async fn session(app: &App, from: &Origin, user: &User) -> Result<(String, LoginBundle), ApiError> {
    Ok((begin_session(app, from, user).await?, bundle(app, user, &Via::Login)))
}

/// A new session's login. A page of this server gets the session as a cookie besides, in the same answer.
pub async fn begin_session(app: &App, from: &Origin, user: &User) -> Result<String, ApiError> {
    begin_proved_session(app, from, user, app.clock.now_ns()).await
}

/// The same for a person who proved who they are at `proved_ns`; [`NEVER`]: not at all.
pub async fn begin_proved_session(app: &App, from: &Origin, user: &User, proved_ns: i64) -> Result<String, ApiError> {
    let by = By { user_id: Some(user.id), ..from.by(app, &user.email) };
    let begun = app.control.begin_session(&by, user, proved_ns).await?;
    if from.page == Page::Own {
        from.keep_cookie(&begun.cookie, begun.expires_ns, by.at_ns);
        let device = app.control.remember_device(user.id, from.device.as_deref(), by.at_ns).await?;
        from.cookies.keep(Cookie::Device, &device, limits::DEVICE_LIFE.as_secs() as i64);
    }
    Ok(app.logins.issue(user, begun.id, by.at_ns)?)
}

/// The time of a proof that was not given.
pub const NEVER: i64 = i64::MIN;

/// The same in place of the caller's session: it has proved no more than that one.
pub async fn renew_session(app: &App, caller: &SignedIn, user: &User) -> Result<String, ApiError> {
    let proved_ns = caller.session.map_or(NEVER, |session| session.proved_ns);
    begin_proved_session(app, &caller.from, user, proved_ns).await
}

/// Everything the user may open, as a credential of this kind may see it.
pub fn bundle(app: &App, user: &User, via: &Via) -> LoginBundle {
    let memberships = app.control.memberships(user.id);
    let organizations = memberships
        .into_iter()
        .map(|membership| OrganizationView {
            id: membership.organization.id,
            name: membership.organization.name.clone(),
            role: membership.role.as_str().to_owned(),
            timezone: membership.organization.timezone.clone(),
        })
        .collect();
    LoginBundle { user: user_view(user), projects: projects(app, user, via), organizations }
}

pub fn user_view(user: &User) -> UserView {
    UserView {
        id: user.id,
        email: user.email.clone(),
        name: user.name.clone(),
        created_at: rfc3339(user.created_ns),
        timezone: user.timezone.clone(),
        theme: user.theme.clone().unwrap_or_else(|| "system".to_owned()),
        two_factor: user.has_two_factor,
        email_verified: user.is_email_verified,
    }
}

/// The projects that the user may open with this credential.
pub fn projects(app: &App, user: &User, via: &Via) -> Vec<ProjectView> {
    let open = app.control.projects_of(user.id).into_iter().filter(|(project, _)| via.opens(project.id));
    open.map(|(project, role)| project_view(app, &project, role, via)).collect()
}

/// The project as its member sees it. Tokens are shown to people in person; tokens that stand for them see empty strings,
/// or a leaked one could collect credentials that outlive it.
pub fn project_view(app: &App, project: &Project, role: Role, via: &Via) -> ProjectView {
    let shown = |token: &String| if *via == Via::Login { token.clone() } else { String::new() };
    let token = if role.meets(Need::Write) { shown(&project.token) } else { HIDDEN_TOKEN.to_owned() };
    let ingest = &project.settings.ingest;
    let replaced = app.control.replaced_tokens(project.number, app.clock.now_ns());
    let [runtime, upload] = replaced.map(|until| until.filter(|_| role.meets(Need::Write)).map(rfc3339));
    ProjectView {
        id: project.id.to_string(),
        name: project.name.clone(),
        token,
        framework: project.framework.clone(),
        organization_id: project.organization_id,
        created_at: rfc3339(project.created_ns),
        source_map_token: role.meets(Need::Write).then(|| shown(&project.upload_token)),
        backend_url: app.config.base_url(),
        role: role.as_str().to_owned(),
        previous_token_expires_at: runtime,
        previous_source_map_token_expires_at: upload,
        demo: project.demo.is_some(),
        settings: ProjectSettings {
            keep_unmatched_roots: ingest.keep_unmatched_roots,
            issues_from_logs: ingest.issues_from_logs,
            ai_conventions: ingest.ai_conventions,
            sample_rate: ingest.sample_rate,
            error_sample_rate: ingest.error_sample_rate,
            drop_healthy_healthchecks: project.settings.drop_healthy_healthchecks,
            healthcheck_paths: project.settings.healthcheck_paths.clone(),
            profile_label_allowlist: project.settings.profile_label_allowlist.clone(),
            retention_days: project.settings.retention_days.unwrap_or(0),
            daily_bytes_max: project.settings.quota.bytes_a_day,
            daily_records_max: project.settings.quota.records_a_day,
            records_per_second_max: project.settings.quota.records_a_second,
            allowed_origins: project.settings.allowed_origins.clone(),
        },
    }
}

/// RFC 3339, UTC.
pub fn rfc3339(time_ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(time_ns)).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}
