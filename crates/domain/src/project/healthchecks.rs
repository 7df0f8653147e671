//! Finds successful health checks with all their descendants in the request. WIRE 8.6.
//!
//! A health check with an exception on or below it is kept. As for sampling, only spans of the same request count: a
//! child that was exported earlier stays a Span.

use crate::model::{Span, SpanKind, TraceBatch};
use crate::rules::healthcheck::Healthchecks;
use crate::rules::http::HttpRequest;
use crate::rules::span_facts::SpanFacts;
use crate::rules::span_index::SpanIndex;

/// State of a span during the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nearest {
    Unknown,
    /// On the current path to the root.
    OnPath,
    None,
    /// The nearest health check at or above the span.
    Check(u32),
}

/// Whether each span of the batch belongs to a successful health check. Empty when there is none.
///
/// `is_endpoint` is called only for spans that look like health checks.
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
    let looks_like_check = |span: &Span<'_>, facts: &SpanFacts| {
        let may_be =
            facts.http && facts.http_status < 400 && matches!(span.kind, SpanKind::Server | SpanKind::Internal);
        may_be && span.invalid.is_none() && checks.is_healthy(&HttpRequest::read(batch.span_attributes(span).0))
    };
    let mut nearest = Vec::new();
    for (position, (span, facts)) in batch.spans.iter().zip(facts).enumerate() {
        if looks_like_check(span, facts) && is_endpoint(position) {
            nearest.resize(batch.spans.len(), Nearest::Unknown);
            nearest[position] = Nearest::Check(position as u32);
        }
    }
    if nearest.is_empty() {
        return Vec::new();
    }
    let mut ancestors = Ancestors { batch, index: index(), nearest, path: Vec::new() };
    let mut is_kept = vec![false; batch.spans.len()];
    for (position, (span, facts)) in batch.spans.iter().zip(facts).enumerate() {
        if span.invalid.is_some() || !(facts.exception || facts.exception_event) {
            continue;
        }
        let mut above = ancestors.nearest_check(Some(position as u32));
        while let Some(check) = above
            && !is_kept[check as usize]
        {
            is_kept[check as usize] = true;
            above = ancestors.nearest_check(ancestors.index.parent_in_request(&batch.spans[check as usize]));
        }
    }
    // An exception below a check also keeps the checks above it, so the nearest check decides.
    let is_dropped =
        |position| ancestors.nearest_check(Some(position as u32)).is_some_and(|check| !is_kept[check as usize]);
    (0..batch.spans.len()).map(is_dropped).collect()
}

/// Memoized walk from span to parent, linear in the number of spans at any depth.
struct Ancestors<'b, 'a> {
    batch: &'b TraceBatch<'a>,
    index: &'b SpanIndex<'b, 'a>,
    nearest: Vec<Nearest>,
    path: Vec<u32>,
}

impl Ancestors<'_, '_> {
    /// The nearest health check at or above `span`.
    fn nearest_check(&mut self, span: Option<u32>) -> Option<u32> {
        self.path.clear();
        let mut current = span;
        let end = loop {
            let Some(position) = current else { break Nearest::None };
            match self.nearest[position as usize] {
                Nearest::Unknown => {}
                Nearest::OnPath => break Nearest::None,
                known => break known,
            }
            self.nearest[position as usize] = Nearest::OnPath;
            self.path.push(position);
            current = self.index.parent_in_request(&self.batch.spans[position as usize]);
        };
        for step in &self.path {
            self.nearest[*step as usize] = end;
        }
        if let Nearest::Check(check) = end { Some(check) } else { None }
    }
}
