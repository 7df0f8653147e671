//! Credentials of people, machines and clients. WIRE 5.4, 5.5, 5.7.
//!
//! - [`personal_tokens`]: `twp_…`. [`grants`]: which clients one has let in.
//! - [`device`], [`token`]: RFC 8628 and the token endpoint. [`oauth`], [`redirect`], [`well_known`]: OAuth 2.1.
//! - [`sso`]: sign-in elsewhere. [`two_factor`]: authenticators and the second step. [`passkeys`].
//! - [`ack`]: links that acknowledge an alert. [`setup`]: what a program may propose.

mod ack;
mod device;
mod grants;
mod oauth;
pub mod passkeys;
mod personal_tokens;
mod redirect;
mod setup;
pub mod sso;
mod token;
mod two_factor;
mod well_known;

use crate::http::api::{Api, routes};

/// Every route about credentials.
pub fn routes() -> Api {
    Api::new()
        .routes(routes!(personal_tokens::list, personal_tokens::create))
        .routes(routes!(personal_tokens::delete))
        .routes(routes!(grants::list))
        .routes(routes!(grants::delete))
        .routes(routes!(device::authorize))
        .routes(routes!(device::look))
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
        .routes(routes!(ack::look))
        .routes(routes!(ack::acknowledge))
        .routes(routes!(ack::look_link, ack::acknowledge_link))
        .routes(routes!(sso::routes::providers))
        .routes(routes!(sso::routes::of_organization))
        .routes(routes!(sso::routes::start))
        .routes(routes!(sso::routes::callback))
        .routes(routes!(sso::routes::finish_setup))
        .routes(routes!(two_factor::get))
        .routes(routes!(two_factor::begin, two_factor::remove))
        .routes(routes!(two_factor::confirm))
        .routes(routes!(two_factor::recovery_codes))
        .routes(routes!(two_factor::login))
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

/// RFC 3339.
fn rfc3339(time_ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(time_ns)).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
}

/// A credential's name: something, not too long, and nothing hidden in it.
fn check_name(name: &str) -> Result<&str, crate::error::ApiError> {
    match name.trim() {
        "" => Err(crate::error::ApiError::malformed("name is missing")),
        name if name.contains(crate::redact::is_hidden) => {
            Err(crate::error::ApiError::malformed("name contains control characters"))
        }
        name if name.chars().count() > crate::limits::CREDENTIAL_NAME_CHARS_MAX => {
            Err(crate::error::ApiError::malformed("name is too long"))
        }
        name => Ok(name),
    }
}
