//! Finds the owner of an Issue: the nearest Endpoint or Task above a span, the span itself included. DECISIONS 8.
//!
//! The walk follows parents through all resource blocks of the request. It ends at an entity, at a root that is not an
//! entity, or at a parent outside of the request; a cycle ends like a root. Results are memoized per span, so the cost is
//! linear in the number of spans at any depth.

use super::span_index::SpanIndex;
use crate::model::{SpanId, TraceBatch};

/// Where the walk to the root ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At an Endpoint or Task: its index among the batch's spans.
    Entity(u32),
    /// At a root that is not an entity, or in a cycle.
    None,
    /// The parent with this id is not in the request.
    Above(SpanId),
}

/// Memoized search for owners in one batch.
pub struct Owners<'b, 'a> {
    batch: &'b TraceBatch<'a>,
    index: &'b SpanIndex<'b, 'a>,
    /// By span.
    found: Vec<Found>,
    /// The spans of the current walk.
    path: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Found {
    Unknown,
    OnPath,
    Known(End),
}

impl<'b, 'a> Owners<'b, 'a> {
    /// An empty search. `index` is the index of `batch`.
    pub fn new(batch: &'b TraceBatch<'a>, index: &'b SpanIndex<'b, 'a>) -> Self {
        Owners { batch, index, found: vec![Found::Unknown; batch.spans.len()], path: Vec::new() }
    }

    /// The end of the walk from `span`. `is_entity` returns whether the span at an index was promoted to an Endpoint or
    /// Task.
    pub fn end(&mut self, span: u32, is_entity: impl Fn(u32) -> bool) -> End {
        self.path.clear();
        let mut current = span;
        let end = loop {
            match self.found[current as usize] {
                Found::Known(end) => break end,
                Found::OnPath => break End::None,
                Found::Unknown => {}
            }
            self.found[current as usize] = Found::OnPath;
            self.path.push(current);
            let record = &self.batch.spans[current as usize];
            if is_entity(current) {
                break End::Entity(current);
            }
            if record.parent_span_id.is_none() {
                break End::None;
            }
            match self.index.parent_in_request(record) {
                Some(parent) => current = parent,
                None => break End::Above(record.parent_span_id),
            }
        };
        for step in &self.path {
            self.found[*step as usize] = Found::Known(end);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Span, TraceId};

    /// Asserts the owner of the last row. Rows: id, parent, resource block, is an entity.
    #[track_caller]
    fn check(name: &str, rows: &[(u8, u8, u32, bool)], expected: End) {
        let spans = rows
            .iter()
            .map(|(id, parent, resource, _)| Span {
                resource: *resource,
                trace_id: TraceId([1; 16]),
                span_id: SpanId([*id; 8]),
                parent_span_id: SpanId([*parent; 8]),
                ..Span::default()
            })
            .collect();
        let batch = TraceBatch { spans, ..TraceBatch::default() };
        let index = SpanIndex::new(&batch);
        let mut owners = Owners::new(&batch, &index);
        let last = rows.len() as u32 - 1;
        for _ in 0..2 {
            assert_eq!(owners.end(last, |position| rows[position as usize].3), expected, "{name}");
        }
    }

    // Spec: classification, row 5 and rule 3; DECISIONS 8.
    #[test]
    fn owner_table() {
        check("the span itself", &[(1, 0, 0, true)], End::Entity(0));
        check("its parent", &[(1, 0, 0, true), (2, 1, 0, false)], End::Entity(0));
        check("nearest, not topmost", &[(1, 0, 0, true), (2, 1, 0, true), (3, 2, 0, false)], End::Entity(1));
        check("in another block", &[(1, 0, 0, true), (2, 1, 1, false)], End::Entity(0));
        check("a root that is not an entity", &[(1, 0, 0, false), (2, 1, 0, false)], End::None);
        check("a dropped root itself", &[(1, 0, 0, false)], End::None);
        check("parent not in the request", &[(2, 9, 0, false), (3, 2, 0, false)], End::Above(SpanId([9; 8])));
        check("a cycle", &[(1, 2, 0, false), (2, 1, 0, false)], End::None);
        check("its own parent", &[(1, 1, 0, false)], End::None);
    }

    #[test]
    fn a_long_chain_with_many_exceptions_is_walked_once() {
        let spans = (1..=50_000u64)
            .map(|id| Span {
                trace_id: TraceId([1; 16]),
                span_id: SpanId(id.to_be_bytes()),
                parent_span_id: SpanId((id - 1).to_be_bytes()),
                ..Span::default()
            })
            .collect();
        let batch = TraceBatch { spans, ..TraceBatch::default() };
        let index = SpanIndex::new(&batch);
        let mut owners = Owners::new(&batch, &index);
        for span in (0..50_000).rev() {
            assert_eq!(owners.end(span, |position| position == 0), End::Entity(0));
        }
    }
}
