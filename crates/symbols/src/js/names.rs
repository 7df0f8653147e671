//! Finds the original name of a function in a script.

use std::{cell::OnceCell, ops::Range};

use super::mappings::{NONE, Segment};

/// Maximum column of an identifier in a source line. Longer lines are generated code.
const COLUMN_MAX: u32 = 4096;

/// Maximum length of an identifier in characters.
const IDENTIFIER_MAX: usize = 512;

/// The location of a function's name. Names are not copied, because a million functions may share one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// Absent or unknown.
    None,
    /// Offset in the string section.
    Interned(u32),
    /// Range of bytes in the script.
    InScript(Range<usize>),
    /// Range of bytes in the sources' content.
    InContent(Range<usize>),
}

/// The data of a map from which original names are found.
pub(super) struct Originals<'m> {
    segments: &'m [Segment],
    sources: &'m [[u32; 3]],
    content: &'m [u8],
    /// Byte offsets of the lines of each source, computed on first use.
    lines: Vec<OnceCell<Vec<u32>>>,
}

impl<'m> Originals<'m> {
    pub(super) fn new(segments: &'m [Segment], sources: &'m [[u32; 3]], content: &'m [u8]) -> Self {
        Self { segments, sources, content, lines: vec![OnceCell::new(); sources.len()] }
    }

    /// The original name of the word at a script position (zero-based). The segment that starts there has the name, or
    /// refers to the identifier in the embedded source. A property without a segment keeps its name.
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

    /// The range of the identifier to which a segment refers.
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
