//! A passkey, shown.

use crate::secrets::webauthn::{Assertion, RelyingParty};

/// A browser's answer to a request for a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof<'a> {
    pub party: &'a RelyingParty,
    pub challenge: &'a str,
    /// base64url.
    pub credential_id: &'a str,
    /// base64url: whose it is, by the authenticator.
    pub user_handle: Option<&'a str>,
    pub assertion: Assertion<'a>,
}
