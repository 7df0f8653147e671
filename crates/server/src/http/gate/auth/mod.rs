//! Authentication and authorization as extractors. Roles and token scopes are enforced only here.
//!
//! - [`SignedIn`]: any user. [`LoginUser`]: a user with a login, not with a token.
//! - [`ProjectAccess`]: a user, the project of `?projectId=`, and a sufficient role in it.
//! - [`OrganizationAccess`]: the same for the `{id}` of `/api/organizations/{id}/...`.
//!
//! The required role is a type: `access: ProjectAccess<Admin>`, `caller: SignedIn<Write>`; the default is [`Read`]. It
//! determines the user's role and the scope that a token of the user needs (`permit`).
//! `ProjectAccess<ViaLogin<Admin>>` also refuses tokens. A requirement that is met by the scope `read` makes the route a
//! read route, which refuses unknown fields ([`known_fields`]).
//!
//! 401: no credential, or an invalid or expired one. 400: a missing or malformed id. 403: not a member (also of what
//! does not exist), or an insufficient role. Project tokens are not accepted here: exporters use `http/ingest`, uploads
//! `http/uploads`.

mod recheck;

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts, RawPathParams};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use uuid::Uuid;

pub use super::client_info::ClientInfo;
use super::session_cookie::{Cookie, Page, is_safe};
use super::{known_fields, resource};
use crate::app::AppState;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
pub use recheck::StreamAccess;
use tidewatch_accounts::{
    ActiveSession, Actor, Organization, PERSONAL_PREFIX, Permission, Project, Projects, Role, Scope, ScopeLevel, User,
};
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;

/// The requirement of a route, as a type.
pub trait Needed: Send + Sync + 'static {
    /// The role that the user needs.
    const PERMISSION: Permission;
    /// The scope that a token needs. `None`: tokens are refused.
    const SCOPE: Option<ScopeLevel>;
    /// Whether the user must have authenticated within [`limits::STEP_UP_LIFE`].
    const FRESH: bool = false;
}

/// The requirement `N` with a login, not a token. For routes that create, show or end credentials, give access, or
/// cannot be undone: with them, a leaked token could make itself permanent.
#[derive(Debug, Clone, Copy)]
pub struct ViaLogin<N>(PhantomData<N>);

impl<N: Needed> Needed for ViaLogin<N> {
    const PERMISSION: Permission = N::PERMISSION;
    const SCOPE: Option<ScopeLevel> = None;
}

/// The requirement `N` with a login and a recent authentication (step-up). For routes that create credentials, change
/// roles or delete: a stolen session is not sufficient.
#[derive(Debug, Clone, Copy)]
pub struct ViaFreshLogin<N>(PhantomData<N>);

impl<N: Needed> Needed for ViaFreshLogin<N> {
    const PERMISSION: Permission = N::PERMISSION;
    const SCOPE: Option<ScopeLevel> = None;
    const FRESH: bool = true;
}

macro_rules! needs {
    ($($(#[$doc:meta])* $name:ident: $scope:ident),*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name;
            impl Needed for $name {
                const PERMISSION: Permission = Permission::$name;
                const SCOPE: Option<ScopeLevel> = Some(ScopeLevel::$scope);
            }
        )*
    };
}

/// Any member, and a token with the scope `write`. For changes of what belongs to the user alone; the handler checks the
/// role for more.
#[derive(Debug, Clone, Copy)]
pub struct ChangeOwn;

impl Needed for ChangeOwn {
    const PERMISSION: Permission = Permission::Read;
    const SCOPE: Option<ScopeLevel> = Some(ScopeLevel::Write);
}

needs!(
    /// Any member, and a token with the scope `read`.
    Read: Read,
    /// A role that may change data, and a token with the scope `write`.
    Write: Write,
    /// An admin or owner, and a token with the scope `admin`.
    Admin: Admin,
    /// The owner, and a token with the scope `admin`.
    Owner: Admin
);

/// A request with a valid credential of a user. The scope of a token covers `N`.
#[derive(Debug, Clone)]
pub struct SignedIn<N = Read> {
    /// The user.
    pub user: Arc<User>,
    /// The client.
    pub from: ClientInfo,
    /// The kind of credential.
    pub via: Via,
    /// The session of a login. `None` for a token.
    pub session: Option<ActiveSession>,
    permission: PhantomData<N>,
}

/// The kind of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// A login: a session cookie or a session's token.
    Login,
    /// A token of the user with this scope: a personal access token, or the access token of a client that the user has
    /// authorized (`accounts/grants.rs`).
    Token(Arc<Scope>),
}

impl Via {
    /// Whether the credential covers the project.
    pub fn opens(&self, project: Uuid) -> bool {
        match self {
            Via::Login => true,
            Via::Token(scope) => scope.opens(project),
        }
    }
}

/// A user with a login. For routes that create, show or end credentials: with a leaked token they could renew it.
#[derive(Debug, Clone)]
pub struct LoginUser(pub SignedIn);

/// A user with a login and a recent authentication (step-up).
#[derive(Debug, Clone)]
pub struct FreshLoginUser(pub SignedIn);

/// A user and the requested project, in which the user's role meets `N`.
#[derive(Debug, Clone)]
pub struct ProjectAccess<N = Read> {
    /// The user.
    pub user: Arc<User>,
    /// The project of `?projectId=`.
    pub project: Arc<Project>,
    /// The user's role in the project.
    pub role: Role,
    /// The client.
    pub from: ClientInfo,
    /// The kind of credential.
    pub via: Via,
    /// The session of a login. `None` for a token.
    pub session: Option<ActiveSession>,
    permission: PhantomData<N>,
}

/// A user and the requested organization, in which the user's role meets `N`.
#[derive(Debug, Clone)]
pub struct OrganizationAccess<N = Read> {
    /// The user.
    pub user: Arc<User>,
    /// The organization of the path's `{id}`.
    pub organization: Arc<Organization>,
    /// The user's role in the organization.
    pub role: Role,
    /// The client.
    pub from: ClientInfo,
    /// The session of a login. `None` for a token.
    pub session: Option<ActiveSession>,
    permission: PhantomData<N>,
}

fn actor(clock: &Clock, user: &User, from: &ClientInfo) -> Actor {
    Actor { user_id: Some(user.id), ..from.actor(clock, &user.email) }
}

impl<N> SignedIn<N> {
    /// The actor of an audit log entry.
    pub fn actor(&self, clock: &Clock) -> Actor {
        actor(clock, &self.user, &self.from)
    }

    /// Fails with [`ApiError::StepUpRequired`] without a recent authentication. For routes that sometimes need one.
    pub fn check_fresh(&self, clock: &Clock) -> Result<(), ApiError> {
        check_fresh(self.session.as_ref(), clock)
    }
}

impl<N> ProjectAccess<N> {
    /// The actor of an audit log entry.
    pub fn actor(&self, clock: &Clock) -> Actor {
        actor(clock, &self.user, &self.from)
    }

    /// The projects that the user may read with this credential, for queries across projects.
    pub fn readable_projects(&self, projects: &Projects) -> Vec<Arc<Project>> {
        let of_user = projects.projects_of(self.user.id).into_iter().map(|(project, _)| project);
        of_user.filter(|project| self.via.opens(project.id)).collect()
    }
}

impl<N> OrganizationAccess<N> {
    /// The actor of an audit log entry.
    pub fn actor(&self, clock: &Clock) -> Actor {
        actor(clock, &self.user, &self.from)
    }

    /// Like [`SignedIn::check_fresh`].
    pub fn check_fresh(&self, clock: &Clock) -> Result<(), ApiError> {
        check_fresh(self.session.as_ref(), clock)
    }
}

impl<N: Needed> FromRequestParts<AppState> for SignedIn<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<SignedIn<N>, ApiError> {
        let (accounts, process) = (Arc::<Accounts>::from_ref(state), Arc::<Process>::from_ref(state));
        let caller = caller(parts, &accounts, &process).await?;
        caller.permit::<N>(About::Person, &accounts.clock)?;
        known_fields::check_query(parts, N::SCOPE)?;
        let Caller { user, from, via, session } = caller;
        Ok(SignedIn { user, from, via, session, permission: PhantomData })
    }
}

impl FromRequestParts<AppState> for LoginUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<LoginUser, ApiError> {
        let caller = SignedIn::<ViaLogin<Read>>::from_request_parts(parts, state).await?;
        Ok(LoginUser(caller.plain()))
    }
}

impl FromRequestParts<AppState> for FreshLoginUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<FreshLoginUser, ApiError> {
        let caller = SignedIn::<ViaFreshLogin<Read>>::from_request_parts(parts, state).await?;
        Ok(FreshLoginUser(caller.plain()))
    }
}

impl<N> SignedIn<N> {
    fn plain(self) -> SignedIn {
        let SignedIn { user, from, via, session, .. } = self;
        SignedIn { user, from, via, session, permission: PhantomData }
    }
}

/// An authenticated request.
struct Caller {
    user: Arc<User>,
    from: ClientInfo,
    via: Via,
    session: Option<ActiveSession>,
}

impl Caller {
    /// Checks the credential against `N`. The user's role is checked separately.
    fn permit<N: Needed>(&self, about: About, clock: &Clock) -> Result<(), ApiError> {
        permit(&self.via, N::SCOPE, about)?;
        if N::FRESH { check_fresh(self.session.as_ref(), clock) } else { Ok(()) }
    }
}

fn check_fresh(session: Option<&ActiveSession>, clock: &Clock) -> Result<(), ApiError> {
    let life_ns = limits::STEP_UP_LIFE.as_nanos() as i64;
    let is_fresh = session.is_some_and(|session| clock.now_ns().saturating_sub(session.proved_ns) < life_ns);
    if is_fresh { Ok(()) } else { Err(ApiError::StepUpRequired) }
}

/// Authenticates a request by its bearer token, or without one by its session cookie. Does not authorize it.
async fn caller(parts: &Parts, accounts: &Accounts, process: &Process) -> Result<Caller, ApiError> {
    let from = ClientInfo::of(&parts.headers, &parts.extensions, process);
    let found = match bearer(&parts.headers) {
        Some(token) => person(token, parts.uri.path(), &from, accounts, process).await?,
        None => by_cookie(parts, &from, accounts).await?,
    };
    let (user, via, session) = found.ok_or(ApiError::Unauthorized("not signed in, or the login has expired"))?;
    Ok(Caller { user, from, via, session })
}

type Found = (Arc<User>, Via, Option<ActiveSession>);

impl<N: Needed> FromRequestParts<AppState> for ProjectAccess<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<ProjectAccess<N>, ApiError> {
        let (accounts, process) = (Arc::<Accounts>::from_ref(state), Arc::<Process>::from_ref(state));
        let caller = caller(parts, &accounts, &process).await?;
        // An insufficient scope is reported before an invalid project id.
        permit(&caller.via, N::SCOPE, About::Anything)?;
        let id = project_id(&parts.uri)?;
        caller.permit::<N>(About::Project(id), &accounts.clock)?;
        let Caller { user, from, via, session } = caller;
        let allowed = accounts.control.projects.project_by_id(id).and_then(|project| {
            let role = accounts.control.people.role_in(user.id, &project)?;
            Some((project, role))
        });
        let (project, role) = allowed.ok_or(ApiError::Forbidden("you are not a member of this project"))?;
        require(role, N::PERMISSION)?;
        known_fields::check_query(parts, N::SCOPE)?;
        Ok(ProjectAccess { user, project, role, from, via, session, permission: PhantomData })
    }
}

impl<N: Needed> FromRequestParts<AppState> for OrganizationAccess<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<OrganizationAccess<N>, ApiError> {
        let (accounts, process) = (Arc::<Accounts>::from_ref(state), Arc::<Process>::from_ref(state));
        let caller = caller(parts, &accounts, &process).await?;
        caller.permit::<N>(About::Organization, &accounts.clock)?;
        let Caller { user, from, session, .. } = caller;
        let path = RawPathParams::from_request_parts(parts, state).await.map_err(ApiError::internal)?;
        let id = path.iter().find(|(name, _)| *name == "id").and_then(|(_, value)| value.parse::<i64>().ok());
        let id = id.ok_or_else(|| ApiError::malformed("the organization's id is not a number"))?;
        let member = accounts.control.people.membership(user.id, id);
        let member = member.ok_or(ApiError::Forbidden("you are not a member of this organization"))?;
        check_two_factor(&user, &member.organization)?;
        require(member.role, N::PERMISSION)?;
        known_fields::check_query(parts, N::SCOPE)?;
        let (organization, role) = (member.organization, member.role);
        Ok(OrganizationAccess { user, organization, role, from, session, permission: PhantomData })
    }
}

/// The object of a request, as far as scopes distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Project(Uuid),
    Organization,
    /// The user and their projects. Responses leave out projects that the token does not cover.
    Person,
    /// Not determined yet.
    Anything,
}

/// Fails with 403 if the kind of credential or its scope is insufficient; only this function enforces both. `needed` is
/// the route's scope. The user's role is checked separately.
fn permit(via: &Via, needed: Option<ScopeLevel>, about: About) -> Result<(), ApiError> {
    let Via::Token(scope) = via else { return Ok(()) };
    let Some(needed) = needed else { return Err(ApiError::Forbidden("this needs a login, not a token")) };
    if scope.level < needed {
        return Err(ApiError::Forbidden(match needed {
            ScopeLevel::Read | ScopeLevel::Write => "this needs a token with the scope write",
            ScopeLevel::Admin => "this needs a token with the scope admin",
        }));
    }
    let reaches = match about {
        About::Project(id) => scope.opens(id),
        About::Person => scope.projects.is_none() || needed == ScopeLevel::Read,
        About::Organization => scope.projects.is_none(),
        About::Anything => true,
    };
    if reaches { Ok(()) } else { Err(ApiError::Forbidden("this token is for other projects alone")) }
}

/// Fails with 403 if the organization requires a second factor and the user has none.
pub fn check_two_factor(user: &User, organization: &Organization) -> Result<(), ApiError> {
    if organization.requires_two_factor && !user.meets_two_factor() {
        let message = "this organization asks for two-factor sign-in; turn it on for your account";
        return Err(ApiError::Forbidden(message));
    }
    Ok(())
}

/// Fails with 403 if `role` does not meet `permission`.
pub fn require(role: Role, permission: Permission) -> Result<(), ApiError> {
    let message = match permission {
        _ if role.permits(permission) => return Ok(()),
        Permission::Read | Permission::Write => "this needs more than read access",
        Permission::Admin => "this is for owners and admins",
        Permission::Owner => "this is for the owner",
    };
    Err(ApiError::Forbidden(message))
}

/// The user of a bearer token. Every kind of token is listed here; a new kind has a prefix and a look-up.
async fn person(
    token: &str,
    path: &str,
    from: &ClientInfo,
    accounts: &Accounts,
    process: &Process,
) -> Result<Option<Found>, ApiError> {
    if token.starts_with(PERSONAL_PREFIX) {
        let found = accounts.control.credentials.user_of_personal_token(token, accounts.clock.now_ns()).await?;
        let known = found.and_then(|(id, scope)| Some((accounts.control.people.user(id)?, scope)));
        return Ok(known.map(|(user, scope)| (user, Via::Token(Arc::new(scope)), None)));
    }
    login(token, path, from, accounts, process).await
}

/// The user of a login whose session is active, or of a client's access token whose grant is active, if its resource
/// covers `path`. Both end when the user ends all sessions.
async fn login(
    token: &str,
    path: &str,
    from: &ClientInfo,
    accounts: &Accounts,
    process: &Process,
) -> Result<Option<Found>, ApiError> {
    let Some(claims) = accounts.logins.check(token, accounts.clock.now_ns()) else { return Ok(None) };
    let user = accounts.control.people.user(claims.user_id).filter(|user| user.session_epoch == claims.epoch);
    let Some(user) = user else { return Ok(None) };
    let Some(grant) = claims.grant else {
        let Some(sid) = claims.sid else { return Ok(None) };
        let session = accounts.control.sign_in.session_of_login(&from.actor(&accounts.clock, &user.email), sid).await?;
        let session = session.filter(|session| session.user == user.id && session.session_epoch == user.session_epoch);
        return Ok(session.map(|session| (user, Via::Login, Some(session))));
    };
    if let Some(audience) = &claims.aud
        && !resource::covers(&process.config.base_url(), audience, path)
    {
        return Ok(None);
    }
    let scope = accounts.control.credentials.grant_scope(grant, user.id).await?;
    Ok(scope.map(|scope| (user, Via::Token(Arc::new(scope)), None)))
}

/// The user of a session cookie. A request that changes state must come from a page of this server: `SameSite` alone
/// does not protect against other hosts of the same site, nor in old browsers.
async fn by_cookie(parts: &Parts, from: &ClientInfo, accounts: &Accounts) -> Result<Option<Found>, ApiError> {
    let Some(cookie) = from.cookies.read(Cookie::Session, &parts.headers) else { return Ok(None) };
    match from.page {
        Page::Own => {}
        Page::Unknown if is_safe(&parts.method) => {}
        Page::Foreign if is_safe(&parts.method) => return Ok(None),
        _ => return Err(ApiError::Forbidden("this request does not come from a page of this server")),
    }
    let found = accounts.control.sign_in.session_of_cookie(&from.actor(&accounts.clock, "page"), cookie).await?;
    let Some((session, next)) = found else { return Ok(None) };
    let user = accounts.control.people.user(session.user).filter(|user| user.session_epoch == session.session_epoch);
    let Some(user) = user else { return Ok(None) };
    if let Some(next) = next {
        from.keep_cookie(&next, session.expires_ns, accounts.clock.now_ns());
    }
    Ok(Some((user, Via::Login, Some(session))))
}

/// The token of `Authorization: Bearer <token>`. The scheme is case-insensitive (RFC 9110).
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The `projectId` query parameter.
fn project_id(uri: &Uri) -> Result<Uuid, ApiError> {
    let text = query_value(uri, "projectId").ok_or_else(|| ApiError::malformed("projectId is missing"))?;
    Uuid::try_parse(&text).map_err(|_| ApiError::malformed("projectId is not a UUID"))
}

fn query_value(uri: &Uri, name: &str) -> Option<String> {
    let axum::extract::Query(pairs) = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    pairs.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests;
