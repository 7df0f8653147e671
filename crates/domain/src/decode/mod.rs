//! Bytes to views. Nothing is copied that the body already holds.

pub(crate) mod fault;
pub(crate) mod protobuf;

use bumpalo::Bump;

use crate::model::{LogBatch, MetricBatch, TraceBatch};

/// The encoding of an OTLP body, after decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    Protobuf,
    Json,
}

/// How deep an `AnyValue` may nest, in both encodings: an attribute's value or a log body is level 1, the elements of an
/// array or map in it are level 2, and so on. Deeper bodies are refused whole.
pub const VALUE_DEPTH_MAX: u32 = 32;

/// Why a body cannot be read at all. The message is one clear sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    pub message: String,
}

/// `ExportTraceServiceRequest` to views.
pub fn traces<'a>(_encoding: Encoding, _body: &'a [u8], _arena: &'a Bump) -> Result<TraceBatch<'a>, DecodeError> {
    unimplemented!()
}

/// `ExportLogsServiceRequest` to views.
pub fn logs<'a>(_encoding: Encoding, _body: &'a [u8], _arena: &'a Bump) -> Result<LogBatch<'a>, DecodeError> {
    unimplemented!()
}

/// `ExportMetricsServiceRequest` to views.
pub fn metrics<'a>(_encoding: Encoding, _body: &'a [u8], _arena: &'a Bump) -> Result<MetricBatch<'a>, DecodeError> {
    unimplemented!()
}
