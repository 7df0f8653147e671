//! Credentials of projects, people and programs. Sessions of people are in `sign_in`.
//!
//! - `project_tokens`: the tokens of exporters and of symbol uploads.
//! - `access_tokens`: personal access tokens. `scope`: what a token permits.
//! - `oauth`, `device_codes`: how a client gets tokens. `grants`: its refresh tokens.
//! - `setup`: the token of a program that proposes projects.

mod access_tokens;
mod device_codes;
mod grants;
mod oauth;
mod project_tokens;
mod scope;
mod setup;

pub use access_tokens::{PERSONAL_PREFIX, PersonalToken};
pub use device_codes::{DeviceCode, DeviceRequest, Poll};
pub use grants::{Grant, Issued};
pub use oauth::{Exchange, Exchanged, NewCode, OauthClient};
pub use project_tokens::TokenKind;
pub use scope::{Scope, ScopeLevel};
pub use setup::{PlannedProject, SetupSession, SetupStatus};

use crate::Database;

/// Tokens of projects, people and programs.
#[derive(Clone)]
pub struct Credentials {
    database: Database,
}

impl Credentials {
    /// Reads and writes in `database`.
    pub fn new(database: Database) -> Credentials {
        Credentials { database }
    }
}
