//! Endpoints of a provider.

/// The URLs of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Issuer of ID tokens. `None`: the operator configured the endpoints; ID tokens cannot be verified, so user info
    /// is queried.
    pub issuer: Option<String>,
    /// Authorization endpoint.
    pub authorization: String,
    /// Token endpoint.
    pub token: String,
    /// User info endpoint, if there is one.
    pub userinfo: Option<String>,
    /// JWK set with the keys of ID tokens.
    pub jwks: Option<String>,
    /// The token endpoint expects the client secret in the body instead of `Authorization: Basic`.
    pub takes_secret_in_body: bool,
}
