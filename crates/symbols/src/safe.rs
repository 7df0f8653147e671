//! Sanitizes names from uploaded files, which are printed inside traces.

use std::borrow::Cow;

use crate::limits::NAME_BYTES_MAX;

/// Replaces control characters, line separators and direction overrides, and cuts to [`NAME_BYTES_MAX`].
///
/// The result can neither start a line (and so forge a frame) nor reorder or hide adjacent text.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let end = (0..=text.len().min(NAME_BYTES_MAX)).rev().find(|&at| text.is_char_boundary(at));
    let cut = &text[..end.unwrap_or(0)];
    // The fast path for printable ASCII.
    if cut.bytes().all(|b| (0x20..0x7f).contains(&b)) || !cut.contains(is_hostile) {
        return Cow::Borrowed(cut);
    }
    Cow::Owned(cut.chars().map(|c| if is_hostile(c) { char::REPLACEMENT_CHARACTER } else { c }).collect())
}

/// Like [`one_line`] for a line of source code: keeps tabs and does not cut.
pub(crate) fn source_line(text: &str) -> String {
    text.chars().map(|c| if c != '\t' && is_hostile(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(one_line(text), expected);
    }

    #[test]
    fn a_name_cannot_leave_its_line() {
        check("plain::name<T>", "plain::name<T>");
        check("größe", "größe");
        check("f\n#99 fake (a:1:1)", "f\u{fffd}#99 fake (a:1:1)");
        check("a\u{2028}b\r\u{1b}[31m\u{202e}", "a\u{fffd}b\u{fffd}\u{fffd}[31m\u{fffd}");
    }

    #[test]
    fn lines_of_source_keep_their_tabs() {
        assert_eq!(source_line("\tif (a) {\u{1b}\u{202e}"), "\tif (a) {\u{fffd}\u{fffd}");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let cut = "ü".repeat(NAME_BYTES_MAX);
        assert_eq!(one_line(&cut).len(), NAME_BYTES_MAX);
    }
}
