//! Who is asking, as extractors: [`SignedIn`] for any login, [`ProjectAccess`] for `?projectId=` as well.
//!
//! 401 no, wrong or expired login; 400 `projectId` missing or no UUID; 403 not a member (also of what does not exist).

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use uuid::Uuid;

use crate::app::App;
use crate::control::{Project, Role, User};
use crate::error::ApiError;

/// A request with a valid login.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub user: Arc<User>,
}

/// A signed-in user and the project asked about.
#[derive(Debug, Clone)]
pub struct ProjectAccess {
    pub user: Arc<User>,
    pub project: Arc<Project>,
    pub role: Role,
}

impl ProjectAccess {
    /// 403 for those who may only look.
    pub fn require_write(&self) -> Result<(), ApiError> {
        if self.role.may_write() { Ok(()) } else { Err(ApiError::Forbidden("this needs more than read access")) }
    }
}

impl FromRequestParts<Arc<App>> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<SignedIn, ApiError> {
        signed_in(&parts.headers, app).map(|user| SignedIn { user })
    }
}

impl FromRequestParts<Arc<App>> for ProjectAccess {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<ProjectAccess, ApiError> {
        let user = signed_in(&parts.headers, app)?;
        let id = project_id(&parts.uri)?;
        let allowed = app.control.project_by_id(id).and_then(|project| {
            let role = app.control.role(user.id, project.organization_id)?;
            Some((project, role))
        });
        let (project, role) = allowed.ok_or(ApiError::Forbidden("you are not a member of this project"))?;
        Ok(ProjectAccess { user, project, role })
    }
}

fn signed_in(headers: &HeaderMap, app: &App) -> Result<Arc<User>, ApiError> {
    let user = bearer(headers)
        .and_then(|token| app.logins.check(token, app.clock.now_ns()))
        .and_then(|claims| app.control.user(claims.user_id));
    user.ok_or(ApiError::Unauthorized("not signed in, or the login has expired"))
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
