//! Keys of every algorithm, and invalid bytes. Whole ceremonies are in `tests/it/passkeys.rs`.

use ciborium::Value;
use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair};

use super::*;

/// Modulus of a key generated with openssl, and its signature of "tidewatch".
const RSA_MODULUS: &str = "kX6g6MSTU2z-UFEBUdltqOVvB8uwu7Q4FM9-DacnGN3rHP4B1Pa8KpTr0KYOQ7K_qDAcf47gzPC56aBJSz2xxzUpDcOU9i9OpnHfJkFaWmSVIajjQJGOzX7-PM2datT1XE3m12ptHINoEyMQZIPpniWUV__eMENK4yFUlwSjoE0NDvYDw1lS9JBMbFzAfMH4TtolVA_YGBtaGwt-dcOkQHX6meohrUJB-Els7yhcLKWWmRSX0ExmuV9Vkh4xgfwjS0SR9vBLnN8emf1PoYoFRimcAMVFGoJXVDNsh2dSOT7dTHhZSsMMJFwsFkji812f7_wr7neMHhJQopx6nB7tcQ";
const RSA_SIGNATURE: &str = "ikdqxPwZUg8jaXuzOYPqvQHBaaPPVYVbukRVZ1f2QCpXdLkw-fuclZNa1yf17m0PfGpNnnC18tZsXGtpuHPxSb9AMtevSsCdmrrXZcW2Jd8sYF2Ph06b2vOSk3YA9BHB1W0_LaX6B1eNynxv8JKEzurEK6VzPoWwikVoOUeRyYTd2nop1O3qcprmYR5dXeDjLOwYNRfhZxK436ZiW7BIMjEMvPr3l41bquxBiZZ8gbWCvQzK4oAPcYJxEu38zKidiDosDujsHn3CHr93t-kLM36fIUoGIl4HP5-QTJE3fy3WMAyDJFYxswSvvXQsXaEEF-Cl6QFWo3bMv5qCl-1SGw";

fn party() -> RelyingParty {
    RelyingParty { id: "a.example".into(), origin: "https://a.example".into() }
}

fn bytes(map: Vec<(i64, Value)>) -> Vec<u8> {
    let map = map.into_iter().map(|(label, value)| (Value::from(label), value)).collect();
    let mut bytes = Vec::new();
    ciborium::into_writer(&Value::Map(map), &mut bytes).unwrap();
    bytes
}

fn rsa(algorithm: i64) -> Vec<u8> {
    let modulus = [&[0], &URL_SAFE_NO_PAD.decode(RSA_MODULUS).unwrap()[..]].concat();
    bytes(vec![(1, 3.into()), (3, algorithm.into()), (-1, Value::Bytes(modulus)), (-2, Value::Bytes(vec![1, 0, 1]))])
}

#[test]
fn passkeys_need_a_domain_and_tls_or_localhost() {
    for (url, expected) in [
        ("https://tw.example", Some(("tw.example", "https://tw.example"))),
        ("https://TW.example:8443/", Some(("tw.example", "https://tw.example:8443"))),
        ("https://tw.example:443", Some(("tw.example", "https://tw.example"))),
        ("http://localhost:4318", Some(("localhost", "http://localhost:4318"))),
        ("http://a.localhost", Some(("a.localhost", "http://a.localhost"))),
        ("http://tw.example", None),
        ("http://notlocalhost", None),
        ("https://192.0.2.1", None),
        ("https://[2001:db8::1]", None),
        ("http://127.0.0.1:80", None),
        ("unix:/run/tidewatch.sock", None),
        ("", None),
    ] {
        let found = RelyingParty::at(url);
        let found = found.as_ref().map(|party| (party.id.as_str(), party.origin.as_str()));
        assert_eq!(found, expected, "{url}");
    }
}

#[test]
fn keys_of_every_algorithm_are_verified() {
    let signature = URL_SAFE_NO_PAD.decode(RSA_SIGNATURE).unwrap();
    let key = PublicKey::read(&rsa(-257)).unwrap();
    assert_eq!(key.verify(b"tidewatch", &signature), Ok(()));
    assert_eq!(key.verify(b"tidewatcH", &signature), Err(Refused::Signature));
    assert_eq!(key.verify(b"tidewatch", &signature[1..]), Err(Refused::Signature));

    let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let point = Value::Bytes(pair.public_key().as_ref().to_vec());
    let okp = |curve: i64, algorithm: i64, x: Value| {
        bytes(vec![(1, 1.into()), (3, algorithm.into()), (-1, curve.into()), (-2, x)])
    };
    let key = PublicKey::read(&okp(6, -8, point.clone())).unwrap();
    let signature = pair.sign(b"tidewatch");
    assert_eq!(key.verify(b"tidewatch", signature.as_ref()), Ok(()));
    assert_eq!(key.verify(b"tidewatch", &[0; 64]), Err(Refused::Signature));

    // Algorithms that were not requested are refused: P-384, RS1, a key of one type with the algorithm of another.
    for (key, expected) in [
        (rsa(-65535), Refused::Algorithm),
        (rsa(-7), Refused::Algorithm),
        (okp(6, -7, point.clone()), Refused::Algorithm),
        (okp(1, -8, point), Refused::Algorithm),
        (okp(6, -8, Value::Bytes(vec![1; 31])), Refused::Unreadable),
        (okp(6, -8, Value::Text("x".into())), Refused::Unreadable),
        (bytes(vec![]), Refused::Algorithm),
        (vec![0x80], Refused::Unreadable),
        (vec![], Refused::Unreadable),
    ] {
        assert_eq!(PublicKey::read(&key).err(), Some(expected), "{key:?}");
    }
}

#[test]
fn truncated_authenticator_data_is_refused() {
    let whole =
        [&[1; 32][..], &[0x41], &[0, 0, 0, 9], &[0; 16], &[0, 3], &[1, 2, 3], &rsa(-257), b"extensions"].concat();
    let data = AuthenticatorData::read(&whole).unwrap();
    let registered = data.credential.unwrap();
    assert_eq!((data.counter, registered.id, registered.key), (9, vec![1, 2, 3], rsa(-257)));
    let enough = whole.len() - b"extensions".len();
    for length in 0..enough {
        assert!(AuthenticatorData::read(&whole[..length]).is_err(), "{length} bytes");
    }
    // An empty id; an id that is too long; flags that say backed up but not eligible for backup.
    for (at, byte) in [(54, 0), (53, 4), (32, 0x51)] {
        let mut other = whole.clone();
        other[at] = byte;
        assert!(AuthenticatorData::read(&other).is_err(), "byte {at}");
    }
}

#[test]
fn deeply_nested_cbor_is_refused() {
    let deep = [&[0x81; 100_000][..], &[0]].concat();
    assert_eq!(cbor(&mut &deep[..]), Err(Refused::Unreadable));
    // A string with a huge declared length.
    assert_eq!(cbor(&mut &[0x7b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..]), Err(Refused::Unreadable));
}

proptest! {
    #[test]
    fn arbitrary_input_is_refused(client in ".{0,80}", id in "[A-Za-z0-9_-]{0,20}", raw in prop::collection::vec(any::<u8>(), 0..300)) {
        let expected = Expected { challenge: "c", requires_verification: false };
        let raw = URL_SAFE_NO_PAD.encode(raw);
        let client_data = URL_SAFE_NO_PAD.encode(r#"{"type":"webauthn.create","challenge":"c","origin":"https://a.example"}"#);
        for client_data in [&client, &client_data] {
            let creation = Creation { id: &id, client_data, attestation: &raw };
            prop_assert!(party().verify_registration(expected, creation).is_err());
        }
        let known = Credential { key: raw.clone(), counter: 0, transports: vec![] };
        let assertion = Assertion { client_data: &client_data, authenticator_data: &raw, signature: &raw };
        prop_assert!(party().verify_assertion(expected, &known, assertion).is_err());
    }
}
