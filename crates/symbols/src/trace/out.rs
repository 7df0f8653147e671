//! Writes the resolved text line by line.

use std::fmt::Write as _;

use crate::{
    limits::{FRAMES_OUT_MAX, TRACE_OUT_BYTES_MAX},
    native::{Frame, Native},
};

/// A trace after resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The text for display and grouping. Equal to the raw text if no frame was resolved.
    pub text: String,
    /// Number of raw frames recognized.
    pub frames: usize,
    /// Number of raw frames resolved.
    pub resolved: usize,
    /// The class of the exception in the trace and its original name, from an R8 mapping.
    pub exception_type: Option<(String, String)>,
}

impl Resolved {
    /// Whether the resolved text differs from `raw`.
    pub fn is_changed(&self, raw: &str) -> bool {
        self.text != raw
    }
}

/// Writes lines, and numbers resolved frames consecutively.
pub(super) struct Out {
    text: String,
    /// Whether the last line lacks its line end.
    is_open: bool,
    /// Whether the text replaces the raw one even if no frame is resolved.
    always_used: bool,
    /// The number of the next frame.
    number: usize,
    frames: usize,
    resolved: usize,
}

impl Out {
    pub(super) fn new(raw_len: usize) -> Self {
        let text = String::with_capacity(raw_len * 3);
        Self { text, is_open: false, always_used: false, number: 0, frames: 0, resolved: 0 }
    }

    /// Writes the text before the frames unchanged. Spec: symbolication, rule 3.
    pub(super) fn preamble(&mut self, text: &str) {
        self.text.push_str(text);
        self.is_open = !text.is_empty() && !text.ends_with('\n');
    }

    /// Makes [`finish`](Out::finish) return the written text even if no frame is resolved.
    pub(super) fn always_use(&mut self) {
        self.always_used = true;
    }

    fn begin_line(&mut self) {
        if self.is_open {
            self.text.push('\n');
        }
        self.is_open = true;
    }

    /// Writes a line unchanged.
    pub(super) fn verbatim(&mut self, line: &str) {
        self.begin_line();
        self.text.push_str(line);
    }

    /// Writes an unresolved frame in its raw form. It consumes a number.
    pub(super) fn raw_frame(&mut self, line: &str) {
        self.verbatim(line);
        self.frames += 1;
        self.number += 1;
    }

    /// Writes the inline chain of a native frame, innermost first, or the raw line if the frame is unresolved.
    pub(super) fn native_frame(&mut self, line: &str, native: Option<&Native<'_>>, offset: u64) {
        let first = self.number;
        if let Some(native) = native.filter(|_| !self.is_full()) {
            native.frames(offset).for_each(|frame| self.frame(&frame));
        }
        match self.number > first {
            true => {
                self.frames += 1;
                self.resolved += 1;
            }
            false => self.raw_frame(line),
        }
    }

    /// Whether the output limits are reached. Further frames stay raw.
    pub(super) fn is_full(&self) -> bool {
        self.number >= FRAMES_OUT_MAX || self.text.len() >= TRACE_OUT_BYTES_MAX
    }

    /// Writes `#N functionName (file:line:col)`. Spec: symbolication, rule 6.
    fn frame(&mut self, frame: &Frame<'_>) {
        self.begin_line();
        let (number, line, column) = (self.number, frame.line, frame.column);
        let written = write!(self.text, "#{number} {} ({}:{line}:{column})", frame.function(), frame.file());
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        self.number += 1;
    }

    /// Writes a frame that was resolved to one line.
    pub(super) fn resolved_frame(&mut self, line: &str) {
        self.verbatim(line);
        self.frames += 1;
        self.resolved += 1;
        self.number += 1;
    }

    /// The result: `raw` if no frame was resolved, unless [`always_use`](Out::always_use) was called.
    pub(super) fn finish(self, raw: &str) -> Resolved {
        let mut text = if self.resolved == 0 && !self.always_used { raw.to_owned() } else { self.text };
        if raw.ends_with('\n') && !text.ends_with('\n') {
            text.push('\n');
        }
        Resolved { text, frames: self.frames, resolved: self.resolved, exception_type: None }
    }
}
