//! Takes exports in: decodes them where they arrive or on a blocking thread, and waits until they are durable.

use std::sync::Arc;
use std::time::Instant;
use tidewatch_store::TelemetryStore;

use bytes::Bytes;
use tidewatch_domain::decode::Encoding;
use tidewatch_domain::model::{ProjectId, Signal};

use super::coding::Coding;
use super::error::ExportError;
use super::hints::Hints;
use super::intake::Intake;
use super::outcome::{Refused, RejectReason, Told};
use super::pipeline::prepare_within;
use super::record::Header;
use crate::metrics::IngestMetrics;
use tidewatch_accounts::Project;
use tidewatch_limits as limits;
use tidewatch_limits::admission::turn::Turn;
use tidewatch_limits::clock::Clock;

/// What taking in exports needs of the process.
pub struct IngestContext {
    /// The telemetry store and its journal.
    pub intake: Arc<Intake>,
    pub clock: Clock,
    pub metrics: Arc<IngestMetrics>,
    /// What projects receive that a setting would do more with.
    pub hints: Arc<Hints>,
    /// Of a body, inflated.
    pub body_bytes_max: usize,
    /// Names of Endpoints that a service may have on one day; 0: any number.
    pub names_max: usize,
    /// Of projects that say nothing else; 0: for ever.
    pub retention_days: u32,
}

/// An export that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub told: Told,
    /// Of the body, inflated.
    pub bytes: u64,
    /// Spans, log records or metric points.
    pub records: u64,
}

/// One export, as received.
pub struct Export<'a> {
    pub project: &'a Project,
    pub signal: Signal,
    pub encoding: Encoding,
    pub coding: Coding,
    pub body: Bytes,
    /// The body's slot and memory: dropped with it, once the journal has its copy.
    pub turn: Turn,
}

/// Takes an export as far as it goes: when this returns `Ok`, its records are durable and every question sees them.
pub async fn accept(context: &IngestContext, mut export: Export<'_>) -> Result<Accepted, Refused> {
    if context.intake.is_behind() {
        return Err(Refused::overloaded(match context.intake.lake().write_failure() {
            Some(_) => "the server cannot write to its disk; try again later",
            None => "the store is catching up; try again later",
        }));
    }
    let received_ns = context.clock.now_ns();
    let mut settings = export.project.settings.ingest_of(export.signal);
    // Retention decides what is too old, and it does not follow a clock that jumped. DECISIONS 25.
    let today_ns = context.intake.lake().trusted_now().unwrap_or(received_ns);
    settings.oldest_ns = tidewatch_store::retention::kept_from_ns(
        export.project.settings.retention_days.unwrap_or(context.retention_days),
        today_ns,
    );
    let header = Header {
        project_number: export.project.number,
        project: ProjectId(*export.project.id.as_bytes()),
        signal: export.signal,
        encoding: export.encoding,
        coding: export.coding,
        received_ns,
        settings,
        prices: context.intake.knowledge().prices.id,
        names_max: Some(context.names_max),
    };
    let bytes_max = context.body_bytes_max;
    let prepared = if is_small(&header, &export.body) {
        let (received, turn) = (export.body.len(), &mut export.turn);
        let holds = &mut |bytes| turn.grow_to(received + bytes);
        prepare_within(&header, &export.body, bytes_max, context.intake.knowledge(), holds)?
    } else {
        let (body, mut turn) = (export.body, export.turn);
        let knowledge = context.intake.knowledge().clone();
        let header = header.clone();
        // The slot goes along: it is held for as long as the work lasts, whether or not anyone still waits for it.
        let work = tokio::task::spawn_blocking(move || {
            let received = body.len();
            let holds = &mut |bytes| turn.grow_to(received + bytes);
            let prepared = prepare_within(&header, &body, bytes_max, &knowledge, holds);
            (prepared, body, turn)
        });
        let done = work.await.map_err(|panic| Refused::new(RejectReason::Malformed, ExportError::internal(panic)))?;
        let prepared;
        (prepared, export.body, export.turn) = done;
        prepared?
    };
    let (told, other_ai) = (prepared.told.clone(), prepared.other_ai);
    let (bytes, records) = (prepared.rows.body_bytes(), prepared.rows.records() as u64);
    let handed_over = Instant::now();
    context.intake.store(&header, (export.body, export.turn), prepared).await?;
    context.metrics.journal.add(handed_over.elapsed());
    context.hints.add_other_ai(header.project_number, other_ai);
    Ok(Accepted { told, bytes, records })
}

/// Decoded where it arrives: it costs less than half a millisecond.
fn is_small(header: &Header, body: &[u8]) -> bool {
    let bytes_max = match header.coding {
        Coding::Identity => limits::INGEST_INLINE_BYTES_MAX,
        Coding::Gzip | Coding::Deflate | Coding::Zstd => limits::INGEST_INLINE_COMPRESSED_BYTES_MAX,
    };
    body.len() <= bytes_max
}
