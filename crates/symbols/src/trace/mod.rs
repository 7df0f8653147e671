//! Parses raw traces of clients and prints them resolved.
//!
//! [`Trace::read`] parses a trace, [`Trace::requests`] lists the artifacts to which it refers, [`Trace::resolve`] prints
//! it with the frames that the available artifacts resolve. `ios.rs`, `dart.rs`, `java.rs` and `script.rs` parse one
//! format each; `out.rs` writes resolved frames, `context.rs` returns the source around them.
//!
//! Invariants: an unresolved frame keeps its raw form; a name never contains a line break.

mod artifact_set;
mod context;
mod dart;
mod hints;
mod ios;
mod java;
mod out;
mod preamble;
mod script;

pub use artifact_set::{ArtifactRequest, ArtifactSet};
pub use context::SourceContext;
pub use hints::Hints;
pub use out::Resolved;

use crate::limits::TRACE_BYTES_MAX;

/// A trace with raw frames.
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
    /// Parses a raw trace. `None` when it is symbolic already or has an unknown format; it then stays as it is.
    pub fn read(text: &'t str, hints: &Hints<'_>) -> Option<Self> {
        if text.len() > TRACE_BYTES_MAX {
            return None;
        }
        // Spec: symbolication, rule 1: an empty language counts as absent.
        let language = hints.language.map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty());
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

    /// The artifacts to which the frames refer, without duplicates, in the order of the frames.
    pub fn requests(&self) -> Vec<ArtifactRequest> {
        let mut requests = Vec::new();
        let mut add = |request: ArtifactRequest| {
            if !requests.contains(&request) {
                requests.push(request);
            }
        };
        match &self.0 {
            Dialect::Ios(trace) => trace.requests(&mut add),
            Dialect::Dart(trace) => trace.requests(&mut add),
            Dialect::Java(trace) => trace.requests(&mut add),
            Dialect::Script(trace) => trace.requests(&mut add),
        }
        requests
    }

    /// The [`Trace::requests`] of frames that the artifacts do not resolve.
    pub fn unresolved_requests(&self, artifacts: &ArtifactSet<'_>) -> Vec<ArtifactRequest> {
        match &self.0 {
            Dialect::Script(trace) => trace.unresolved_requests(artifacts),
            Dialect::Ios(_) | Dialect::Dart(_) | Dialect::Java(_) => self.requests(),
        }
    }

    /// The artifacts to which the resolved positions refer: the bundle from which Hermes bytecode was compiled may have a
    /// source map, too. Empty for other formats.
    pub fn further_requests(&self, artifacts: &ArtifactSet<'_>) -> Vec<ArtifactRequest> {
        match &self.0 {
            Dialect::Script(trace) => trace.further_requests(artifacts),
            Dialect::Ios(_) | Dialect::Dart(_) | Dialect::Java(_) => Vec::new(),
        }
    }

    /// The trace with the frames that the artifacts resolve. Other frames keep their raw form.
    pub fn resolve(&self, artifacts: &ArtifactSet<'_>) -> Resolved {
        match &self.0 {
            Dialect::Ios(trace) => trace.resolve(artifacts),
            Dialect::Dart(trace) => trace.resolve(artifacts),
            Dialect::Java(trace) => trace.resolve(artifacts),
            Dialect::Script(trace) => trace.resolve(artifacts),
        }
    }

    /// The source lines around distinct positions, in the order of the frames. Only source maps embed sources.
    pub fn context(&self, artifacts: &ArtifactSet<'_>) -> Vec<SourceContext> {
        match &self.0 {
            Dialect::Script(trace) => trace.context(artifacts),
            Dialect::Ios(_) | Dialect::Dart(_) | Dialect::Java(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Spec: symbolication, rule 1: an empty language is an absent one.
    #[test]
    fn an_empty_language_counts_as_absent() {
        let ios = "boom\n#00 2cb3d2f6a1b93a0f9d3c0d4b5f6a7b8c 0x41cc App";
        for (language, expected) in [(None, true), (Some(""), true), (Some(" "), true), (Some("javascript"), false)] {
            let trace = Trace::read(ios, &Hints { language, ..Hints::default() });
            assert_eq!(trace.is_some(), expected, "{language:?}");
        }
    }
}
