//! A software authenticator with its browser: ES256, no attestation.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value as Cbor;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};

use crate::harness::text;

pub const USER_PRESENT: u8 = 1;
pub const USER_VERIFIED: u8 = 4;
const HAS_CREDENTIAL: u8 = 0x40;

/// One credential. Tests change its fields to forge proofs.
pub struct Authenticator {
    key: EcdsaKeyPair,
    pub id: Vec<u8>,
    pub user_handle: Option<String>,
    pub origin: String,
    pub relying_party: String,
    pub flags: u8,
    /// Incremented by each signature.
    pub counter: u32,
    pub is_framed: bool,
}

impl Authenticator {
    pub fn at(origin: &str, relying_party: &str) -> Authenticator {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).expect("a key");
        let id = digest(&SHA256, key.public_key().as_ref()).as_ref().to_vec();
        Authenticator {
            key,
            id,
            user_handle: None,
            origin: origin.to_owned(),
            relying_party: relying_party.to_owned(),
            flags: USER_PRESENT | USER_VERIFIED,
            counter: 0,
            is_framed: false,
        }
    }

    /// `RegistrationResponseJSON`
    pub fn create(&mut self, options: &Value) -> Value {
        assert!(options["pubKeyCredParams"].as_array().expect("algorithms").iter().any(|one| one["alg"] == -7));
        self.user_handle = Some(text(&options["user"]["id"]));
        let client_data = self.client_data("webauthn.create", &text(&options["challenge"]));
        let data = self.data(HAS_CREDENTIAL, &self.attested());
        let attestation = Cbor::Map(vec![
            ("fmt".into(), "none".into()),
            ("attStmt".into(), Cbor::Map(vec![])),
            ("authData".into(), Cbor::Bytes(data)),
        ]);
        json!({
            "id": self.id(), "rawId": self.id(), "type": "public-key", "clientExtensionResults": {},
            "authenticatorAttachment": "platform",
            "response": {
                "clientDataJSON": encode(client_data.as_bytes()),
                "attestationObject": encode(&cbor(&attestation)),
                "transports": ["internal", "made up"],
            },
        })
    }

    /// `AuthenticationResponseJSON`
    pub fn get(&mut self, options: &Value) -> Value {
        self.counter = self.counter.wrapping_add(1);
        let client_data = self.client_data("webauthn.get", &text(&options["challenge"]));
        let data = self.data(0, &[]);
        let signed = [&data[..], digest(&SHA256, client_data.as_bytes()).as_ref()].concat();
        let signature = self.key.sign(&SystemRandom::new(), &signed).expect("a signature");
        json!({
            "id": self.id(), "rawId": self.id(), "type": "public-key", "clientExtensionResults": {},
            "response": {
                "clientDataJSON": encode(client_data.as_bytes()),
                "authenticatorData": encode(&data),
                "signature": encode(signature.as_ref()),
                "userHandle": self.user_handle,
            },
        })
    }

    pub fn id(&self) -> String {
        encode(&self.id)
    }

    fn client_data(&self, ceremony: &str, challenge: &str) -> String {
        let framed = self.is_framed;
        json!({ "type": ceremony, "challenge": challenge, "origin": self.origin, "crossOrigin": framed }).to_string()
    }

    fn data(&self, flags: u8, attested: &[u8]) -> Vec<u8> {
        let party = digest(&SHA256, self.relying_party.as_bytes());
        [party.as_ref(), &[self.flags | flags], &self.counter.to_be_bytes(), attested].concat()
    }

    fn attested(&self) -> Vec<u8> {
        let point = self.key.public_key().as_ref();
        let coordinate = |from: usize| Cbor::Bytes(point[from..from + 32].to_vec());
        let key = [(1, 2.into()), (3, (-7).into()), (-1, 1.into()), (-2, coordinate(1)), (-3, coordinate(33))];
        let key = Cbor::Map(key.into_iter().map(|(label, value): (i64, Cbor)| (label.into(), value)).collect());
        let length = u16::try_from(self.id.len()).expect("a short id").to_be_bytes();
        [&[0; 16][..], &length, &self.id, &cbor(&key)].concat()
    }
}

fn cbor(value: &Cbor) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).expect("written to memory");
    bytes
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
