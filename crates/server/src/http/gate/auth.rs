//! Who is asking and what for, as extractors; the one place where roles are enforced.
//!
//! - [`SignedIn`]: any person. [`InPerson`]: by their own login, not by a token that stands for them.
//! - [`ProjectAccess`]: a person, the project of `?projectId=`, and a role there that meets the need.
//! - [`OrganizationAccess`]: the same for the `{id}` of `/api/organizations/{id}/...`.
//!
//! The need is a type: `access: ProjectAccess<Admin>`; [`Read`] when none is named. `ProjectAccess<InPersonAs<Admin>>`
//! refuses tokens besides. 401 no, wrong or expired credential;
//! 400 an id that is missing or none; 403 not a member (also of what does not exist) or too little a role. Tokens of
//! projects are no credentials here: exporters use `http/ingest`, uploads their own gate.

use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::header::{AUTHORIZATION, USER_AGENT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use uuid::Uuid;

use super::per_ip::client_address;
use crate::app::App;
use crate::control::{By, Need, Organization, PERSONAL_PREFIX, Project, Role, User};
use crate::error::ApiError;
use crate::limits;
use crate::redact::plain;

/// A need as a type.
pub trait Needed: Send + Sync + 'static {
    const NEED: Need;
    /// Whether tokens that stand for a person are refused, whatever the person's role.
    const IN_PERSON: bool;
}

/// The need `N`, met by the person's own login and by no token. For whatever makes, shows or ends credentials, gives
/// people access, or cannot be undone: a leaked token could make itself permanent with it.
#[derive(Debug, Clone, Copy)]
pub struct InPersonAs<N>(PhantomData<N>);

impl<N: Needed> Needed for InPersonAs<N> {
    const NEED: Need = N::NEED;
    const IN_PERSON: bool = true;
}

macro_rules! needs {
    ($($name:ident),*) => {
        $(
            #[derive(Debug, Clone, Copy)]
            pub struct $name;
            impl Needed for $name {
                const NEED: Need = Need::$name;
                const IN_PERSON: bool = false;
            }
        )*
    };
}

needs!(Read, Write, Admin, Owner);

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

    fn of(parts: &Parts) -> Origin {
        let said = parts.headers.get(USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let said = said.unwrap_or_default();
        let user_agent = plain(&said, limits::USER_AGENT_CHARS_MAX);
        Origin { address: client_address(parts), user_agent }
    }
}

/// A request with a valid credential of a person.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub user: Arc<User>,
    pub from: Origin,
    pub via: Via,
}

/// What kind of credential it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// The person's own login.
    Login,
    /// An access token of a client the person let in (`grants.rs`).
    Client,
    /// A personal access token.
    PersonalToken,
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

impl SignedIn {
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
        Ok(Origin::of(parts))
    }
}

impl FromRequestParts<Arc<App>> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<SignedIn, ApiError> {
        let user = match bearer(&parts.headers) {
            Some(token) => person(token, app).await?,
            None => None,
        };
        let (user, via) = user.ok_or(ApiError::Unauthorized("not signed in, or the login has expired"))?;
        Ok(SignedIn { user, from: Origin::of(parts), via })
    }
}

impl FromRequestParts<Arc<App>> for InPerson {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<InPerson, ApiError> {
        let caller = SignedIn::from_request_parts(parts, app).await?;
        check_in_person(caller.via)?;
        Ok(InPerson(caller))
    }
}

impl<N: Needed> FromRequestParts<Arc<App>> for ProjectAccess<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<ProjectAccess<N>, ApiError> {
        let SignedIn { user, from, via } = SignedIn::from_request_parts(parts, app).await?;
        if N::IN_PERSON {
            check_in_person(via)?;
        }
        let id = project_id(&parts.uri)?;
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
        let SignedIn { user, from, via } = SignedIn::from_request_parts(parts, app).await?;
        if N::IN_PERSON {
            check_in_person(via)?;
        }
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

/// 403 for tokens.
fn check_in_person(via: Via) -> Result<(), ApiError> {
    match via {
        Via::Login => Ok(()),
        Via::Client | Via::PersonalToken => Err(ApiError::Forbidden("this needs a login, not a token")),
    }
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
async fn person(token: &str, app: &App) -> Result<Option<(Arc<User>, Via)>, ApiError> {
    if token.starts_with(PERSONAL_PREFIX) {
        let user = app.control.user_of_personal_token(token, app.clock.now_ns()).await?;
        return Ok(user.and_then(|id| app.control.user(id)).map(|user| (user, Via::PersonalToken)));
    }
    login(token, app).await
}

/// A login whose user has not ended all sessions since; or a client's access token whose sign-in still holds.
async fn login(token: &str, app: &App) -> Result<Option<(Arc<User>, Via)>, ApiError> {
    let Some(claims) = app.logins.check(token, app.clock.now_ns()) else { return Ok(None) };
    let user = app.control.user(claims.user_id).filter(|user| user.session_epoch == claims.epoch);
    let Some(user) = user else { return Ok(None) };
    match claims.grant {
        None => Ok(Some((user, Via::Login))),
        Some(grant) => Ok(app.control.grant_holds(grant, user.id).await?.then_some((user, Via::Client))),
    }
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
