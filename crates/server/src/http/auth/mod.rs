//! Credentials of users, programs and OAuth clients. WIRE 5.4, 5.5, 5.7.
//!
//! - `personal_tokens`: `twp_…`. `grants`: the clients that the user has authorized.
//! - `device`, `token`: device login (RFC 8628) and the token endpoint. `oauth`, `redirect`, `well_known`: OAuth 2.1.
//! - [`sso`]: sign-in with other providers. `two_factor`: authenticators and the second step. [`passkeys`]: passkeys.
//!   `step_up`: repeated authentication.
//! - `fields`: names, projects and times of credentials.
//! - `ack`: links that acknowledge an alert. `setup`: projects that a program proposes.

mod ack;
mod bodies;
mod device;
mod fields;
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

use crate::http::api::{Api, Descriptions, routes};

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
