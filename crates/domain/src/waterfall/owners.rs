//! The nearest Endpoint or Task above a stored span. DECISIONS 8.

use crate::model::SpanId;
use crate::project::EntityKind;

/// A stored span, as far as ownership goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredSpan<'a> {
    pub span_id: SpanId,
    /// All zero for a root.
    pub parent_span_id: SpanId,
    /// What the span was promoted to.
    pub entity: Option<EntityKind>,
    /// The Endpoint's or Task's name; unused for other spans.
    pub name: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredOwner<'a> {
    pub kind: EntityKind,
    pub name: &'a str,
    pub span_id: SpanId,
}

/// Look-up over the stored spans of one trace.
pub struct StoredOwners<'a> {
    /// Ascending by id, each id once: the side that is an entity where caller and callee share one, else the first given.
    spans: Vec<StoredSpan<'a>>,
}

impl<'a> StoredOwners<'a> {
    pub fn new(mut spans: Vec<StoredSpan<'a>>) -> Self {
        spans.sort_by_key(|span| (span.span_id, span.entity.is_none()));
        spans.dedup_by_key(|span| span.span_id);
        StoredOwners { spans }
    }

    /// The owner seen from `start`, that span included. `None` when the way up ends without one: at a root, at a span
    /// that is not stored (a dropped root, or one still to come), or in a circle.
    pub fn owner(&self, start: SpanId) -> Option<StoredOwner<'a>> {
        let mut current = start;
        for _ in 0..self.spans.len() {
            let place = self.spans.binary_search_by_key(&current, |span| span.span_id).ok()?;
            let span = &self.spans[place];
            if let Some(kind) = span.entity {
                return Some(StoredOwner { kind, name: span.name, span_id: span.span_id });
            }
            current = span.parent_span_id;
        }
        None
    }
}
