//! Validation of ID tokens: signature, issuer, audience, times, nonce. OpenID Connect Core, 3.1.3.7.
//!
//! Only signatures by a key pair are accepted: neither `none`, nor an HMAC, whose key the token's receiver would have.

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};

use tidewatch_limits as limits;

const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Accepted difference of the clocks, seconds.
const LEEWAY: i64 = limits::SSO_CLOCKS_APART.as_secs() as i64;

/// The public keys of a provider.
#[derive(Debug, Clone)]
pub struct Keys(Vec<Jwk>);

impl Keys {
    /// Parses a JWK set. Keys of unsupported types are ignored.
    pub fn parse(set: &Value) -> Keys {
        let keys = set["keys"].as_array().into_iter().flatten();
        let keys = keys.filter_map(|key| serde_json::from_value::<Jwk>(key.clone()).ok());
        Keys(keys.filter(|key| DecodingKey::from_jwk(key).is_ok()).collect())
    }

    /// Returns the key with the id `kid`; without an id, the only key.
    fn find(&self, kid: Option<&str>) -> Option<&Jwk> {
        match (kid, self.0.as_slice()) {
            (Some(kid), keys) => keys.iter().find(|key| key.common.key_id.as_deref() == Some(kid)),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

/// Reasons for which an ID token is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdTokenError {
    /// The key is unknown; the keys may have been rotated since they were read.
    #[error("the ID token is signed by a key that is not known")]
    UnknownKey,
    /// Another reason.
    #[error("the ID token is not valid: {0}")]
    Token(String),
}

/// The values that an ID token must have.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// Claim `iss`.
    pub issuer: &'a str,
    /// Claim `aud`.
    pub client_id: &'a str,
    /// Claim `nonce`.
    pub nonce: &'a str,
    /// Current time, seconds since the epoch.
    pub now: i64,
}

/// Verifies an ID token and returns its claims.
pub fn check(token: &str, keys: &Keys, expected: &Expected<'_>) -> Result<Map<String, Value>, IdTokenError> {
    let wrong = |what: &str| IdTokenError::Token(what.to_owned());
    let header = decode_header(token).map_err(|error| IdTokenError::Token(error.to_string()))?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err(wrong("its algorithm is not a signature by a key pair"));
    }
    let key = keys.find(header.kid.as_deref()).ok_or(IdTokenError::UnknownKey)?;
    let key = DecodingKey::from_jwk(key).map_err(|error| IdTokenError::Token(error.to_string()))?;
    // One algorithm; the library refuses a key of another family. Times are checked below, against `expected.now`.
    let mut validation = Validation::new(header.alg);
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.set_issuer(&[expected.issuer]);
    validation.set_audience(&[expected.client_id]);
    validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    let claims = decode::<Map<String, Value>>(token, &key, &validation);
    let claims = claims.map_err(|error| IdTokenError::Token(error.to_string()))?.claims;
    let time = |name: &str| claims.get(name).and_then(Value::as_f64).map(|seconds| seconds as i64);
    if time("exp").is_none_or(|exp| exp.saturating_add(LEEWAY) <= expected.now) {
        return Err(wrong("it has expired"));
    }
    if ["nbf", "iat", "auth_time"].iter().filter_map(|name| time(name)).any(|at| at > expected.now + LEEWAY) {
        return Err(wrong("it is of the future"));
    }
    if claims.get("nonce").and_then(Value::as_str) != Some(expected.nonce) {
        return Err(wrong("its nonce is another sign-in's"));
    }
    let has_others = claims.get("aud").and_then(Value::as_array).is_some_and(|audiences| audiences.len() > 1);
    let azp = claims.get("azp").and_then(Value::as_str);
    if azp.map_or(has_others, |azp| azp != expected.client_id) {
        return Err(wrong("it was issued to another client"));
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use jsonwebtoken::{EncodingKey, Header, encode};
    use serde_json::json;

    use super::*;

    /// PKCS 8; generated for this test.
    const KEY: &str = concat!(
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCgbe5HCXLfW9uIbW",
        "z/UpaO3UJJ2vmGjO4i9jTvsxb/OhRANCAAQX5xPZvPS61dRBksxdw1wreK18w3XT",
        "+qmoZUKQajeVw0XLuKgJofqpNAtq7oQ6Vhm8LxDusnlH1MmnSTzZSRQi",
    );
    const NOW: i64 = 1_800_000_000;

    fn key() -> EncodingKey {
        EncodingKey::from_ec_der(&STANDARD.decode(KEY).expect("base64"))
    }

    fn keys() -> Keys {
        let mut jwk = serde_json::to_value(Jwk::from_encoding_key(&key(), Algorithm::ES256).expect("a JWK")).unwrap();
        jwk["kid"] = json!("one");
        Keys::parse(&json!({ "keys": [{ "kty": "unheard of" }, jwk] }))
    }

    fn claims() -> Value {
        json!({
            "iss": "https://id.example", "aud": "tidewatch", "sub": "7", "nonce": "n", "exp": NOW + 300, "iat": NOW,
        })
    }

    fn sign(claims: &Value, kid: Option<&str>) -> String {
        let header = Header { kid: kid.map(str::to_owned), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &key()).expect("a token")
    }

    fn checked(token: &str) -> Result<Map<String, Value>, IdTokenError> {
        let expected = Expected { issuer: "https://id.example", client_id: "tidewatch", nonce: "n", now: NOW };
        check(token, &keys(), &expected)
    }

    #[test]
    fn every_claim_is_checked() {
        assert_eq!(checked(&sign(&claims(), Some("one"))).expect("a right token")["sub"], "7");
        assert!(checked(&sign(&claims(), None)).is_ok(), "the only key that is understood");
        assert_eq!(checked(&sign(&claims(), Some("two"))), Err(IdTokenError::UnknownKey));
        for (name, value, is_right) in [
            ("iss", json!("https://evil.example"), false),
            ("iss", Value::Null, false),
            ("aud", json!("another"), false),
            ("aud", json!(["another"]), false),
            ("aud", json!(["tidewatch", "another"]), false),
            ("aud", json!(["tidewatch"]), true),
            ("azp", json!("another"), false),
            ("azp", json!("tidewatch"), true),
            ("nonce", json!("another"), false),
            ("nonce", Value::Null, false),
            ("exp", json!(NOW - 60), false),
            ("exp", json!(NOW - 59), true),
            ("exp", Value::Null, false),
            ("exp", json!("soon"), false),
            ("nbf", json!(NOW + 61), false),
            ("iat", json!(NOW + 61), false),
            ("auth_time", json!(NOW - 1_000_000), true),
            ("auth_time", json!(NOW + 61), false),
            ("sub", Value::Null, false),
        ] {
            let mut claims = claims();
            match &value {
                Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
                value => claims[name] = value.clone(),
            }
            assert_eq!(checked(&sign(&claims, Some("one"))).is_ok(), is_right, "{name}: {value}");
        }
    }

    // RFC 8725, 2.1: no algorithm, and an HMAC with the public key as its key.
    #[test]
    fn the_algorithm_is_not_the_senders_choice() {
        let good = sign(&claims(), Some("one"));
        let parts: Vec<&str> = good.split('.').collect();
        let header = |alg: &str| URL_SAFE_NO_PAD.encode(json!({ "alg": alg, "kid": "one" }).to_string());
        let unsigned = ["none", "None", "NONE", ""].map(|alg| format!("{}.{}.", header(alg), parts[1]));
        let public = serde_json::to_string(&keys().0[0]).unwrap();
        let confused = [public.as_bytes(), KEY.as_bytes(), b"one", b""].map(|secret| {
            let header = Header { kid: Some("one".into()), ..Header::new(Algorithm::HS256) };
            encode(&header, &claims(), &EncodingKey::from_secret(secret)).expect("a token")
        });
        let other = [
            format!("{}.{}.{}", header("RS256"), parts[1], parts[2]),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode("{}"), parts[2]),
            String::new(),
            "..".to_owned(),
        ];
        for token in unsigned.iter().chain(&confused).chain(&other) {
            assert!(checked(token).is_err(), "{token}");
        }
    }
}
