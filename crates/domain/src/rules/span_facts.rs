//! Collects what classification needs from a span's attributes, in one pass.
//!
//! Most spans are not promoted, so this pass dominates the cost of classification. It branches on the first letter and
//! the length of a key before it compares, and stores only bits. Rules for promoted spans read the attributes again
//! ([`super::http`], [`super::ai_trace`], [`super::exception`]).

use super::ai_trace::{self, MARKERS};
use super::client_sampling::is_sampling_attribute;
use super::native_ids::{LINKED_TRACE, linked_trace};
use crate::model::{AnyValue, KeyValue, Layout, Slice, TraceId};

/// The properties of a span's attributes that classification needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpanFacts {
    /// Whether an attribute makes the span an Endpoint candidate. DECISIONS 2.
    pub http: bool,
    /// Whether `console.command` is present.
    pub console_command: bool,
    /// Whether any `gen_ai.*` attribute is present.
    pub gen_ai: bool,
    /// Whether `exception.type`, `exception.message` or `exception.stacktrace` is present. SPEC classification, rule 3.
    pub exception: bool,
    /// Whether an `exception` event is present. Set by the caller, because events are not attributes.
    pub exception_event: bool,
    /// Whether an attribute states the probability at which the sender sampled. docs/decisions/0012.
    pub sampling: bool,
    /// HTTP status, 0 when missing or out of range. DECISIONS 3.
    pub http_status: i16,
    /// Index plus one of an attribute that may mark a model call without `gen_ai.*`; 0 when absent. DECISIONS 26.
    pub ai_marker: u32,
    /// Index plus one of `edge.script_version.id`; 0 when absent.
    pub script_version: u32,
    /// Index plus one of `traceway.distributed_trace_id`; 0 when absent.
    pub linked_trace: u32,
}

/// Reads the facts of the spans of a batch. Facts that depend only on keys are cached per number of attributes and reused
/// while the keys stay the same.
pub struct FactsReader<'b, 'a> {
    all: &'b [KeyValue<'a>],
    /// The latest keys and their facts, by number of attributes.
    latest: [(Layout, KeyFacts); CACHED_KEYS_MAX + 1],
}

/// Largest number of attributes whose facts are cached.
const CACHED_KEYS_MAX: usize = 32;

impl<'b, 'a> FactsReader<'b, 'a> {
    /// A reader for slices of `all`.
    pub fn new(all: &'b [KeyValue<'a>]) -> Self {
        FactsReader { all, latest: [Default::default(); CACHED_KEYS_MAX + 1] }
    }

    /// Appends the facts of the attributes in `slice`, whose layout is `layout`.
    #[inline]
    pub fn read(&mut self, slice: Slice, layout: Layout, into: &mut Vec<SpanFacts>) {
        let attributes = slice.of(self.all);
        let Some((latest, facts)) = self.latest.get_mut(attributes.len()) else {
            return into.push(SpanFacts::read(attributes));
        };
        if !layout.shares_keys(*latest) {
            *facts = KeyFacts::read(attributes);
            *latest = layout;
        }
        into.push(facts.facts);
        // Written in place: reading back a partially written copy would stall on store forwarding.
        if let (true, Some(into)) = (facts.has_status(), into.last_mut()) {
            into.http_status = facts.http_status(attributes);
        }
    }
}

/// The facts that depend only on the keys.
#[derive(Clone, Copy, Default)]
struct KeyFacts {
    /// Without the status.
    facts: SpanFacts,
    /// Index plus one of the last `http.response.status_code`; 0 when absent.
    status: u32,
    /// Index plus one of the last `http.status_code`; 0 when absent.
    old_status: u32,
}

impl KeyFacts {
    fn read(attributes: &[KeyValue<'_>]) -> Self {
        let (mut facts, mut status, mut old_status) = (SpanFacts::default(), 0, 0);
        for (position, attribute) in attributes.iter().enumerate() {
            let key = attribute.key;
            match (key.as_bytes().first(), key.len()) {
                (Some(b'h'), 8) => facts.http |= key == "http.url",
                (Some(b'h'), 10) => facts.http |= key == "http.route",
                (Some(b'h'), 11) => facts.http |= key == "http.method" || key == "http.target",
                (Some(b'h'), 16) if key == "http.status_code" => old_status = position as u32 + 1,
                (Some(b'h'), 19) => facts.http |= key == "http.request.method",
                (Some(b'h'), 25) if key == "http.response.status_code" => status = position as u32 + 1,
                (Some(b'u'), 8) => facts.http |= key == "url.path" || key == "url.full",
                (Some(b'g'), 8..) => facts.gen_ai |= key.starts_with("gen_ai."),
                (Some(b'c'), 15) => facts.console_command |= key == "console.command",
                (Some(b'e'), 14) => facts.exception |= key == "exception.type",
                (Some(b'e'), 17) => facts.exception |= key == "exception.message",
                (Some(b'e'), 20) => facts.exception |= key == "exception.stacktrace",
                (Some(b'o'), 23) | (Some(b'l'), 25) | (Some(b'a'), 14) if MARKERS.contains(&key) => {
                    facts.ai_marker = position as u32 + 1;
                }
                (Some(b's' | b'S'), 10 | 11 | 20) | (Some(b'_'), 14) => facts.sampling |= is_sampling_attribute(key),
                (Some(b't'), 29) if key == LINKED_TRACE => facts.linked_trace = position as u32 + 1,
                (Some(b'e'), 22) if key == "edge.script_version.id" => facts.script_version = position as u32 + 1,
                _ => {}
            }
        }
        KeyFacts { facts, status, old_status }
    }

    fn has_status(&self) -> bool {
        self.status > 0 || self.old_status > 0
    }

    /// The status in attributes with these keys.
    fn http_status(&self, attributes: &[KeyValue<'_>]) -> i16 {
        let status = |position: u32| {
            let attribute = attributes.get((position as usize).checked_sub(1)?)?;
            status_code(attribute.value)
        };
        status(self.status).or_else(|| status(self.old_status)).unwrap_or(0)
    }
}

impl SpanFacts {
    /// Reads the facts of one list of attributes.
    pub fn read(attributes: &[KeyValue<'_>]) -> Self {
        let keys = KeyFacts::read(attributes);
        SpanFacts { http_status: keys.http_status(attributes), ..keys.facts }
    }

    /// Whether the span is a model call by another convention than `gen_ai.*`. `attributes` are those the facts were read
    /// from.
    pub fn is_other_ai(&self, attributes: &[KeyValue<'_>]) -> bool {
        // Usually a span has one marker. Any of several may mark the call.
        self.ai_marker != 0 && !self.gen_ai && ai_trace::convention_of(attributes).is_some()
    }

    /// The trace of the web page that sent the request; none when unknown. `attributes` are those the facts were read
    /// from. WIRE 1.10.
    pub fn linked_trace(&self, attributes: &[KeyValue<'_>]) -> TraceId {
        match self.linked_trace {
            0 => TraceId::default(),
            position => linked_trace(attributes[position as usize - 1].value),
        }
    }

    /// The span's `edge.script_version.id`, empty when absent. `attributes` are those the facts were read from.
    pub fn script_version<'a>(&self, attributes: &[KeyValue<'a>]) -> &'a str {
        match self.script_version {
            0 => "",
            position => attributes[position as usize - 1].value.as_str().unwrap_or(""),
        }
    }
}

/// A status number, or a numeric string. `None` for other values and for numbers out of range. DECISIONS 3.
pub fn status_code(value: AnyValue<'_>) -> Option<i16> {
    value.as_int().and_then(|number| i16::try_from(number).ok()).filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&'static str, AnyValue<'static>)]) -> SpanFacts {
        let attributes: Vec<_> = pairs.iter().map(|(key, value)| KeyValue { key, value: *value }).collect();
        SpanFacts::read(&attributes)
    }

    // DECISIONS 2.
    #[test]
    fn http_attributes_table() {
        for (key, expected) in [
            ("http.request.method", true),
            ("http.method", true),
            ("http.route", true),
            ("url.path", true),
            ("http.target", true),
            ("url.full", true),
            ("http.url", true),
            ("http.response.status_code", false),
            ("http.status_code", false),
            ("url.scheme", false),
            ("http.scheme", false),
            ("http", false),
            ("", false),
        ] {
            assert_eq!(read(&[(key, AnyValue::Str("x"))]).http, expected, "{key}");
        }
    }

    // Spec: classification, rows 3 and 4, rule 3.
    #[test]
    fn other_attributes_table() {
        for (key, console_command, gen_ai, exception) in [
            ("console.command", true, false, false),
            ("console.args", false, false, false),
            ("gen_ai.system", false, true, false),
            ("gen_ai.x", false, true, false),
            ("gen_ai", false, false, false),
            ("ai.model.id", false, false, false),
            ("exception.type", false, false, true),
            ("exception.message", false, false, true),
            ("exception.stacktrace", false, false, true),
            ("exception.escaped", false, false, false),
        ] {
            let facts = read(&[(key, AnyValue::Str(""))]);
            assert_eq!(
                (facts.console_command, facts.gen_ai, facts.exception),
                (console_command, gen_ai, exception),
                "{key}"
            );
        }
    }

    // DECISIONS 3: a missing status is 0, numeric strings are parsed, the newer name and the last of duplicate keys win.
    #[test]
    fn status_table() {
        let new = "http.response.status_code";
        let old = "http.status_code";
        for (attributes, expected) in [
            (vec![], 0),
            (vec![(new, AnyValue::Int(404))], 404),
            (vec![(old, AnyValue::Int(500))], 500),
            (vec![(new, AnyValue::Str("503"))], 503),
            (vec![(new, AnyValue::Double(204.0))], 204),
            (vec![(old, AnyValue::Int(500)), (new, AnyValue::Int(200))], 200),
            (vec![(new, AnyValue::Int(200)), (new, AnyValue::Int(201))], 201),
            (vec![(new, AnyValue::Str("")), (old, AnyValue::Int(302))], 302),
            (vec![(new, AnyValue::Str("teapot"))], 0),
            (vec![(new, AnyValue::Int(1_000_000))], 0),
            (vec![(new, AnyValue::Int(-1))], 0),
        ] {
            assert_eq!(read(&attributes).http_status, expected, "{attributes:?}");
        }
    }

    #[test]
    fn cached_facts_equal_uncached_facts() {
        let [status, route, version] = ["http.response.status_code", "http.route", "edge.script_version.id"];
        let pair = |key, number| KeyValue { key, value: AnyValue::Int(number) };
        let copy = "http.route".to_owned();
        let all = [
            pair(status, 200),
            pair(route, 1),
            pair(status, 404),
            pair(route, 2),
            pair(route, 3),
            pair(status, 500),
            pair(status, 0),
            pair(&copy, 4),
            pair("http.status_code", 301),
            pair(version, 5),
            pair("gen_ai.x", 6),
        ];
        let (mut reader, mut facts) = (FactsReader::new(&all), Vec::new());
        for (start, end, key_set) in [
            (0, 2, 1),
            (2, 4, 1),
            (4, 6, 2),
            (0, 0, 3),
            (6, 8, 4),
            (6, 8, 4),
            (0, 2, 0),
            (4, 6, 0),
            (0, 1, 5),
            (8, 9, 6),
            (6, 9, 7),
            (0, 3, 8),
            (8, 11, 9),
            (0, 11, 10),
        ] {
            let slice = Slice { start, end };
            reader.read(slice, Layout { key_set, encoded_bytes: 0 }, &mut facts);
            assert_eq!(facts.pop(), Some(SpanFacts::read(slice.of(&all))), "{start} {end}");
        }
    }

    #[test]
    fn script_version_is_found_by_its_index() {
        let attributes = [
            KeyValue { key: "a", value: AnyValue::Int(1) },
            KeyValue { key: "edge.script_version.id", value: AnyValue::Str("v-1") },
        ];
        assert_eq!(SpanFacts::read(&attributes).script_version(&attributes), "v-1");
        assert_eq!(SpanFacts::read(&attributes[..1]).script_version(&attributes[..1]), "");
    }
}
