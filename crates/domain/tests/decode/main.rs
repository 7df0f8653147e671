//! Decoding and the stored encoding, against the generated protobuf types as the oracle.

mod json;
mod oracle;
mod protobuf;
mod strategies;
mod wire;
