//! Encodings of browsers and authenticators: base64url and CBOR.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value;

use super::refused::Refused;

/// Maximum nesting depth of CBOR; WebAuthn needs three.
pub(super) const CBOR_DEPTH_MAX: usize = 8;

pub(super) fn decode(text: &str) -> Result<Vec<u8>, Refused> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Refused::Unreadable)
}

/// Decodes one item and leaves the bytes after it.
pub(super) fn cbor(bytes: &mut &[u8]) -> Result<Value, Refused> {
    ciborium::de::from_reader_with_recursion_limit(bytes, CBOR_DEPTH_MAX).map_err(|_| Refused::Unreadable)
}
