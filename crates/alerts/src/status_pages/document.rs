//! Documents for visitors: pages, feeds and pictures. [`maud`] escapes every string that is spliced into them.

use maud::Markup;

/// The characters of a document. Characters that XML forbids, and other control characters, become a space.
pub(super) fn document(markup: Markup) -> String {
    let is_permitted = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'));
    let text = markup.into_string();
    if text.chars().all(is_permitted) {
        return text;
    }
    text.chars().map(|c| if is_permitted(c) { c } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn strings_are_escaped_and_characters_are_permitted() {
        for (value, expected) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("\" onload='x' &amp;", "&quot; onload='x' &amp;amp;"),
            ("a\u{0}b\u{1b}c\rd\u{fffe}e\u{9f}f\ng\th", "a b c d e f\ng\th"),
            ("]]>", "]]&gt;"),
            ("\u{e9}\u{1f600}", "\u{e9}\u{1f600}"),
        ] {
            let markup = html! { a title=(value) { (value) } };
            assert_eq!(document(markup), format!("<a title=\"{expected}\">{expected}</a>"));
        }
    }
}
