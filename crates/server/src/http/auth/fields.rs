//! Names, projects and times of credentials in the form of the API.

use tidewatch_accounts::Scope;
use tidewatch_limits as limits;
use uuid::Uuid;

use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::gate::auth::SignedIn;

/// A time in nanoseconds since the epoch as RFC 3339; the epoch if it is out of range.
pub fn rfc3339(time_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time_ns)).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
}

/// The projects of a token's scope in the form of the API. `None` stands for all projects.
pub fn project_ids(scope: &Scope) -> Option<Vec<String>> {
    scope.projects.as_ref().map(|projects| projects.iter().map(Uuid::to_string).collect())
}

/// Checks the projects that are requested for a token. `None` stands for all projects of the user. Fails with 403 if
/// the user is not a member of one.
pub fn check_projects<N>(
    accounts: &Accounts,
    caller: &SignedIn<N>,
    ids: Option<&[String]>,
) -> Result<Option<Vec<Uuid>>, ApiError> {
    let Some(ids) = ids else { return Ok(None) };
    let most = limits::TOKEN_PROJECTS_MAX;
    if !(1..=most).contains(&ids.len()) {
        return Err(ApiError::unprocessable(format!("a token is for 1 to {most} projects, or for all")));
    }
    let known = accounts.control.projects.projects_of(caller.user.id);
    let open = |id: &String| {
        let id = Uuid::try_parse(id).map_err(|_| ApiError::malformed("a project's id is not a UUID"))?;
        let is_open = known.iter().any(|(project, _)| project.id == id);
        if is_open { Ok(id) } else { Err(ApiError::Forbidden("you are not a member of this project")) }
    };
    ids.iter().map(open).collect::<Result<_, _>>().map(Some)
}

/// The trimmed name of a credential. Fails with 400 if it is empty, too long or contains hidden characters.
pub fn check_name(name: &str) -> Result<&str, ApiError> {
    match name.trim() {
        "" => Err(ApiError::malformed("name is missing")),
        name if name.contains(tidewatch_runtime::redact::is_hidden) => {
            Err(ApiError::malformed("name contains control characters"))
        }
        name if name.chars().count() > limits::CREDENTIAL_NAME_CHARS_MAX => {
            Err(ApiError::malformed("name is too long"))
        }
        name => Ok(name),
    }
}
