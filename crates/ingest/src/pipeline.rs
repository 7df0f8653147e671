//! The way of one export, step by step; [`prepare`] is also what a replay runs.
//!
//! ```text
//! body ─inflate─> bytes ─decode─> views ─rules─> projection ─columns─> rows ─journal─> durable ─lake─> acknowledged
//! ```

use std::cell::RefCell;

use bumpalo::Bump;
use tidewatch_domain::decode;
use tidewatch_domain::model::{LogBatch, MetricBatch, Signal, TraceBatch};
use tidewatch_domain::project::{self, DropReason, Dropped, ProjectContext, TraceProjection};
use tidewatch_store::columns::Rows;
use xxhash_rust::xxh3::Xxh3Default;

use super::coding::{Coding, InflateError, Inflater};
use super::error::ExportError;
use super::knowledge::Knowledge;
use super::outcome::{Refused, RejectReason, Told};
use super::record::Header;
use tidewatch_limits as limits;
use tidewatch_limits::admission::FULL;

/// An export that is understood, not yet stored.
pub struct Prepared {
    pub rows: Rows,
    /// Equal for a body that comes again, however it is compressed. DECISIONS 11.
    pub request_key: u128,
    /// What the sender is told is not stored.
    pub told: Told,
    /// Model calls that the project's settings do not promote.
    pub other_ai: u64,
}

/// What one thread reuses from request to request.
#[derive(Default)]
struct Workspace {
    inflater: Inflater,
    arena: Bump,
    lists: Lists,
}

/// The lists of the last batches, empty.
#[derive(Default)]
struct Lists {
    traces: TraceBatch<'static>,
    metrics: MetricBatch<'static>,
    logs: LogBatch<'static>,
}

/// Lists that grew longer than this are given back: few requests are so large.
const KEPT_RECORDS_MAX: usize = 1 << 14;
const KEPT_ATTRIBUTES_MAX: usize = 1 << 17;

/// `records` are the capacities of the lists of records.
fn is_worth_keeping<const N: usize>(records: [usize; N], attributes: usize) -> bool {
    attributes <= KEPT_ATTRIBUTES_MAX && records.into_iter().all(|capacity| capacity <= KEPT_RECORDS_MAX)
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// After a panic of [`prepare`] on this thread: nothing that it left half-done is used again.
pub fn forget_workspace() {
    WORKSPACE.take();
}

/// From a body as received to rows. The same header and body give the same result, now and after a crash, but for the
/// text of stack traces whose symbols were uploaded in between.
pub fn prepare(header: &Header, body: &[u8], bytes_max: usize, knowledge: &Knowledge) -> Result<Prepared, Refused> {
    WORKSPACE.with_borrow_mut(|workspace| {
        let Workspace { inflater, arena, lists } = workspace;
        let result = inflate(inflater, header.coding, body, bytes_max)
            .and_then(|body| rows(header, body, knowledge, (arena, lists), &mut Room::unlimited()));
        arena.reset();
        result
    })
}

/// The same of a request that is not accepted yet: it has as many records as its size allows, and `holds` is told how
/// many bytes are made of the body in all; false refuses it for now.
pub(super) fn prepare_within(
    header: &Header,
    body: &[u8],
    bytes_max: usize,
    knowledge: &Knowledge,
    holds: &mut dyn FnMut(usize) -> bool,
) -> Result<Prepared, Refused> {
    WORKSPACE.with_borrow_mut(|workspace| {
        let Workspace { inflater, arena, lists } = workspace;
        let result = inflate(inflater, header.coding, body, bytes_max).and_then(|body| {
            let inflated = if header.coding == Coding::Identity { 0 } else { body.len() };
            let mut room = Room { records_max: decode::records_max(body.len()), bytes: inflated, holds: Some(holds) };
            room.take(0)?;
            rows(header, body, knowledge, (arena, lists), &mut room)
        });
        arena.reset();
        result
    })
}

/// Memory for what is made of a body.
struct Room<'h> {
    records_max: usize,
    /// Taken until now.
    bytes: usize,
    /// `None`: there is no bound.
    holds: Option<&'h mut dyn FnMut(usize) -> bool>,
}

impl Room<'_> {
    fn unlimited() -> Room<'static> {
        Room { records_max: usize::MAX, bytes: 0, holds: None }
    }

    fn take(&mut self, bytes: usize) -> Result<(), Refused> {
        self.bytes = self.bytes.saturating_add(bytes);
        let fits = self.holds.as_mut().is_none_or(|holds| holds(self.bytes));
        if fits { Ok(()) } else { Err(Refused::overloaded(FULL)) }
    }

    /// For the lists of a batch and the rows that are made of it; texts are copied out of the body.
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

fn rows(
    header: &Header,
    body: &[u8],
    knowledge: &Knowledge,
    (arena, lists): (&Bump, &mut Lists),
    room: &mut Room<'_>,
) -> Result<Prepared, Refused> {
    let malformed = |error: decode::DecodeError| Refused::malformed(error.message);
    let context =
        ProjectContext { project: header.project, received_ns: header.received_ns, settings: header.settings.clone() };
    let stacks = knowledge.stacks(header);
    let number = header.project_number;
    let mut other_ai = 0;
    let (rows, mut told) = match header.signal {
        Signal::Traces => {
            let mut batch = std::mem::take(&mut lists.traces).recycle();
            decode::traces_into(header.encoding, body, room.records_max, arena, &mut batch).map_err(malformed)?;
            let events = size_of_val(batch.events.as_slice()) + size_of_val(batch.links.as_slice());
            let list_bytes = size_of_val(batch.spans.as_slice()) + size_of_val(batch.attributes.as_slice()) + events;
            room.take_for(body, batch.spans.len(), list_bytes)?;
            let projection = project::traces_with(&batch, &context, knowledge.known(&stacks), arena);
            other_ai = projection.other_ai;
            let told = told_of_spans(&batch, &projection);
            let rows = (Rows::traces(number, &context, &batch, &projection), told);
            if is_worth_keeping(
                [batch.spans.capacity(), batch.events.capacity(), batch.links.capacity()],
                batch.attributes.capacity(),
            ) {
                lists.traces = batch.recycle();
            }
            rows
        }
        Signal::Metrics => {
            let mut batch = std::mem::take(&mut lists.metrics).recycle();
            decode::metrics_into(header.encoding, body, room.records_max, arena, &mut batch).map_err(malformed)?;
            let list_bytes = size_of_val(batch.points.as_slice()) + size_of_val(batch.attributes.as_slice());
            room.take_for(body, batch.points.len(), list_bytes)?;
            let projection = project::metrics(&batch, &context, arena);
            let rows = (Rows::metrics(number, &context, &batch, &projection), told_of(&projection.dropped));
            if is_worth_keeping([batch.metrics.capacity(), batch.points.capacity()], batch.attributes.capacity()) {
                lists.metrics = batch.recycle();
            }
            rows
        }
        Signal::Logs => {
            let mut batch = std::mem::take(&mut lists.logs).recycle();
            decode::logs_into(header.encoding, body, room.records_max, arena, &mut batch).map_err(malformed)?;
            let list_bytes = size_of_val(batch.records.as_slice()) + size_of_val(batch.attributes.as_slice());
            room.take_for(body, batch.records.len(), list_bytes)?;
            let projection = project::logs_with(&batch, &context, knowledge.known(&stacks), arena);
            let rows = (Rows::logs(number, &context, &batch, &projection), told_of(&projection.dropped));
            if is_worth_keeping([batch.records.capacity()], batch.attributes.capacity()) {
                lists.logs = batch.recycle();
            }
            rows
        }
    };
    told.trimmed = rows.trimmed() as u64;
    let rows = rows.of_body(body.len() as u64).with_names_max(header.names_max);
    Ok(Prepared { rows, request_key: request_key(header, body), told, other_ai })
}

fn told_of_spans(batch: &TraceBatch<'_>, projection: &TraceProjection<'_>) -> Told {
    let mut told = told_of(&projection.dropped);
    batch.refused.iter().for_each(|why| told.add(why.message()));
    projection.rejected.iter().for_each(|(_, why)| told.add(why.message()));
    told
}

/// Dropped roots and samples are our own choice and stay silent (SPEC classification, last row); what we cannot store
/// is said, so that nobody looks for it.
fn told_of(dropped: &[Dropped]) -> Told {
    let mut told = Told::default();
    for drop in dropped {
        match drop.reason {
            DropReason::UnsupportedMetricType => told.add("exponential histograms and summaries are not stored"),
            DropReason::NotFinite => told.add("value is not finite"),
            DropReason::InvalidTime => told.add("time does not fit 64-bit nanoseconds"),
            DropReason::TooOld => told.add("older than the project's retention"),
            // Told with more words: `told_of_spans`.
            DropReason::InvalidId
            | DropReason::UnmatchedRoot
            | DropReason::EmptyPoint
            | DropReason::Sampled
            | DropReason::Healthcheck
            | DropReason::Duplicate => {}
        }
    }
    told
}

/// DECISIONS 11: the same body for the same project.
fn request_key(header: &Header, body: &[u8]) -> u128 {
    let mut hash = Xxh3Default::new();
    hash.update(&header.project.0);
    hash.update(header.signal.as_str().as_bytes());
    hash.update(&[0]);
    hash.update(body);
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::decode::Encoding;
    use tidewatch_domain::model::ProjectId;
    use tidewatch_domain::project::IngestSettings;

    use super::super::prices::{NO_TABLE, PriceTable};
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

    /// Memory for rows counts before they are made: records of a few bytes take hundreds each.
    #[test]
    fn what_is_made_of_a_body_counts_against_its_memory() {
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
                signal,
                encoding: Encoding::Protobuf,
                coding: Coding::Identity,
                received_ns: 1,
                settings: IngestSettings::default(),
                prices: NO_TABLE,
                names_max: None,
            };
            let knowledge = Knowledge { prices: PriceTable { prices: &[], id: NO_TABLE }, symbols: None };
            let mut held = 0;
            let prepare = |holds: &mut dyn FnMut(usize) -> bool| {
                prepare_within(&header, &body, 1 << 20, &knowledge, holds).map(|prepared| prepared.rows.records())
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
