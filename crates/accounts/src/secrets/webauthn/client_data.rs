//! `clientDataJSON`: which ceremony the browser took part in, where, and for which challenge. WebAuthn 5.8.1.

use serde::Deserialize;

use super::Refused;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceremony {
    Create,
    Get,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    /// Within a page of somebody else.
    #[serde(default)]
    cross_origin: bool,
}

/// 7.1, steps 7 to 11; 7.2, steps 10 to 14.
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
