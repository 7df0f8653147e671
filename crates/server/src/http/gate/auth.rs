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
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::header::{AUTHORIZATION, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, Uri};
use uuid::Uuid;

use super::per_ip::client_address;
use super::resource;
use crate::app::App;
use crate::control::{By, Need, Organization, PERSONAL_PREFIX, Project, Role, Scope, ScopeLevel, User};
use crate::error::ApiError;
use crate::limits;
use crate::redact::plain;

/// A need as a type.
pub trait Needed: Send + Sync + 'static {
    const NEED: Need;
    /// The scope that a token needs; none: no token will do, whatever the person's role.
    const SCOPE: Option<ScopeLevel>;
}

/// The need `N`, met by the person's own login and by no token. For whatever makes, shows or ends credentials, gives
/// people access, or cannot be undone: a leaked token could make itself permanent with it.
#[derive(Debug, Clone, Copy)]
pub struct InPersonAs<N>(PhantomData<N>);

impl<N: Needed> Needed for InPersonAs<N> {
    const NEED: Need = N::NEED;
    const SCOPE: Option<ScopeLevel> = None;
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

/// Where a request comes from; for routes that ask for no credential.
#[derive(Debug, Clone)]
pub struct Origin {
    pub address: IpAddr,
    /// For the audit log: the start of what the request says of itself, without hidden characters.
    pub user_agent: String,
}

impl Origin {
    /// For the audit log: somebody who has not signed in.
    pub fn by(&self, app: &App, name: &str) -> By {
        By {
            user_id: None,
            name: name.to_owned(),
            address: self.address.to_string(),
            user_agent: self.user_agent.clone(),
            at_ns: app.clock.now_ns(),
        }
    }

    pub fn of(headers: &HeaderMap, extensions: &Extensions) -> Origin {
        let said = headers.get(USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let said = said.unwrap_or_default();
        let user_agent = plain(&said, limits::USER_AGENT_CHARS_MAX);
        Origin { address: client_address(extensions), user_agent }
    }
}

/// A request with a valid credential of a person; a token's scope covers `N`.
#[derive(Debug, Clone)]
pub struct SignedIn<N = Read> {
    pub user: Arc<User>,
    pub from: Origin,
    pub via: Via,
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
}

impl FromRequestParts<Arc<App>> for Origin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Origin, ApiError> {
        Ok(Origin::of(&parts.headers, &parts.extensions))
    }
}

impl<N: Needed> FromRequestParts<Arc<App>> for SignedIn<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<SignedIn<N>, ApiError> {
        let (user, from, via) = caller(parts, app).await?;
        permit(&via, N::SCOPE, About::Person)?;
        Ok(SignedIn { user, from, via, need: PhantomData })
    }
}

impl FromRequestParts<Arc<App>> for InPerson {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<InPerson, ApiError> {
        let (user, from, via) = caller(parts, app).await?;
        permit(&via, <InPersonAs<Read>>::SCOPE, About::Person)?;
        Ok(InPerson(SignedIn { user, from, via, need: PhantomData }))
    }
}

/// Whose credential the request carries, from where, and what kind it is. Says nothing about what it may do.
async fn caller(parts: &Parts, app: &App) -> Result<(Arc<User>, Origin, Via), ApiError> {
    let user = match bearer(&parts.headers) {
        Some(token) => person(token, parts.uri.path(), app).await?,
        None => None,
    };
    let (user, via) = user.ok_or(ApiError::Unauthorized("not signed in, or the login has expired"))?;
    Ok((user, Origin::of(&parts.headers, &parts.extensions), via))
}

impl<N: Needed> FromRequestParts<Arc<App>> for ProjectAccess<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<ProjectAccess<N>, ApiError> {
        let (user, from, via) = caller(parts, app).await?;
        // What the credential may do at all comes before what it is asked about.
        permit(&via, N::SCOPE, About::Anything)?;
        let id = project_id(&parts.uri)?;
        permit(&via, N::SCOPE, About::Project(id))?;
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
        let (user, from, via) = caller(parts, app).await?;
        permit(&via, N::SCOPE, About::Organization)?;
        let path = RawPathParams::from_request_parts(parts, app).await.map_err(ApiError::internal)?;
        let id = path.iter().find(|(name, _)| *name == "id").and_then(|(_, value)| value.parse::<i64>().ok());
        let id = id.ok_or_else(|| ApiError::malformed("the organization's id is not a number"))?;
        let member = app.control.membership(user.id, id);
        let member = member.ok_or(ApiError::Forbidden("you are not a member of this organization"))?;
        check_two_factor(&user, &member.organization)?;
        require(member.role, N::NEED)?;
        let (organization, role) = (member.organization, member.role);
        Ok(OrganizationAccess { user, organization, role, from, need: PhantomData })
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
async fn person(token: &str, path: &str, app: &App) -> Result<Option<(Arc<User>, Via)>, ApiError> {
    if token.starts_with(PERSONAL_PREFIX) {
        let found = app.control.user_of_personal_token(token, app.clock.now_ns()).await?;
        let known = found.and_then(|(id, scope)| Some((app.control.user(id)?, scope)));
        return Ok(known.map(|(user, scope)| (user, Via::Token(Arc::new(scope)))));
    }
    login(token, path, app).await
}

/// A login whose user has not ended all sessions since; or a client's access token whose sign-in still holds, at the
/// resource that it was asked for.
async fn login(token: &str, path: &str, app: &App) -> Result<Option<(Arc<User>, Via)>, ApiError> {
    let Some(claims) = app.logins.check(token, app.clock.now_ns()) else { return Ok(None) };
    let user = app.control.user(claims.user_id).filter(|user| user.session_epoch == claims.epoch);
    let Some(user) = user else { return Ok(None) };
    let Some(grant) = claims.grant else { return Ok(Some((user, Via::Login))) };
    if let Some(audience) = &claims.aud
        && !resource::covers(&app.config.base_url(), audience, path)
    {
        return Ok(None);
    }
    let scope = app.control.grant_scope(grant, user.id).await?;
    Ok(scope.map(|scope| (user, Via::Token(Arc::new(scope)))))
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
mod tests {
    use super::*;

    #[test]
    fn what_tokens_may_do() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let token = |level, projects| Via::Token(Arc::new(Scope { level, projects }));
        let all = |level| token(level, None);
        use ScopeLevel::{Admin, Read, Write};
        for (via, needed, about, expected) in [
            (Via::Login, None, About::Organization, true),
            (all(Admin), None, About::Anything, false),
            (all(Read), Some(Read), About::Project(one), true),
            (all(Read), Some(Write), About::Project(one), false),
            (all(Write), Some(Admin), About::Organization, false),
            (all(Admin), Some(Write), About::Person, true),
            (token(Admin, Some(vec![one])), Some(Admin), About::Project(one), true),
            (token(Admin, Some(vec![one])), Some(Read), About::Project(other), false),
            (token(Admin, Some(vec![one])), Some(Read), About::Organization, false),
            (token(Admin, Some(vec![one])), Some(Read), About::Person, true),
            (token(Admin, Some(vec![one])), Some(Write), About::Person, false),
            (token(Read, Some(vec![])), Some(Read), About::Project(one), false),
        ] {
            assert_eq!(permit(&via, needed, about).is_ok(), expected, "{via:?} {needed:?} {about:?}");
        }
    }

    #[test]
    fn bearer_tokens() {
        for (header, expected) in [
            ("Bearer abc", Some("abc")),
            ("bearer abc", Some("abc")),
            ("BEARER  abc ", Some("abc")),
            ("Bearer ", None),
            ("Bearer", None),
            ("Basic abc", None),
            ("abc", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, header.parse().unwrap());
            assert_eq!(bearer(&headers), expected, "{header:?}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }

    #[test]
    fn project_ids() {
        for (uri, expected) in [
            ("/x?projectId=a1a2a3a4-b1b2-c1c2-d1d2-d3d4d5d6d7d8", Ok(())),
            ("/x?a=1&projectId=a1a2a3a4b1b2c1c2d1d2d3d4d5d6d7d8", Ok(())),
            ("/x", Err("projectId is missing")),
            ("/x?project=1", Err("projectId is missing")),
            ("/x?projectId=", Err("projectId is not a UUID")),
            ("/x?projectId=7", Err("projectId is not a UUID")),
        ] {
            let found = project_id(&uri.parse().unwrap()).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(found, expected.map_err(str::to_owned), "{uri}");
        }
    }
}
