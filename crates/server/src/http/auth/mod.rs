//! Credentials of users, programs and OAuth clients. WIRE 5.4, 5.5, 5.7.
//!
//! - `personal_tokens`: `twp_…`. `grants`: the clients that the user has authorized.
//! - `device`, `token`: device login (RFC 8628) and the token endpoint. `oauth`, `redirect`, `well_known`: OAuth 2.1.
//! - [`sso`]: sign-in with other providers. `two_factor`: authenticators and the second step. [`passkeys`]: passkeys.
//!   `step_up`: repeated authentication.
//! - `ack`: links that acknowledge an alert. `setup`: projects that a program proposes.

mod ack;
mod bodies;
mod device;
mod grants;
mod oauth;
pub mod passkeys;
mod personal_tokens;
mod redirect;
mod setup;
pub mod sso;
mod step_up;
mod token;
mod two_factor;
mod well_known;

use uuid::Uuid;

use crate::contexts::Accounts;
use crate::error::ApiError;
use crate::http::api::{Api, Descriptions, routes};
use crate::http::gate::auth::SignedIn;
use tidewatch_accounts::Scope;
use tidewatch_limits as limits;

/// The routes of credentials and sign-in.
pub fn routes<D: Descriptions>() -> Api<D> {
    Api::new()
        .routes(routes!(personal_tokens::list, personal_tokens::create))
        .routes(routes!(personal_tokens::delete))
        .routes(routes!(grants::list))
        .routes(routes!(grants::delete))
        .routes(routes!(device::authorize))
        .routes(routes!(device::get))
        .routes(routes!(device::approve))
        .routes(routes!(device::deny))
        .routes(routes!(token::token))
        .routes(routes!(token::device_token))
        .routes(routes!(token::logout))
        .routes(routes!(oauth::register))
        .routes(routes!(oauth::client))
        .routes(routes!(oauth::approve))
        .routes(routes!(oauth::deny))
        .routes(routes!(well_known::authorization_server))
        .routes(routes!(well_known::protected_resource))
        .routes(routes!(ack::get))
        .routes(routes!(ack::acknowledge))
        .routes(routes!(ack::get_link, ack::acknowledge_link))
        .routes(routes!(sso::providers))
        .routes(routes!(sso::of_organization))
        .routes(routes!(sso::start))
        .routes(routes!(sso::callback))
        .routes(routes!(sso::finish_setup))
        .routes(routes!(step_up::methods))
        .routes(routes!(step_up::prove))
        .routes(routes!(two_factor::get))
        .routes(routes!(two_factor::begin, two_factor::remove))
        .routes(routes!(two_factor::confirm))
        .routes(routes!(two_factor::recovery_codes))
        .routes(routes!(two_factor::login))
        .routes(routes!(two_factor::mail_code))
        .routes(routes!(setup::create))
        .routes(routes!(setup::session))
        .routes(routes!(setup::plan))
        .routes(routes!(setup::drafts))
        .routes(routes!(setup::approve, setup::refuse))
        .routes(routes!(passkeys::own::start))
        .routes(routes!(passkeys::own::finish))
        .routes(routes!(passkeys::own::rename, passkeys::own::remove))
        .routes(routes!(passkeys::sign_in::start))
        .routes(routes!(passkeys::sign_in::finish))
        .routes(routes!(passkeys::sign_in::second_step))
}

/// A time in nanoseconds since the epoch as RFC 3339; the epoch if it is out of range.
fn rfc3339(time_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time_ns)).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
}

/// The projects of a token's scope in the form of the API. `None` stands for all projects.
fn project_ids(scope: &Scope) -> Option<Vec<String>> {
    scope.projects.as_ref().map(|projects| projects.iter().map(Uuid::to_string).collect())
}

/// Checks the projects that are requested for a token. `None` stands for all projects of the user. Fails with 403 if
/// the user is not a member of one.
fn check_projects<N>(
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
fn check_name(name: &str) -> Result<&str, ApiError> {
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
