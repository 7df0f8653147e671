//! References to secrets: `${env:NAME}` in a file stands for the value of an environment variable.

/// Answer of the server in place of a stored secret; sent back, it keeps the stored value.
pub const MASK: &str = "********";

/// The name of the variable, if the whole value is a reference.
pub fn variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix("${env:")?.strip_suffix('}')?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_first = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    (is_name && is_first).then_some(name)
}

/// A reference to a variable.
pub fn to(name: &str) -> String {
    format!("${{env:{name}}}")
}

/// The name of a variable for a secret: of its kind, its object and its place, in the characters that variables have.
pub fn name(parts: &[&str]) -> String {
    let mut name = String::from("TIDEWATCH");
    for part in parts {
        name.push('_');
        for c in part.chars() {
            if c.is_ascii_alphanumeric() {
                name.push(c.to_ascii_uppercase());
            } else if !name.ends_with('_') {
                name.push('_');
            }
        }
        name.truncate(name.trim_end_matches('_').len());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_whole_values() {
        for (value, expected) in [
            ("${env:HOOK}", Some("HOOK")),
            ("${env:_a1}", Some("_a1")),
            ("${env:}", None),
            ("${env:1A}", None),
            ("${env:A-B}", None),
            ("Bearer ${env:A}", None),
            ("${file:/a}", None),
            ("$HOOK", None),
        ] {
            assert_eq!(variable(value), expected, "{value}");
        }
        assert_eq!(variable(&to("HOOK")), Some("HOOK"));
    }

    #[test]
    fn names_have_the_characters_of_variables() {
        for (parts, expected) in [
            (["channel", "ops (slack)", "webhookUrl"], "TIDEWATCH_CHANNEL_OPS_SLACK_WEBHOOKURL"),
            (["channel", "\u{65e5}\u{672c}", "secret"], "TIDEWATCH_CHANNEL_SECRET"),
            (["monitor", "a", "headers.X-Api-Key"], "TIDEWATCH_MONITOR_A_HEADERS_X_API_KEY"),
        ] {
            assert_eq!(name(&parts), expected);
            assert!(variable(&to(&name(&parts))).is_some());
        }
    }
}
