//! Reads the JSON of source maps, and the comments in scripts that refer to them.

use std::{borrow::Cow, collections::BTreeMap};

use base64::Engine as _;
use serde::Deserialize;

use crate::{
    DebugId, SymbolError,
    error::Result,
    limits::{MAP_LIST_MAX, MAP_NESTING_MAX, MAP_SECTIONS_MAX},
};

/// A string that is borrowed from the file unless it has escapes.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// A source map or an index map.
#[derive(Debug, Deserialize)]
pub(super) struct RawMap<'a> {
    version: Option<serde_json::Value>,
    #[serde(borrow, default)]
    pub mappings: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub sources: Option<Vec<Option<Text<'a>>>>,
    #[serde(borrow, default)]
    pub names: Option<Vec<Text<'a>>>,
    #[serde(borrow, default, rename = "sourceRoot")]
    pub source_root: Option<Text<'a>>,
    #[serde(borrow, default, rename = "sourcesContent")]
    pub sources_content: Option<Vec<Option<Text<'a>>>>,
    #[serde(default)]
    sections: Option<Vec<RawSection<'a>>>,
    #[serde(borrow, default, rename = "debugId")]
    debug_id: Option<Text<'a>>,
    #[serde(borrow, default, rename = "debug_id")]
    debug_id_old: Option<Text<'a>>,
    /// Function names by original position, from React Native's bundler.
    #[serde(borrow, default)]
    pub x_facebook_sources: Option<Vec<Option<Vec<Option<FunctionMap<'a>>>>>>,
    /// The first line (zero-based) in this map of each module of a RAM bundle.
    #[serde(default)]
    pub x_facebook_offsets: Option<Vec<Option<u32>>>,
    /// The maps of the files of a split bundle (`seg-1.js`), by number of the segment.
    #[serde(borrow, default)]
    x_facebook_segments: Option<BTreeMap<Cow<'a, str>, Box<RawMap<'a>>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FunctionMap<'a> {
    #[serde(borrow)]
    pub names: Vec<Text<'a>>,
    #[serde(borrow)]
    pub mappings: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct RawSection<'a> {
    offset: Offset,
    #[serde(borrow)]
    map: Box<RawMap<'a>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Offset {
    line: u32,
    column: u32,
}

/// A plain map with its start and end in the script: (line, column), both zero-based.
pub(super) struct Part<'a> {
    pub map: RawMap<'a>,
    pub start: (u32, u32),
    pub end: (u32, u32),
}

impl<'a> RawMap<'a> {
    /// Reads a file. Skips a byte order mark and the prefix against script inclusion.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let map: Self = serde_json::from_slice(strip_prefixes(bytes))
            .map_err(|e| SymbolError::malformed(format!("cannot read the source map: {e}")))?;
        map.check()?;
        Ok(map)
    }

    fn check(&self) -> Result<()> {
        if self.mappings.is_none() && self.sections.is_none() {
            return Err(SymbolError::unusable("not a source map: it has neither mappings nor sections"));
        }
        if self.version.as_ref().and_then(serde_json::Value::as_u64) != Some(3) {
            return Err(SymbolError::unusable("the source map's version is not 3"));
        }
        let lists = [
            self.sources.as_ref().map_or(0, Vec::len),
            self.names.as_ref().map_or(0, Vec::len),
            self.x_facebook_offsets.as_ref().map_or(0, Vec::len),
        ];
        let longest = lists.into_iter().max().unwrap_or(0);
        if longest > MAP_LIST_MAX {
            return Err(SymbolError::TooLarge {
                what: "the source map's list of sources, names or modules",
                limit: MAP_LIST_MAX as u64,
            });
        }
        Ok(())
    }

    /// The debug id; `None` when it is absent or invalid.
    pub(super) fn id(&self) -> Option<DebugId> {
        let text = self.debug_id.as_ref().or(self.debug_id_old.as_ref())?;
        DebugId::parse(&text.0).filter(|id| !id.is_zero() && id.as_str().len() == 32)
    }

    /// The maps of a split bundle's other files, by number of the segment; 0 is this map. Segments of these maps are
    /// ignored.
    pub(super) fn take_segments(&mut self) -> Result<Vec<(u32, RawMap<'a>)>> {
        let segments = self.x_facebook_segments.take().unwrap_or_default();
        if segments.len() > MAP_SECTIONS_MAX {
            return Err(SymbolError::TooLarge {
                what: "the segments of the bundle's source map",
                limit: MAP_SECTIONS_MAX as u64,
            });
        }
        let mut numbered = Vec::new();
        for (name, map) in segments {
            map.check()?;
            numbered.extend(name.parse().ok().filter(|number| *number > 0).map(|number: u32| (number, *map)));
        }
        numbered.sort_by_key(|(number, _)| *number);
        Ok(numbered)
    }

    /// The plain maps in order: the map itself, or the sections of an index map. Nested sections are not in the standard,
    /// but Metro writes them for the startup code of a RAM bundle.
    pub(super) fn parts(self) -> Result<Vec<Part<'a>>> {
        const END: (u32, u32) = (u32::MAX, u32::MAX);
        let mut parts = Vec::new();
        self.add_parts((0, 0), END, 0, &mut parts)?;
        Ok(parts)
    }

    /// Appends the plain maps of the script's range from `start` to `end`.
    fn add_parts(mut self, start: (u32, u32), end: (u32, u32), depth: usize, parts: &mut Vec<Part<'a>>) -> Result<()> {
        let Some(sections) = self.sections.take() else {
            return match self.mappings {
                Some(_) if self.sources.is_none() && depth == 0 => {
                    Err(SymbolError::malformed("the source map has no sources"))
                }
                Some(_) => {
                    parts.push(Part { map: self, start, end });
                    Ok(())
                }
                None => Err(SymbolError::malformed("the source map has no mappings")),
            };
        };
        if self.mappings.is_some() {
            return Err(SymbolError::malformed("the source map has both mappings and sections"));
        }
        if depth >= MAP_NESTING_MAX {
            return Err(SymbolError::malformed("the sections of the index map are nested too deeply"));
        }
        let starts: Vec<(u32, u32)> = sections.iter().map(|section| section.offset.after(start)).collect();
        if !starts.is_sorted() {
            return Err(SymbolError::malformed("the sections of the index map are not in order"));
        }
        let ends = starts.iter().skip(1).copied().chain([end]);
        for ((section, start), next) in sections.into_iter().zip(&starts).zip(ends) {
            if parts.len() >= MAP_SECTIONS_MAX {
                return Err(SymbolError::TooLarge {
                    what: "the sections of the index map",
                    limit: MAP_SECTIONS_MAX as u64,
                });
            }
            if section.map.sections.is_none() && section.map.mappings.is_none() {
                return Err(SymbolError::malformed("a section of the index map has no mappings of its own"));
            }
            section.map.check()?;
            section.map.add_parts(*start, next.min(end), depth + 1, parts)?;
        }
        Ok(())
    }
}

impl Offset {
    /// The offset relative to the script, for a map that starts at this position.
    fn after(self, (line, column): (u32, u32)) -> (u32, u32) {
        let column = if self.line == 0 { self.column.saturating_add(column) } else { self.column };
        (self.line.saturating_add(line), column)
    }
}

/// Skips a byte order mark and a `)]}'` line.
pub(crate) fn strip_prefixes(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.starts_with(b")]}") {
        return bytes;
    }
    let line_end = bytes.iter().position(|b| *b == b'\n').map_or(bytes.len(), |at| at + 1);
    &bytes[line_end..]
}

/// The debug id of a source map, without reading its mappings. An error for other files.
pub(crate) fn debug_id_of_map(bytes: &[u8]) -> Result<Option<DebugId>> {
    let map = RawMap::read(bytes)?;
    let id = map.id();
    map.parts()?;
    Ok(id)
}

/// The value of the last `//# name=value` (or `//@`) comment near the end of a script.
fn pragma<'s>(script: &'s str, name: &str) -> Option<&'s str> {
    let at = script.rfind(name).filter(|&at| {
        let before = script[..at].trim_end_matches([' ', '\t']);
        before.ends_with("//#") || before.ends_with("//@") || before.ends_with("/*#")
    })?;
    let value = script[at + name.len()..].split(['\n', '\r', ' ', '\t', '\u{2028}', '\u{2029}']).next()?;
    Some(value.trim_end_matches("*/"))
}

/// The `debugId` of a script's comment.
pub(crate) fn script_debug_id(script: &str) -> Option<DebugId> {
    DebugId::parse(pragma(script, "debugId=")?).filter(|id| !id.is_zero() && id.as_str().len() == 32)
}

/// The inline source map of a script (`sourceMappingURL=data:…;base64,…`).
pub(crate) fn inline_map(script: &str) -> Option<Vec<u8>> {
    let url = pragma(script, "sourceMappingURL=")?.strip_prefix("data:")?;
    let (kind, data) = url.split_once(',')?;
    (kind.contains("json") && kind.ends_with(";base64")).then_some(())?;
    base64::engine::general_purpose::STANDARD.decode(data).ok()
}
