//! Decodes OTLP bodies into views that borrow from the body.
//!
//! [`protobuf`] and [`json`] fill the same batches. Rules common to both: [`ids`] validates ids, [`histogram`] validates
//! buckets, [`batch`] limits the number of records, [`values`] limits nesting.
//!
//! A malformed body is refused as a whole, with one sentence that names the problem and the byte offset. A readable
//! but invalid record does not refuse the body: a span with invalid ids is refused alone ([`TraceBatch::refused`]).
//!
//! Invariant: no bytes make a decoder panic, and both encodings of one message give equal views (property tests,
//! `fuzz/`).

mod batch;
pub(crate) mod fault;
mod histogram;
mod ids;
mod json;
mod profiles;
pub(crate) mod protobuf;
pub(crate) mod values;

use bumpalo::Bump;

use crate::model::{LogBatch, MetricBatch, ReportBatch, TraceBatch};
pub use batch::{RECORDS_MAX, records_max};
use fault::{Fault, fault};
pub use profiles::{STACK_DEPTH_MAX, STACK_LOCATIONS_MAX, otlp_profiles, pprof};

/// Maximum nesting depth of an `AnyValue`: the value of an attribute or a log body is level 1, the elements of an array
/// or map in it are level 2. Bodies with deeper values are refused.
pub const VALUE_DEPTH_MAX: u32 = 32;

/// The encoding of an OTLP body, after decompression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `application/x-protobuf`.
    Protobuf,
    /// `application/json`.
    Json,
}

/// Why a body was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// One sentence for the caller.
    pub message: String,
}

/// Decodes an `ExportTraceServiceRequest`.
pub fn traces<'a>(encoding: Encoding, body: &'a [u8], arena: &'a Bump) -> Result<TraceBatch<'a>, DecodeError> {
    let mut batch = TraceBatch::default();
    traces_into(encoding, body, records_max(body.len()), arena, &mut batch)?;
    Ok(batch)
}

/// Decodes an `ExportLogsServiceRequest`.
pub fn logs<'a>(encoding: Encoding, body: &'a [u8], arena: &'a Bump) -> Result<LogBatch<'a>, DecodeError> {
    let mut batch = LogBatch::default();
    logs_into(encoding, body, records_max(body.len()), arena, &mut batch)?;
    Ok(batch)
}

/// Decodes an `ExportMetricsServiceRequest`.
pub fn metrics<'a>(encoding: Encoding, body: &'a [u8], arena: &'a Bump) -> Result<MetricBatch<'a>, DecodeError> {
    let mut batch = MetricBatch::default();
    metrics_into(encoding, body, records_max(body.len()), arena, &mut batch)?;
    Ok(batch)
}

/// Like [`traces`], but reuses the memory of `batch` and reads at most `records_max` records of a kind. After an error
/// the batch is partially filled.
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

/// Like [`logs`], but reuses the memory of `batch` and reads at most `records_max` records of a kind. After an error the
/// batch is partially filled.
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

/// Like [`metrics`], but reuses the memory of `batch` and reads at most `records_max` records of a kind. After an error
/// the batch is partially filled.
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

/// Decodes a native report (`POST /api/report`), JSON. WIRE 1.
pub fn report<'a>(body: &'a [u8], arena: &'a Bump) -> Result<ReportBatch<'a>, DecodeError> {
    report_within(body, records_max(body.len()), arena)
}

/// Like [`report`], but reads at most `records_max` items of a kind.
pub fn report_within<'a>(body: &'a [u8], records_max: usize, arena: &'a Bump) -> Result<ReportBatch<'a>, DecodeError> {
    let mut batch = ReportBatch::default();
    check_size(body)
        .and_then(|()| json::report(body, records_max.min(RECORDS_MAX), arena, &mut batch))
        .map_err(|fault| *fault)?;
    Ok(batch)
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

/// Limits a body to 2 GiB: list indexes are 32 bits wide, and no list has more elements than the body has bytes.
fn check_size(body: &[u8]) -> Result<(), Fault> {
    if i32::try_from(body.len()).is_err() {
        return Err(fault!("a body of {} bytes is too large", body.len()));
    }
    Ok(())
}

/// OTLP severity. Undefined numbers read as 0, "unspecified".
fn severity_number(number: i64) -> u8 {
    match number {
        1..=24 => number as u8,
        _ => 0,
    }
}
