//! Projects the sessions of a native report, and the segments of their recordings. WIRE 1.6, 1.7.

use std::collections::HashMap;

use bumpalo::Bump;
use xxhash_rust::xxh3::Xxh3;

use super::report_rows::{ReportProjection, SegmentRow, SessionRow};
use super::{DropReason, Dropped, Enrichment, ProjectContext};
use crate::model::{AnyValue, Attributes, KeyValue, NativeId, Recording, ReportBatch, RowId, Session, Slice};
use crate::rules::exception::{Origin, RawStack};
use crate::rules::native_ids::trace_id_of;
use crate::rules::record_time::record_time;
use crate::rules::recording_logs::{has_script_logs, resolve_logs};
use crate::rules::session::{self, DURATION_MAX_NS, RECORDING_DAYS, SEGMENT_BYTES_MAX, SessionFacts};
use crate::units::DAY_NS;
use crate::wire;

/// The attribute with the address of the client. WIRE 1.6.
const CLIENT_IP: &str = "client.ip";

/// Stored exceptions by the client's id of their recording, each with its user.
pub(super) type Recorded<'a> = HashMap<&'a str, (RowId, &'a str)>;

/// Adds the sessions and segments of the report to `out`.
pub(super) fn project<'a>(
    report: &ReportBatch<'a>,
    (client_ip, context): (&str, &ProjectContext),
    enrichment: Enrichment<'_>,
    recorded: &Recorded<'a>,
    arena: &'a Bump,
    out: &mut ReportProjection<'a>,
) {
    let client_ip = arena.alloc_str(client_ip);
    let mut users: HashMap<NativeId, &'a str> = HashMap::new();
    for session in &report.sessions {
        let record = out.session_records.len() as u32;
        let key = session_key(report, session);
        out.session_records.push(key);
        out.is_untimed |= session.started_ns == 0;
        match time(session.started_ns, context, context.settings.oldest_ns) {
            Ok(time_ns) => {
                let mut row = session_row(report, session, (client_ip, arena), out);
                (row.record, row.time_ns) = (record, time_ns);
                row.row_id = RowId(key.to_be_bytes());
                // States of one report come in their order.
                row.version = context.received_ns.saturating_add(i64::from(record));
                if !row.facts.user_id.is_empty() {
                    users.insert(session.id, row.facts.user_id);
                }
                out.sessions.push(row);
            }
            Err(reason) => drop_record(record, reason, out),
        }
    }
    for recording in &report.recordings {
        let record = out.session_records.len() as u32;
        out.is_untimed |= recording.started_ns == 0;
        let exception = recorded.get(recording.exception).copied();
        let (exception, user) = exception.unwrap_or_default();
        let key = segment_key(recording.session, exception, recording.segment);
        out.session_records.push(key);
        let row = segment_row(recording, exception, context).map(|row| SegmentRow {
            recording: Recording {
                logs: logs(recording.logs, report.app_version, (context, enrichment), arena),
                ..*recording
            },
            record,
            row_id: RowId(key.to_be_bytes()),
            user_id: users.get(&recording.session).copied().unwrap_or(user),
            ..row
        });
        match row {
            Ok(row) => out.segments.push(row),
            Err(reason) => drop_record(record, reason, out),
        }
    }
}

/// Drops a record. It makes no later record a duplicate.
fn drop_record(record: u32, reason: DropReason, out: &mut ReportProjection<'_>) {
    out.session_records[record as usize] = 0;
    out.sessions_dropped.push(Dropped { record, reason });
}

/// Appends attributes to a flat list, and returns their range.
pub(super) fn append<'a>(flat: &mut Vec<KeyValue<'a>>, pairs: impl Iterator<Item = KeyValue<'a>>) -> Slice {
    let start = flat.len() as u32;
    flat.extend(pairs);
    Slice { start, end: flat.len() as u32 }
}

fn time(time_ns: i64, context: &ProjectContext, oldest_ns: i64) -> Result<i64, DropReason> {
    let time = u64::try_from(time_ns).map_err(|_| DropReason::InvalidTime)?;
    record_time(&[time], context.received_ns, oldest_ns)
}

fn session_row<'a>(
    report: &ReportBatch<'a>,
    session: &Session,
    (client_ip, arena): (&'a str, &'a Bump),
    out: &mut ReportProjection<'a>,
) -> SessionRow<'a> {
    let own = session.attributes.of(&report.attributes);
    let facts = session::facts(Attributes(own));
    // WIRE 1.6: what the client says about its address is ignored.
    let others = own.iter().copied().filter(|pair| pair.key != CLIENT_IP);
    let address = KeyValue { key: CLIENT_IP, value: AnyValue::Str(client_ip) };
    let address = Some(address).filter(|_| !client_ip.is_empty());
    let attributes = append(&mut out.traces.attributes, others.chain(address));
    SessionRow {
        record: 0,
        row_id: RowId::default(),
        id: session.id,
        time_ns: 0,
        end_ns: session.ended_ns.max(0),
        version: 0,
        trace_id: trace_id_of(session.trace_id),
        facts: SessionFacts { os: if facts.os.is_empty() { session::os(facts.agent) } else { facts.os }, ..facts },
        browser: arena.alloc_str(&session::browser(facts.agent)),
        attributes,
        client_ip,
    }
}

fn segment_row<'a>(
    recording: &Recording<'a>,
    exception: RowId,
    context: &ProjectContext,
) -> Result<SegmentRow<'a>, DropReason> {
    let Recording { events, logs, actions, .. } = *recording;
    if !context.settings.session_recordings {
        return Err(DropReason::RecordingsOff);
    }
    if events.is_empty() && logs.is_empty() && actions.is_empty() {
        return Err(DropReason::EmptyRecording);
    }
    if recording.session.is_none() && exception == RowId::default() {
        return Err(DropReason::RecordingWithoutOwner);
    }
    if events.len() + logs.len() + actions.len() > SEGMENT_BYTES_MAX {
        return Err(DropReason::RecordingTooLarge);
    }
    let kept_ns = i64::from(RECORDING_DAYS) * DAY_NS;
    let oldest_ns = context.received_ns - context.received_ns.rem_euclid(DAY_NS) - kept_ns;
    let time_ns = time(recording.started_ns, context, oldest_ns.max(context.settings.oldest_ns))?;
    let end_ns = recording.ended_ns.clamp(time_ns, time_ns.saturating_add(DURATION_MAX_NS));
    Ok(SegmentRow {
        record: 0,
        row_id: RowId::default(),
        session: recording.session,
        exception,
        time_ns,
        end_ns,
        user_id: "",
        recording: *recording,
    })
}

/// The console of a recording with symbolic stack traces, as far as symbols are there. WIRE 1.7.
fn logs<'a>(
    logs: &'a str,
    app_version: &'a str,
    (context, enrichment): (&ProjectContext, Enrichment<'_>),
    arena: &'a Bump,
) -> &'a str {
    let framework = context.settings.framework;
    if !has_script_logs(framework) {
        return logs;
    }
    let text = |key, value| KeyValue { key, value: AnyValue::Str(value) };
    let process = [text("telemetry.sdk.language", framework.language()), text("service.version", app_version)];
    let origin = Origin { resource: Attributes(&process), ..Origin::default() };
    let resolve = |message: &str| {
        let text = arena.alloc_str(message);
        enrichment.symbols.resolve(&RawStack { text, exception_type: "", origin, attributes: Attributes(&[]) }).text
    };
    resolve_logs(logs, resolve).map_or(logs, |resolved| arena.alloc_str(&resolved))
}

/// Identifies a state of a session by its content, so that each state is stored once.
fn session_key(report: &ReportBatch<'_>, session: &Session) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(b"session");
    hasher.update(&session.id.0);
    hasher.update(&session.trace_id.0);
    hasher.update(&session.started_ns.to_be_bytes());
    hasher.update(&session.ended_ns.to_be_bytes());
    let mut encoded = Vec::new();
    wire::encode_attributes(session.attributes.of(&report.attributes), &mut encoded);
    hasher.update(&encoded);
    hasher.digest128().max(1)
}

/// Identifies a segment, whatever its content: a retry with another content changes nothing.
fn segment_key(session: NativeId, exception: RowId, segment: u32) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(b"segment");
    hasher.update(&session.0);
    hasher.update(&exception.0);
    hasher.update(&segment.to_be_bytes());
    hasher.digest128().max(1)
}
