//! An index from span id to the span's index in the batch, to walk from span to parent.
//!
//! A sorted list of (span id, index), partitioned by the first bits of the ids before it is sorted. Random ids give small
//! partitions; other ids only cost more comparisons. It serves look-ups inside a resource block (the entry-point rule) and
//! in the complete request (the owner rule).

use std::cmp::Ordering;

use crate::model::{Span, SpanId, TraceBatch};

/// Look-up of parents in a batch.
pub struct SpanIndex<'b, 'a> {
    spans: &'b [Span<'a>],
    /// Valid spans, ascending by (span id, trace id, resource block, index).
    sorted: Vec<(u64, u32)>,
    /// Start in `sorted` of the ids with the same first bits. The last element is the length of `sorted`.
    starts: Vec<u32>,
}

impl<'b, 'a> SpanIndex<'b, 'a> {
    /// Indexes the valid spans of `batch`.
    pub fn new(batch: &'b TraceBatch<'a>) -> Self {
        let spans = batch.spans.as_slice();
        let valid = || spans.iter().enumerate().filter(|(_, span)| span.invalid.is_none());
        let mut starts = vec![0; spans.len().next_power_of_two() + 1];
        let mut index = SpanIndex { spans, sorted: Vec::new(), starts: Vec::new() };
        let first_bits = |id| first_bits(id, starts_bits(spans.len()));
        // A counting sort: the ends of the partitions become their starts as spans are placed, the last one first.
        valid().for_each(|(_, span)| starts[first_bits(number(span.span_id))] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        index.sorted.resize(end as usize, (0, 0));
        for (position, span) in valid().rev() {
            let id = number(span.span_id);
            let place = &mut starts[first_bits(id)];
            *place -= 1;
            index.sorted[*place as usize] = (id, position as u32);
        }
        let order = |(left_id, left): &(u64, u32), (right_id, right): &(u64, u32)| {
            left_id.cmp(right_id).then_with(|| {
                let (left_span, right_span) = (&spans[*left as usize], &spans[*right as usize]);
                left_span
                    .trace_id
                    .cmp(&right_span.trace_id)
                    .then(left_span.resource.cmp(&right_span.resource))
                    .then(left.cmp(right))
            })
        };
        for ends in starts.windows(2) {
            if ends[1] - ends[0] > 1 {
                index.sorted[ends[0] as usize..ends[1] as usize].sort_unstable_by(order);
            }
        }
        index.starts = starts;
        index
    }

    /// The parent of `child` inside its own resource block; the first received of several spans with the same id.
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
        let bits = first_bits(wanted, starts_bits(self.spans.len()));
        let partition = self.sorted.get(*self.starts.get(bits)? as usize..*self.starts.get(bits + 1)? as usize)?;
        let place = partition.partition_point(|(id, position)| {
            let order = id.cmp(&wanted).then_with(|| {
                let span = &self.spans[*position as usize];
                span.trace_id.cmp(&child.trace_id).then(span.resource.cmp(&resource))
            });
            order == Ordering::Less
        });
        let (id, position) = *partition.get(place)?;
        let found = id == wanted && self.spans[position as usize].trace_id == child.trace_id;
        found.then_some(position)
    }
}

/// Number of first bits by which the ids of `spans` spans are partitioned.
fn starts_bits(spans: usize) -> u32 {
    spans.next_power_of_two().ilog2()
}

fn first_bits(id: u64, bits: u32) -> usize {
    // Two shifts, because a single span needs 0 bits and a shift by 64 overflows.
    (id >> 1 >> (63 - bits)) as usize
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
                span(1, 1, 1, 0), // 4: same id, received later
                span(0, 1, 4, 9), // 5: its parent is missing
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
    fn any_ids_are_found() {
        for count in [1u64, 2, 3, 7, 64, 1000] {
            for spread in [1, 3, 0x0101_0101_0101, 0x9E37_79B9_7F4A_7C15] {
                let id = |number: u64| SpanId(((number + 1).wrapping_mul(spread) | 1).to_be_bytes());
                let spans: Vec<_> = (0..count)
                    .map(|n| Span {
                        trace_id: TraceId([1; 16]),
                        span_id: id(n),
                        parent_span_id: id(n * 7 % count),
                        ..Span::default()
                    })
                    .collect();
                let batch = TraceBatch { spans, ..TraceBatch::default() };
                let index = SpanIndex::new(&batch);
                for span in &batch.spans {
                    let first = batch.spans.iter().position(|other| other.span_id == span.parent_span_id);
                    assert_eq!(index.parent_in_request(span).map(|found| found as usize), first);
                }
                let stranger =
                    Span { parent_span_id: SpanId([0xff; 8]), trace_id: TraceId([1; 16]), ..Span::default() };
                assert_eq!(index.parent_in_request(&stranger), None);
            }
        }
    }

    #[test]
    fn an_invalid_span_is_not_a_parent() {
        let batch = TraceBatch {
            spans: vec![Span { invalid: Some(InvalidId::ParentSpanId), ..span(0, 1, 1, 0) }, span(0, 1, 2, 1)],
            ..TraceBatch::default()
        };
        assert_eq!(SpanIndex::new(&batch).parent_in_request(&batch.spans[1]), None);
    }
}
