//! Source lines around the frames of a trace, from sources embedded in source maps.

use crate::{
    js::{Place, Script},
    limits::{CONTEXT_FRAMES_MAX, CONTEXT_LINE_BYTES_MAX, CONTEXT_LINES_AROUND},
    safe,
};

/// The source lines around a resolved frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceContext {
    /// File as printed in the resolved trace.
    pub file: String,
    /// One-based line, as printed.
    pub line: u32,
    /// One-based column, as printed.
    pub column: u32,
    /// Number of the first line in `lines`.
    pub first: u32,
    /// Lines without line breaks. `…` marks the cut ends of long lines.
    pub lines: Vec<String>,
    /// The column in the displayed line, in UTF-16 units. `None` past its end.
    pub mark: Option<u32>,
}

/// The source lines around distinct positions, in their order.
pub(super) fn around<'a>(places: impl Iterator<Item = (Script<'a>, Place<'a>)>) -> Vec<SourceContext> {
    let mut found: Vec<SourceContext> = Vec::new();
    // A linear search is enough for few frames.
    for (script, place) in places {
        if found.len() == CONTEXT_FRAMES_MAX {
            break;
        }
        let (file, column) = (place.source(), place.column.saturating_add(1));
        let is_known = |one: &SourceContext| (one.file.as_str(), one.line, one.column) == (file, place.line, column);
        if found.iter().any(is_known) {
            continue;
        }
        let Some((first, lines)) = script.context(&place, CONTEXT_LINES_AROUND) else { continue };
        let mut mark = None;
        let lines = (first..).zip(lines).map(|(number, line)| match number == place.line {
            true => {
                let (shown, at) = cut_around(line, place.column);
                mark = at;
                shown
            }
            false => cut(line, 0),
        });
        let lines = lines.collect();
        found.push(SourceContext { file: file.to_owned(), line: place.line, column, first, lines, mark });
    }
    found
}

/// Bytes kept before the column of a long line.
const BEFORE: usize = CONTEXT_LINE_BYTES_MAX / 3;

/// The displayed line, and the column in it (UTF-16 units).
fn cut_around(line: &str, column: u32) -> (String, Option<u32>) {
    let Some(at) = byte_of(line, column) else { return (cut(line, 0), None) };
    let from = match line.len() > CONTEXT_LINE_BYTES_MAX && at > CONTEXT_LINE_BYTES_MAX / 2 {
        true => floor(line, at - BEFORE),
        false => 0,
    };
    let before = line[from..at].encode_utf16().count() + usize::from(from > 0);
    (cut(line, from), u32::try_from(before).ok())
}

/// At most [`CONTEXT_LINE_BYTES_MAX`] bytes of the line from offset `from` on. `…` marks cut ends.
fn cut(line: &str, from: usize) -> String {
    let to = floor(line, from.saturating_add(CONTEXT_LINE_BYTES_MAX));
    let mut shown = String::from(if from > 0 { "…" } else { "" });
    shown.push_str(&safe::source_line(&line[from..to]));
    if to < line.len() {
        shown.push('…');
    }
    shown
}

/// The last character boundary at or before an offset.
fn floor(line: &str, at: usize) -> usize {
    (0..=at.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0)
}

/// The offset of a column in UTF-16 units; `None` past the end of the line.
fn byte_of(line: &str, column: u32) -> Option<usize> {
    let mut units = 0;
    let mut found = line.char_indices().find(|(_, c)| {
        let is_there = units >= column;
        units += c.len_utf16() as u32;
        is_there
    });
    found.take().map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(line: &str, column: u32, expected: (&str, Option<u32>)) {
        let (shown, mark) = cut_around(line, column);
        assert_eq!((shown.as_str(), mark), expected);
    }

    #[test]
    fn short_lines_are_not_cut() {
        check("\tthrow new Error();", 1, ("\tthrow new Error();", Some(1)));
        check("😀 = x\u{202e}", 5, ("😀 = x\u{fffd}", Some(5)));
        check("}", 1, ("}", None));
        check("", 0, ("", None));
    }

    #[test]
    fn long_lines_are_cut_around_the_column() {
        let line = format!("{}fail(){}", "a".repeat(1000), "ü".repeat(1000));
        let (shown, mark) = cut_around(&line, 1000);
        assert!(shown.starts_with("…aaa") && shown.ends_with("ü…"), "{shown}");
        assert_eq!(shown.chars().skip(mark.unwrap_or(0) as usize).take(6).collect::<String>(), "fail()");
        assert_eq!(cut_around(&line, 3).1, Some(3));
    }

    proptest! {
        #[test]
        fn displayed_lines_are_bounded(line in "[a😀ü\t\u{0}]{0,400}", column in 0u32..900) {
            let (shown, mark) = cut_around(&line, column);
            // Three bytes for each `…`; a control character becomes three bytes.
            prop_assert!(shown.len() <= 3 * CONTEXT_LINE_BYTES_MAX + 6);
            prop_assert!(mark.is_none_or(|mark| (mark as usize) < shown.encode_utf16().count()));
        }
    }
}
