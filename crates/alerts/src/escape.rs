//! Escaping of what users have written, for HTML, SVG and XML.

use tidewatch_limits as limits;

/// Appends `value` as characters of an element or a quoted attribute. Characters that XML forbids become a space.
pub fn push(out: &mut String, value: &str) {
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
}

/// The escaped value.
pub fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    push(&mut out, value);
    out
}

/// The address of a link, if it cannot run a script: `http`, `https` or `mailto`, or a path of this server.
pub fn safe_link(address: &str) -> Option<&str> {
    if address.len() > limits::MARKDOWN_LINK_BYTES_MAX || address.chars().any(|c| c.is_control()) {
        return None;
    }
    let is_path = address.starts_with('/') && !address.starts_with("//") && !address.starts_with("/\\");
    let has_scheme = ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    (is_path || has_scheme).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        for (value, expected) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;"),
            ("a\u{0}b\u{1b}c\nd", "a b c\nd"),
            ("]]>", "]]&gt;"),
            ("\u{e9}\u{1f600}", "\u{e9}\u{1f600}"),
        ] {
            assert_eq!(escaped(value), expected);
        }
    }

    #[test]
    fn only_links_that_run_nothing() {
        for (address, is_safe) in [
            ("https://example.com/a?b=c#d", true),
            ("HTTP://example.com", true),
            ("mailto:a@example.com", true),
            ("/issues/1", true),
            ("//example.com", false),
            ("/\\example.com", false),
            ("javascript:alert(1)", false),
            ("JaVaScRiPt:alert(1)", false),
            ("java\nscript:alert(1)", false),
            (" javascript:alert(1)", false),
            ("data:text/html,<script>", false),
            ("vbscript:x", false),
            ("file:///etc/passwd", false),
            ("https:example.com", false),
            ("a/b", false),
            ("#top", false),
            ("", false),
        ] {
            assert_eq!(safe_link(address).is_some(), is_safe, "{address:?}");
        }
    }
}
