//! Proofs of identity, and the sessions of people.
//!
//! - `passwords`, `resets`: passwords, and new ones by mail.
//! - `identities`: sign-in with a provider. `provider_links`, `pending_link`: a provider that waits for proof of the
//!   account.
//! - `second_factor`: authenticators, recovery codes, sign-ins that wait. `passkeys`, `passkey_verification`: passkeys.
//! - `sessions`, `devices`: sessions of users, and the browsers from which they sign in. [`logins`]: signed tokens.
//! - `sign_ins`: sign-ins in the audit log. `revocation`: the end of all sessions and credentials.

mod devices;
mod identities;
pub mod logins;
mod passkey_verification;
mod passkeys;
mod passwords;
mod pending_link;
mod provider_links;
mod resets;
mod revocation;
mod second_factor;
mod sessions;
mod sign_ins;

pub use identities::{OrganizationClaim, ProviderProfile, ProviderSignIn};
pub use passkey_verification::Verification;
pub use passkeys::{AddedPasskey, Ceremony, Passkey, user_handle};
pub use passwords::StoredUser;
pub use pending_link::PendingLink;
pub use provider_links::LinkMail;
pub use revocation::AlsoRevoke;
pub use second_factor::{SecondFactorOutcome, SecondFactorResponse, SecondFactors};
pub use sessions::{ActiveSession, NewSession, Session};

use crate::Database;

/// Proofs of identity, and the sessions of people.
#[derive(Clone)]
pub struct SignIn {
    database: Database,
}

impl SignIn {
    /// Reads and writes in `database`.
    pub fn new(database: Database) -> SignIn {
        SignIn { database }
    }
}
