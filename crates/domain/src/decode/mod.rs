//! Bytes to views. Nothing is copied that the body already holds.
//!
//! [`protobuf`] and [`json`] read the same batches; what both decide alike is here beside them: [`ids`] (which ids are
//! refused), [`histogram`] (which buckets are kept), [`batch`] (how far lists may grow), [`values`] (nesting).
//!
//! A body is read whole or refused whole, with one sentence that says what is wrong at which byte. A record that is
//! readable but wrong is no reason to refuse the body: a span with bad ids is refused alone ([`TraceBatch::refused`]).

mod batch;
pub(crate) mod fault;
mod histogram;
mod ids;
mod json;
pub(crate) mod protobuf;
pub(crate) mod values;

use bumpalo::Bump;

use crate::model::{LogBatch, MetricBatch, TraceBatch};
pub use batch::{RECORDS_MAX, records_max};
use fault::{Fault, fault};

/// How deep an `AnyValue` may nest, in both encodings: an attribute's value or a log body is level 1, the elements of an
/// array or map in it are level 2, and so on. Deeper bodies are refused whole.
pub const VALUE_DEPTH_MAX: u32 = 32;

/// The encoding of an OTLP body, after decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    Protobuf,
    Json,
}

/// Why a body cannot be read at all. The message is one clear sentence for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    pub message: String,
}

/// `ExportTraceServiceRequest` to views.
pub fn traces<'a>(encoding: Encoding, body: &'a [u8], arena: &'a Bump) -> Result<TraceBatch<'a>, DecodeError> {
    let mut batch = TraceBatch::default();
    traces_into(encoding, body, records_max(body.len()), arena, &mut batch)?;
    Ok(batch)
}

/// `ExportLogsServiceRequest` to views.
pub fn logs<'a>(encoding: Encoding, body: &'a [u8], arena: &'a Bump) -> Result<LogBatch<'a>, DecodeError> {
    let mut batch = LogBatch::default();
    logs_into(encoding, body, records_max(body.len()), arena, &mut batch)?;
    Ok(batch)
}

/// `ExportMetricsServiceRequest` to views.
pub fn metrics<'a>(encoding: Encoding, body: &'a [u8], arena: &'a Bump) -> Result<MetricBatch<'a>, DecodeError> {
    let mut batch = MetricBatch::default();
    metrics_into(encoding, body, records_max(body.len()), arena, &mut batch)?;
    Ok(batch)
}

/// Like [`traces`], into the memory of an earlier batch ([`TraceBatch::recycle`]), with at most this many records of a
/// kind. On failure the batch is half filled.
pub fn traces_into<'a>(
    encoding: Encoding,
    body: &'a [u8],
    records_max: usize,
    arena: &'a Bump,
    batch: &mut TraceBatch<'a>,
) -> Result<(), DecodeError> {
    *batch = std::mem::take(batch).recycle();
    batch.body.records_max = records_max.min(RECORDS_MAX);
    request(encoding, body, arena, batch)
}

/// Like [`logs`], into the memory of an earlier batch ([`LogBatch::recycle`]). On failure the batch is half filled.
pub fn logs_into<'a>(
    encoding: Encoding,
    body: &'a [u8],
    records_max: usize,
    arena: &'a Bump,
    batch: &mut LogBatch<'a>,
) -> Result<(), DecodeError> {
    *batch = std::mem::take(batch).recycle();
    batch.body.records_max = records_max.min(RECORDS_MAX);
    request(encoding, body, arena, batch)
}

/// Like [`metrics`], into the memory of an earlier batch ([`MetricBatch::recycle`]). On failure the batch is half filled.
pub fn metrics_into<'a>(
    encoding: Encoding,
    body: &'a [u8],
    records_max: usize,
    arena: &'a Bump,
    batch: &mut MetricBatch<'a>,
) -> Result<(), DecodeError> {
    *batch = std::mem::take(batch).recycle();
    batch.body.records_max = records_max.min(RECORDS_MAX);
    request(encoding, body, arena, batch)
}

fn request<'a>(
    encoding: Encoding,
    body: &'a [u8],
    arena: &'a Bump,
    batch: &mut (impl protobuf::Records<'a> + json::Records<'a>),
) -> Result<(), DecodeError> {
    check_size(body).map_err(|fault| *fault)?;
    match encoding {
        Encoding::Protobuf => protobuf::request(body, arena, batch),
        Encoding::Json => json::request(body, arena, batch),
    }
    .map_err(|fault| *fault)
}

/// Indexes into the lists are 32 bits wide, and no list has more elements than the body has bytes (2 GiB at most).
fn check_size(body: &[u8]) -> Result<(), Fault> {
    if i32::try_from(body.len()).is_err() {
        return Err(fault!("a body of {} bytes is too large", body.len()));
    }
    Ok(())
}

/// OTLP severity; numbers that mean nothing read as 0, "unspecified".
fn severity_number(number: i64) -> u8 {
    match number {
        1..=24 => number as u8,
        _ => 0,
    }
}
