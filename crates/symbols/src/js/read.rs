//! Looks up positions in a script's artifact.
//!
//! The crate's documentation describes the sections.

use crate::artifact::{Artifact, Kind, text_at, u32_at};
use crate::limits::CONTEXT_SOURCE_BYTES_MAX;

use super::mappings::NONE;

pub(super) const STRINGS: usize = 0;
pub(super) const LINES: usize = 1;
pub(super) const COLUMNS: usize = 2;
pub(super) const SAMPLES: usize = 3;
pub(super) const PLACES: usize = 4;
pub(super) const SOURCES: usize = 5;
pub(super) const CONTENT: usize = 6;
pub(super) const SCOPES: usize = 7;
pub(super) const FUNCTIONS: usize = 8;

pub(super) const MODULES: usize = 9;
pub(super) const FILES: usize = 10;

/// Segments per sample.
pub(super) const SAMPLE: usize = 32;

/// A position in an original source.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    strings: &'a [u8],
    source: u32,
    name: u32,
    /// Number of the source, for [`Script::source_text`].
    pub source_number: u32,
    /// One-based line.
    pub line: u32,
    /// Zero-based column in UTF-16 units, as in the map.
    pub column: u32,
}

impl<'a> Place<'a> {
    /// The name of the source below `sourceRoot`; `<unknown>` if the map has none.
    #[inline]
    pub fn source(&self) -> &'a str {
        text_at(self.strings, self.source)
    }

    /// The name in the segment: usually the token at this position and not the enclosing function.
    #[inline]
    pub fn name(&self) -> Option<&'a str> {
        (self.name != NONE).then(|| text_at(self.strings, self.name))
    }
}

/// A script's artifact.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    artifact: Artifact<'a>,
    strings: &'a [u8],
    lines: &'a [u8],
    columns: &'a [u8],
    samples: &'a [u8],
    places: &'a [u8],
    sources: &'a [u8],
}

impl<'a> Script<'a> {
    /// `None` if the artifact is of another kind.
    pub fn open(artifact: Artifact<'a>) -> Option<Self> {
        (artifact.kind() == Kind::Script).then(|| Self {
            artifact,
            strings: artifact.section(STRINGS),
            lines: artifact.section(LINES),
            columns: artifact.section(COLUMNS),
            samples: artifact.section(SAMPLES),
            places: artifact.section(PLACES),
            sources: artifact.section(SOURCES),
        })
    }

    /// The container.
    pub fn artifact(&self) -> Artifact<'a> {
        self.artifact
    }

    /// The original position of a script position: `line` is one-based, `column` zero-based in UTF-16 units.
    ///
    /// Uses the last segment at or before the position on the same line. `None` before the first one, and for a segment
    /// without a source.
    #[inline]
    pub fn place(&self, line: u32, column: u32) -> Option<Place<'a>> {
        let line = line.checked_sub(1)?;
        let lines = (self.lines.len() / 8).checked_sub(1)?;
        let at = partition(0, lines, |i| u32_at(self.lines, i * 2) < line);
        if at == lines || u32_at(self.lines, at * 2) != line {
            return None;
        }
        let first = u32_at(self.lines, at * 2 + 1) as usize;
        let end = (u32_at(self.lines, at * 2 + 3) as usize).min(self.columns.len() / 4);
        // The samples of the line narrow the search to the range between two of them.
        let (low, high) = (first.div_ceil(SAMPLE), end.div_ceil(SAMPLE));
        let sample = partition(low, high.max(low), |i| u32_at(self.samples, i) <= column);
        let from = if sample == low { first } else { (sample - 1) * SAMPLE };
        let to = (sample * SAMPLE).min(end).max(from);
        let after = partition(from, to, |i| u32_at(self.columns, i) <= column);
        let mut segment = after.checked_sub(1).filter(|i| *i >= first)?;
        // The first of several segments at exactly this position wins, as in trace-mapping.
        if segment > first && u32_at(self.columns, segment) == column && u32_at(self.columns, segment - 1) == column {
            segment = partition(first, segment, |i| u32_at(self.columns, i) < column);
        }
        self.place_of(segment)
    }

    fn place_of(&self, segment: usize) -> Option<Place<'a>> {
        let row = self.places.get(segment * 16..segment * 16 + 16)?;
        let source = Some(u32_at(row, 0)).filter(|s| *s != NONE)?;
        Some(Place {
            strings: self.strings,
            source: u32_at(self.sources, source as usize * 3),
            name: u32_at(row, 3),
            source_number: source,
            line: u32_at(row, 1).saturating_add(1),
            column: u32_at(row, 2),
        })
    }

    /// The name of the function around a script position, if the script was converted with the map.
    pub fn function(&self, line: u32, column: u32) -> Option<&'a str> {
        let scopes = self.artifact.section(SCOPES);
        let key = (line.checked_sub(1)?, column);
        let after = partition(0, scopes.len() / 12, |i| (u32_at(scopes, i * 3), u32_at(scopes, i * 3 + 1)) <= key);
        Some(u32_at(scopes, after.checked_sub(1)? * 3 + 2)).filter(|n| *n != NONE).map(|n| text_at(self.strings, n))
    }

    /// The name of the function around an original position, from React Native's function map.
    pub fn function_of(&self, place: &Place<'_>) -> Option<&'a str> {
        let rows = self.artifact.section(FUNCTIONS);
        let key = (place.source_number, place.line, place.column);
        let row = |i: usize| (u32_at(rows, i * 4), u32_at(rows, i * 4 + 1), u32_at(rows, i * 4 + 2));
        let at = partition(0, rows.len() / 16, |i| row(i) <= key).checked_sub(1)?;
        (row(at).0 == place.source_number).then(|| text_at(self.strings, u32_at(rows, at * 4 + 3)))
    }

    /// The first line (zero-based) in the map of a module of a RAM bundle, or of a segment of the bundle without `module`.
    /// Segment 0 is the bundle's first file.
    pub fn module_line(&self, segment: u32, module: Option<u32>) -> Option<u32> {
        let (modules, files) = (self.artifact.section(MODULES), self.artifact.section(FILES));
        let mut rows = files.chunks_exact(16).map(|row| [0, 1, 2, 3].map(|column| u32_at(row, column)));
        let (base, first, count) = match rows.find(|row| row[0] == segment) {
            Some([_, base, first, count]) => (base, first, count),
            None if segment == 0 => (0, 0, (modules.len() / 4) as u32),
            None => return None,
        };
        let Some(module) = module else { return Some(base) };
        let place = Some(module).filter(|module| *module < count).and_then(|module| first.checked_add(module))?;
        let is_there = (place as usize) < modules.len() / 4;
        Some(u32_at(modules, place as usize)).filter(|line| is_there && *line != NONE)
    }

    /// Whether the map belongs to a RAM bundle or to a bundle in segments.
    pub fn has_modules(&self) -> bool {
        !self.artifact.section(MODULES).is_empty() || !self.artifact.section(FILES).is_empty()
    }

    /// Number of segments of the map.
    pub fn segment_count(&self) -> usize {
        self.columns.len() / 4
    }

    /// Number of sources of the map.
    pub fn source_count(&self) -> u32 {
        (self.sources.len() / 12) as u32
    }

    /// The text of a source, if the map embeds it.
    pub fn source_text(&self, source: u32) -> Option<&'a str> {
        let sources = self.sources;
        let (offset, len) = (u32_at(sources, source as usize * 3 + 1), u32_at(sources, source as usize * 3 + 2));
        if offset == NONE || (source as usize + 1) * 12 > sources.len() {
            return None;
        }
        let content =
            self.artifact.section(CONTENT).get(offset as usize..(offset as usize).checked_add(len as usize)?)?;
        std::str::from_utf8(content).ok()
    }

    /// Source lines around a position: number of the first one, and at most `2 * around + 1` lines.
    pub fn context(&self, place: &Place<'_>, around: u32) -> Option<(u32, Vec<&'a str>)> {
        let text = self.source_text(place.source_number)?;
        let end = (0..=text.len().min(CONTEXT_SOURCE_BYTES_MAX)).rev().find(|&at| text.is_char_boundary(at))?;
        let first = place.line.saturating_sub(around).max(1);
        let last = place.line.saturating_add(around);
        let lines: Vec<_> = text[..end].lines().skip(first as usize - 1).take((last - first) as usize + 1).collect();
        // A text that ends before the line is not the source.
        (lines.len() as u64 > u64::from(place.line - first)).then_some((first, lines))
    }
}

/// The first index of `low..high` where `is_before` no longer holds.
#[inline]
fn partition(mut low: usize, mut high: usize, is_before: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        match is_before(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}
