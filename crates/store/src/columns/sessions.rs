//! Rows of sessions, and of the segments of their recordings.

use std::io::{self, Write};

use tidewatch_domain::model::RequestKind;
use tidewatch_domain::project::{ReportProjection, SegmentRow, SessionRow};
use tidewatch_domain::rules::session::SEGMENT_BYTES_MAX;

use super::attributes::encode_sorted;
use super::{Rows, Senders, TableRows};
use crate::StoreError;
use crate::tables::Table;

/// A document repeats its keys, and is read seldom.
const ZSTD_LEVEL: i32 = 3;
/// Maximum size of a document: the segment, and the names and times around it.
const DOCUMENT_BYTES_MAX: usize = SEGMENT_BYTES_MAX + 1024;

impl Rows {
    /// The rows of a report's sessions and segments. Records are the sessions, then the segments.
    pub(super) fn sessions(project: u32, report: &ReportProjection<'_>) -> Rows {
        let (mut sessions, mut segments) = (TableRows::new(Table::Sessions), TableRows::new(Table::SessionSegments));
        let process = report.traces.attributes(report.traces.resources[0].attributes);
        let server_name = process.text("service.name").unwrap_or("");
        let app_version = process.text("service.version").unwrap_or("");
        for session in &report.sessions {
            write_session(&mut sessions, project, report, session, (server_name, app_version));
        }
        for segment in &report.segments {
            write_segment(&mut segments, project, segment);
        }
        let records = report.session_records.len();
        let mut rows =
            Rows::new(project, RequestKind::Report, vec![sessions, segments], records, &report.sessions_dropped);
        let sessions = report.sessions.iter().map(|session| (session.record, session.time_ns));
        let stored = sessions.chain(report.segments.iter().map(|segment| (segment.record, segment.time_ns)));
        rows.senders = Senders::new(stored.map(|(record, time_ns)| (record, 0, server_name, time_ns)), |_| process);
        rows
    }
}

fn write_session(
    table: &mut TableRows,
    project: u32,
    report: &ReportProjection<'_>,
    session: &SessionRow<'_>,
    (server_name, app_version): (&str, &str),
) {
    table
        .row(session.record)
        .u32(project)
        .id(&session.id.0)
        .i64(session.time_ns)
        .i64(session.end_ns)
        .i64(session.version)
        .id(&session.row_id.0)
        .id(&session.trace_id.0)
        .text(session.facts.user_id)
        .text(session.facts.page)
        .text(session.browser)
        .text(session.facts.os)
        .text(session.client_ip)
        .text(server_name)
        .text(app_version)
        .bytes_with(|out| encode_sorted(report.traces.attributes(session.attributes).0, out));
}

fn write_segment(table: &mut TableRows, project: u32, segment: &SegmentRow<'_>) {
    // Writing to memory does not fail.
    let (document, document_bytes) = compressed(segment).expect("memory takes the document");
    table
        .row(segment.record)
        .u32(project)
        .id(&segment.session.0)
        .i64(segment.time_ns)
        .i64(segment.end_ns)
        .u32(segment.recording.segment)
        .id(&segment.row_id.0)
        .id(&segment.exception.0)
        .text(segment.user_id)
        .u64(segment.recording.events.len() as u64)
        .u64(document_bytes)
        .bytes(&document);
}

/// The document of a segment, compressed, and its size before: its lists as they were received, and its times. WIRE 1.7.
fn compressed(segment: &SegmentRow<'_>) -> io::Result<(Vec<u8>, u64)> {
    let recording = &segment.recording;
    let list = |text: &'static str, list| [text, if str::is_empty(list) { "[]" } else { list }];
    let time = |time_ns: i64| jiff::Timestamp::from_nanosecond(time_ns.into()).unwrap_or_default();
    let times = format!(",\"startedAt\":\"{}\",\"endedAt\":\"{}\"}}", time(segment.time_ns), time(segment.end_ns));
    let [events, logs, actions] = [
        list("{\"events\":", recording.events),
        list(",\"logs\":", recording.logs),
        list(",\"actions\":", recording.actions),
    ];
    let pieces = || [events, logs, actions].into_iter().flatten().chain([times.as_str()]);
    let bytes = pieces().map(|piece| piece.len() as u64).sum();
    let mut encoder = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
    encoder.set_pledged_src_size(Some(bytes))?;
    for piece in pieces() {
        encoder.write_all(piece.as_bytes())?;
    }
    Ok((encoder.finish()?, bytes))
}

/// Decompresses the column `document` of a segment; `bytes`: its column `document_bytes`.
pub fn document(compressed: &[u8], bytes: u64) -> Result<Vec<u8>, StoreError> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(DOCUMENT_BYTES_MAX);
    let failed = |error: io::Error| StoreError::Internal { what: "read a recording", why: error.to_string() };
    zstd::bulk::decompress(compressed, bytes).map_err(failed)
}
