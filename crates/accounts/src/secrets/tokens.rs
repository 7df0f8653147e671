//! Tokens of programs and people: generation, and hashes for lookup.
//!
//! Lookups use the SHA-256 of a token, so their duration does not depend on how close a guess is. A project's two
//! tokens are also stored sealed, because WIRE 5.6 shows them; of every other token only the hash is stored.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The purpose that project tokens are sealed for.
pub const SEALED_AS: &str = "project token";

/// Generates a project token: a random UUID without dashes, 32 hex digits, as exporters of this protocol expect it.
/// WIRE 5.6.
pub fn project_token() -> Result<String, getrandom::Error> {
    Ok(random_uuid()?.simple().to_string())
}

/// Generates a token of another kind: a prefix (`twp_`, `twk_`, ...) and 256 random bits in hex.
pub fn prefixed_token(prefix: &str) -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{prefix}{}", hex(&bytes)))
}

/// Generates a random UUID (version 4).
pub fn random_uuid() -> Result<Uuid, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid())
}

/// Returns the hash that is stored and looked up: SHA-256 in hex.
pub fn hash(token: &str) -> String {
    hex(&fingerprint(token))
}

/// Like [`hash`], as bytes.
pub fn fingerprint(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
