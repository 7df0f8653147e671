//! The title of an Issue, and the group of a captured message. SPEC classification, rule 3; WIRE 1.4.

use sha2::{Digest, Sha256};

const TITLE_CHARACTERS_MAX: usize = 200;

/// The group of a captured message: the first 8 bytes of the SHA-256 of the trimmed text, big-endian. WIRE 1.4.
pub fn message_group(text: &str) -> u64 {
    let digest = Sha256::digest(text.trim());
    u64::from_be_bytes(*digest.first_chunk().expect("a SHA-256 digest has 32 bytes"))
}

/// `type: first line of the message`, at most 200 characters. Without both, the first line of the trace.
pub fn issue_title(exception_type: &str, message: &str, stack_trace: &str) -> String {
    let line = |text: &str| text.trim().lines().next().unwrap_or("").trim_end().to_owned();
    let title = match (exception_type.trim(), line(message)) {
        ("", message) if message.is_empty() => line(stack_trace),
        ("", message) => message,
        (exception_type, message) if message.is_empty() => line(exception_type),
        (exception_type, message) => [&line(exception_type), ": ", &message].concat(),
    };
    title.chars().take(TITLE_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let long = "x".repeat(300);
        for (exception_type, message, stack, expected) in [
            ("Error", "boom", "", "Error: boom".to_owned()),
            ("Error", "first\nsecond", "", "Error: first".to_owned()),
            ("Error", "", "", "Error".to_owned()),
            ("", "only a message", "", "only a message".to_owned()),
            ("", "", "Fatal Signal SIGSEGV (11)\n#0 f", "Fatal Signal SIGSEGV (11)".to_owned()),
            ("", "", "", String::new()),
            ("E", long.as_str(), "", format!("E: {}", "x".repeat(197))),
        ] {
            assert_eq!(issue_title(exception_type, message, stack), expected);
        }
    }
}
