//! Checks a credential again while the response to its request is streamed.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{About, Needed, ProjectAccess, Read, Via, bearer, permit, person};
use crate::app::AppState;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use tidewatch_accounts::ActiveSession;

/// Access to a project for as long as a response is streamed.
pub struct StreamAccess {
    /// The access when the request was received.
    pub access: ProjectAccess,
    session: Option<ActiveSession>,
    token: Option<String>,
    path: String,
}

impl FromRequestParts<AppState> for StreamAccess {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<StreamAccess, ApiError> {
        let access = ProjectAccess::from_request_parts(parts, state).await?;
        let token = bearer(&parts.headers).map(str::to_owned);
        Ok(StreamAccess { session: access.session, access, token, path: parts.uri.path().to_owned() })
    }
}

impl StreamAccess {
    /// Whether the session or token is still valid, and the user may still read the project.
    pub async fn is_valid(&self, accounts: &Accounts, process: &Process) -> Result<bool, ApiError> {
        let ProjectAccess { user, project, from, .. } = &self.access;
        let is_user_valid =
            accounts.control.people.user(user.id).is_some_and(|now| now.session_epoch == user.session_epoch);
        let role = accounts
            .control
            .projects
            .project_by_id(project.id)
            .and_then(|project| accounts.control.people.role_in(user.id, &project));
        if !is_user_valid || role.is_none_or(|role| !role.permits(Read::PERMISSION)) {
            return Ok(false);
        }
        if let Some(session) = self.session {
            let found = accounts
                .control
                .sign_in
                .session_of_login(&from.actor(&accounts.clock, &user.email), session.id)
                .await?;
            return Ok(found.is_some());
        }
        let Some(token) = &self.token else { return Ok(false) };
        let found = person(token, &self.path, from, accounts, process).await?;
        Ok(found.is_some_and(|(found, via, _): (_, Via, _)| {
            found.id == user.id && permit(&via, Read::SCOPE, About::Project(project.id)).is_ok()
        }))
    }
}
