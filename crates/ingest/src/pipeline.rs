//! The steps from an export's body to its rows. A replay runs [`prepare`] too.
//!
//! ```text
//! body ─inflate─> bytes ─decode─> views ─rules─> projection ─columns─> rows ─journal─> durable ─lake─> acknowledged
//! ```

use bumpalo::Bump;
use tidewatch_domain::decode;
use tidewatch_domain::model::{RequestKind, Signal, Span, TraceBatch};
use tidewatch_domain::project::{self, DropReason, Dropped, ProfileSource, ProjectContext, TraceProjection};
use tidewatch_store::columns::Rows;
use xxhash_rust::xxh3::Xxh3Default;

use super::coding::{Coding, InflateError, Inflater};
use super::enrichment::EnrichmentSource;
use super::error::ExportError;
use super::outcome::{Refused, RejectReason, Rejections};
use super::record::Header;
use super::request_attributes::RequestAttributes;
use super::workspace::{self, Lists, Workspace};
use tidewatch_limits as limits;
use tidewatch_limits::admission::FULL;

/// A decoded export that is not stored yet.
pub struct Prepared {
    /// Rows of every table that the export writes to.
    pub rows: Rows,
    /// Equal for bodies with equal inflated content, whatever their compression. DECISIONS 11.
    pub request_key: u128,
    /// Records that are not stored, for the response.
    pub rejections: Rejections,
    /// Number of model calls that the project's settings do not promote.
    pub other_ai: u64,
}

/// Lists with more capacity are freed: few requests are so large.
const KEPT_RECORDS_MAX: usize = 1 << 14;
const KEPT_ATTRIBUTES_MAX: usize = 1 << 17;

/// Whether lists of these capacities are kept for the next request. `records`: the capacities of the lists of records.
fn is_worth_keeping<const N: usize>(records: [usize; N], attributes: usize) -> bool {
    attributes <= KEPT_ATTRIBUTES_MAX && records.into_iter().all(|capacity| capacity <= KEPT_RECORDS_MAX)
}

/// Makes rows of a body as received. The same header and body give the same result, now and after a crash, except for
/// stack traces whose symbols were uploaded in between. `bytes_max` bounds the inflated body.
pub fn prepare(
    header: &Header,
    body: &[u8],
    bytes_max: usize,
    enrichment: &EnrichmentSource,
) -> Result<Prepared, Refused> {
    workspace::with(|Workspace { inflater, inner_inflater, arena, lists }| {
        inflate(inflater, header.coding, body, bytes_max)
            .and_then(|body| inflate_profile(inner_inflater, header.kind, body, bytes_max))
            .and_then(|body| rows(header, body, enrichment, (arena, lists), &mut MemoryBound::unlimited()))
    })
}

/// Like [`prepare`], for a request that is not accepted yet. The number of records is bounded by the size of the body.
/// `reserve` is called with the total number of bytes made of the body so far; false refuses the request as overloaded.
pub(super) fn prepare_within(
    header: &Header,
    body: &[u8],
    bytes_max: usize,
    enrichment: &EnrichmentSource,
    reserve: &mut dyn FnMut(usize) -> bool,
) -> Result<Prepared, Refused> {
    workspace::with(|Workspace { inflater, inner_inflater, arena, lists }| {
        let body = inflate(inflater, header.coding, body, bytes_max)?;
        let outer_bytes = if header.coding == Coding::Identity { 0 } else { body.len() };
        let profile = inflate_profile(inner_inflater, header.kind, body, bytes_max)?;
        let inner_bytes = if std::ptr::eq(profile, body) { 0 } else { profile.len() };
        let (body, inflated) = (profile, outer_bytes + inner_bytes);
        let mut memory =
            MemoryBound { records_max: decode::records_max(body.len()), bytes: inflated, reserve: Some(reserve) };
        memory.take(0)?;
        rows(header, body, enrichment, (arena, lists), &mut memory)
    })
}

/// Bounds the memory for decoded records and rows of one body.
struct MemoryBound<'h> {
    records_max: usize,
    /// Bytes reserved so far.
    bytes: usize,
    /// `None`: unlimited.
    reserve: Option<&'h mut dyn FnMut(usize) -> bool>,
}

impl MemoryBound<'_> {
    fn unlimited() -> MemoryBound<'static> {
        MemoryBound { records_max: usize::MAX, bytes: 0, reserve: None }
    }

    fn take(&mut self, bytes: usize) -> Result<(), Refused> {
        self.bytes = self.bytes.saturating_add(bytes);
        let fits = self.reserve.as_mut().is_none_or(|reserve| reserve(self.bytes));
        if fits { Ok(()) } else { Err(Refused::overloaded(FULL)) }
    }

    /// Reserves memory for the lists of a batch and for the rows made of it. Strings are copied out of the body.
    fn take_for(&mut self, body: &[u8], records: usize, list_bytes: usize) -> Result<(), Refused> {
        self.take(list_bytes + records * limits::ROW_BYTES + body.len())
    }
}

fn inflate<'a>(
    inflater: &'a mut Inflater,
    coding: Coding,
    body: &'a [u8],
    bytes_max: usize,
) -> Result<&'a [u8], Refused> {
    inflater.inflate(coding, body, bytes_max).map_err(|error| match error {
        InflateError::TooLarge => Refused::too_large(bytes_max),
        InflateError::Bad => {
            let error = ExportError::malformed("the body is not what its content encoding says");
            Refused::new(RejectReason::BadEncoding, error)
        }
    })
}

/// The profile in a body: pprof is usually compressed with gzip itself, whatever the content encoding. WIRE 2.1.
fn inflate_profile<'a>(
    inflater: &'a mut Inflater,
    kind: RequestKind,
    body: &'a [u8],
    bytes_max: usize,
) -> Result<&'a [u8], Refused> {
    const GZIP: &[u8] = &[0x1f, 0x8b];
    if kind != RequestKind::Profile || !body.starts_with(GZIP) {
        return Ok(body);
    }
    inflater.inflate(Coding::Gzip, body, bytes_max).map_err(|error| match error {
        InflateError::TooLarge => Refused::too_large(bytes_max),
        InflateError::Bad => Refused::malformed("the profile is not valid gzip"),
    })
}

fn rows(
    header: &Header,
    body: &[u8],
    enrichment: &EnrichmentSource,
    (arena, lists): (&Bump, &mut Lists),
    memory: &mut MemoryBound<'_>,
) -> Result<Prepared, Refused> {
    let malformed = |error: decode::DecodeError| Refused::malformed(error.message);
    let context =
        ProjectContext { project: header.project, received_ns: header.received_ns, settings: header.settings.clone() };
    let symbolicator = enrichment.symbolicator(header);
    let grouping_rules = enrichment.grouping.rules(header.project_number);
    let number = header.project_number;
    let mut other_ai = 0;
    let (rows, mut rejections) = match header.kind {
        RequestKind::Otlp(Signal::Traces) => {
            let mut batch = std::mem::take(&mut lists.traces).recycle();
            decode::traces_into(header.encoding, body, memory.records_max, arena, &mut batch).map_err(malformed)?;
            let events = size_of_val(batch.events.as_slice()) + size_of_val(batch.links.as_slice());
            let list_bytes = size_of_val(batch.spans.as_slice()) + size_of_val(batch.attributes.as_slice()) + events;
            memory.take_for(body, batch.spans.len(), list_bytes)?;
            let projection =
                project::traces_with(&batch, &context, enrichment.with_symbols(&symbolicator, &grouping_rules), arena);
            other_ai = projection.other_ai;
            let rejections = rejections_of_spans(&batch, &projection);
            let rows = (Rows::traces(number, &context, &batch, &projection), rejections);
            if is_worth_keeping(
                [batch.spans.capacity(), batch.events.capacity(), batch.links.capacity()],
                batch.attributes.capacity(),
            ) {
                lists.traces = batch.recycle();
            }
            rows
        }
        RequestKind::Otlp(Signal::Metrics) => {
            let mut batch = std::mem::take(&mut lists.metrics).recycle();
            decode::metrics_into(header.encoding, body, memory.records_max, arena, &mut batch).map_err(malformed)?;
            let list_bytes = size_of_val(batch.points.as_slice()) + size_of_val(batch.attributes.as_slice());
            memory.take_for(body, batch.points.len(), list_bytes)?;
            let projection = project::metrics(&batch, &context, arena);
            let rows = (Rows::metrics(number, &context, &batch, &projection), rejections(&projection.dropped));
            if is_worth_keeping([batch.metrics.capacity(), batch.points.capacity()], batch.attributes.capacity()) {
                lists.metrics = batch.recycle();
            }
            rows
        }
        RequestKind::Report => {
            let batch = decode::report_within(body, memory.records_max, arena).map_err(malformed)?;
            let telemetry = batch.runs.len() + batch.spans.len() + batch.exceptions.len() + batch.metrics.len();
            let items = telemetry + batch.sessions.len() + batch.recordings.len();
            // Each item is copied into the lists of spans or points, with its attributes.
            let list_bytes = items * size_of::<Span<'_>>() + 3 * size_of_val(batch.attributes.as_slice());
            memory.take_for(body, items, list_bytes)?;
            let client_ip = header.attributes.client_address.map(|address| address.to_string()).unwrap_or_default();
            let enrichment = enrichment.with_symbols(&symbolicator, &grouping_rules);
            let projection = project::report(&batch, &client_ip, &context, enrichment, arena);
            let dropped = [projection.rows.dropped.as_slice(), &projection.metric_rows.dropped].concat();
            (Rows::report(number, &context, &projection), rejections(&dropped))
        }
        RequestKind::Profile | RequestKind::OtlpProfiles => {
            let batch = match header.kind {
                RequestKind::Profile => decode::pprof(body, arena),
                _ => decode::otlp_profiles(header.encoding, body, arena),
            }
            .map_err(malformed)?;
            let list_bytes = size_of_val(batch.samples.as_slice())
                + size_of_val(batch.stack_locations.as_slice())
                + size_of_val(batch.locations.as_slice())
                + size_of_val(batch.functions.as_slice())
                + size_of_val(batch.labels.as_slice());
            memory.take_for(body, batch.samples.len(), list_bytes)?;
            let attributes = &header.attributes;
            let source = ProfileSource {
                service: &attributes.service,
                server_name: &attributes.server_name,
                app_version: &attributes.app_version,
                process: &attributes.process,
                labels: &attributes.profile_labels,
            };
            let projection = project::profiles(&batch, &context, &source, arena);
            memory.take(projection.stacks.iter().map(|stack| 2 * stack.frames.len()).sum())?;
            (Rows::profiles(number, header.kind, &projection), rejections(&projection.dropped))
        }
        RequestKind::Otlp(Signal::Logs) => {
            let mut batch = std::mem::take(&mut lists.logs).recycle();
            decode::logs_into(header.encoding, body, memory.records_max, arena, &mut batch).map_err(malformed)?;
            let list_bytes = size_of_val(batch.records.as_slice()) + size_of_val(batch.attributes.as_slice());
            memory.take_for(body, batch.records.len(), list_bytes)?;
            let projection =
                project::logs_with(&batch, &context, enrichment.with_symbols(&symbolicator, &grouping_rules), arena);
            let rows = (Rows::logs(number, &context, &batch, &projection), rejections(&projection.dropped));
            if is_worth_keeping([batch.records.capacity()], batch.attributes.capacity()) {
                lists.logs = batch.recycle();
            }
            rows
        }
    };
    rejections.trimmed = rows.trimmed() as u64;
    let rows = rows.with_body_bytes(body.len() as u64).with_names_max(header.names_max);
    Ok(Prepared { rows, request_key: request_key(header, body), rejections, other_ai })
}

fn rejections_of_spans(batch: &TraceBatch<'_>, projection: &TraceProjection<'_>) -> Rejections {
    let mut rejections = rejections(&projection.dropped);
    batch.refused.iter().for_each(|why| rejections.add(why.message()));
    projection.rejected.iter().for_each(|(_, why)| rejections.add(why.message()));
    rejections
}

/// The rejections to report. Dropped roots and samples are deliberate and not reported (SPEC classification, last row).
fn rejections(dropped: &[Dropped]) -> Rejections {
    let mut rejections = Rejections::default();
    for drop in dropped {
        match drop.reason {
            DropReason::UnsupportedMetricType => rejections.add("exponential histograms and summaries are not stored"),
            DropReason::NotFinite => rejections.add("value is not finite"),
            DropReason::InvalidTime => rejections.add("time does not fit 64-bit nanoseconds"),
            DropReason::TooOld => rejections.add("older than the project's retention"),
            DropReason::ProfileTooLarge => rejections.add("more or longer stacks than one request may have"),
            // Reported in more detail by `rejections_of_spans`.
            DropReason::InvalidId
            | DropReason::UnmatchedRoot
            | DropReason::EmptyPoint
            | DropReason::Sampled
            | DropReason::Healthcheck
            | DropReason::EmptySample
            | DropReason::InvalidItem
            | DropReason::EmptyRecording
            | DropReason::RecordingWithoutOwner
            | DropReason::RecordingTooLarge
            | DropReason::RecordingsOff
            | DropReason::Duplicate => {}
        }
    }
    rejections
}

/// The key by which a retried request is recognized: project, kind and body. DECISIONS 11.
fn request_key(header: &Header, body: &[u8]) -> u128 {
    let mut hash = Xxh3Default::new();
    hash.update(&header.project.0);
    hash.update(header.kind.as_str().as_bytes());
    hash.update(&[0]);
    // An equal profile of another service is another profile.
    if matches!(header.kind, RequestKind::Profile | RequestKind::OtlpProfiles) {
        let RequestAttributes { service, server_name, app_version, process, .. } = &header.attributes;
        for text in [service, server_name, app_version] {
            hash.update(text.as_bytes());
            hash.update(&[0]);
        }
        // Records of earlier versions have no process, and their keys stay the same.
        if !process.is_empty() {
            hash.update(process.as_bytes());
            hash.update(&[0]);
        }
    }
    hash.update(body);
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use crate::enrichment::GroupingSource;
    use tidewatch_domain::decode::Encoding;
    use tidewatch_domain::model::ProjectId;
    use tidewatch_domain::project::IngestSettings;

    use super::super::prices::{NO_TABLE, PriceTable};
    use super::super::request_attributes::RequestAttributes;
    use super::*;

    const RECORDS: usize = 1000;

    /// A field of a protobuf message.
    fn field(number: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2];
        let mut length = payload.len();
        while length >= 0x80 {
            bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes.extend(payload);
        bytes
    }

    /// Memory for rows is reserved before they are made: records of a few bytes take hundreds each.
    #[test]
    fn rows_of_a_body_count_against_its_memory() {
        let span = [field(1, &[1; 16]), field(2, &[2; 8])].concat();
        let points = field(5, &field(1, &[]).repeat(RECORDS));
        for (signal, records) in [
            (Signal::Traces, field(2, &span).repeat(RECORDS)),
            (Signal::Logs, field(2, &[]).repeat(RECORDS)),
            (Signal::Metrics, field(2, &points)),
        ] {
            let body = field(1, &field(2, &records));
            let header = Header {
                project_number: 1,
                project: ProjectId([1; 16]),
                kind: signal.into(),
                encoding: Encoding::Protobuf,
                coding: Coding::Identity,
                received_ns: 1,
                settings: IngestSettings::default(),
                prices: NO_TABLE,
                names_max: None,
                attributes: RequestAttributes::default(),
            };
            let enrichment = EnrichmentSource {
                prices: PriceTable { prices: &[], id: NO_TABLE },
                symbols: None,
                grouping: GroupingSource::BUILT_IN,
            };
            let mut held = 0;
            let prepare = |reserve: &mut dyn FnMut(usize) -> bool| {
                prepare_within(&header, &body, 1 << 20, &enrichment, reserve).map(|prepared| prepared.rows.records())
            };
            let made = prepare(&mut |bytes| {
                held = held.max(bytes);
                true
            });
            assert_eq!(made.expect("a good body"), RECORDS, "{signal:?}");
            assert!(held >= RECORDS * limits::ROW_BYTES, "{signal:?}: {held} bytes");
            let refused = prepare(&mut |bytes| bytes < held).expect_err("there is no memory for it");
            assert_eq!(refused.reason, RejectReason::Overloaded, "{signal:?}");
        }
    }
}
