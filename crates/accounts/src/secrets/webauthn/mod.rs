//! Passkeys, the relying party's side of WebAuthn level 3: what an authenticator made or signed is what this server
//! asked for, at its own address. Nothing here is stored or looked up; `control/passkeys.rs` does both.
//!
//! - [`RelyingParty::made`]: section 7.1, a new credential. [`RelyingParty::proved`]: section 7.2, an assertion.
//! - [`client_data`]: what the browser says it was asked. [`authenticator_data`]: what the authenticator says.
//! - [`key`]: public keys and their signatures; the arithmetic is `ring`'s.
//!
//! Attestation is not asked for, so whatever statement comes along is not looked at: nobody is refused for the make of
//! their authenticator, and nothing is believed about it.

mod authenticator_data;
mod client_data;
mod key;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use authenticator_data::AuthenticatorData;
use client_data::Ceremony;
pub use key::ALGORITHMS;
use key::PublicKey;

/// Items nested in CBOR; WebAuthn's own need three.
const CBOR_DEPTH_MAX: usize = 8;

/// This server, as authenticators know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelyingParty {
    /// A domain.
    pub id: String,
    /// Scheme, domain and port, as browsers write it.
    pub origin: String,
}

/// A credential as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// COSE key, base64url.
    pub key: String,
    /// Signatures the authenticator had made; 0 when it does not count.
    pub counter: u32,
    pub transports: Vec<String>,
}

/// A new credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// base64url.
    pub id: String,
    pub credential: Credential,
}

/// What a proof has to be of.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// base64url.
    pub challenge: &'a str,
    /// Whether the authenticator must have made sure who its user is: by PIN, finger or face.
    pub is_verified: bool,
}

/// What a browser sends, each base64url.
#[derive(Debug, Clone, Copy)]
pub struct Creation<'a> {
    pub id: &'a str,
    pub client_data: &'a str,
    pub attestation: &'a str,
}

/// What a browser sends, each base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assertion<'a> {
    pub client_data: &'a str,
    pub authenticator_data: &'a str,
    pub signature: &'a str,
}

/// Why a credential or a proof does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("it cannot be read")]
    Unreadable,
    #[error("it is of another ceremony")]
    Ceremony,
    #[error("it answers another challenge")]
    Challenge,
    #[error("it was made at another address")]
    Origin,
    #[error("it is for another server")]
    RelyingParty,
    #[error("nobody was there")]
    NobodyPresent,
    #[error("the authenticator did not make sure who its user is")]
    Unverified,
    #[error("its key is of a kind that was not asked for")]
    Algorithm,
    #[error("the signature is wrong")]
    Signature,
    /// A copy of the authenticator may be about.
    #[error("the authenticator counts backwards")]
    Counter,
}

impl RelyingParty {
    /// None where browsers allow no passkeys: at addresses in numbers, and without TLS elsewhere than on this machine.
    pub fn at(base_url: &str) -> Option<RelyingParty> {
        let url = Url::parse(base_url).ok()?;
        let Some(Host::Domain(domain)) = url.host() else { return None };
        let is_here = domain == "localhost" || domain.ends_with(".localhost");
        let is_secure = url.scheme() == "https" || url.scheme() == "http" && is_here;
        is_secure.then(|| RelyingParty { id: domain.to_owned(), origin: url.origin().ascii_serialization() })
    }

    /// A credential made for this challenge.
    pub fn made(&self, asked: Asked<'_>, creation: Creation<'_>) -> Result<Made, Refused> {
        client_data::check(&decode(creation.client_data)?, Ceremony::Create, asked.challenge, &self.origin)?;
        let attestation = cbor(&mut &decode(creation.attestation)?[..])?;
        let Value::Map(attestation) = attestation else { return Err(Refused::Unreadable) };
        let data = attestation.into_iter().find(|(name, _)| name.as_text() == Some("authData"));
        let Some((_, Value::Bytes(data))) = data else { return Err(Refused::Unreadable) };
        let data = AuthenticatorData::read(&data)?;
        self.check(&data, asked)?;
        let made = data.credential.ok_or(Refused::Unreadable)?;
        PublicKey::read(&made.key)?;
        let id = URL_SAFE_NO_PAD.encode(&made.id);
        if id != creation.id {
            return Err(Refused::Unreadable);
        }
        let key = URL_SAFE_NO_PAD.encode(&made.key);
        Ok(Made { id, credential: Credential { key, counter: data.counter, transports: Vec::new() } })
    }

    /// The authenticator's count after a proof of this credential for this challenge.
    pub fn proved(&self, asked: Asked<'_>, known: &Credential, proof: Assertion<'_>) -> Result<u32, Refused> {
        let client_data = decode(proof.client_data)?;
        client_data::check(&client_data, Ceremony::Get, asked.challenge, &self.origin)?;
        let bytes = decode(proof.authenticator_data)?;
        let data = AuthenticatorData::read(&bytes)?;
        self.check(&data, asked)?;
        let signed = [&bytes[..], digest(&SHA256, &client_data).as_ref()].concat();
        PublicKey::read(&decode(&known.key)?)?.verify(&signed, &decode(proof.signature)?)?;
        // Some authenticators do not count; one that has counted once goes on.
        let counts = data.counter != 0 || known.counter != 0;
        if counts && data.counter <= known.counter {
            return Err(Refused::Counter);
        }
        Ok(data.counter)
    }

    fn check(&self, data: &AuthenticatorData, asked: Asked<'_>) -> Result<(), Refused> {
        match data {
            data if data.relying_party != digest(&SHA256, self.id.as_bytes()).as_ref() => Err(Refused::RelyingParty),
            data if !data.is_present => Err(Refused::NobodyPresent),
            data if asked.is_verified && !data.is_verified => Err(Refused::Unverified),
            _ => Ok(()),
        }
    }
}

fn decode(text: &str) -> Result<Vec<u8>, Refused> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Refused::Unreadable)
}

/// One item; what follows it stays.
fn cbor(bytes: &mut &[u8]) -> Result<Value, Refused> {
    ciborium::de::from_reader_with_recursion_limit(bytes, CBOR_DEPTH_MAX).map_err(|_| Refused::Unreadable)
}

#[cfg(test)]
mod tests;
