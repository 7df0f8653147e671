//! The severity of a log record. SPEC logs mapping, DECISIONS 17, WIRE 8.4.

use std::borrow::Cow;

/// The severity text in upper case, else the name of the number's range, else empty.
pub fn severity_text(text: &str, number: u8) -> Cow<'_, str> {
    let text = text.trim();
    if text.is_empty() {
        Cow::Borrowed(severity_name(number))
    } else if text.chars().any(char::is_lowercase) {
        Cow::Owned(text.to_uppercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// The name of an OTLP severity number. Four numbers share a name; numbers above 24 are `FATAL`.
fn severity_name(number: u8) -> &'static str {
    match number {
        0 => "",
        1..=4 => "TRACE",
        5..=8 => "DEBUG",
        9..=12 => "INFO",
        13..=16 => "WARN",
        17..=20 => "ERROR",
        21.. => "FATAL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // DECISIONS 17, WIRE 8.4.
    #[test]
    fn severity_table() {
        for (text, number, expected) in [
            ("info", 0, "INFO"),
            ("Warning", 13, "WARNING"),
            ("ERROR", 9, "ERROR"),
            ("", 1, "TRACE"),
            ("", 8, "DEBUG"),
            ("", 9, "INFO"),
            (" ", 13, "WARN"),
            ("", 17, "ERROR"),
            ("", 24, "FATAL"),
            ("", 25, "FATAL"),
            ("", 0, ""),
        ] {
            assert_eq!(severity_text(text, number), expected);
        }
    }
}
