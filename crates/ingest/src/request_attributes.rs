//! The inputs of a request that are not in its body: headers, query parameters and the address of the client.
//!
//! A journal record contains them, so that a replay makes the same rows. Encoded as a list of key (u8), length (u32,
//! little-endian) and value.

use std::net::IpAddr;
use std::sync::Arc;

use tidewatch_domain::rules::content_terms::{ContentTerms, Languages};
use tidewatch_limits::REQUEST_ATTRIBUTES_BYTES_MAX;

const CLIENT_ADDRESS: u8 = 1;
const SERVICE: u8 = 2;
const SERVER_NAME: u8 = 3;
const APP_VERSION: u8 = 4;
/// Once for each key.
const PROFILE_LABEL: u8 = 5;
/// A project setting: bits of the languages (u8), then the project's own terms, one per line.
const CONTENT_TERMS: u8 = 6;
const PROCESS: u8 = 7;

/// Inputs from the headers, the query and the connection of a request. Requests whose rows do not depend on them leave
/// them empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestAttributes {
    /// The address of the client, by the rules for trusted proxies. Spec: client addresses.
    pub client_address: Option<IpAddr>,
    /// Of profiles: the service of profiles without one. WIRE 2.1.
    pub service: String,
    /// Of profiles: the instance of profiles without one. WIRE 2.1.
    pub server_name: String,
    /// Of profiles: the version of profiles without one. WIRE 2.1.
    pub app_version: String,
    /// Of profiles: the process of profiles without one.
    pub process: String,
    /// Of profiles: keys of labels that the project stores. WIRE 2.1.
    pub profile_labels: Vec<String>,
}

/// Reasons for which attributes cannot be encoded or decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AttributeError {
    /// The bytes end inside an attribute.
    #[error("the request attributes end early")]
    Short,
    /// A key is unknown: a newer program wrote the record.
    #[error("request attribute {0} is not known")]
    Unknown(u8),
    /// A value is malformed; its key.
    #[error("request attribute {0} is malformed")]
    Malformed(u8),
    /// The encoded attributes are too long; their length in bytes.
    #[error("the request attributes have {0} bytes, more than {REQUEST_ATTRIBUTES_BYTES_MAX}")]
    TooLong(usize),
}

impl RequestAttributes {
    /// The encoded attributes with the project's content flags; empty when none is set. An error above
    /// [`REQUEST_ATTRIBUTES_BYTES_MAX`].
    pub fn encode(&self, terms: Option<&ContentTerms>) -> Result<Vec<u8>, AttributeError> {
        let mut bytes = Vec::new();
        if let Some(address) = self.client_address {
            put(&mut bytes, CLIENT_ADDRESS, address.to_string().as_bytes());
        }
        for (key, text) in [
            (SERVICE, &self.service),
            (SERVER_NAME, &self.server_name),
            (APP_VERSION, &self.app_version),
            (PROCESS, &self.process),
        ] {
            if !text.is_empty() {
                put(&mut bytes, key, text.as_bytes());
            }
        }
        for label in &self.profile_labels {
            put(&mut bytes, PROFILE_LABEL, label.as_bytes());
        }
        if let Some(terms) = terms {
            put(&mut bytes, CONTENT_TERMS, &[&[terms.languages().0], terms.terms().as_bytes()].concat());
        }
        if bytes.len() > REQUEST_ATTRIBUTES_BYTES_MAX {
            return Err(AttributeError::TooLong(bytes.len()));
        }
        Ok(bytes)
    }

    /// The inverse of [`RequestAttributes::encode`].
    pub fn decode(mut bytes: &[u8]) -> Result<(RequestAttributes, Option<Arc<ContentTerms>>), AttributeError> {
        let mut attributes = RequestAttributes::default();
        let mut terms = None;
        while let Some((&key, rest)) = bytes.split_first() {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or(AttributeError::Short)?;
            let length = u32::from_le_bytes(*length) as usize;
            let (value, rest) = rest.split_at_checked(length).ok_or(AttributeError::Short)?;
            let text = || std::str::from_utf8(value).map_err(|_| AttributeError::Malformed(key));
            match key {
                CLIENT_ADDRESS => {
                    let address = text()?.parse().map_err(|_| AttributeError::Malformed(key))?;
                    attributes.client_address = Some(address);
                }
                SERVICE => text()?.clone_into(&mut attributes.service),
                SERVER_NAME => text()?.clone_into(&mut attributes.server_name),
                APP_VERSION => text()?.clone_into(&mut attributes.app_version),
                PROCESS => text()?.clone_into(&mut attributes.process),
                PROFILE_LABEL => attributes.profile_labels.push(text()?.to_owned()),
                CONTENT_TERMS => {
                    let (&languages, _) = value.split_first().ok_or(AttributeError::Malformed(key))?;
                    let own = std::str::from_utf8(&value[1..]).map_err(|_| AttributeError::Malformed(key))?;
                    terms = Some(Arc::new(ContentTerms::new(Languages(languages), own)));
                }
                _ => return Err(AttributeError::Unknown(key)),
            }
            bytes = rest;
        }
        Ok((attributes, terms))
    }
}

fn put(bytes: &mut Vec<u8>, key: u8, value: &[u8]) {
    bytes.push(key);
    bytes.extend((value.len() as u32).to_le_bytes());
    bytes.extend(value);
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any attributes.
    pub fn attributes() -> impl Strategy<Value = RequestAttributes> {
        let labels = proptest::collection::vec("[a-z]{0,4}", 0..3);
        (proptest::option::of(any::<IpAddr>()), any::<[String; 4]>(), labels).prop_map(
            |(client_address, [service, server_name, app_version, process], profile_labels)| RequestAttributes {
                client_address,
                service,
                server_name,
                app_version,
                process,
                profile_labels,
            },
        )
    }

    /// Any content flags of a project.
    pub fn content_terms() -> impl Strategy<Value = Option<Arc<ContentTerms>>> {
        let terms = (any::<u8>(), "[a-z\u{e9}\n]{0,8}");
        proptest::option::of(terms.prop_map(|(bits, own)| Arc::new(ContentTerms::new(Languages(bits), &own))))
    }

    proptest! {
        #[test]
        fn decoding_inverts_encoding(attributes in attributes(), terms in content_terms()) {
            let bytes = attributes.encode(terms.as_deref());
            prop_assert_eq!(bytes.and_then(|bytes| RequestAttributes::decode(&bytes)), Ok((attributes, terms)));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
            let _ = RequestAttributes::decode(&bytes);
        }
    }

    #[test]
    fn attributes_that_a_record_cannot_have_are_refused() {
        let with = |bytes| RequestAttributes { service: "s".repeat(bytes), ..RequestAttributes::default() };
        let fits = REQUEST_ATTRIBUTES_BYTES_MAX - 5;
        assert_eq!(with(fits).encode(None).map(|bytes| bytes.len()), Ok(REQUEST_ATTRIBUTES_BYTES_MAX));
        assert_eq!(with(fits + 1).encode(None), Err(AttributeError::TooLong(REQUEST_ATTRIBUTES_BYTES_MAX + 1)));
    }

    #[test]
    fn malformed_attributes_are_refused() {
        for (bytes, expected) in [
            (&[1][..], AttributeError::Short),
            (&[1, 9, 0, 0, 0, 1], AttributeError::Short),
            (&[1, 1, 0, 0, 0, b'x'], AttributeError::Malformed(1)),
            (&[6, 0, 0, 0, 0], AttributeError::Malformed(6)),
            (&[6, 2, 0, 0, 0, 1, 0xff], AttributeError::Malformed(6)),
            (&[99, 0, 0, 0, 0], AttributeError::Unknown(99)),
        ] {
            assert_eq!(RequestAttributes::decode(bytes), Err(expected), "{bytes:?}");
        }
    }
}
