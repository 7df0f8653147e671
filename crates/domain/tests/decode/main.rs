//! Tests decoding and the stored encoding with the generated protobuf types as oracle.

mod corpus;
mod dice;
mod json;
mod mutate;
mod odd_json;
mod odd_protobuf;
mod oracle;
mod profiles;
mod protobuf;
mod scramble;
mod strategies;
mod wire;
