//! Accepts exports: decodes small ones inline and large ones on a blocking thread, and waits until they are durable.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, RequestKind};

use super::coding::Coding;
use super::durable_store::DurableStore;
use super::error::ExportError;
use super::first_versions::FirstVersions;
use super::hints::Hints;
use super::outcome::{Refused, RejectReason, Rejections};
use super::pipeline::prepare_within;
use super::record::Header;
use super::request_attributes::RequestAttributes;
use crate::metrics::IngestMetrics;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;
use tidewatch_limits::admission::body_permit::BodyPermit;
use tidewatch_limits::clock::Clock;

/// Dependencies of [`accept`].
pub struct IngestContext {
    /// The telemetry store and its journal.
    pub durable_store: Arc<DurableStore>,
    /// Source of receive times.
    pub clock: Clock,
    /// Counts waiting times.
    pub metrics: Arc<IngestMetrics>,
    /// First sights of versions.
    pub first_versions: Arc<FirstVersions>,
    /// Counts of what projects send that a setting would make more of.
    pub hints: Arc<Hints>,
    /// Maximum size of a body, inflated.
    pub body_bytes_max: usize,
    /// Maximum size of a native report in bytes, after decompression.
    pub report_bytes_max: usize,
    /// Maximum number of Endpoint names of a service on one day; 0: no limit.
    pub names_max: usize,
    /// Retention of projects without a setting of their own, in days; 0: for ever.
    pub retention_days: u32,
}

/// The outcome of a stored export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Records of the export that are not stored.
    pub rejections: Rejections,
    /// Size of the body in bytes, inflated.
    pub bytes: u64,
    /// Number of spans, log records or metric points.
    pub records: u64,
}

/// One export, as received.
pub struct Export<'a> {
    /// The project it is stored in.
    pub project: &'a Project,
    /// Kind of the body.
    pub kind: RequestKind,
    /// Protobuf or JSON.
    pub encoding: Encoding,
    /// Compression of `body`.
    pub coding: Coding,
    /// Inputs from the request's headers and address.
    pub attributes: RequestAttributes,
    /// The body, still compressed.
    pub body: Bytes,
    /// Admission permit of the body: its slot and memory. Released with the body, once the journal has its copy.
    pub body_permit: BodyPermit,
}

/// Accepts an export. When this returns `Ok`, its records are durable and visible to every query.
pub async fn accept(context: &IngestContext, mut export: Export<'_>) -> Result<Accepted, Refused> {
    if context.durable_store.is_behind() {
        return Err(Refused::overloaded(match context.durable_store.engine().write_failure() {
            Some(_) => "the server cannot write to its disk; try again later",
            None => "the store is catching up; try again later",
        }));
    }
    let received_ns = context.clock.now_ns();
    let mut settings = export.project.ingest_settings(export.kind);
    // Retention decides what is too old, and it does not follow a clock that jumped. DECISIONS 25.
    let today_ns = context.durable_store.engine().trusted_now().unwrap_or(received_ns);
    settings.oldest_ns = tidewatch_store::retention::kept_from_ns(
        export.project.settings.retention_days.unwrap_or(context.retention_days),
        today_ns,
    );
    // The record names the table that the costs are computed with.
    let enrichment = context.durable_store.enrichment();
    let header = Header {
        project_number: export.project.number,
        project: ProjectId(*export.project.id.as_bytes()),
        kind: export.kind,
        encoding: export.encoding,
        coding: export.coding,
        received_ns,
        settings,
        prices: enrichment.prices.id,
        names_max: Some(context.names_max),
        attributes: export.attributes,
    };
    let bytes_max = match export.kind {
        RequestKind::Report | RequestKind::Profile => context.report_bytes_max,
        RequestKind::Otlp(_) | RequestKind::OtlpProfiles => context.body_bytes_max,
    };
    let prepared = if is_small(&header, &export.body) {
        let (received, body_permit) = (export.body.len(), &mut export.body_permit);
        let reserve = &mut |bytes| body_permit.grow_to(received + bytes);
        prepare_within(&header, &export.body, bytes_max, &enrichment, reserve)?
    } else {
        let (body, mut body_permit) = (export.body, export.body_permit);
        let header = header.clone();
        // The permit moves to the thread: it is held until the work ends, even if the client disconnects.
        let work = tokio::task::spawn_blocking(move || {
            let received = body.len();
            let reserve = &mut |bytes| body_permit.grow_to(received + bytes);
            let prepared = prepare_within(&header, &body, bytes_max, &enrichment, reserve);
            (prepared, body, body_permit)
        });
        let done = work.await.map_err(|panic| Refused::new(RejectReason::Malformed, ExportError::internal(panic)))?;
        let prepared;
        (prepared, export.body, export.body_permit) = done;
        prepared?
    };
    let (rejections, other_ai) = (prepared.rejections.clone(), prepared.other_ai);
    let (bytes, records) = (prepared.rows.body_bytes(), prepared.rows.records() as u64);
    let handed_over = Instant::now();
    context.durable_store.store(&header, (export.body, export.body_permit), prepared).await?;
    context.metrics.journal.add(handed_over.elapsed());
    context.hints.add_other_ai(header.project_number, other_ai);
    Ok(Accepted { rejections, bytes, records })
}

/// Whether the body is decoded inline, which takes less than half a millisecond.
fn is_small(header: &Header, body: &[u8]) -> bool {
    let bytes_max = match header.coding {
        Coding::Identity => limits::INGEST_INLINE_BYTES_MAX,
        Coding::Gzip | Coding::Deflate | Coding::Zstd => limits::INGEST_INLINE_COMPRESSED_BYTES_MAX,
    };
    body.len() <= bytes_max
}
