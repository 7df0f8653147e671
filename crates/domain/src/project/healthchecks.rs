//! The spans of health checks that went well: each with everything below it in the request. WIRE 8.6.
//!
//! One that an exception lies below, or on, is kept whole. Only the request is looked at, as for samples: a step that
//! was exported before its request stays a Span.

use crate::model::{Span, SpanKind, TraceBatch};
use crate::rules::healthcheck::Healthchecks;
use crate::rules::http::HttpRequest;
use crate::rules::span_facts::SpanFacts;
use crate::rules::span_index::SpanIndex;

/// What is known about a span on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nearest {
    Unknown,
    /// On the current way up.
    Climbing,
    Nothing,
    /// The nearest health check at or above the span.
    Check(u32),
}

/// Per span of the batch: does it go with a healthy check? Empty when there is none.
///
/// `is_endpoint` is asked about spans that look like health checks only.
pub fn healthy<'b, 'a>(
    checks: &Healthchecks,
    batch: &'b TraceBatch<'a>,
    facts: &[SpanFacts],
    index: impl FnOnce() -> &'b SpanIndex<'b, 'a>,
    is_endpoint: impl Fn(usize) -> bool,
) -> Vec<bool>
where
    'a: 'b,
{
    let looks_like_it = |span: &Span<'_>, facts: &SpanFacts| {
        let may_be =
            facts.http && facts.http_status < 400 && matches!(span.kind, SpanKind::Server | SpanKind::Internal);
        may_be && span.invalid.is_none() && checks.is_healthy(&HttpRequest::read(batch.span_attributes(span).0))
    };
    let mut nearest = Vec::new();
    for (position, (span, facts)) in batch.spans.iter().zip(facts).enumerate() {
        if looks_like_it(span, facts) && is_endpoint(position) {
            nearest.resize(batch.spans.len(), Nearest::Unknown);
            nearest[position] = Nearest::Check(position as u32);
        }
    }
    if nearest.is_empty() {
        return Vec::new();
    }
    let mut climb = Climb { batch, index: index(), nearest, way: Vec::new() };
    let mut is_kept = vec![false; batch.spans.len()];
    for (position, (span, facts)) in batch.spans.iter().zip(facts).enumerate() {
        if span.invalid.is_some() || !(facts.exception || facts.exception_event) {
            continue;
        }
        let mut above = climb.at(Some(position as u32));
        while let Some(check) = above
            && !is_kept[check as usize]
        {
            is_kept[check as usize] = true;
            above = climb.at(climb.index.parent_in_request(&batch.spans[check as usize]));
        }
    }
    // A check with an exception below it keeps the checks above it, so the nearest one decides.
    let goes = |position| climb.at(Some(position as u32)).is_some_and(|check| !is_kept[check as usize]);
    (0..batch.spans.len()).map(goes).collect()
}

/// Ways up from span to parent, remembered: a request costs what its spans cost, however deep.
struct Climb<'b, 'a> {
    batch: &'b TraceBatch<'a>,
    index: &'b SpanIndex<'b, 'a>,
    nearest: Vec<Nearest>,
    way: Vec<u32>,
}

impl Climb<'_, '_> {
    /// The nearest check at or above `span`.
    fn at(&mut self, span: Option<u32>) -> Option<u32> {
        self.way.clear();
        let mut current = span;
        let end = loop {
            let Some(position) = current else { break Nearest::Nothing };
            match self.nearest[position as usize] {
                Nearest::Unknown => {}
                Nearest::Climbing => break Nearest::Nothing,
                known => break known,
            }
            self.nearest[position as usize] = Nearest::Climbing;
            self.way.push(position);
            current = self.index.parent_in_request(&self.batch.spans[position as usize]);
        };
        for step in &self.way {
            self.nearest[*step as usize] = end;
        }
        if let Nearest::Check(check) = end { Some(check) } else { None }
    }
}
