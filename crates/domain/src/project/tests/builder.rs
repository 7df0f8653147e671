//! A builder of small batches.

use crate::model::{
    AnyValue, Attributes, Event, KeyValue, ProjectId, Resource, Scope, Slice, Span, SpanId, SpanKind, TraceBatch,
    TraceId,
};
use crate::project::{IngestSettings, ProjectContext};

pub const RECEIVED_NS: i64 = 1_800_000_000_000_000_000;

pub fn context() -> ProjectContext {
    with_settings(IngestSettings::default())
}

pub fn with_settings(settings: IngestSettings) -> ProjectContext {
    ProjectContext { project: ProjectId([5; 16]), received_ns: RECEIVED_NS, settings }
}

/// Builds a trace batch span by span. Ids are small numbers; the default trace is 1.
#[derive(Default)]
pub struct Traces {
    pub batch: TraceBatch<'static>,
}

pub type Pairs<'p> = &'p [(&'static str, &'static str)];

impl Traces {
    /// Starts a resource block for the following spans.
    pub fn block(mut self, resource: Pairs<'_>) -> Self {
        let attributes = self.attributes(resource);
        self.batch.resources.push(Resource { attributes, ..Resource::default() });
        self.batch.scopes.push(Scope { resource: self.batch.resources.len() as u32 - 1, ..Scope::default() });
        self
    }

    pub fn span(self, id: u8, parent: u8, kind: SpanKind, name: &'static str, pairs: Pairs<'_>) -> Self {
        self.span_in(1, id, parent, kind, name, pairs)
    }

    pub fn span_in(
        mut self,
        trace: u8,
        id: u8,
        parent: u8,
        kind: SpanKind,
        name: &'static str,
        pairs: Pairs<'_>,
    ) -> Self {
        if self.batch.resources.is_empty() {
            self = self.block(&[("service.name", "shop")]);
        }
        let attributes = self.attributes(pairs);
        self.batch.spans.push(Span {
            resource: self.batch.resources.len() as u32 - 1,
            scope: self.batch.scopes.len() as u32 - 1,
            trace_id: TraceId([trace; 16]),
            span_id: SpanId([id; 8]),
            parent_span_id: SpanId([parent; 8]),
            name,
            kind,
            start_ns: 1_000,
            end_ns: 5_000,
            attributes,
            ..Span::default()
        });
        self
    }

    /// Adds an event to the last span.
    pub fn event(mut self, name: &'static str, pairs: Pairs<'_>) -> Self {
        let attributes = self.attributes(pairs);
        self.batch.events.push(Event { time_ns: 2_000, name, attributes, ..Event::default() });
        let end = self.batch.events.len() as u32;
        let span = self.batch.spans.last_mut().expect("an event needs a span");
        let start = if span.events.is_empty() { end - 1 } else { span.events.start };
        span.events = Slice { start, end };
        self
    }

    /// Changes the last span.
    pub fn with(mut self, change: impl FnOnce(&mut Span<'static>)) -> Self {
        change(self.batch.spans.last_mut().expect("there is a span to change"));
        self
    }

    fn attributes(&mut self, pairs: Pairs<'_>) -> Slice {
        slice(&mut self.batch.attributes, pairs)
    }
}

/// Appends the pairs as strings; the rules read numeric strings as numbers.
pub fn slice(list: &mut Vec<KeyValue<'static>>, pairs: Pairs<'_>) -> Slice {
    let start = list.len() as u32;
    list.extend(pairs.iter().map(|(key, value)| KeyValue { key, value: AnyValue::Str(value) }));
    Slice { start, end: list.len() as u32 }
}

#[test]
fn the_builder_builds() {
    let batch =
        Traces::default().span(1, 0, SpanKind::Server, "a", &[("k", "v")]).event("e", &[]).event("f", &[]).batch;
    assert_eq!(Attributes(batch.spans[0].attributes.of(&batch.attributes)).text("k"), Some("v"));
    assert_eq!(batch.spans[0].events.of(&batch.events).len(), 2);
}
