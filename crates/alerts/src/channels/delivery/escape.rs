//! Strings of users in the markup of services that is not HTML.

/// Escapes a string for Slack's `mrkdwn`, where these three characters start mentions and links.
pub fn slack(value: &str) -> String {
    value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Escapes ASCII punctuation for Markdown.
pub fn markdown(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        if "\\`*_{}[]()<>#|~@:".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// A code block of Markdown, which no content can end.
pub fn code_block(value: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in value.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}text\n{value}\n{fence}")
}

/// One line: line breaks and other white space become blanks.
pub fn one_line(value: &str) -> String {
    value.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Item: markup in names and messages is not interpreted.
    #[test]
    fn markup_is_escaped() {
        assert_eq!(slack("<!channel> & <https://a|b>"), "&lt;!channel&gt; &amp; &lt;https://a|b&gt;");
        assert_eq!(markdown("[a](http://b) @everyone *c*"), "\\[a\\]\\(http\\://b\\) \\@everyone \\*c\\*");
        assert_eq!(code_block("a"), "```text\na\n```");
        assert_eq!(code_block("a\n```\n# b\n````"), "`````text\na\n```\n# b\n````\n`````");
        assert_eq!(one_line(" a\r\n b\tc "), "a b c");
    }
}
