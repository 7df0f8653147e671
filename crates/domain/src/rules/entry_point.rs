//! Decides whether a span is an inbound entry point: a root, or a span whose parent is in another process.
//!
//! DECISIONS 1 and 6. The walk over ancestors stays inside the span's resource block. An unknown parent makes the span an
//! entry point, so nested server spans that are exported separately give extra Endpoints (SPEC classification, rules 1
//! and 2).

use super::span_facts::SpanFacts;
use super::span_index::SpanIndex;
use crate::model::{Span, SpanKind, TraceBatch};

/// Maximum number of ancestors visited before the parent counts as unknown. Also ends cycles.
const STEPS_MAX: usize = 64;

const REMOTENESS_KNOWN: u32 = 0x100;
const PARENT_IS_REMOTE: u32 = 0x200;

/// Remoteness of a span's parent according to the span's flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentFlags {
    /// In another process.
    Remote,
    /// In the same process.
    Local,
    /// The flags do not say.
    Unknown,
}

impl ParentFlags {
    /// Decodes OTLP span flags.
    pub fn of(flags: u32) -> Self {
        match (flags & REMOTENESS_KNOWN != 0, flags & PARENT_IS_REMOTE != 0) {
            (true, true) => ParentFlags::Remote,
            (true, false) => ParentFlags::Local,
            (false, _) => ParentFlags::Unknown,
        }
    }
}

/// Whether a SERVER or INTERNAL span is an entry point. `facts` has one entry per span of the batch.
pub fn is_entry_point(batch: &TraceBatch<'_>, facts: &[SpanFacts], index: &SpanIndex<'_, '_>, span: &Span<'_>) -> bool {
    let mut current = span;
    for _ in 0..STEPS_MAX {
        let flags = ParentFlags::of(current.flags);
        if current.parent_span_id.is_none() || flags == ParentFlags::Remote {
            return true;
        }
        let Some(parent) = index.parent_in_block(current) else {
            return flags != ParentFlags::Local;
        };
        let parent_span = &batch.spans[parent as usize];
        if std::ptr::eq(parent_span, span) {
            // A cycle: the ancestors are unknown.
            return true;
        }
        match parent_span.kind {
            // SPEC requires the parent to be in another process. An INTERNAL span below a parent of its own block is a
            // step inside the process, whatever the parent's kind.
            _ if span.kind == SpanKind::Internal => return false,
            SpanKind::Client | SpanKind::Producer => return true,
            SpanKind::Server if facts[parent as usize].http => return false,
            // DECISIONS 6: below any other local parent, a SERVER span may still be an entry point.
            _ => current = parent_span,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SpanId, TraceId};

    const LOCAL: u32 = 0x101;
    const REMOTE: u32 = 0x301;

    /// Id, parent, kind, flags, has HTTP attributes, resource block.
    type Row = (u8, u8, SpanKind, u32, bool, u32);

    /// Asserts whether the first row is an entry point.
    #[track_caller]
    fn check(name: &str, rows: &[Row], expected: bool) {
        let facts: Vec<_> =
            rows.iter().map(|(_, _, _, _, http, _)| SpanFacts { http: *http, ..SpanFacts::default() }).collect();
        let spans = rows
            .iter()
            .map(|(id, parent, kind, flags, _, resource)| Span {
                resource: *resource,
                trace_id: TraceId([1; 16]),
                span_id: SpanId([*id; 8]),
                parent_span_id: SpanId([*parent; 8]),
                kind: *kind,
                flags: *flags,
                ..Span::default()
            })
            .collect();
        let batch = TraceBatch { spans, ..TraceBatch::default() };
        let index = SpanIndex::new(&batch);
        assert_eq!(is_entry_point(&batch, &facts, &index, &batch.spans[0]), expected, "{name}");
    }

    // Spec: classification, rules 1 and 2; DECISIONS 1, 6.
    #[test]
    fn entry_point_table() {
        use SpanKind::{Client, Consumer, Internal, Producer, Server};
        check("a root", &[(1, 0, Server, 0, true, 0)], true);
        check("an internal root", &[(1, 0, Internal, 0, true, 0)], true);
        check("flags say the parent is remote", &[(1, 9, Server, REMOTE, true, 0)], true);
        check("flags say remote, parent visible", &[(1, 2, Server, REMOTE, true, 0), (2, 0, Server, 0, true, 0)], true);
        check("parent missing, flags silent", &[(1, 9, Server, 0, true, 0)], true);
        check("internal, parent missing, flags silent", &[(1, 9, Internal, 0, true, 0)], true);
        check("parent missing, flags say local", &[(1, 9, Internal, LOCAL, true, 0)], false);
        check("client parent in the block", &[(1, 2, Server, 0, true, 0), (2, 0, Client, 0, true, 0)], true);
        check("producer parent in the block", &[(1, 2, Server, 0, true, 0), (2, 0, Producer, 0, false, 0)], true);
        check("http server parent", &[(1, 2, Server, 0, true, 0), (2, 0, Server, 0, true, 0)], false);
        check("internal under http server", &[(1, 2, Internal, 0, true, 0), (2, 0, Server, 0, true, 0)], false);
        check("rpc server parent, itself a root", &[(1, 2, Server, 0, true, 0), (2, 0, Server, 0, false, 0)], true);
        check("server under internal root", &[(1, 2, Server, 0, true, 0), (2, 0, Internal, 0, false, 0)], true);
        check("internal under internal root", &[(1, 2, Internal, 0, true, 0), (2, 0, Internal, 0, false, 0)], false);
        check("internal under client", &[(1, 2, Internal, 0, true, 0), (2, 0, Client, 0, true, 0)], false);
        check("internal under producer", &[(1, 2, Internal, 0, true, 0), (2, 0, Producer, 0, false, 0)], false);
        check(
            "internal under client, flags say remote",
            &[(1, 2, Internal, REMOTE, true, 0), (2, 0, Client, 0, true, 0)],
            true,
        );
        check("server under consumer", &[(1, 2, Server, 0, true, 0), (2, 0, Consumer, 0, false, 0)], true);
        check(
            "http server above an internal step",
            &[(1, 2, Server, 0, true, 0), (2, 3, Internal, 0, false, 0), (3, 0, Server, 0, true, 0)],
            false,
        );
        check(
            "client above an internal step",
            &[(1, 2, Server, 0, true, 0), (2, 3, Internal, 0, false, 0), (3, 0, Client, 0, true, 0)],
            true,
        );
        check(
            "missing parent above an internal step",
            &[(1, 2, Server, 0, true, 0), (2, 9, Internal, 0, false, 0)],
            true,
        );
        check(
            "local missing parent above an internal step",
            &[(1, 2, Server, 0, true, 0), (2, 9, Internal, LOCAL, false, 0)],
            false,
        );
        check("parent in another block", &[(1, 2, Server, 0, true, 1), (2, 0, Server, 0, true, 0)], true);
        check("a cycle", &[(1, 2, Server, 0, true, 0), (2, 1, Internal, 0, false, 0)], true);
        check("its own parent", &[(1, 1, Server, 0, false, 0)], true);
    }

    #[test]
    fn a_very_long_chain_ends() {
        let mut rows: Vec<Row> = (1..=100).map(|id| (id, id + 1, SpanKind::Internal, 0, false, 0)).collect();
        rows[0].2 = SpanKind::Server;
        rows.push((101, 0, SpanKind::Server, 0, true, 0));
        check("beyond 64 steps the parent is unknown", &rows, true);
    }
}
