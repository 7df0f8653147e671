//! Raw traces of the clients, and the same traces resolved.
//!
//! [`Trace::read`] recognises one, [`Trace::needs`] lists the artifacts it refers to, [`Trace::resolve`] prints it
//! again with what of them was found. `ios.rs`, `dart.rs`, `java.rs` and `script.rs` know one form each; `out.rs`
//! writes resolved frames, `context.rs` shows the source around them.

mod context;
mod dart;
mod ios;
mod java;
mod out;
mod script;
mod shelf;

pub use context::SourceContext;
pub use out::Resolved;
pub use shelf::{Need, Shelf};

use crate::{DebugId, limits::TRACE_BYTES_MAX};

/// What is known about a trace beside its text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints<'a> {
    /// `telemetry.sdk.language`, or the project's framework where the protocol has no such attribute.
    pub language: Option<&'a str>,
    /// The id of the build where the trace does not say it: `app.debug.proguard_uuid` of Android, the build id of old
    /// Dart traces, the debug id of a one-file web app.
    pub debug_id: Option<DebugId>,
    /// Debug ids of scripts by their URL or file name, as newer web SDKs report them.
    pub script_ids: &'a [(&'a str, DebugId)],
}

/// A trace in which raw frames were recognised.
#[derive(Debug)]
pub struct Trace<'t>(Dialect<'t>);

#[derive(Debug)]
enum Dialect<'t> {
    Ios(ios::IosTrace<'t>),
    Dart(dart::DartTrace<'t>),
    Java(java::JavaTrace<'t>),
    Script(script::ScriptTrace<'t>),
}

impl<'t> Trace<'t> {
    /// Recognises a raw trace. `None`: it is symbolic already, or of no known form, and passes through untouched.
    pub fn read(text: &'t str, hints: &Hints<'_>) -> Option<Self> {
        if text.len() > TRACE_BYTES_MAX {
            return None;
        }
        // Spec: symbolication, rule 1: an empty language says nothing.
        let language = hints.language.map(|said| said.trim().to_ascii_lowercase()).filter(|said| !said.is_empty());
        let language = language.as_deref();
        if let Some(trace) = ios::IosTrace::read(text, language) {
            return Some(Self(Dialect::Ios(trace)));
        }
        if let Some(trace) = dart::DartTrace::read(text, hints) {
            return Some(Self(Dialect::Dart(trace)));
        }
        if let Some(trace) = java::JavaTrace::read(text, language, hints) {
            return Some(Self(Dialect::Java(trace)));
        }
        script::ScriptTrace::read(text, language, hints).map(|trace| Self(Dialect::Script(trace)))
    }

    /// The artifacts the frames refer to, each once, in the order of the frames.
    pub fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        let mut add = |need: Need| {
            if !needs.contains(&need) {
                needs.push(need);
            }
        };
        match &self.0 {
            Dialect::Ios(trace) => trace.needs(&mut add),
            Dialect::Dart(trace) => trace.needs(&mut add),
            Dialect::Java(trace) => trace.needs(&mut add),
            Dialect::Script(trace) => trace.needs(&mut add),
        }
        needs
    }

    /// What the sources of the first answers lead on to: the bundle that a Hermes bytecode map was made from may have a
    /// map of its own. Empty for everything else.
    pub fn needs_after(&self, shelf: &Shelf<'_>) -> Vec<Need> {
        match &self.0 {
            Dialect::Script(trace) => trace.needs_after(shelf),
            Dialect::Ios(_) | Dialect::Dart(_) | Dialect::Java(_) => Vec::new(),
        }
    }

    /// The trace with the frames that are found on the shelf resolved; all others keep their raw form.
    pub fn resolve(&self, shelf: &Shelf<'_>) -> Resolved {
        match &self.0 {
            Dialect::Ios(trace) => trace.resolve(shelf),
            Dialect::Dart(trace) => trace.resolve(shelf),
            Dialect::Java(trace) => trace.resolve(shelf),
            Dialect::Script(trace) => trace.resolve(shelf),
        }
    }

    /// The source around the frames, each place once, in their order: where a source map embeds it. No other format
    /// holds sources.
    pub fn context(&self, shelf: &Shelf<'_>) -> Vec<SourceContext> {
        match &self.0 {
            Dialect::Script(trace) => trace.context(shelf),
            Dialect::Ios(_) | Dialect::Dart(_) | Dialect::Java(_) => Vec::new(),
        }
    }
}

/// A line of nothing but groups of `***`, at least two.
fn is_separator(line: &str) -> bool {
    let mut groups = line.split_ascii_whitespace().peekable();
    groups.peek().is_some() && line.split_ascii_whitespace().count() >= 2 && groups.all(|g| g == "***")
}

/// Splits at the first separator line: what is above it, with its line ends, and what is below.
fn split_preamble(text: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if is_separator(line) {
            return Some((&text[..start], &text[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: bool) {
        assert_eq!(is_separator(line), expected, "{line}");
    }

    // Spec: symbolication, rule 1: an empty language is an absent one.
    #[test]
    fn an_empty_language_says_nothing() {
        let ios = "boom\n#00 2cb3d2f6a1b93a0f9d3c0d4b5f6a7b8c 0x41cc App";
        for (language, expected) in [(None, true), (Some(""), true), (Some(" "), true), (Some("javascript"), false)] {
            let trace = Trace::read(ios, &Hints { language, ..Hints::default() });
            assert_eq!(trace.is_some(), expected, "{language:?}");
        }
    }

    #[test]
    fn separators_are_whole_lines_of_stars() {
        // Spec: symbolication, rule 3.
        check("*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***", true);
        check("  *** ***\r\n", true);
        check("NSRangeException: *** -[__NSArrayM objectAtIndexedSubscript:]: index 5", false);
        check("***", false);
        check("", false);
        check("**** ****", false);
    }
}
