//! Decoding and the stored encoding, against the generated protobuf types as the oracle.

mod corpus;
mod dice;
mod json;
mod mutate;
mod odd_json;
mod odd_protobuf;
mod oracle;
mod protobuf;
mod scramble;
mod strategies;
mod wire;
