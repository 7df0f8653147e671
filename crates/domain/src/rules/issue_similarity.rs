//! The similarity of two Issues. Issues: similar issues.

use std::collections::BTreeSet;

use super::stack_normalize::normalize_stack;

/// Frames next to the error that are compared.
const FRAMES_MAX: usize = 10;
/// Words of a message that are compared.
const WORDS_MAX: usize = 50;
/// The least similarity of similar Issues.
pub const SIMILAR: f64 = 1.0 / 3.0;

/// What two Issues are compared by.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// `exception.type`; empty when absent.
    pub exception_type: &'a str,
    /// `exception.message`; empty when absent.
    pub message: &'a str,
    /// Header and frames.
    pub stack_trace: &'a str,
}

/// The similarity, 0 to 1: 0 for different types, else the greater overlap of the first frames and of the words of the
/// messages. The overlap is the size of the intersection over that of the union. Symmetric.
pub fn issue_similarity(one: Compared<'_>, other: Compared<'_>) -> f64 {
    if one.exception_type.trim() != other.exception_type.trim() {
        return 0.0;
    }
    let frames = overlap(&frames(one), &frames(other));
    frames.max(overlap(&words(one.message), &words(other.message)))
}

/// The first normalized lines after the header.
fn frames(of: Compared<'_>) -> BTreeSet<String> {
    let normalized = normalize_stack(of.stack_trace);
    normalized.lines().skip(1).take(FRAMES_MAX).map(str::to_owned).collect()
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
        // Numbers are no words.
        check(("E", "no user 7", "E: no user 7"), ("E", "no user 8", "E: no user 8"), 1.0);
        check(("E", "connection refused by db", ""), ("E", "connection closed by peer", ""), 1.0 / 4.0);
        check(("E", "", ""), ("E", "", ""), 0.0);
    }
}
