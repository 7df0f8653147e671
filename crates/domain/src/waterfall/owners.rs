//! Finds the nearest Endpoint or Task above a stored span. DECISIONS 8.

use crate::model::SpanId;
use crate::project::EntityKind;

/// The fields of a stored span that determine ownership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredSpan<'a> {
    /// Caller and callee may share it.
    pub span_id: SpanId,
    /// All zero for a root.
    pub parent_span_id: SpanId,
    /// The entity that the span was promoted to.
    pub entity: Option<EntityKind>,
    /// Name of the Endpoint or Task; unused for other spans.
    pub name: &'a str,
}

/// The Endpoint or Task that owns an Issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredOwner<'a> {
    /// Endpoint or Task.
    pub kind: EntityKind,
    /// Name of the group.
    pub name: &'a str,
    /// Span of the entity.
    pub span_id: SpanId,
}

/// Look-up in the stored spans of one trace.
pub struct StoredOwners<'a> {
    /// Ascending by id, without duplicates. Of spans with a shared id, the entity, else the first one given.
    spans: Vec<StoredSpan<'a>>,
}

impl<'a> StoredOwners<'a> {
    /// Indexes the spans of one trace.
    pub fn new(mut spans: Vec<StoredSpan<'a>>) -> Self {
        spans.sort_by_key(|span| (span.span_id, span.entity.is_none()));
        spans.dedup_by_key(|span| span.span_id);
        StoredOwners { spans }
    }

    /// The owner of the span `start`, which may be that span. `None` when the chain of parents ends without an entity: at
    /// a root, at a span that is not stored (yet), or in a cycle.
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
