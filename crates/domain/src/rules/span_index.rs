//! Span id to position in the request: the one look-up that climbing from span to parent needs.
//!
//! A sorted list of (span id, position): one allocation per request, no hash a sender could aim at. It answers both
//! "inside this resource block" (the entry-point rule) and "anywhere in this request" (the owner rule).

use std::cmp::Ordering;

use crate::model::{Span, SpanId, TraceBatch};

pub struct SpanIndex<'b, 'a> {
    spans: &'b [Span<'a>],
    /// Ascending by (span id, trace id, resource block, position); without invalid spans.
    sorted: Vec<(u64, u32)>,
}

impl<'b, 'a> SpanIndex<'b, 'a> {
    pub fn new(batch: &'b TraceBatch<'a>) -> Self {
        let spans = batch.spans.as_slice();
        let valid = spans.iter().enumerate().filter(|(_, span)| span.invalid.is_none());
        let mut sorted: Vec<(u64, u32)> = Vec::with_capacity(spans.len());
        sorted.extend(valid.map(|(position, span)| (number(span.span_id), position as u32)));
        sorted.sort_unstable_by(|(left_id, left), (right_id, right)| {
            left_id.cmp(right_id).then_with(|| {
                let (left_span, right_span) = (&spans[*left as usize], &spans[*right as usize]);
                left_span
                    .trace_id
                    .cmp(&right_span.trace_id)
                    .then(left_span.resource.cmp(&right_span.resource))
                    .then(left.cmp(right))
            })
        });
        SpanIndex { spans, sorted }
    }

    /// The parent of `child` inside its own resource block. Of several spans with one id, the first received.
    pub fn parent_in_block(&self, child: &Span<'a>) -> Option<u32> {
        self.first_from(child, child.resource).filter(|found| self.spans[*found as usize].resource == child.resource)
    }

    /// The parent of `child` anywhere in the request, in the same trace.
    pub fn parent_in_request(&self, child: &Span<'a>) -> Option<u32> {
        self.first_from(child, 0)
    }

    /// The first span with the parent's id in the child's trace, in resource block `resource` or a later one.
    fn first_from(&self, child: &Span<'a>, resource: u32) -> Option<u32> {
        if child.parent_span_id.is_none() {
            return None;
        }
        let wanted = number(child.parent_span_id);
        let place = self.sorted.partition_point(|(id, position)| {
            let order = id.cmp(&wanted).then_with(|| {
                let span = &self.spans[*position as usize];
                span.trace_id.cmp(&child.trace_id).then(span.resource.cmp(&resource))
            });
            order == Ordering::Less
        });
        let (id, position) = *self.sorted.get(place)?;
        let found = id == wanted && self.spans[position as usize].trace_id == child.trace_id;
        found.then_some(position)
    }
}

fn number(id: SpanId) -> u64 {
    u64::from_be_bytes(id.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{InvalidId, TraceId};

    fn span(resource: u32, trace: u8, id: u8, parent: u8) -> Span<'static> {
        Span {
            resource,
            trace_id: TraceId([trace; 16]),
            span_id: SpanId([id; 8]),
            parent_span_id: SpanId([parent; 8]),
            ..Span::default()
        }
    }

    #[test]
    fn finds_by_block_and_by_request() {
        let batch = TraceBatch {
            spans: vec![
                span(1, 1, 1, 0), // 0: in block 1
                span(0, 1, 2, 1), // 1: its parent is in block 1 only
                span(1, 1, 3, 1), // 2: its parent is in its own block
                span(0, 2, 1, 0), // 3: same id, another trace
                span(1, 1, 1, 0), // 4: the id again, later
                span(0, 1, 4, 9), // 5: parent nowhere
            ],
            ..TraceBatch::default()
        };
        let index = SpanIndex::new(&batch);
        let found =
            |child: usize| (index.parent_in_block(&batch.spans[child]), index.parent_in_request(&batch.spans[child]));
        assert_eq!(found(0), (None, None));
        assert_eq!(found(1), (None, Some(0)));
        assert_eq!(found(2), (Some(0), Some(0)));
        assert_eq!(found(5), (None, None));
    }

    #[test]
    fn an_invalid_span_is_nobodys_parent() {
        let batch = TraceBatch {
            spans: vec![Span { invalid: Some(InvalidId::ParentSpanId), ..span(0, 1, 1, 0) }, span(0, 1, 2, 1)],
            ..TraceBatch::default()
        };
        assert_eq!(SpanIndex::new(&batch).parent_in_request(&batch.spans[1]), None);
    }
}
