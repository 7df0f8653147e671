//! Parses printed stack traces into exceptions and frames, one grammar per family of languages.
//!
//! The text decides on the grammar, the language of the SDK only where two fit. Linear time, no panics, no regular
//! expressions. Slices borrow from the text. [`model`]: the result. docs/develop/grouping.md.

mod dart;
mod detect;
mod dotnet;
mod elixir;
mod go;
mod javascript;
mod jvm;
mod jvm_names;
mod model;
mod native;
mod php;
mod python;
mod ruby;
mod rust;
pub(crate) mod text;

use std::borrow::Cow;

use memchr::memmem;

pub(crate) use javascript::is_minified;
use model::{Builder, HOLES_MAX, Lines};
pub use model::{Event, Frame, Language, Relation, Role, Stack, Thrown};

/// Bytes of a name that count.
const NAME_BYTES_MAX: usize = 1000;
impl<'a> Stack<'a> {
    /// Parses a trace that [`cleaned`] has returned. A text without frames gives an empty stack.
    pub fn parse(text: &'a str, event: &Event<'a>) -> Stack<'a> {
        let mut holes = [(usize::MAX, usize::MAX); HOLES_MAX];
        // The first line of a message stands in a header, which no grammar takes for a frame.
        if let Some(newline) = event.message.find('\n') {
            let tail = event.message[newline..].trim_end();
            if tail.len() > 1 {
                let found = memmem::find_iter(text.as_bytes(), tail);
                found.zip(&mut holes).for_each(|(start, hole)| *hole = (start, start + tail.len()));
            }
        }
        let lines = Lines { text, at: 0, holes };
        let Some(language) = detect::language(lines.clone(), event.language) else { return Stack::default() };
        let mut builder = Builder { event: *event, stack: Stack::default() };
        builder.stack.language = Some(language);
        match language {
            Language::Python => python::parse(lines, &mut builder),
            Language::Jvm => jvm::parse(lines, &mut builder),
            Language::JavaScript => javascript::parse(lines, &mut builder),
            Language::Go => go::parse(lines, &mut builder),
            Language::Rust => rust::parse(lines, &mut builder),
            Language::DotNet => dotnet::parse(lines, &mut builder),
            Language::Ruby => ruby::parse(lines, &mut builder),
            Language::Php => php::parse(lines, &mut builder),
            Language::Elixir => elixir::parse(lines, &mut builder),
            Language::Dart => dart::parse(lines, &mut builder),
            Language::Native => native::parse(lines, &mut builder),
        }
        let mut stack = builder.stack;
        if stack.frames.is_empty() {
            return Stack::default();
        }
        if let Some(outermost) = stack.exceptions.get_mut(stack.outermost) {
            outermost.relation = Relation::Outermost;
            outermost.parent = stack.outermost;
            if !event.exception_type.is_empty() {
                outermost.exception_type = event.exception_type;
            }
        }
        stack
    }

    /// Frames of an exception, innermost first.
    pub fn frames_of(&self, exception: &Thrown<'a>) -> &[Frame<'a>] {
        self.frames.get(exception.frames.0..exception.frames.1).unwrap_or_default()
    }
}

impl Frame<'_> {
    /// Appends module or file and function without what a build, a process or a value changes, divided by `divider`.
    /// Returns whether the function is known. `with_line` adds the line to a frame without function.
    pub fn write_canonical(&self, language: Language, with_line: bool, divider: char, out: &mut String) -> bool {
        let start = out.len();
        // Some grammars look ahead, so that the length is bounded.
        let bounded = Frame {
            module: text::start_of(self.module, NAME_BYTES_MAX),
            function: text::start_of(self.function, NAME_BYTES_MAX),
            file: text::end_of(self.file, NAME_BYTES_MAX),
            ..*self
        };
        let this = &bounded;
        let has_function = match language {
            Language::Jvm => jvm_names::write(this, divider, out),
            Language::JavaScript => javascript::write(this, divider, out),
            Language::Go => go::write(this, divider, out),
            Language::Rust => rust::write(this, divider, out),
            Language::DotNet => dotnet::write(this, divider, out),
            Language::Ruby => ruby::write(this, divider, out),
            Language::Php => php::write(this, divider, out),
            Language::Elixir => elixir::write(this, divider, out),
            Language::Dart => dart::write(this, divider, out),
            Language::Native => native::write(this, divider, out),
            Language::Python => python::write(this, divider, out),
        };
        if out.len() == start {
            text::write_file(self.file, out);
        }
        if with_line && !has_function && self.line > 0 {
            out.push(':');
            text::write_number(self.line, out);
        }
        has_function
    }
}

/// The text with plain line breaks and without colors: escape sequences are removed, and `\n` and `\t` of JSON are
/// undone in a text without real line breaks.
pub fn cleaned(text: &str) -> Cow<'_, str> {
    let is_escaped = text.contains("\\n") && !text.contains('\n');
    let has_colors = memchr::memchr(0x1b, text.as_bytes()).is_some();
    if !is_escaped && !has_colors {
        return Cow::Borrowed(text);
    }
    let text =
        if is_escaped { Cow::Owned(text.replace("\\n", "\n").replace("\\t", "\t")) } else { Cow::Borrowed(text) };
    if !has_colors {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(sequence.len());
            let letter = sequence[end..].chars().next().map_or(0, char::len_utf8);
            rest = &sequence[end + letter..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}
