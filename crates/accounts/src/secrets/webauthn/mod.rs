//! The relying party's side of WebAuthn level 3: verifies that an authenticator created or signed what this server
//! requested, at its own origin. `passkeys.rs` stores credentials and challenges.
//!
//! - [`RelyingParty::verify_registration`]: section 7.1, a new credential.
//! - [`RelyingParty::verify_assertion`]: section 7.2, an assertion.
//! - [`client_data`]: data from the browser. [`authenticator_data`]: data from the authenticator.
//! - [`key`]: public keys and signatures; the cryptography is `ring`'s.
//!
//! Attestation is not requested, and a statement in the response is ignored: all makes of authenticators are accepted,
//! and none is trusted in particular.

mod authenticator_data;
mod client_data;
mod encoding;
mod key;
mod refused;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use authenticator_data::AuthenticatorData;
use client_data::Ceremony;
use encoding::{cbor, decode};
pub use key::ALGORITHMS;
use key::PublicKey;
pub use refused::Refused;

/// This server as a relying party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelyingParty {
    /// Domain of the server.
    pub id: String,
    /// Scheme, domain and port, as browsers serialize an origin.
    pub origin: String,
}

/// A stored credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// Public key, COSE, base64url.
    pub key: String,
    /// Signature counter of the authenticator; 0 when it does not count.
    pub counter: u32,
    /// Transports that the browser reported.
    pub transports: Vec<String>,
}

/// A verified new credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// Id of the credential, base64url.
    pub id: String,
    /// The credential, without transports.
    pub credential: Credential,
}

/// Values that a response must match.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The challenge of the request, base64url.
    pub challenge: &'a str,
    /// The authenticator must have verified its user, by PIN or biometrics.
    pub requires_verification: bool,
}

/// The browser's response to a registration request; every field is base64url.
#[derive(Debug, Clone, Copy)]
pub struct Creation<'a> {
    /// Id of the credential.
    pub id: &'a str,
    /// `clientDataJSON`.
    pub client_data: &'a str,
    /// `attestationObject`.
    pub attestation: &'a str,
}

/// The browser's response to an authentication request; every field is base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assertion<'a> {
    /// `clientDataJSON`.
    pub client_data: &'a str,
    /// `authenticatorData`.
    pub authenticator_data: &'a str,
    /// Signature over `authenticatorData` and the hash of `clientDataJSON`.
    pub signature: &'a str,
}

impl RelyingParty {
    /// Returns the relying party at `base_url`. `None` where browsers allow no passkeys: at IP addresses, and without
    /// TLS unless the host is localhost.
    pub fn at(base_url: &str) -> Option<RelyingParty> {
        let url = Url::parse(base_url).ok()?;
        let Some(Host::Domain(domain)) = url.host() else { return None };
        let is_localhost = domain == "localhost" || domain.ends_with(".localhost");
        let is_secure = url.scheme() == "https" || url.scheme() == "http" && is_localhost;
        is_secure.then(|| RelyingParty { id: domain.to_owned(), origin: url.origin().ascii_serialization() })
    }

    /// Verifies the response to a registration request. Returns the new credential.
    pub fn verify_registration(&self, expected: Expected<'_>, creation: Creation<'_>) -> Result<Registration, Refused> {
        client_data::check(&decode(creation.client_data)?, Ceremony::Create, expected.challenge, &self.origin)?;
        let attestation = cbor(&mut &decode(creation.attestation)?[..])?;
        let Value::Map(attestation) = attestation else { return Err(Refused::Unreadable) };
        let data = attestation.into_iter().find(|(name, _)| name.as_text() == Some("authData"));
        let Some((_, Value::Bytes(data))) = data else { return Err(Refused::Unreadable) };
        let data = AuthenticatorData::read(&data)?;
        self.check(&data, expected)?;
        let registered = data.credential.ok_or(Refused::Unreadable)?;
        PublicKey::read(&registered.key)?;
        let id = URL_SAFE_NO_PAD.encode(&registered.id);
        if id != creation.id {
            return Err(Refused::Unreadable);
        }
        let key = URL_SAFE_NO_PAD.encode(&registered.key);
        Ok(Registration { id, credential: Credential { key, counter: data.counter, transports: Vec::new() } })
    }

    /// Verifies the response to an authentication request with the credential `known`. Returns the new signature
    /// counter.
    pub fn verify_assertion(
        &self,
        expected: Expected<'_>,
        known: &Credential,
        assertion: Assertion<'_>,
    ) -> Result<u32, Refused> {
        let client_data = decode(assertion.client_data)?;
        client_data::check(&client_data, Ceremony::Get, expected.challenge, &self.origin)?;
        let bytes = decode(assertion.authenticator_data)?;
        let data = AuthenticatorData::read(&bytes)?;
        self.check(&data, expected)?;
        let signed = [&bytes[..], digest(&SHA256, &client_data).as_ref()].concat();
        PublicKey::read(&decode(&known.key)?)?.verify(&signed, &decode(assertion.signature)?)?;
        // Some authenticators do not count; one that has counted must continue.
        let counts = data.counter != 0 || known.counter != 0;
        if counts && data.counter <= known.counter {
            return Err(Refused::Counter);
        }
        Ok(data.counter)
    }

    fn check(&self, data: &AuthenticatorData, expected: Expected<'_>) -> Result<(), Refused> {
        match data {
            data if data.relying_party != digest(&SHA256, self.id.as_bytes()).as_ref() => Err(Refused::RelyingParty),
            data if !data.is_present => Err(Refused::NobodyPresent),
            data if expected.requires_verification && !data.is_verified => Err(Refused::Unverified),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
