//! Java and Kotlin stack traces in the format of `Throwable.printStackTrace`, obfuscated by R8 or ProGuard.

use std::fmt::Write as _;

use super::{ArtifactRequest, ArtifactSet, Hints, Resolved, out::Out};
use crate::{
    DebugId,
    limits::{FRAMES_MAX, FRAMES_OUT_MAX},
    r8::{JavaFrame, Retraced},
};

#[derive(Debug)]
pub(super) struct JavaTrace<'t> {
    text: &'t str,
    id: DebugId,
    lines: Vec<Line<'t>>,
}

#[derive(Debug)]
enum Line<'t> {
    Frame(&'t str, RawFrame<'t>),
    /// A line with an exception: the text before its class, the class, and the rest.
    Header {
        before: &'t str,
        class: &'t str,
        rest: &'t str,
    },
    Other(&'t str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RawFrame<'t> {
    /// The start of the line, `at ` included.
    indent: &'t str,
    /// For example `java.base/`.
    module: &'t str,
    class: &'t str,
    method: &'t str,
    file: &'t str,
    line: Option<u32>,
}

impl<'t> JavaTrace<'t> {
    pub(super) fn read(text: &'t str, language: Option<&str>, hints: &Hints<'_>) -> Option<Self> {
        if language.is_some_and(|l| !matches!(l, "android" | "java" | "kotlin")) {
            return None;
        }
        let mut frames = 0;
        let mut id = None;
        let mut above_frames = true;
        let mut lines = Vec::new();
        for raw in text.lines() {
            if let Some(frame) = frame(raw).filter(|_| frames < FRAMES_MAX) {
                frames += 1;
                above_frames = false;
                // Builds may replace the file name by the map's id.
                let in_frame = frame.file.strip_prefix("r8-map-id-").and_then(DebugId::parse);
                id = id.or(in_frame);
                lines.push(Line::Frame(raw, frame));
            } else {
                lines.push(header(raw, above_frames).unwrap_or(Line::Other(raw)));
            }
        }
        (frames > 0).then_some(Self { text, id: hints.debug_id.or(id)?, lines })
    }

    pub(super) fn requests(&self, add: &mut dyn FnMut(ArtifactRequest)) {
        add(ArtifactRequest::Mapping { id: self.id });
    }

    pub(super) fn resolve(&self, artifacts: &ArtifactSet<'_>) -> Resolved {
        let mut out = Out::new(self.text.len());
        let Some(mapping) = artifacts.mapping(&self.id) else {
            let frames = self.lines.iter().filter(|l| matches!(l, Line::Frame(..))).count();
            return Resolved { text: self.text.to_owned(), frames, resolved: 0, exception_type: None };
        };
        let mut outline = None;
        let mut thrown = None;
        let mut printed = 0;
        let mut exception_type = None;
        for line in &self.lines {
            match line {
                Line::Other(raw) => out.verbatim(raw),
                Line::Header { before, class, rest } => {
                    let original = mapping.class(class).unwrap_or(class);
                    thrown = Some(original);
                    if before.is_empty() && original != *class {
                        exception_type.get_or_insert_with(|| ((*class).to_owned(), original.to_owned()));
                        out.always_use();
                    }
                    out.verbatim(&format!("{before}{original}{rest}"));
                }
                Line::Frame(raw, _) if out.is_full() || printed >= FRAMES_OUT_MAX => out.raw_frame(raw),
                Line::Frame(raw, frame) => {
                    let retraced =
                        mapping.retrace(frame.class, frame.method, frame.line, outline.take(), thrown.take());
                    match retraced {
                        None => out.raw_frame(raw),
                        Some(Retraced::Outline(at)) => outline = Some(at),
                        Some(Retraced::Frames(frames)) => {
                            printed += frames.len();
                            let lines: Vec<String> = frames.iter().map(|f| print(frame, f)).collect();
                            out.resolved_frame(&lines.join("\n"));
                        }
                    }
                }
            }
        }
        Resolved { exception_type, ..out.finish(self.text) }
    }
}

fn print(raw: &RawFrame<'_>, frame: &JavaFrame<'_>) -> String {
    let mut text = format!("{}{}{}.{}({}", raw.indent, raw.module, frame.class, frame.method, frame.file);
    if let Some(line) = frame.line {
        let written = write!(text, ":{line}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    text.push(')');
    text
}

/// Parses `\tat [module/]class.method(file[:line])`. A blank before the parenthesis would be JavaScript.
fn frame(line: &str) -> Option<RawFrame<'_>> {
    let at = line.len() - line.trim_start().len();
    let rest = line[at..].strip_prefix("at ")?;
    let (path, place) = rest.trim_end().strip_suffix(')')?.split_once('(')?;
    let (class, method) = path.rsplit_once('.')?;
    let (module, class) = class.rsplit_once('/').map_or(("", class), |(m, c)| (&class[..m.len() + 1], c));
    let is_name = |name: &str| !name.is_empty() && !name.contains([' ', '@', ':']);
    if !is_name(class) || !is_name(method) || place.contains(['(', '/']) {
        return None;
    }
    let (file, line_number) = match place.rsplit_once(':') {
        Some((file, number)) => (file, Some(number.parse().ok()?)),
        None => (place, None),
    };
    Some(RawFrame { indent: &line[..at + 3], module, class, method, file, line: line_number })
}

/// Parses `Caused by: class: message`, `Suppressed: …`, `Exception in thread "main" …`, and the first line of a trace.
fn header(line: &str, is_first: bool) -> Option<Line<'_>> {
    let trimmed = line.trim_start();
    let rest = ["Caused by: ", "Suppressed: "].iter().find_map(|p| trimmed.strip_prefix(p)).or_else(|| {
        let after_thread = trimmed.strip_prefix("Exception in thread \"").and_then(|t| Some(t.split_once("\" ")?.1));
        after_thread.or(is_first.then_some(trimmed))
    })?;
    let before = &line[..line.len() - rest.len()];
    let end = rest.find(':').unwrap_or(rest.trim_end().len());
    let class = &rest[..end];
    let is_class =
        !class.is_empty() && class.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | '-'));
    is_class.then_some(Line::Header { before, class, rest: &rest[end..] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str, &str, Option<u32>)>) {
        assert_eq!(frame(line).map(|f| (f.class, f.method, f.file, f.line)), expected, "{line}");
    }

    #[test]
    fn frames_are_read() {
        check("\tat a.b.c(SourceFile:12)", Some(("a.b", "c", "SourceFile", Some(12))));
        check("\tat a.b.<init>(Unknown Source)", Some(("a.b", "<init>", "Unknown Source", None)));
        check(
            "\tat java.base/java.lang.Thread.run(Thread.java:833)",
            Some(("java.lang.Thread", "run", "Thread.java", Some(833))),
        );
        check("    at f (https://c.d/a.js:1:633)", None);
        check("    at https://c.d/a.js:1:633", None);
        check("\t... 12 more", None);
        check("at . #00 abs 0 virt 1106 _kDartVmSnapshotInstructions+198", None);
    }

    #[test]
    fn headers_contain_their_exception() {
        for (line, first, expected) in [
            ("a.b: boom: x", true, Some("a.b")),
            ("Caused by: a.b", false, Some("a.b")),
            ("\tSuppressed: a.b: x", false, Some("a.b")),
            ("Exception in thread \"main\" a.b: x", true, Some("a.b")),
            ("a message of two lines", true, None),
            ("a.b: boom", false, None),
        ] {
            let class = header(line, first).map(|h| match h {
                Line::Header { class, .. } => class,
                _ => "",
            });
            assert_eq!(class, expected, "{line}");
        }
    }
}
