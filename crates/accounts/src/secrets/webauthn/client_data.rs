//! Verification of `clientDataJSON`: ceremony, origin and challenge as the browser reports them. WebAuthn 5.8.1.

use serde::Deserialize;

use super::refused::Refused;

/// The operation that the browser performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceremony {
    /// Registration of a credential.
    Create,
    /// Authentication with a credential.
    Get,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    /// The page was embedded in a page of another origin.
    #[serde(default)]
    cross_origin: bool,
}

/// Verifies ceremony, challenge and origin. WebAuthn 7.1, steps 7 to 11; 7.2, steps 10 to 14.
pub fn check(bytes: &[u8], ceremony: Ceremony, challenge: &str, origin: &str) -> Result<(), Refused> {
    let data: ClientData = serde_json::from_slice(bytes).map_err(|_| Refused::Unreadable)?;
    let expected = match ceremony {
        Ceremony::Create => "webauthn.create",
        Ceremony::Get => "webauthn.get",
    };
    match data {
        data if data.r#type != expected => Err(Refused::Ceremony),
        data if data.challenge != challenge => Err(Refused::Challenge),
        data if data.origin != origin || data.cross_origin => Err(Refused::Origin),
        _ => Ok(()),
    }
}
