//! A response of a browser with a passkey.

use crate::secrets::webauthn::{Assertion, RelyingParty};

/// The response of a browser to a request for a passkey, to be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verification<'a> {
    /// The relying party that made the request.
    pub party: &'a RelyingParty,
    /// The challenge of the request, base64url.
    pub challenge: &'a str,
    /// Id of the credential, base64url.
    pub credential_id: &'a str,
    /// User handle that the authenticator stored, base64url. See [`crate::user_handle`].
    pub user_handle: Option<&'a str>,
    /// The signed assertion.
    pub assertion: Assertion<'a>,
}
