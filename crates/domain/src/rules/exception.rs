//! Finds the exceptions of a span or a log record and reads their fields. SPEC classification, rule 3; DECISIONS 7, 9.

use bumpalo::Bump;

use super::span_facts::SpanFacts;
use super::value_text::value_text;
use crate::grouping::Occurrence;
use crate::model::{AnyValue, Attributes, Event, KeyValue, Slice, Span, TraceBatch};

/// Name of the events that become Issues.
const EXCEPTION_EVENT: &str = "exception";

/// Stack trace of an exception without attributes. WIRE 4.4.
const UNKNOWN_EXCEPTION: &str = "unknown exception";

/// Where an exception was recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExceptionSource {
    /// Index among the span's events; 0 for the span's own attributes.
    pub event_index: u32,
    /// As received; 0 when absent.
    pub time_ns: u64,
    /// Attributes with `exception.*`.
    pub attributes: Slice,
    /// Whether they are attributes of an event instead of the span.
    pub from_event: bool,
}

/// Whether there is an `exception` event.
pub fn has_exception_event(events: &[Event<'_>]) -> bool {
    events.iter().any(|event| event.name == EXCEPTION_EVENT)
}

/// The exceptions of a span: its `exception` events, or else its own attributes at the span's start. DECISIONS 7.
pub fn exceptions_of<'b, 'a>(
    batch: &'b TraceBatch<'a>,
    span: &Span<'a>,
    facts: &SpanFacts,
) -> impl Iterator<Item = ExceptionSource> + use<'b, 'a> {
    let own_attributes = (facts.exception && !facts.exception_event).then_some(ExceptionSource {
        event_index: 0,
        time_ns: span.start_ns,
        attributes: span.attributes,
        from_event: false,
    });
    let events = if facts.exception_event { span.events.of(&batch.events) } else { &[] };
    let from_events =
        events.iter().enumerate().filter(|(_, event)| event.name == EXCEPTION_EVENT).map(|(position, event)| {
            ExceptionSource {
                event_index: position as u32,
                time_ns: event.time_ns,
                attributes: event.attributes,
                from_event: true,
            }
        });
    from_events.chain(own_attributes)
}

/// The fields of an exception. Absent attributes are empty strings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExceptionText<'a> {
    /// `exception.type`.
    pub exception_type: &'a str,
    /// `exception.message`.
    pub message: &'a str,
    /// Displayed stack trace: header and frames.
    pub stack_trace: &'a str,
    /// See [`Symbolic::build`].
    pub build: Option<KeyValue<'a>>,
}

impl<'a> ExceptionText<'a> {
    /// Reads `exception.*` attributes.
    pub fn read(attributes: Attributes<'_, 'a>, arena: &'a Bump) -> Self {
        let text = |key| attributes.get(key).map_or("", |value| value_text(value, arena)).trim();
        let (exception_type, message) = (text("exception.type"), text("exception.message"));
        let stack = match attributes.get("exception.stacktrace") {
            Some(AnyValue::Array(lines)) => joined_lines(lines, arena),
            Some(AnyValue::Str(stack)) => stack.trim_end(),
            _ => structured_stack(attributes, arena),
        };
        let stack_trace = stack_trace(exception_type, message, stack, arena);
        ExceptionText { exception_type, message, stack_trace, build: None }
    }
}

/// Symbolicates raw stack traces. DECISIONS 14.
pub trait Symbolicate {
    /// Resolves the frames of a stack trace as far as artifacts are available.
    fn resolve<'a>(&self, raw: &RawStack<'_, 'a>) -> Symbolic<'a>;
}

/// The result of symbolication.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Symbolic<'a> {
    /// The stack trace to display and to group by. `None`: the raw one.
    pub text: Option<String>,
    /// The exception's type in the source, where it was renamed.
    pub exception_type: Option<String>,
    /// The attribute of the scope or the resource that names the build. Stored with the exception, so that the trace can
    /// be resolved again with the symbols of the same build.
    pub build: Option<KeyValue<'a>>,
}

/// A raw stack trace with its origin.
#[derive(Debug, Clone, Copy)]
pub struct RawStack<'b, 'a> {
    /// Header and frames.
    pub text: &'a str,
    /// `exception.type`.
    pub exception_type: &'a str,
    /// Where the exception was recorded.
    pub origin: Origin<'b, 'a>,
    /// Attributes of the exception.
    pub attributes: Attributes<'b, 'a>,
}

/// Resource, scope and record of an exception.
#[derive(Debug, Clone, Copy, Default)]
pub struct Origin<'b, 'a> {
    /// Attributes of the resource.
    pub resource: Attributes<'b, 'a>,
    /// Name of the instrumentation scope.
    pub scope_name: &'a str,
    /// Attributes of the scope.
    pub scope: Attributes<'b, 'a>,
    /// Attributes of the span or log record.
    pub record: Attributes<'b, 'a>,
}

/// Leaves stack traces as they were received.
pub struct AsReceived;

impl Symbolicate for AsReceived {
    fn resolve<'a>(&self, _: &RawStack<'_, 'a>) -> Symbolic<'a> {
        Symbolic::default()
    }
}

impl<'a> ExceptionText<'a> {
    /// Resolves type and stack trace. Runs before the exception is grouped: DECISIONS 14.
    pub fn symbolicated(
        self,
        symbols: &dyn Symbolicate,
        origin: Origin<'_, 'a>,
        attributes: Attributes<'_, 'a>,
        arena: &'a Bump,
    ) -> Self {
        let raw = RawStack { text: self.stack_trace, exception_type: self.exception_type, origin, attributes };
        let Symbolic { text, exception_type, build } = symbols.resolve(&raw);
        ExceptionText {
            stack_trace: text.map_or(self.stack_trace, |text| arena.alloc_str(&text)),
            exception_type: exception_type.map_or(self.exception_type, |text| arena.alloc_str(&text)),
            build,
            ..self
        }
    }
}

impl<'a> ExceptionText<'a> {
    /// The exception as grouping takes it. `attributes` are those with `exception.*`, `context` is the name of the span
    /// or the scope of the log record.
    pub fn occurrence(
        &self,
        origin: Origin<'_, 'a>,
        attributes: Attributes<'_, 'a>,
        context: &'a str,
        arena: &'a Bump,
    ) -> Occurrence<'a> {
        Occurrence {
            language: origin.resource.text("telemetry.sdk.language").unwrap_or(""),
            exception_type: self.exception_type,
            message: self.message,
            stack_trace: self.stack_trace,
            context,
            fingerprint: fingerprint(attributes, origin.record, arena),
        }
    }
}

/// Keys of an explicit fingerprint, in order. The first one was proposed for the semantic conventions.
pub const FINGERPRINTS: [&str; 2] = ["exception.group_id", "tidewatch.fingerprint"];

/// The explicit fingerprint of an exception event, else of its span or log record; empty when absent.
pub fn fingerprint<'a>(event: Attributes<'_, 'a>, record: Attributes<'_, 'a>, arena: &'a Bump) -> &'a str {
    let places = [event, record].into_iter().flat_map(|attributes| FINGERPRINTS.map(|key| attributes.get(key)));
    let mut found = places.flatten().map(|value| value_text(value, arena).trim());
    found.find(|text| !text.is_empty()).unwrap_or("")
}

/// Whether a log record has `exception.*` attributes. DECISIONS 9.
pub fn has_exception_attributes(attributes: &[KeyValue<'_>]) -> bool {
    SpanFacts::read(attributes).exception
}

/// Puts `type: message` above the stack, unless the stack already starts with the type. WIRE 4.4 "OTLP exception".
pub fn stack_trace<'a>(exception_type: &'a str, message: &'a str, stack: &'a str, arena: &'a Bump) -> &'a str {
    let header: &[&'a str] = match (exception_type.is_empty(), message.is_empty()) {
        (false, false) => &[exception_type, ": ", message],
        (false, true) => &[exception_type],
        (true, false) => &[message],
        (true, true) => &[],
    };
    let first_word = if exception_type.is_empty() { message } else { exception_type };
    if stack.trim().is_empty() {
        if header.is_empty() { UNKNOWN_EXCEPTION } else { joined(header, "", arena) }
    } else if header.is_empty() || stack.trim_start().starts_with(first_word) {
        stack
    } else {
        joined(header, stack, arena)
    }
}

/// The header followed by the stack.
fn joined<'a>(header: &[&str], stack: &str, arena: &'a Bump) -> &'a str {
    let length = header.iter().map(|part| part.len()).sum::<usize>() + 1 + stack.len();
    let mut text = bumpalo::collections::String::with_capacity_in(length, arena);
    header.iter().for_each(|part| text.push_str(part));
    if !stack.is_empty() {
        text.push('\n');
        text.push_str(stack);
    }
    text.into_bump_str()
}

/// Joins a stack that an SDK sends as a list of lines (Rust sends an empty one).
fn joined_lines<'a>(lines: &[AnyValue<'a>], arena: &'a Bump) -> &'a str {
    let lines: Vec<&str> = lines.iter().map(|line| value_text(*line, arena)).collect();
    arena.alloc_str(&lines.join("\n"))
}

/// Reads `exception.structured_stacktrace.*`, parallel lists of frames that web and Android agents send. WIRE 4.4.
fn structured_stack<'a>(attributes: Attributes<'_, 'a>, arena: &'a Bump) -> &'a str {
    let list = |name: &str| -> &'a [AnyValue<'a>] {
        match attributes.get(&["exception.structured_stacktrace.", name].concat()) {
            Some(AnyValue::Array(items)) => items,
            _ => &[],
        }
    };
    let lines = list("lines");
    let at = |items: &[AnyValue<'a>], position: usize| items.get(position).map_or("", |item| value_text(*item, arena));
    let (urls, functions, columns) = (list("urls"), list("functions"), list("columns"));
    let (classes, methods, files) = (list("classes"), list("methods"), list("source_files"));
    let mut stack = String::new();
    for position in 0..urls.len().max(functions.len()) {
        let function = Some(at(functions, position)).filter(|name| !name.is_empty()).unwrap_or("<anonymous>");
        let place = [at(urls, position), at(lines, position), at(columns, position)].join(":");
        stack.push_str(&[function, "()\n    ", place.trim_end_matches(':'), "\n"].concat());
    }
    for position in 0..classes.len().max(methods.len()) {
        let place = [at(files, position), at(lines, position)].join(":");
        let method = [at(classes, position), at(methods, position)].join(".");
        stack.push_str(&["\tat ", &method, "(", place.trim_matches(':'), ")\n"].concat());
    }
    arena.alloc_str(stack.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    // WIRE 4.4 "OTLP exception".
    #[test]
    fn stack_text_table() {
        for (exception_type, message, stack, expected) in [
            ("E", "m", "E: m\n  at f", "E: m\n  at f"),
            ("E", "m", "  at f", "E: m\n  at f"),
            ("E", "", "  at f", "E\n  at f"),
            ("", "m", "  at f", "m\n  at f"),
            ("", "m", "m\n  at f", "m\n  at f"),
            ("", "", "  at f", "  at f"),
            ("E", "m", "", "E: m"),
            ("E", "", "", "E"),
            ("", "m", "", "m"),
            ("", "", "", "unknown exception"),
            ("E", "m", " \n", "E: m"),
            (
                "ValueError",
                "x",
                "Traceback:\n  File\nValueError: x",
                "ValueError: x\nTraceback:\n  File\nValueError: x",
            ),
        ] {
            assert_eq!(stack_trace(exception_type, message, stack, &Bump::new()), expected);
        }
    }

    fn read(pairs: &[(&'static str, AnyValue<'static>)]) -> (String, String, String) {
        let arena = Bump::new();
        let attributes: Vec<_> = pairs.iter().map(|(key, value)| KeyValue { key, value: *value }).collect();
        // Copied, because the arena ends here.
        let text = ExceptionText::read(Attributes(arena.alloc_slice_copy(&attributes)), &arena);
        (text.exception_type.to_owned(), text.message.to_owned(), text.stack_trace.to_owned())
    }

    // DECISIONS 7: `exception.stacktrace` may be an empty array; type and message then make the Issue.
    #[test]
    fn stack_as_a_list() {
        let empty = read(&[
            ("exception.message", AnyValue::Str("reset by peer")),
            ("exception.stacktrace", AnyValue::Array(&[])),
        ]);
        assert_eq!(empty, (String::new(), "reset by peer".into(), "reset by peer".into()));
        const LINES: &[AnyValue<'static>] = &[AnyValue::Str("at a"), AnyValue::Str("at b")];
        let lines = read(&[("exception.type", AnyValue::Str("E")), ("exception.stacktrace", AnyValue::Array(LINES))]);
        assert_eq!(lines.2, "E\nat a\nat b");
    }

    // Issue 35, part 1, 4: the event first, then its span or log record.
    #[test]
    fn fingerprint_table() {
        let arena = Bump::new();
        let pair = |key, text| KeyValue { key, value: AnyValue::Str(text) };
        let (group_id, own) = (pair("exception.group_id", "a"), pair("tidewatch.fingerprint", "b"));
        for (event, record, expected) in [
            (vec![], vec![], ""),
            (vec![group_id], vec![], "a"),
            (vec![own, group_id], vec![], "a"),
            (vec![own], vec![group_id], "b"),
            (vec![], vec![own], "b"),
            (vec![pair("exception.group_id", " ")], vec![own], "b"),
        ] {
            assert_eq!(fingerprint(Attributes(&event), Attributes(&record), &arena), expected, "{event:?} {record:?}");
        }
    }

    #[test]
    fn structured_stacks() {
        const URLS: &[AnyValue<'static>] = &[AnyValue::Str("app.js"), AnyValue::Str("lib.js")];
        const FUNCTIONS: &[AnyValue<'static>] = &[AnyValue::Str("render"), AnyValue::Str("")];
        const LINES: &[AnyValue<'static>] = &[AnyValue::Int(1), AnyValue::Int(20)];
        const COLUMNS: &[AnyValue<'static>] = &[AnyValue::Int(4821)];
        let web = read(&[
            ("exception.type", AnyValue::Str("TypeError")),
            ("exception.structured_stacktrace.urls", AnyValue::Array(URLS)),
            ("exception.structured_stacktrace.functions", AnyValue::Array(FUNCTIONS)),
            ("exception.structured_stacktrace.lines", AnyValue::Array(LINES)),
            ("exception.structured_stacktrace.columns", AnyValue::Array(COLUMNS)),
        ]);
        assert_eq!(web.2, "TypeError\nrender()\n    app.js:1:4821\n<anonymous>()\n    lib.js:20");
        const CLASSES: &[AnyValue<'static>] = &[AnyValue::Str("a.B")];
        const METHODS: &[AnyValue<'static>] = &[AnyValue::Str("run")];
        const FILES: &[AnyValue<'static>] = &[AnyValue::Str("B.java")];
        let android = read(&[
            ("exception.structured_stacktrace.classes", AnyValue::Array(CLASSES)),
            ("exception.structured_stacktrace.methods", AnyValue::Array(METHODS)),
            ("exception.structured_stacktrace.source_files", AnyValue::Array(FILES)),
            ("exception.structured_stacktrace.lines", AnyValue::Array(LINES)),
        ]);
        assert_eq!(android.2, "\tat a.B.run(B.java:1)");
    }
}
