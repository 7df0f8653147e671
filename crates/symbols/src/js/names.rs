//! From the name of a function in the script to its name in the source.

use std::{cell::OnceCell, ops::Range};

use super::mappings::{NONE, Segment};

/// Columns of a source line that are looked at: longer lines are generated code.
const COLUMN_MAX: u32 = 4096;
/// Characters of an identifier.
const IDENTIFIER_MAX: usize = 512;

/// Where a function's name stands: nothing is copied, a million functions may share one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// It has none, or it is not known.
    None,
    /// A text of the string section.
    Interned(u32),
    /// Bytes of the script.
    InScript(Range<usize>),
    /// Bytes of the sources' content.
    InContent(Range<usize>),
}

/// What the map knows about original names.
pub(super) struct Originals<'m> {
    segments: &'m [Segment],
    sources: &'m [[u32; 3]],
    content: &'m [u8],
    /// Byte offsets of the lines of each source, made on first use.
    lines: Vec<OnceCell<Vec<u32>>>,
}

impl<'m> Originals<'m> {
    pub(super) fn new(segments: &'m [Segment], sources: &'m [[u32; 3]], content: &'m [u8]) -> Self {
        Self { segments, sources, content, lines: vec![OnceCell::new(); sources.len()] }
    }

    /// The original of the word at a script position (zero-based): by the segment that starts there, which either
    /// carries the name or leads to the identifier in the embedded source. A property keeps its name without one.
    pub(super) fn name_of(&self, position: (u32, u32), word: Range<usize>, is_property: bool) -> Name {
        let found = self.segments.partition_point(|s| (s.line, s.column) <= position);
        let segment = self.segments[..found].last().filter(|s| (s.line, s.column) == position && s.source != NONE);
        let original = match segment {
            Some(segment) if segment.name != NONE => Some(Name::Interned(segment.name)),
            Some(segment) => self.identifier(segment).map(Name::InContent),
            None => None,
        };
        original.unwrap_or(if is_property { Name::InScript(word) } else { Name::None })
    }

    /// The bytes of the identifier that a segment leads to.
    fn identifier(&self, segment: &Segment) -> Option<Range<usize>> {
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
        let at = at.filter(|_| segment.source_column <= COLUMN_MAX)?.0;
        let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '$' | '#');
        let len: usize = line[at..].chars().take_while(is_part).take(IDENTIFIER_MAX).map(char::len_utf8).sum();
        let word = &line[at..at + len];
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
        let start = offset as usize + start + at;
        (!is_keyword && word.starts_with(|c: char| !c.is_ascii_digit())).then_some(start..start + len)
    }
}
