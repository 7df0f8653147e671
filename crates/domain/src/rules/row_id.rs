//! Deterministic row ids: UUID v5 of trace and span in the project's namespace. SPEC span rule 2, DECISIONS 11.
//!
//! A retried export gives the same ids, so its rows are recognized as duplicates.

use sha1::{Digest, Sha1};
use uuid::Builder;

use crate::model::{ProjectId, RowId, SpanId, TraceId};

/// Id of an Endpoint, Task or AI Trace: the UUID of the 16 bytes of the trace id and the 8 bytes of the span id.
pub fn entity_row_id(project: ProjectId, trace_id: TraceId, span_id: SpanId) -> RowId {
    v5(project, &span_name(trace_id, span_id))
}

/// Id of an exception: as for an entity, followed by the index of the event as 4 big-endian bytes. An exception in the
/// span's own attributes has index 0.
pub fn exception_row_id(project: ProjectId, trace_id: TraceId, span_id: SpanId, event_index: u32) -> RowId {
    let mut name = [0; 28];
    name[..24].copy_from_slice(&span_name(trace_id, span_id));
    name[24..].copy_from_slice(&event_index.to_be_bytes());
    v5(project, &name)
}

/// Id of an exception of a log record. The word `log` distinguishes it from ids of span exceptions. `record_index` is the
/// index of the record in the request.
pub fn log_exception_row_id(
    project: ProjectId,
    trace_id: TraceId,
    span_id: SpanId,
    time_ns: i64,
    record_index: u32,
) -> RowId {
    let mut name = [0; 39];
    name[..24].copy_from_slice(&span_name(trace_id, span_id));
    name[24..27].copy_from_slice(b"log");
    name[27..35].copy_from_slice(&time_ns.to_be_bytes());
    name[35..].copy_from_slice(&record_index.to_be_bytes());
    v5(project, &name)
}

fn span_name(trace_id: TraceId, span_id: SpanId) -> [u8; 24] {
    let mut name = [0; 24];
    name[..16].copy_from_slice(&trace_id.0);
    name[16..].copy_from_slice(&span_id.0);
    name
}

pub(super) fn v5(project: ProjectId, name: &[u8]) -> RowId {
    let hash = Sha1::new().chain_update(project.0).chain_update(name).finalize();
    let first = hash.first_chunk().expect("a SHA-1 digest has 20 bytes");
    RowId(Builder::from_sha1_bytes(*first).into_uuid().into_bytes())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const PROJECT: ProjectId = ProjectId([7; 16]);
    const TRACE: TraceId = TraceId([1; 16]);
    const SPAN: SpanId = SpanId([2; 8]);

    // Spec: span, rule 2; DECISIONS 11.
    #[test]
    fn retried_export_gives_the_same_row_id() {
        assert_eq!(entity_row_id(PROJECT, TRACE, SPAN), entity_row_id(PROJECT, TRACE, SPAN));
        assert_eq!(exception_row_id(PROJECT, TRACE, SPAN, 3), exception_row_id(PROJECT, TRACE, SPAN, 3));
    }

    #[test]
    fn project_trace_span_and_event_all_matter() {
        let ids = [
            entity_row_id(PROJECT, TRACE, SPAN),
            entity_row_id(ProjectId([8; 16]), TRACE, SPAN),
            entity_row_id(PROJECT, TraceId([8; 16]), SPAN),
            entity_row_id(PROJECT, TRACE, SpanId([8; 8])),
            exception_row_id(PROJECT, TRACE, SPAN, 0),
            exception_row_id(PROJECT, TRACE, SPAN, 1),
            log_exception_row_id(PROJECT, TRACE, SPAN, 0, 0),
            log_exception_row_id(PROJECT, TRACE, SPAN, 0, 1),
            log_exception_row_id(PROJECT, TRACE, SPAN, 1, 0),
        ];
        for (position, id) in ids.iter().enumerate() {
            assert!(!ids[..position].contains(id), "{id} twice");
        }
    }

    // Any UUID v5 tool can recompute the ids.
    #[test]
    fn row_ids_are_standard_uuid_v5() {
        let id = entity_row_id(PROJECT, TRACE, SPAN);
        let mut name = vec![1; 16];
        name.extend([2; 8]);
        assert_eq!(Uuid::from_bytes(id.0), Uuid::new_v5(&Uuid::from_bytes([7; 16]), &name));
        assert_eq!(Uuid::from_bytes(id.0).get_version_num(), 5);
    }
}
