//! A stack trace without what differs between two occurrences of one bug. WIRE 4.6.
//!
//! - [`lines`]: what is decided per line: headers lose their message, JavaScript function names, `... N more`.
//! - [`words`]: what is decided inside a line: origins, folders, columns, versions, ids, addresses.
//!
//! Linear in the text, never panics, and normalising a normal stack changes nothing.

mod lines;
mod words;

/// Passes until nothing changes any more. Real stacks need one and a second to see it.
const PASSES_MAX: usize = 4;

/// The normal form: one line per line of the trace that says something, without blanks around it.
///
/// A trace of a single line keeps its message, for nothing else tells it apart.
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

/// For text that keeps changing (none that a program prints does): only its letters, which no rule touches.
fn letters(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty()).collect();
        words.join(" ")
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
