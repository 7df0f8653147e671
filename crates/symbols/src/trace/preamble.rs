//! The preamble of native traces, which ends at a separator line.

/// Whether the line consists of at least two groups of `***`.
pub(super) fn is_separator(line: &str) -> bool {
    let mut groups = line.split_ascii_whitespace().peekable();
    groups.peek().is_some() && line.split_ascii_whitespace().count() >= 2 && groups.all(|g| g == "***")
}

/// Splits at the first separator line into the text above it, with line breaks, and the text below.
pub(super) fn split_preamble(text: &str) -> Option<(&str, &str)> {
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

    #[test]
    fn separators_are_lines_of_stars() {
        // Spec: symbolication, rule 3.
        check("*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***", true);
        check("  *** ***\r\n", true);
        check("NSRangeException: *** -[__NSArrayM objectAtIndexedSubscript:]: index 5", false);
        check("***", false);
        check("", false);
        check("**** ****", false);
    }
}
