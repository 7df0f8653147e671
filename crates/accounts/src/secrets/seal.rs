//! Encryption of secrets at rest: XChaCha20-Poly1305 with the server's key and a random nonce, bound to a purpose.
//!
//! A sealed secret is base64 of nonce and ciphertext. The purpose (`project token`, `totp`, ...) is authenticated, so
//! that a sealed secret cannot be used for another purpose.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use ring::hmac;
use sha2::{Digest, Sha256};

const NONCE_BYTES: usize = 24;

/// Seals (encrypts) and opens (decrypts) secrets.
#[derive(Clone)]
pub struct Sealer {
    cipher: XChaCha20Poly1305,
    mac_key: hmac::Key,
}

/// Failures of sealing and opening a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The operating system returned no random bytes, or encryption failed.
    #[error("no randomness for a nonce")]
    Randomness,
    /// The secret was sealed with another key or purpose, or was changed.
    #[error("a sealed secret cannot be opened with this key")]
    Unopened,
}

impl Sealer {
    /// Derives the keys from `key`, of any length with at least 256 bits of entropy.
    pub fn new(key: &[u8]) -> Sealer {
        let derived = |purpose: &[u8]| -> [u8; 32] {
            Sha256::new()
                .chain_update(b"tidewatch ")
                .chain_update(purpose)
                .chain_update(b"\0")
                .chain_update(key)
                .finalize()
                .into()
        };
        Sealer {
            cipher: XChaCha20Poly1305::new(&derived(b"sealing").into()),
            mac_key: hmac::Key::new(hmac::HMAC_SHA256, &derived(b"marking")),
        }
    }

    /// Encrypts a secret for `purpose`. Returns base64.
    pub fn seal(&self, purpose: &str, secret: &str) -> Result<String, SealError> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|_| SealError::Randomness)?;
        let payload = Payload { msg: secret.as_bytes(), aad: purpose.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Randomness)?;
        Ok(STANDARD.encode([&nonce[..], &sealed].concat()))
    }

    /// Returns 32 bytes that depend on purpose, text and key only, and cannot be computed without the key
    /// (HMAC-SHA-256).
    pub fn mac(&self, purpose: &str, text: &str) -> Vec<u8> {
        hmac::sign(&self.mac_key, format!("{purpose}\0{text}").as_bytes()).as_ref().to_vec()
    }

    /// Decrypts what [`Sealer::seal`] returned for the same purpose.
    pub fn open(&self, purpose: &str, sealed: &str) -> Result<String, SealError> {
        let bytes = STANDARD.decode(sealed).map_err(|_| SealError::Unopened)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or(SealError::Unopened)?;
        let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
        let secret = self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| SealError::Unopened)?;
        String::from_utf8(secret).map_err(|_| SealError::Unopened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macs_differ_by_key_purpose_and_text() {
        let mac = |key: u8, purpose, text| Sealer::new(&[key; 32]).mac(purpose, text);
        assert_eq!((mac(1, "a", "b"), mac(1, "a", "b").len()), (mac(1, "a", "b"), 32));
        for other in [mac(2, "a", "b"), mac(1, "b", "b"), mac(1, "a", "c")] {
            assert_ne!(other, mac(1, "a", "b"));
        }
    }

    #[test]
    fn unchanged_secrets_open_with_the_same_key_and_purpose_only() {
        let sealer = Sealer::new(&[1; 32]);
        let sealed = sealer.seal("totp", "secret").unwrap();
        assert_eq!(sealer.open("totp", &sealed).as_deref(), Ok("secret"));
        assert_ne!(sealed, sealer.seal("totp", "secret").unwrap(), "a nonce of its own");
        assert_eq!(sealer.open("mail", &sealed), Err(SealError::Unopened));
        assert_eq!(Sealer::new(&[2; 32]).open("totp", &sealed), Err(SealError::Unopened));
        let mut bytes = STANDARD.decode(&sealed).unwrap();
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            assert_eq!(sealer.open("totp", &STANDARD.encode(&bytes)), Err(SealError::Unopened), "byte {at}");
            bytes[at] ^= 1;
        }
        for text in ["", "AAAA", "not base64!"] {
            assert_eq!(sealer.open("totp", text), Err(SealError::Unopened));
        }
    }
}
