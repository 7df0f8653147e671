//! JSON views of accounts and projects, and new sessions.

use jiff::Timestamp;

use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use crate::http::account::bodies::login::{LoginBundle, OrganizationView, UserView};
use crate::http::account::bodies::project::{ProjectSettings, ProjectView};
use crate::http::gate::auth::{ClientInfo, SignedIn, Via};
use crate::http::gate::session_cookie::{Cookie, Page};
use tidewatch_accounts::{Actor, Permission, Project, Role, User, content_lists};
use tidewatch_limits as limits;

/// The token in the view of a read-only member. WIRE 5.3.
const HIDDEN_TOKEN: &str = "read-only-hidden-token";

/// Begins a session. Returns its token, and what the user may access.
pub async fn session(
    accounts: &Accounts,
    process: &Process,
    from: &ClientInfo,
    user: &User,
) -> Result<(String, LoginBundle), ApiError> {
    Ok((begin_session(accounts, from, user).await?, bundle(accounts, process, user, &Via::Login)))
}

/// Begins a session of a user who has just authenticated. Returns its token. If a page of this server makes the
/// request, the response also sets the session cookie and the device cookie.
pub async fn begin_session(accounts: &Accounts, from: &ClientInfo, user: &User) -> Result<String, ApiError> {
    begin_proved_session(accounts, from, user, accounts.clock.now_ns()).await
}

/// Like [`begin_session`], for a user who authenticated at `proved_ns` (nanoseconds since the epoch), or [`NEVER`].
pub async fn begin_proved_session(
    accounts: &Accounts,
    from: &ClientInfo,
    user: &User,
    proved_ns: i64,
) -> Result<String, ApiError> {
    let actor = Actor { user_id: Some(user.id), ..from.actor(&accounts.clock, &user.email) };
    let begun = accounts.control.sign_in.begin_session(&actor, user, proved_ns).await?;
    if from.page == Page::Own {
        from.keep_cookie(&begun.cookie, begun.expires_ns, actor.at_ns);
        let device = accounts.control.sign_in.remember_device(user.id, from.device.as_deref(), actor.at_ns).await?;
        from.cookies.set(Cookie::Device, &device, limits::DEVICE_LIFE.as_secs() as i64);
    }
    Ok(accounts.logins.issue(user, begun.id, actor.at_ns)?)
}

/// The time of authentication of a user who has not authenticated.
pub const NEVER: i64 = i64::MIN;

/// Begins a session in place of the caller's, with the same time of authentication.
pub async fn renew_session(accounts: &Accounts, caller: &SignedIn, user: &User) -> Result<String, ApiError> {
    let proved_ns = caller.session.map_or(NEVER, |session| session.proved_ns);
    begin_proved_session(accounts, &caller.from, user, proved_ns).await
}

/// The user, and the projects and organizations that the user may access with a credential of this kind.
pub fn bundle(accounts: &Accounts, process: &Process, user: &User, via: &Via) -> LoginBundle {
    let memberships = accounts.control.people.memberships(user.id);
    let organizations = memberships
        .into_iter()
        .map(|membership| OrganizationView {
            id: membership.organization.id,
            name: membership.organization.name.clone(),
            role: membership.role.as_str().to_owned(),
            timezone: membership.organization.timezone.clone(),
        })
        .collect();
    LoginBundle { user: user_view(user), projects: projects(accounts, process, user, via), organizations }
}

/// The view of a user.
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

/// The projects that the user may access with a credential of this kind.
pub fn projects(accounts: &Accounts, process: &Process, user: &User, via: &Via) -> Vec<ProjectView> {
    let open = accounts.control.projects.projects_of(user.id).into_iter().filter(|(project, _)| via.opens(project.id));
    open.map(|(project, role)| project_view(accounts, process, &project, role, via)).collect()
}

/// The view of a project for a member with `role`. The project's tokens are empty strings if the credential is a token:
/// with a leaked one, clients could collect credentials that outlive it.
pub fn project_view(accounts: &Accounts, process: &Process, project: &Project, role: Role, via: &Via) -> ProjectView {
    let visible = |token: &String| if *via == Via::Login { token.clone() } else { String::new() };
    let token = if role.permits(Permission::Write) { visible(&project.token) } else { HIDDEN_TOKEN.to_owned() };
    let ingest = &project.settings.ingest;
    let (ai_flagged_languages, ai_flagged_terms) = content_lists(ingest.content_terms.as_deref());
    let replaced = accounts.control.credentials.replaced_tokens(project.number, accounts.clock.now_ns());
    let [runtime, upload] = replaced.map(|until| until.filter(|_| role.permits(Permission::Write)).map(rfc3339));
    ProjectView {
        id: project.id.to_string(),
        name: project.name.clone(),
        token,
        framework: project.framework.clone(),
        organization_id: project.organization_id,
        created_at: rfc3339(project.created_ns),
        source_map_token: role.permits(Permission::Write).then(|| visible(&project.upload_token)),
        backend_url: process.config.base_url(),
        role: role.as_str().to_owned(),
        previous_token_expires_at: runtime,
        previous_source_map_token_expires_at: upload,
        demo: project.demo.is_some(),
        settings: ProjectSettings {
            keep_unmatched_roots: ingest.keep_unmatched_roots,
            issues_from_logs: ingest.issues_from_logs,
            ai_conventions: ingest.ai_conventions,
            all_metric_kinds: ingest.all_metric_kinds,
            session_recordings: ingest.session_recordings,
            source_url: project.settings.source_url.clone(),
            source_root: project.settings.source_root.clone(),
            sample_rate: ingest.sample_rate,
            error_sample_rate: ingest.error_sample_rate,
            drop_healthy_healthchecks: project.settings.drop_healthy_healthchecks,
            healthcheck_paths: project.settings.healthcheck_paths.clone(),
            profile_label_allowlist: project.settings.profile_label_allowlist.clone(),
            ai_flagged_languages,
            ai_flagged_terms,
            retention_days: project.settings.retention_days.unwrap_or(0),
            daily_bytes_max: project.settings.quota.bytes_a_day,
            daily_records_max: project.settings.quota.records_a_day,
            records_per_second_max: project.settings.quota.records_a_second,
            allowed_origins: project.settings.allowed_origins.clone(),
        },
    }
}

/// A time in nanoseconds since the epoch as RFC 3339 in UTC; the epoch if it is out of range.
pub fn rfc3339(time_ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(time_ns)).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}
