//! Users.

/// A user, without the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Row id.
    pub id: i64,
    /// Lower case; unique.
    pub email: String,
    /// Display name.
    pub name: String,
    /// Nanoseconds since the epoch.
    pub created_ns: i64,
    /// Sessions of an older epoch have ended.
    pub session_epoch: i64,
    /// Disabled users cannot sign in.
    pub is_disabled: bool,
    /// IANA name; `None`: not chosen.
    pub timezone: Option<String>,
    /// `system`, `light` or `dark`; `None`: not chosen.
    pub theme: Option<String>,
    /// A mail to the address, or a provider, has confirmed it.
    pub is_email_verified: bool,
    /// Has a confirmed authenticator or a passkey.
    pub has_two_factor: bool,
    /// Has no password and signs in with a provider.
    pub has_no_password: bool,
    /// At the last sign-in with a provider, the provider reported several factors.
    pub is_provider_multi_factor: bool,
}

impl User {
    /// Returns whether the user satisfies an organization that requires two factors: with a second factor, or without a
    /// password and with a provider that reported several factors.
    pub fn meets_two_factor(&self) -> bool {
        self.has_two_factor || (self.has_no_password && self.is_provider_multi_factor)
    }
}
