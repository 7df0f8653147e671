//! Version 1 of the grouping rule: the hash of the trace with its lines normalized. Stored rows keep hashes of it.

mod stack_normalize;

use sha2::{Digest, Sha256};

pub use stack_normalize::normalize_stack;

/// The group of a stack trace: the first 8 bytes of the SHA-256 of its normalized form, big-endian. The fingerprint is
/// its 16 hexadecimal digits. `stack_trace` is the displayed one, symbolicated where possible (DECISIONS 14).
///
/// The message is excluded where the trace begins with `type: message` and frames follow.
pub fn issue_group(exception_type: &str, message: &str, stack_trace: &str) -> u64 {
    let parts = without_message(exception_type, message, stack_trace).unwrap_or([stack_trace, "", ""]);
    let digest = Sha256::digest(normalize_stack(&parts.concat()));
    let first_bytes = digest.first_chunk().expect("a SHA-256 digest has 32 bytes");
    u64::from_be_bytes(*first_bytes)
}

/// Cuts `type: message` at the start of the trace down to `type`. Returns the remaining parts; `None` when the trace
/// starts otherwise or has no frames. Where the trace repeats the message at its end (Python), only its first line stays.
pub fn without_message<'a>(exception_type: &'a str, message: &'a str, stack_trace: &'a str) -> Option<[&'a str; 3]> {
    let frames = stack_trace
        .strip_prefix(exception_type)
        .filter(|_| !exception_type.is_empty() && !message.is_empty())?
        .strip_prefix(": ")?
        .strip_prefix(message)
        .filter(|rest| rest.starts_with(['\n', '\r']) && !rest.trim().is_empty())?;
    Some(match frames.trim_end().strip_suffix(message) {
        // The first line stays, so that normalization recognizes its line as a header.
        Some(before) if message.contains('\n') => [exception_type, before, message.lines().next().unwrap_or("")],
        _ => [exception_type, frames, ""],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_same(same: bool, left: (&str, &str, &str), right: (&str, &str, &str)) {
        let groups = [left, right].map(|(exception_type, message, stack)| {
            let header = [exception_type, ": ", message].concat();
            issue_group(exception_type, message, &[&header, stack].concat())
        });
        assert_eq!(groups[0] == groups[1], same, "{left:?} {right:?}");
    }

    // Spec: classification, rule 3: grouped by the normalized stack trace.
    #[test]
    fn grouping_table() {
        let stack = "\n    at f (/app/a.js:10:5)";
        check_same(true, ("E", "no user 1", stack), ("E", "no user 2", stack));
        check_same(true, ("E", "one line", stack), ("E", "two\nlines: here", stack));
        let python =
            |message: &str| format!("\nTraceback (most recent call last):\n  File \"a.py\", line 3\nE: {message}\n");
        check_same(true, ("E", "one", &python("one")), ("E", "two\nlines", &python("two\nlines")));
        check_same(true, ("E", "x", stack), ("E", "x", "\n    at f (/srv/other/a.js:10:9)"));
        check_same(false, ("E", "x", stack), ("F", "x", stack));
        check_same(false, ("E", "x", stack), ("E", "x", "\n    at g (/app/a.js:10:5)"));
        // Without frames the message stays, without its numbers (Go records no stack).
        check_same(false, ("E", "connection refused", ""), ("E", "no such file", ""));
        check_same(true, ("E", "no user 100001", ""), ("E", "no user 100002", ""));
    }

    #[test]
    fn sixteen_digits_of_the_sha_256() {
        // printf 'E\nat f' | sha256sum
        let expected = Sha256::digest("E\nat f");
        let group = issue_group("E", "m", "E: m\n  at f");
        assert!(
            expected.iter().map(|byte| format!("{byte:02x}")).collect::<String>().starts_with(&format!("{group:016x}"))
        );
    }
}
