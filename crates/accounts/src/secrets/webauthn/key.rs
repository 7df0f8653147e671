//! Public keys in COSE format (RFC 9052, 9053, 8230), and verification of signatures.

use ciborium::Value;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

use super::encoding::cbor;
use super::refused::Refused;

const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

/// COSE ids of the requested algorithms, in order of preference. Windows Hello supports only RS256 on some machines.
pub const ALGORITHMS: [i64; 3] = [ES256, EDDSA, RS256];

// Labels of a COSE key.
const TYPE: i64 = 1;
const ALGORITHM: i64 = 3;
/// Curve; for RSA the modulus.
const FIRST: i64 = -1;
/// x; for RSA the exponent.
const SECOND: i64 = -2;
/// y.
const THIRD: i64 = -3;

// Types and curves.
const OKP: i64 = 1;
const EC2: i64 = 2;
const RSA: i64 = 3;
const P256: i64 = 1;
const CURVE_25519: i64 = 6;

/// A public key of a credential.
pub enum PublicKey {
    /// Uncompressed point: 4, x, y.
    Es256([u8; 65]),
    Ed25519([u8; 32]),
    /// Big endian, without leading zeros.
    Rs256 {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
}

impl PublicKey {
    /// Decodes a COSE key.
    pub fn read(cose: &[u8]) -> Result<PublicKey, Refused> {
        let Value::Map(fields) = cbor(&mut &cose[..])? else { return Err(Refused::Unreadable) };
        let field = |label: i64| fields.iter().find(|(name, _)| number(name) == Some(label)).map(|(_, value)| value);
        let bytes = |label: i64| field(label).and_then(Value::as_bytes).ok_or(Refused::Unreadable);
        let coordinate = |label: i64| {
            let bytes = bytes(label)?;
            <[u8; 32]>::try_from(&bytes[..]).map_err(|_| Refused::Unreadable)
        };
        let curve = field(FIRST).and_then(number);
        match (field(TYPE).and_then(number), field(ALGORITHM).and_then(number), curve) {
            (Some(EC2), Some(ES256), Some(P256)) => {
                let mut point = [4; 65];
                point[1..33].copy_from_slice(&coordinate(SECOND)?);
                point[33..].copy_from_slice(&coordinate(THIRD)?);
                Ok(PublicKey::Es256(point))
            }
            (Some(OKP), Some(EDDSA), Some(CURVE_25519)) => Ok(PublicKey::Ed25519(coordinate(SECOND)?)),
            (Some(RSA), Some(RS256), None) => {
                Ok(PublicKey::Rs256 { modulus: trimmed(bytes(FIRST)?), exponent: trimmed(bytes(SECOND)?) })
            }
            _ => Err(Refused::Algorithm),
        }
    }

    /// Verifies a signature of `message`.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refused> {
        let checked = match self {
            PublicKey::Es256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature)
            }
            PublicKey::Ed25519(key) => UnparsedPublicKey::new(&ED25519, key).verify(message, signature),
            PublicKey::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
        };
        checked.map_err(|_| Refused::Signature)
    }
}

fn number(value: &Value) -> Option<i64> {
    i64::try_from(value.as_integer()?).ok()
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().skip_while(|byte| *byte == 0).collect()
}
