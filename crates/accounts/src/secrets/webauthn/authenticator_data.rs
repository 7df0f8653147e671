//! Parser of `authenticatorData`: relying party, user presence and verification, signature counter. WebAuthn 6.1.
//!
//! SHA-256 of the relying party's id (32 bytes), flags (1), counter (4, big endian), then according to the flags: the
//! new credential as AAGUID (16), length of its id (2), id, COSE key; and extensions, which are ignored.

use super::encoding::cbor;
use super::refused::Refused;

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const MAY_BE_BACKED_UP: u8 = 1 << 3;
const IS_BACKED_UP: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;

/// 7.1, step 25.
const ID_BYTES_MAX: usize = 1023;
const AAGUID_BYTES: usize = 16;

/// Decoded `authenticatorData`.
pub struct AuthenticatorData {
    /// SHA-256 of the relying party's id.
    pub relying_party: [u8; 32],
    /// Flag UP: the user was present.
    pub is_present: bool,
    /// Flag UV: the user was verified.
    pub is_verified: bool,
    /// Signature counter.
    pub counter: u32,
    /// The new credential of a registration.
    pub credential: Option<NewCredential>,
}

/// Decoded attested credential data.
pub struct NewCredential {
    pub id: Vec<u8>,
    /// COSE key, as received.
    pub key: Vec<u8>,
}

impl AuthenticatorData {
    pub fn read(bytes: &[u8]) -> Result<AuthenticatorData, Refused> {
        let (relying_party, rest) = bytes.split_first_chunk::<32>().ok_or(Refused::Unreadable)?;
        let (&[flags], rest) = rest.split_first_chunk::<1>().ok_or(Refused::Unreadable)?;
        let (counter, rest) = rest.split_first_chunk::<4>().ok_or(Refused::Unreadable)?;
        let is = |flag: u8| flags & flag != 0;
        if is(IS_BACKED_UP) && !is(MAY_BE_BACKED_UP) {
            return Err(Refused::Unreadable);
        }
        let credential = if is(HAS_CREDENTIAL) { Some(NewCredential::read(rest)?) } else { None };
        Ok(AuthenticatorData {
            relying_party: *relying_party,
            is_present: is(USER_PRESENT),
            is_verified: is(USER_VERIFIED),
            counter: u32::from_be_bytes(*counter),
            credential,
        })
    }
}

impl NewCredential {
    fn read(bytes: &[u8]) -> Result<NewCredential, Refused> {
        let (_, rest) = bytes.split_first_chunk::<AAGUID_BYTES>().ok_or(Refused::Unreadable)?;
        let (length, rest) = rest.split_first_chunk::<2>().ok_or(Refused::Unreadable)?;
        let length = usize::from(u16::from_be_bytes(*length));
        if length == 0 || length > ID_BYTES_MAX {
            return Err(Refused::Unreadable);
        }
        let (id, rest) = rest.split_at_checked(length).ok_or(Refused::Unreadable)?;
        let mut after = rest;
        cbor(&mut after)?;
        Ok(NewCredential { id: id.to_vec(), key: rest[..rest.len() - after.len()].to_vec() })
    }
}
