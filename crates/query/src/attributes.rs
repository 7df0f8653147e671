//! Decodes stored attributes, events and links into API values.

use bumpalo::Bump;
use tidewatch_domain::model::KeyValue;
use tidewatch_domain::wire;

use super::ids;
use super::time;
use super::views::AttributeMap;
use super::views::span::{SpanEvent, SpanLink};

/// Decodes one value of an attributes column. The last value of a duplicate key wins.
pub fn map(bytes: &[u8]) -> AttributeMap {
    let mut map = AttributeMap::default();
    wire::for_each_attribute_text(bytes, |key, value| {
        map.0.insert(key.to_owned(), value.into_owned());
    });
    map
}

/// Decodes one value of the column `events`.
pub fn events(bytes: &[u8]) -> Vec<SpanEvent> {
    let arena = Bump::new();
    let event = |event: wire::StoredEvent<'_>| SpanEvent {
        name: event.name.to_owned(),
        time: time::to_rfc3339(i64::try_from(event.time_ns).unwrap_or(i64::MAX)),
        attributes: strings(event.attributes),
    };
    wire::decode_events(bytes, &arena).into_iter().map(event).collect()
}

/// Decodes one value of the column `links`.
pub fn links(bytes: &[u8]) -> Vec<SpanLink> {
    let arena = Bump::new();
    let link = |link: wire::StoredLink<'_>| SpanLink {
        trace_id: ids::format_trace(link.trace_id),
        span_id: ids::format_span(link.span_id),
        attributes: strings(link.attributes),
    };
    wire::decode_links(bytes, &arena).into_iter().map(link).collect()
}

fn strings(attributes: &[KeyValue<'_>]) -> AttributeMap {
    let pairs = attributes.iter().map(|kv| (kv.key.to_owned(), wire::value_text(kv.value).into_owned()));
    AttributeMap(pairs.collect())
}
