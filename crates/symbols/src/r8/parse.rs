//! Parses `mapping.txt` line by line.

use serde::Deserialize;

use crate::{DebugId, SymbolError, error::Result};

/// A relevant line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'t> {
    Class {
        original: &'t str,
        obfuscated: &'t str,
    },
    Method(Method<'t>),
    /// A comment on the class or member before it.
    Comment(Comment),
}

/// `from:to:type class.name(arguments):original_from:original_to -> obfuscated`
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) struct Method<'t> {
    /// The obfuscated lines that it covers; `None` for all.
    pub lines: Option<(u32, u32)>,
    /// The class of an inlined or moved method.
    pub class: Option<&'t str>,
    pub name: &'t str,
    pub original_lines: Option<(u32, Option<u32>)>,
    pub obfuscated: &'t str,
}

/// A comment that R8 writes as JSON after a `#`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Comment {
    SourceFile(String),
    Synthesized,
    Outline,
    /// Line in the outline, line in the caller.
    OutlineCallsite(Vec<(u32, u32)>),
    /// Omit this many innermost frames if this exception was thrown here.
    RewriteFrame {
        exception: String,
        remove: u32,
    },
}

#[derive(Deserialize)]
struct RawComment {
    id: String,
    #[serde(rename = "fileName")]
    file_name: Option<String>,
    positions: Option<std::collections::BTreeMap<String, u32>>,
    #[serde(default)]
    conditions: Vec<String>,
    #[serde(default)]
    actions: Vec<String>,
}

/// The entries of a mapping. Lines that are neither classes nor methods nor known comments are skipped.
pub(super) fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    text.lines().filter_map(|line| {
        let trimmed = line.trim();
        if let Some(comment) = trimmed.strip_prefix('#') {
            return self::comment(comment.trim_start()).map(Entry::Comment);
        }
        let (left, right) = trimmed.rsplit_once(" -> ")?;
        match right.strip_suffix(':') {
            Some(obfuscated) if !line.starts_with([' ', '\t']) => {
                Some(Entry::Class { original: left.trim(), obfuscated })
            }
            _ => method(left, right).map(Entry::Method),
        }
    })
}

fn method<'t>(left: &'t str, obfuscated: &'t str) -> Option<Method<'t>> {
    let (lines, rest) = leading_lines(left);
    let open = rest.find('(')?;
    let close = open + rest[open..].find(')')?;
    let (_, full) = rest[..open].trim_start().rsplit_once(' ')?;
    let (class, name) = full.rsplit_once('.').map_or((None, full), |(class, name)| (Some(class), name));
    let mut numbers = rest[close + 1..].strip_prefix(':').into_iter().flat_map(|n| n.split(':'));
    let original_from = numbers.next().and_then(|n| n.parse().ok());
    let original_to = numbers.next().and_then(|n| n.parse().ok());
    Some(Method { lines, class, name, original_lines: original_from.map(|from| (from, original_to)), obfuscated })
}

fn leading_lines(text: &str) -> (Option<(u32, u32)>, &str) {
    let mut parts = text.splitn(3, ':');
    let numbers = (parts.next().and_then(|n| n.parse().ok()), parts.next().and_then(|n| n.parse().ok()));
    match (numbers, parts.next()) {
        ((Some(from), Some(to)), Some(rest)) => (Some((from, to)), rest),
        _ => (None, text),
    }
}

fn comment(text: &str) -> Option<Comment> {
    if !text.starts_with('{') {
        return None;
    }
    let raw: RawComment = serde_json::from_str(text).ok()?;
    match raw.id.strip_prefix("com.android.tools.r8.").unwrap_or(&raw.id) {
        "sourceFile" => raw.file_name.map(Comment::SourceFile),
        "synthesized" => Some(Comment::Synthesized),
        "outline" => Some(Comment::Outline),
        "outlineCallsite" => {
            let positions = raw.positions.unwrap_or_default();
            Some(Comment::OutlineCallsite(positions.iter().filter_map(|(k, v)| Some((k.parse().ok()?, *v))).collect()))
        }
        "rewriteFrame" => {
            let exception = raw.conditions.iter().find_map(|c| c.strip_prefix("throws(L")?.strip_suffix(";)"))?;
            let remove = raw.actions.iter().find_map(|a| a.strip_prefix("removeInnerFrames(")?.strip_suffix(')'))?;
            Some(Comment::RewriteFrame { exception: exception.replace('/', "."), remove: remove.parse().ok()? })
        }
        _ => None,
    }
}

/// The text of a mapping. An error for encodings other than UTF-8.
pub(super) fn text(bytes: &[u8]) -> Result<&str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|_| SymbolError::malformed("the mapping is not UTF-8"))
}

/// Whether a file is a mapping: its first lines contain a header of R8 or ProGuard, or a class.
pub(crate) fn looks_like_mapping(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(64 << 10)];
    let head = String::from_utf8_lossy(head);
    let mut lines = head.trim_start_matches('\u{feff}').lines().filter(|l| !l.trim().is_empty()).take(200);
    lines.any(|line| {
        let is_class =
            line.strip_suffix(':').and_then(|l| l.split_once(" -> ")).is_some_and(|(original, obfuscated)| {
                let is_name = |name: &str| !name.is_empty() && !name.contains([' ', '(', '\t', '"', '{']);
                is_name(original) && is_name(obfuscated)
            });
        is_class || line.starts_with("# compiler: ") || line.starts_with("# pg_map_id: ")
    })
}

/// The `# pg_map_id:` of the header.
pub(crate) fn map_id(bytes: &[u8]) -> Option<DebugId> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 10)]).into_owned();
    let mut lines = head.lines().take_while(|l| l.starts_with('#') || l.trim().is_empty());
    DebugId::parse(lines.find_map(|l| l.strip_prefix("# pg_map_id:"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Option<Entry<'_>>) {
        assert_eq!(entries(line).next(), expected, "{line}");
    }

    fn method<'t>(
        lines: Option<(u32, u32)>,
        class: Option<&'t str>,
        name: &'t str,
        original: Option<(u32, Option<u32>)>,
    ) -> Option<Entry<'t>> {
        Some(Entry::Method(Method { lines, class, name, original_lines: original, obfuscated: "a" }))
    }

    #[test]
    fn lines_are_classes_methods_or_comments() {
        check("com.example.A$B -> a.b:", Some(Entry::Class { original: "com.example.A$B", obfuscated: "a.b" }));
        check(
            "    1:6:void save(android.view.View):48:53 -> a",
            method(Some((1, 6)), None, "save", Some((48, Some(53)))),
        );
        check("    1:6:void a.B.save(int,long):48 -> a", method(Some((1, 6)), Some("a.B"), "save", Some((48, None))));
        check("    void <init>() -> a", method(None, None, "<init>", None));
        check("    int field0 -> a", None);
        check(
            r##"# {"id":"sourceFile","fileName":"A.kt"}"##,
            Some(Entry::Comment(Comment::SourceFile("A.kt".to_owned()))),
        );
        check(r##"    # {"id":"com.android.tools.r8.synthesized"}"##, Some(Entry::Comment(Comment::Synthesized)));
        check(
            r##"# {"id":"com.android.tools.r8.rewriteFrame","conditions":["throws(Ljava/lang/NullPointerException;)"],"actions":["removeInnerFrames(1)"]}"##,
            Some(Entry::Comment(Comment::RewriteFrame {
                exception: "java.lang.NullPointerException".to_owned(),
                remove: 1,
            })),
        );
        check("# compiler: R8", None);
        check("", None);
    }

    #[test]
    fn mappings_are_detected_by_header_or_class_line() {
        assert!(looks_like_mapping(b"# compiler: R8\n"));
        assert!(looks_like_mapping(b"\n\na.b.C -> d:\n"));
        assert!(!looks_like_mapping(b"const f = () -> { x }:\n{}"));
        assert_eq!(map_id(b"# compiler: R8\n# pg_map_id: 21be3e9\n"), DebugId::parse("21be3e9"));
    }
}
