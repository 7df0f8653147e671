//! The resolved text, line by line.

use std::fmt::Write as _;

use crate::{
    limits::{FRAMES_OUT_MAX, TRACE_OUT_BYTES_MAX},
    native::{Frame, Native},
};

/// A trace after resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The text to show and to group by. Equal to the raw text if nothing was found.
    pub text: String,
    /// Raw frames recognised.
    pub frames: usize,
    /// Raw frames that were resolved.
    pub resolved: usize,
    /// The class of the exception as the trace names it, and its original name: of R8 mappings.
    pub exception_type: Option<(String, String)>,
}

impl Resolved {
    /// Whether the text is other than the raw one.
    pub fn is_changed(&self, raw: &str) -> bool {
        self.text != raw
    }
}

/// Writes lines; numbers resolved frames one after another.
pub(super) struct Out {
    text: String,
    /// The last line has no end yet.
    is_open: bool,
    /// The text is of use even if no frame was resolved.
    stays: bool,
    /// The next frame's number.
    number: usize,
    frames: usize,
    resolved: usize,
}

impl Out {
    pub(super) fn new(raw_len: usize) -> Self {
        let text = String::with_capacity(raw_len * 3);
        Self { text, is_open: false, stays: false, number: 0, frames: 0, resolved: 0 }
    }

    /// Spec: symbolication, rule 3: what stands above the frames, with its line ends.
    pub(super) fn preamble(&mut self, text: &str) {
        self.text.push_str(text);
        self.is_open = !text.is_empty() && !text.ends_with('\n');
    }

    /// The text is not the raw one, whether or not a frame is resolved.
    pub(super) fn stays(&mut self) {
        self.stays = true;
    }

    fn begin_line(&mut self) {
        if self.is_open {
            self.text.push('\n');
        }
        self.is_open = true;
    }

    /// Text that is kept as it is.
    pub(super) fn verbatim(&mut self, line: &str) {
        self.begin_line();
        self.text.push_str(line);
    }

    /// A frame that keeps its raw form; it takes a number all the same.
    pub(super) fn raw_frame(&mut self, line: &str) {
        self.verbatim(line);
        self.frames += 1;
        self.number += 1;
    }

    /// A native frame: its inline chain, innermost first, or the raw line if nothing is known.
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

    /// Whether enough was printed: what follows stays raw.
    pub(super) fn is_full(&self) -> bool {
        self.number >= FRAMES_OUT_MAX || self.text.len() >= TRACE_OUT_BYTES_MAX
    }

    /// Spec: symbolication, rule 6: `#N functionName (file:line:col)`.
    fn frame(&mut self, frame: &Frame<'_>) {
        self.begin_line();
        let (number, line, column) = (self.number, frame.line, frame.column);
        let written = write!(self.text, "#{number} {} ({}:{line}:{column})", frame.function(), frame.file());
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        self.number += 1;
    }

    /// A frame resolved to one line.
    pub(super) fn resolved_frame(&mut self, line: &str) {
        self.verbatim(line);
        self.frames += 1;
        self.resolved += 1;
        self.number += 1;
    }

    /// The result; `raw` if no frame was resolved, unless the text [`stays`](Out::stays).
    pub(super) fn finish(self, raw: &str) -> Resolved {
        let mut text = if self.resolved == 0 && !self.stays { raw.to_owned() } else { self.text };
        if raw.ends_with('\n') && !text.ends_with('\n') {
            text.push('\n');
        }
        Resolved { text, frames: self.frames, resolved: self.resolved, exception_type: None }
    }
}
