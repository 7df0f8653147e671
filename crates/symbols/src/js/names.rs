//! From the name of a function in the script to its name in the source.

use std::cell::OnceCell;

use super::mappings::{NONE, Segment};
use crate::artifact::{Strings, text_at};

/// Columns of a source line that are looked at: longer lines are generated code.
const COLUMN_MAX: u32 = 4096;

/// What the map knows about original names.
pub(super) struct Originals<'m> {
    strings: &'m Strings,
    segments: &'m [Segment],
    sources: &'m [[u32; 3]],
    content: &'m [u8],
    /// Byte offsets of the lines of each source, made on first use.
    lines: Vec<OnceCell<Vec<u32>>>,
}

impl<'m> Originals<'m> {
    pub(super) fn new(
        strings: &'m Strings,
        segments: &'m [Segment],
        sources: &'m [[u32; 3]],
        content: &'m [u8],
    ) -> Self {
        Self { strings, segments, sources, content, lines: vec![OnceCell::new(); sources.len()] }
    }

    /// The original of the word at a script position (zero-based): by the segment that starts there, which either
    /// carries the name or leads to the identifier in the embedded source. A property keeps its name without one.
    pub(super) fn name_of(&self, position: (u32, u32), word: &str, is_property: bool) -> Option<String> {
        let found = self.segments.partition_point(|s| (s.line, s.column) <= position);
        let segment = self.segments[..found].last().filter(|s| (s.line, s.column) == position && s.source != NONE);
        let original = segment.and_then(|segment| match segment.name {
            NONE => self.identifier(segment),
            name => Some(text_at(self.strings.bytes(), name)).filter(|n| !n.is_empty()),
        });
        original.or(is_property.then_some(word)).map(str::to_owned)
    }

    fn identifier(&self, segment: &Segment) -> Option<&'m str> {
        let [_, offset, len] = *self.sources.get(segment.source as usize)?;
        let content = self.content.get(offset as usize..(offset as usize).checked_add(len as usize)?)?;
        let lines = self.lines.get(segment.source as usize)?.get_or_init(|| {
            let ends = (0u32..).zip(content).filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(ends).collect()
        });
        let start = *lines.get(segment.source_line as usize)? as usize;
        let end = lines.get(segment.source_line as usize + 1).map_or(content.len(), |e| *e as usize);
        let line = std::str::from_utf8(content.get(start..end)?).ok()?;
        let mut column = 0;
        let at = line.char_indices().find(|(_, c)| {
            let here = column;
            column += c.len_utf16() as u32;
            here >= segment.source_column || here > COLUMN_MAX
        });
        let rest = &line[at.filter(|_| segment.source_column <= COLUMN_MAX)?.0..];
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let is_keyword = matches!(
            word,
            "function"
                | "async"
                | "get"
                | "set"
                | "static"
                | "new"
                | "class"
                | "return"
                | "const"
                | "let"
                | "var"
                | "this"
                | "export"
                | "default"
                | "public"
                | "private"
                | "protected"
                | "constructor"
                | "await"
                | "yield"
        );
        (!is_keyword && word.starts_with(|c: char| !c.is_ascii_digit())).then_some(word)
    }
}
