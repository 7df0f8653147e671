//! The similarity of two Issues. Issues: similar issues.

use std::collections::BTreeSet;

use crate::grouping::message::write_template;
use crate::grouping::{Occurrence, components};

/// Frames next to the error that are compared.
const FRAMES_MAX: usize = 20;
/// Greatest similarity of Issues that differ in frames or messages.
const ALMOST: f64 = 0.9;
/// Words of a message that are compared.
const WORDS_MAX: usize = 50;
/// The least similarity of similar Issues.
pub const SIMILAR: f64 = 1.0 / 3.0;

/// Features by which two Issues are compared.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// `exception.type`; empty when absent.
    pub exception_type: &'a str,
    /// `exception.message`; empty when absent.
    pub message: &'a str,
    /// Header and frames.
    pub stack_trace: &'a str,
}

/// The similarity, 0 to 1: 0 for different types, else the greater overlap of the frames that count and of the messages
/// without values. The overlap is the size of the intersection over that of the union. 1 only where both agree.
/// Symmetric.
pub fn issue_similarity(one: Compared<'_>, other: Compared<'_>) -> f64 {
    if one.exception_type.trim() != other.exception_type.trim() {
        return 0.0;
    }
    let (own, others) = (frames(one), frames(other));
    let (frames, messages) = (overlap(&own, &others), messages(one.message, other.message));
    let no_frames = own.is_empty() && others.is_empty();
    let no_messages = one.message.trim().is_empty() && other.message.trim().is_empty();
    let most = frames.max(messages);
    let agree = (frames >= 1.0 || no_frames) && (messages >= 1.0 || no_messages);
    if agree { most } else { most.min(ALMOST) }
}

/// The frames next to the error that count.
fn frames(of: Compared<'_>) -> BTreeSet<String> {
    let Compared { exception_type, message, stack_trace } = of;
    let components = components(&Occurrence { exception_type, message, stack_trace, ..Occurrence::default() });
    let frames = components.exceptions.into_iter().filter(|exception| exception.is_counted).flat_map(|one| one.frames);
    frames.filter(|frame| frame.left_out.is_none()).map(|frame| frame.text).take(FRAMES_MAX).collect()
}

/// The overlap of the words of two messages; 1 only where they differ in values alone.
fn messages(one: &str, other: &str) -> f64 {
    let (mut left, mut right) = (String::new(), String::new());
    write_template(one, &mut left);
    write_template(other, &mut right);
    if left == right {
        return if left.is_empty() { 0.0 } else { 1.0 };
    }
    overlap(&words(one), &words(other)).min(ALMOST)
}

/// Words of at least three letters, in lower case. Numbers and ids differ between occurrences.
fn words(message: &str) -> BTreeSet<String> {
    let words = message.split(|letter: char| !letter.is_alphabetic()).filter(|word| word.chars().nth(2).is_some());
    words.take(WORDS_MAX).map(str::to_lowercase).collect()
}

fn overlap(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let union = one.union(other).count();
    if union == 0 { 0.0 } else { one.intersection(other).count() as f64 / union as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: (&str, &str, &str), other: (&str, &str, &str), expected: f64) {
        let compared = |(exception_type, message, stack_trace)| Compared { exception_type, message, stack_trace };
        let (one, other) = (compared(one), compared(other));
        let found = issue_similarity(one, other);
        assert!((found - expected).abs() < 1e-9, "{found} {one:?} {other:?}");
        assert_eq!(found.to_bits(), issue_similarity(other, one).to_bits(), "symmetric");
    }

    #[test]
    fn similarity_table() {
        let stack = |frames: &[&str]| {
            let frames: Vec<String> = frames.iter().map(|f| format!("\n    at {f} (app.js:1{}:2)", f.len())).collect();
            format!("E: m{}", frames.concat())
        };
        let (abc, abd) = (stack(&["a", "bb", "ccc"]), stack(&["a", "bb", "dddd"]));
        check(("E", "", &abc), ("E", "", &abc), 1.0);
        check(("E", "", &abc), ("E", "", &abd), 0.5);
        check(("E", "", &abc), ("F", "", &abc), 0.0);
        // Two keys are two errors, and so are two places.
        check(("E", "'a'", &abc), ("E", "'b'", &abc), ALMOST);
        check(("E", "no user 7", &abc), ("E", "no user 8", &abd), ALMOST);
        check(("E", "no user 7", &abc), ("E", "no user 8", &abc), 1.0);
        // Numbers are no words.
        check(("E", "no user 7", "E: no user 7"), ("E", "no user 8", "E: no user 8"), 1.0);
        check(("E", "connection refused by db", ""), ("E", "connection closed by peer", ""), 1.0 / 4.0);
        check(("E", "", ""), ("E", "", ""), 0.0);
    }
}
