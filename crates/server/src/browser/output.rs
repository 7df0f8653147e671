//! The output of a script, bounded.

use tidewatch_limits as limits;
use tidewatch_runtime::redact::is_hidden;

/// Lines, as many as fit.
#[derive(Debug, Default)]
pub struct Output {
    lines: String,
    is_full: bool,
    /// Why the proxy refused a request last.
    refusal: Option<String>,
}

impl Output {
    /// Adds one or more lines, without hidden characters.
    pub fn add(&mut self, lines: &str) {
        if self.is_full {
            return;
        }
        let shown: String = lines.chars().filter(|c| matches!(c, '\n' | '\t') || !is_hidden(*c)).collect();
        let shown = shown.trim_end();
        if self.lines.len() + shown.len() < limits::BROWSER_OUTPUT_BYTES_MAX {
            self.lines.push_str(shown);
            self.lines.push('\n');
            return;
        }
        let left = limits::BROWSER_OUTPUT_BYTES_MAX - self.lines.len();
        let end = (0..=left.min(shown.len())).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0);
        self.lines.push_str(&shown[..end]);
        self.lines.push_str("\n(what follows was not kept)\n");
        self.is_full = true;
    }

    /// Adds why the proxy refused a request; once if it repeats itself.
    pub fn refused(&mut self, reason: String) {
        if self.refusal.as_ref() != Some(&reason) {
            self.add(&reason);
            self.refusal = Some(reason);
        }
    }

    /// Why the proxy refused a request last.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// All lines.
    pub fn into_string(self) -> String {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_bounded() {
        let mut output = Output::default();
        output.add("one\u{202e}\u{1b}[31m\ttwo\nthree");
        for _ in 0..1000 {
            output.add("ä 0123456789");
        }
        let lines = output.into_string();
        assert!(lines.starts_with("one[31m\ttwo\nthree\nä 0123456789\n"), "{lines}");
        assert!(lines.ends_with("\n(what follows was not kept)\n"), "{lines}");
        assert!(lines.len() < limits::BROWSER_OUTPUT_BYTES_MAX + 50, "{}", lines.len());
    }
}
