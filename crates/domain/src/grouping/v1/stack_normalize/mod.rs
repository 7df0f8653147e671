//! Normalizes a stack trace: removes what differs between two occurrences of one bug. WIRE 4.6.
//!
//! - [`lines`]: rules for lines: messages of headers, JavaScript function names, `... N more`.
//! - [`words`]: rules inside a line: origins, folders, columns, versions, ids, addresses.
//!
//! Linear time, no panics, and idempotent.

mod lines;
mod words;

/// Maximum number of passes. Real stack traces are stable after the first one.
const PASSES_MAX: usize = 4;

/// The normalized trace: non-blank lines, trimmed.
///
/// A trace of a single line keeps its message, because nothing else distinguishes it.
pub fn normalize_stack(stack_trace: &str) -> String {
    let mut current = lines::pass(stack_trace);
    for _ in 1..PASSES_MAX {
        let next = lines::pass(&current);
        if next == current {
            return current;
        }
        current = next;
    }
    letters(&current)
}

/// Fallback for a text that does not stabilize, which no program prints: its letters, which no rule changes.
fn letters(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect();
        words.join(" ")
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
