//! Who is asking and what for, as extractors; the one place where roles and scopes of tokens are enforced.
//!
//! - [`SignedIn`]: any person. [`InPerson`]: by their own login, not by a token that stands for them.
//! - [`ProjectAccess`]: a person, the project of `?projectId=`, and a role there that meets the need.
//! - [`OrganizationAccess`]: the same for the `{id}` of `/api/organizations/{id}/...`.
//!
//! The need is a type: `access: ProjectAccess<Admin>`, `caller: SignedIn<Write>`; [`Read`] when none is named. It says
//! what role the person needs and what scope a token needs that stands for them ([`permit`]).
//! `ProjectAccess<InPersonAs<Admin>>` refuses tokens besides. 401 no, wrong or expired credential;
//! 400 an id that is missing or none; 403 not a member (also of what does not exist) or too little a role. Tokens of
//! projects are no credentials here: exporters use `http/ingest`, uploads their own gate.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use uuid::Uuid;

pub use super::origin::Origin;
use super::resource;
use super::session_cookie::{Cookie, Page, is_safe};
use crate::app::App;
use crate::error::ApiError;
use tidewatch_accounts::{
    By, HeldSession, Need, Organization, PERSONAL_PREFIX, Project, Role, Scope, ScopeLevel, User,
};
use tidewatch_limits as limits;

/// A need as a type.
pub trait Needed: Send + Sync + 'static {
    const NEED: Need;
    /// The scope that a token needs; none: no token will do, whatever the person's role.
    const SCOPE: Option<ScopeLevel>;
    /// Whether the person must have proved who they are within [`limits::STEP_UP_LIFE`].
    const FRESH: bool = false;
}

/// The need `N`, met by the person's own login and by no token. For whatever makes, shows or ends credentials, gives
/// people access, or cannot be undone: a leaked token could make itself permanent with it.
#[derive(Debug, Clone, Copy)]
pub struct InPersonAs<N>(PhantomData<N>);

impl<N: Needed> Needed for InPersonAs<N> {
    const NEED: Need = N::NEED;
    const SCOPE: Option<ScopeLevel> = None;
}

/// The need `N` in person, soon after the person proved who they are (step-up). For what makes credentials, changes roles
/// or deletes: a stolen session alone does not do it.
#[derive(Debug, Clone, Copy)]
pub struct FreshAs<N>(PhantomData<N>);

impl<N: Needed> Needed for FreshAs<N> {
    const NEED: Need = N::NEED;
    const SCOPE: Option<ScopeLevel> = None;
    const FRESH: bool = true;
}

macro_rules! needs {
    ($($name:ident: $scope:ident),*) => {
        $(
            #[derive(Debug, Clone, Copy)]
            pub struct $name;
            impl Needed for $name {
                const NEED: Need = Need::$name;
                const SCOPE: Option<ScopeLevel> = Some(ScopeLevel::$scope);
            }
        )*
    };
}

needs!(Read: Read, Write: Write, Admin: Admin, Owner: Admin);

/// A request with a valid credential of a person; a token's scope covers `N`.
#[derive(Debug, Clone)]
pub struct SignedIn<N = Read> {
    pub user: Arc<User>,
    pub from: Origin,
    pub via: Via,
    /// None: a token.
    pub session: Option<HeldSession>,
    need: PhantomData<N>,
}

/// What kind of credential it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// The person's own login.
    Login,
    /// A token that stands for the person: a personal access token, or the access token of a client that the person let
    /// in (`grants.rs`). It may do this at most.
    Token(Arc<Scope>),
}

impl Via {
    /// Whether the project exists for this credential.
    pub fn opens(&self, project: Uuid) -> bool {
        match self {
            Via::Login => true,
            Via::Token(scope) => scope.opens(project),
        }
    }
}

/// A person's own login: what makes, shows or ends credentials is not for tokens, or a leaked one could renew itself.
#[derive(Debug, Clone)]
pub struct InPerson(pub SignedIn);

/// The same, soon after the person proved who they are.
#[derive(Debug, Clone)]
pub struct FreshInPerson(pub SignedIn);

/// A person and the project asked about, in which the person's role meets the need `N`.
#[derive(Debug, Clone)]
pub struct ProjectAccess<N = Read> {
    pub user: Arc<User>,
    pub project: Arc<Project>,
    pub role: Role,
    pub from: Origin,
    pub via: Via,
    need: PhantomData<N>,
}

/// A person and the organisation asked about, in which the person's role meets the need `N`.
#[derive(Debug, Clone)]
pub struct OrganizationAccess<N = Read> {
    pub user: Arc<User>,
    pub organization: Arc<Organization>,
    pub role: Role,
    pub from: Origin,
    /// None: a token.
    pub session: Option<HeldSession>,
    need: PhantomData<N>,
}

fn by(app: &App, user: &User, from: &Origin) -> By {
    By { user_id: Some(user.id), ..from.by(app, &user.email) }
}

impl<N> SignedIn<N> {
    /// For the audit log.
    pub fn by(&self, app: &App) -> By {
        by(app, &self.user, &self.from)
    }

    /// [`ApiError::StepUpRequired`] unless the person has just proved who they are; for what needs it sometimes.
    pub fn check_fresh(&self, app: &App) -> Result<(), ApiError> {
        check_fresh(self.session.as_ref(), app)
    }
}

impl<N> ProjectAccess<N> {
    /// For the audit log.
    pub fn by(&self, app: &App) -> By {
        by(app, &self.user, &self.from)
    }

    /// Every project that the caller may read with this credential. For questions across projects.
    pub fn readable_projects(&self, app: &App) -> Vec<Arc<Project>> {
        let projects = app.control.projects_of(self.user.id).into_iter().map(|(project, _)| project);
        projects.filter(|project| self.via.opens(project.id)).collect()
    }
}

impl<N> OrganizationAccess<N> {
    /// For the audit log.
    pub fn by(&self, app: &App) -> By {
        by(app, &self.user, &self.from)
    }

    /// As [`SignedIn::check_fresh`].
    pub fn check_fresh(&self, app: &App) -> Result<(), ApiError> {
        check_fresh(self.session.as_ref(), app)
    }
}

impl<N: Needed> FromRequestParts<Arc<App>> for SignedIn<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<SignedIn<N>, ApiError> {
        let caller = caller(parts, app).await?;
        caller.permit::<N>(About::Person, app)?;
        let Caller { user, from, via, session } = caller;
        Ok(SignedIn { user, from, via, session, need: PhantomData })
    }
}

impl FromRequestParts<Arc<App>> for InPerson {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<InPerson, ApiError> {
        let caller = SignedIn::<InPersonAs<Read>>::from_request_parts(parts, app).await?;
        Ok(InPerson(caller.plain()))
    }
}

impl FromRequestParts<Arc<App>> for FreshInPerson {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<FreshInPerson, ApiError> {
        let caller = SignedIn::<FreshAs<Read>>::from_request_parts(parts, app).await?;
        Ok(FreshInPerson(caller.plain()))
    }
}

impl<N> SignedIn<N> {
    fn plain(self) -> SignedIn {
        let SignedIn { user, from, via, session, .. } = self;
        SignedIn { user, from, via, session, need: PhantomData }
    }
}

/// Whose credential a request carries, from where, and what kind it is.
struct Caller {
    user: Arc<User>,
    from: Origin,
    via: Via,
    session: Option<HeldSession>,
}

impl Caller {
    /// What the need asks of the credential; the person's role is checked apart from it.
    fn permit<N: Needed>(&self, about: About, app: &App) -> Result<(), ApiError> {
        permit(&self.via, N::SCOPE, about)?;
        if N::FRESH { check_fresh(self.session.as_ref(), app) } else { Ok(()) }
    }
}

fn check_fresh(session: Option<&HeldSession>, app: &App) -> Result<(), ApiError> {
    let life_ns = limits::STEP_UP_LIFE.as_nanos() as i64;
    let is_fresh = session.is_some_and(|session| app.clock.now_ns().saturating_sub(session.proved_ns) < life_ns);
    if is_fresh { Ok(()) } else { Err(ApiError::StepUpRequired) }
}

/// By bearer token; without one, by the cookie of a page. Says nothing about what the credential may do.
async fn caller(parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    let from = Origin::of(&parts.headers, &parts.extensions, app);
    let found = match bearer(&parts.headers) {
        Some(token) => person(token, parts.uri.path(), &from, app).await?,
        None => by_cookie(parts, &from, app).await?,
    };
    let (user, via, session) = found.ok_or(ApiError::Unauthorized("not signed in, or the login has expired"))?;
    Ok(Caller { user, from, via, session })
}

type Found = (Arc<User>, Via, Option<HeldSession>);

impl<N: Needed> FromRequestParts<Arc<App>> for ProjectAccess<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<ProjectAccess<N>, ApiError> {
        let caller = caller(parts, app).await?;
        // What the credential may do at all comes before what it is asked about.
        permit(&caller.via, N::SCOPE, About::Anything)?;
        let id = project_id(&parts.uri)?;
        caller.permit::<N>(About::Project(id), app)?;
        let Caller { user, from, via, .. } = caller;
        let allowed = app.control.project_by_id(id).and_then(|project| {
            let role = app.control.role_in(user.id, &project)?;
            Some((project, role))
        });
        let (project, role) = allowed.ok_or(ApiError::Forbidden("you are not a member of this project"))?;
        require(role, N::NEED)?;
        Ok(ProjectAccess { user, project, role, from, via, need: PhantomData })
    }
}

impl<N: Needed> FromRequestParts<Arc<App>> for OrganizationAccess<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<OrganizationAccess<N>, ApiError> {
        let caller = caller(parts, app).await?;
        caller.permit::<N>(About::Organization, app)?;
        let Caller { user, from, session, .. } = caller;
        let path = RawPathParams::from_request_parts(parts, app).await.map_err(ApiError::internal)?;
        let id = path.iter().find(|(name, _)| *name == "id").and_then(|(_, value)| value.parse::<i64>().ok());
        let id = id.ok_or_else(|| ApiError::malformed("the organization's id is not a number"))?;
        let member = app.control.membership(user.id, id);
        let member = member.ok_or(ApiError::Forbidden("you are not a member of this organization"))?;
        check_two_factor(&user, &member.organization)?;
        require(member.role, N::NEED)?;
        let (organization, role) = (member.organization, member.role);
        Ok(OrganizationAccess { user, organization, role, from, session, need: PhantomData })
    }
}

/// What a request is about, as far as scopes know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Project(Uuid),
    Organization,
    /// The person, and the projects the person may open: answers leave out those that the token does not.
    Person,
    /// Not known yet.
    Anything,
}

/// 403 where the kind of credential or its scope does not reach: the one place where both are enforced. `needed` is the
/// route's; the person's role is checked apart from it.
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

/// 403 for members without a second factor, where the organisation asks for one.
pub fn check_two_factor(user: &User, organization: &Organization) -> Result<(), ApiError> {
    if organization.requires_two_factor && !user.meets_two_factor() {
        let message = "this organization asks for two-factor sign-in; turn it on for your account";
        return Err(ApiError::Forbidden(message));
    }
    Ok(())
}

/// 403 for a role that is too little.
pub fn require(role: Role, need: Need) -> Result<(), ApiError> {
    let message = match need {
        _ if role.meets(need) => return Ok(()),
        Need::Read | Need::Write => "this needs more than read access",
        Need::Admin => "this is for owners and admins",
        Need::Owner => "this is for the owner",
    };
    Err(ApiError::Forbidden(message))
}

/// Whose credential it is. Every kind that stands for a person is listed here; a new kind is a prefix and its look-up.
async fn person(token: &str, path: &str, from: &Origin, app: &App) -> Result<Option<Found>, ApiError> {
    if token.starts_with(PERSONAL_PREFIX) {
        let found = app.control.user_of_personal_token(token, app.clock.now_ns()).await?;
        let known = found.and_then(|(id, scope)| Some((app.control.user(id)?, scope)));
        return Ok(known.map(|(user, scope)| (user, Via::Token(Arc::new(scope)), None)));
    }
    login(token, path, from, app).await
}

/// A login whose session holds and whose user has not ended all sessions since; or a client's access token whose sign-in still holds, at the
/// resource that it was asked for.
async fn login(token: &str, path: &str, from: &Origin, app: &App) -> Result<Option<Found>, ApiError> {
    let Some(claims) = app.logins.check(token, app.clock.now_ns()) else { return Ok(None) };
    let user = app.control.user(claims.user_id).filter(|user| user.session_epoch == claims.epoch);
    let Some(user) = user else { return Ok(None) };
    let Some(grant) = claims.grant else {
        let Some(sid) = claims.sid else { return Ok(None) };
        let session = app.control.session_of_login(&from.by(app, &user.email), sid).await?;
        let session = session.filter(|session| session.user == user.id && session.session_epoch == user.session_epoch);
        return Ok(session.map(|session| (user, Via::Login, Some(session))));
    };
    if let Some(audience) = &claims.aud
        && !resource::covers(&app.config.base_url(), audience, path)
    {
        return Ok(None);
    }
    let scope = app.control.grant_scope(grant, user.id).await?;
    Ok(scope.map(|scope| (user, Via::Token(Arc::new(scope)), None)))
}

/// The session of a page of this server. What changes something is refused unless the browser says that it comes from
/// there: `SameSite` alone leaves out other hosts of the same site, and old browsers.
async fn by_cookie(parts: &Parts, from: &Origin, app: &App) -> Result<Option<Found>, ApiError> {
    let Some(cookie) = from.cookies.read(Cookie::Session, &parts.headers) else { return Ok(None) };
    match from.page {
        Page::Own => {}
        Page::Unknown if is_safe(&parts.method) => {}
        Page::Foreign if is_safe(&parts.method) => return Ok(None),
        _ => return Err(ApiError::Forbidden("this request does not come from a page of this server")),
    }
    let found = app.control.session_of_cookie(&from.by(app, "page"), cookie).await?;
    let Some((session, next)) = found else { return Ok(None) };
    let user = app.control.user(session.user).filter(|user| user.session_epoch == session.session_epoch);
    let Some(user) = user else { return Ok(None) };
    if let Some(next) = next {
        from.keep_cookie(&next, session.expires_ns, app.clock.now_ns());
    }
    Ok(Some((user, Via::Login, Some(session))))
}

/// The token of `Authorization: Bearer <token>`. The scheme is taken in any case of letters, as RFC 9110 has it.
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
