//! Where a provider is asked.

/// Addresses of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// None: told by the operator; ID tokens cannot be checked, so the provider is asked who came.
    pub issuer: Option<String>,
    pub authorization: String,
    pub token: String,
    pub userinfo: Option<String>,
    pub jwks: Option<String>,
    /// Instead of `Authorization: Basic`.
    pub takes_secret_in_body: bool,
}
