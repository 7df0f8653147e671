//! Encodings of OTLP bodies.

/// The encoding of an OTLP body, after decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `application/x-protobuf`.
    Protobuf,
    /// `application/json`.
    Json,
}
