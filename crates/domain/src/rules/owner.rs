//! Who owns an Issue: the nearest Endpoint or Task above a span, the span itself included. DECISIONS 8.
//!
//! The climb goes through the whole request, all resource blocks of the trace. It ends at an entity, at a root that is
//! none, or where the way leaves the request; a cycle ends like a root. Results are remembered per span, so a request
//! costs what its spans cost, however deep and however many exceptions.

use super::span_index::SpanIndex;
use crate::model::{SpanId, TraceBatch};

/// Where the way up ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At an Endpoint or Task: its position among the batch's spans.
    Entity(u32),
    /// At a root that is no entity, or in a circle.
    Nobody,
    /// The parent with this id is not in the request.
    Above(SpanId),
}

pub struct Owners<'b, 'a> {
    batch: &'b TraceBatch<'a>,
    index: &'b SpanIndex<'b, 'a>,
    /// Per span: unknown, on the current way up, or found.
    found: Vec<Found>,
    /// The spans of the current climb.
    way: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Found {
    Unknown,
    Climbing,
    Known(End),
}

impl<'b, 'a> Owners<'b, 'a> {
    pub fn new(batch: &'b TraceBatch<'a>, index: &'b SpanIndex<'b, 'a>) -> Self {
        Owners { batch, index, found: vec![Found::Unknown; batch.spans.len()], way: Vec::new() }
    }

    /// `is_entity` tells whether the span at a position became an Endpoint or a Task.
    pub fn end(&mut self, span: u32, is_entity: impl Fn(u32) -> bool) -> End {
        self.way.clear();
        let mut current = span;
        let end = loop {
            match self.found[current as usize] {
                Found::Known(end) => break end,
                Found::Climbing => break End::Nobody,
                Found::Unknown => {}
            }
            self.found[current as usize] = Found::Climbing;
            self.way.push(current);
            let record = &self.batch.spans[current as usize];
            if is_entity(current) {
                break End::Entity(current);
            }
            if record.parent_span_id.is_none() {
                break End::Nobody;
            }
            match self.index.parent_in_request(record) {
                Some(parent) => current = parent,
                None => break End::Above(record.parent_span_id),
            }
        };
        for step in &self.way {
            self.found[*step as usize] = Found::Known(end);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Span, TraceId};

    /// Rows: id, parent, resource block, is an entity. The owner of the last row.
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
        check("a root that is no entity", &[(1, 0, 0, false), (2, 1, 0, false)], End::Nobody);
        check("a dropped root itself", &[(1, 0, 0, false)], End::Nobody);
        check("parent not in the request", &[(2, 9, 0, false), (3, 2, 0, false)], End::Above(SpanId([9; 8])));
        check("a circle", &[(1, 2, 0, false), (2, 1, 0, false)], End::Nobody);
        check("its own parent", &[(1, 1, 0, false)], End::Nobody);
    }

    #[test]
    fn a_long_chain_with_many_exceptions_is_climbed_once() {
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
