//! Converts a source map, with its script if available, to a `.tw` artifact.

use std::borrow::Cow;

use super::{
    functions,
    json::{Part, RawMap, Text},
    mappings::{self, NONE, Segment},
    names::{Name, Originals},
    ram_bundle::{RamBundle, is_ram_bundle},
    read::SAMPLE,
};
use crate::{
    Arch, DebugId, SymbolError,
    artifact::{Kind, Strings, Writer},
    error::Result,
    limits::{NAME_BYTES_MAX, SCRIPT_BYTES_MAX},
    safe,
};

/// Converts a source map, plain or index. With its script, functions get their names from the script.
///
/// The script may be a RAM bundle; the map contains the lines of its modules. `id` is the debug id for a map without one.
/// Peak memory is bounded by `limits::SEGMENTS_MAX` and the file's length.
///
/// # Errors
/// For a map that violates its format or exceeds a limit.
pub fn convert(map: &[u8], script: Option<&[u8]>, id: Option<DebugId>) -> Result<Vec<u8>> {
    convert_unless(map, script, id, &|| false)
}

/// Like [`convert`], but returns [`SymbolError::Interrupted`] between two phases once `stop` returns true.
pub fn convert_unless(
    map: &[u8],
    script: Option<&[u8]>,
    id: Option<DebugId>,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>> {
    let mut raw = RawMap::read(map)?;
    let id = raw.id().or(id);
    let mut build = Build { modules: raw.x_facebook_offsets.take().unwrap_or_default(), ..Build::default() };
    let segments = raw.take_segments()?;
    for part in raw.parts()? {
        if stop() {
            return Err(SymbolError::Interrupted);
        }
        build.part(part, 0)?;
    }
    let own_modules = build.modules.len();
    if !segments.is_empty() {
        build.files.push([0, 0, 0, own_modules as u32]);
    }
    for (number, map) in segments {
        build.segment(number, map, stop)?;
    }
    if stop() {
        return Err(SymbolError::Interrupted);
    }
    let script = script.filter(|script| script.len() <= SCRIPT_BYTES_MAX);
    let script = script.and_then(|script| script_text(script, &build.modules[..own_modules]));
    if let Some(script) = script.as_deref() {
        let (pieces, names) = {
            let originals = Originals::new(&build.segments, &build.sources, &build.content);
            functions::named_pieces(script, &originals)
        };
        let offsets: Vec<u32> = names
            .into_iter()
            .map(|name| match name {
                Name::None => NONE,
                Name::Interned(offset) => offset,
                Name::InScript(range) => build.strings.intern(&safe::one_line(&script[range])),
                Name::InContent(range) => {
                    let text = std::str::from_utf8(&build.content[range]).unwrap_or_default();
                    build.strings.intern(&safe::one_line(text))
                }
            })
            .collect();
        for piece in pieces {
            let name = piece.function.map_or(NONE, |function| offsets[function]);
            if build.scopes.last().is_none_or(|last| last.2 != name) {
                build.scopes.push((piece.line, piece.column, name));
            }
        }
    }
    build.functions.sort_unstable();
    build.functions.dedup_by_key(|f| (f.0, f.1, f.2));
    build.write(map, id)
}

/// The script's text, with the lines of the map. `modules`: the first lines of modules.
fn script_text<'s>(script: &'s [u8], modules: &[Option<u32>]) -> Option<Cow<'s, str>> {
    if is_ram_bundle(script) {
        return Some(Cow::Owned(RamBundle::read(script).ok()?.as_script(modules)));
    }
    // The lines of modules in separate files differ from those of the bundle's text.
    modules.is_empty().then(|| String::from_utf8_lossy(script))
}

#[derive(Default)]
struct Build {
    strings: Strings,
    /// Segments of all parts; `source` and `name` refer to `sources` and the string section.
    segments: Vec<Segment>,
    /// Offset of the name, offset and length of the content.
    sources: Vec<[u32; 3]>,
    content: Vec<u8>,
    /// Script line, column and name of the function that is innermost from this position on.
    scopes: Vec<(u32, u32, u32)>,
    /// Source, original line, column and name of the function that is innermost from this position on.
    functions: Vec<(u32, u32, u32, u32)>,
    /// The first line (zero-based) in the map of each module of a RAM bundle.
    modules: Vec<Option<u32>>,
    /// Files of a split bundle: number of the segment, its first line, its first module, its number of modules.
    files: Vec<[u32; 4]>,
}

impl Build {
    /// Appends the map of another file, whose lines follow the existing ones.
    fn segment(&mut self, number: u32, mut map: RawMap<'_>, stop: &dyn Fn() -> bool) -> Result<()> {
        let last = self.segments.last().map_or(0, |segment| segment.line);
        let too_long = || SymbolError::malformed("the lines of the bundle's segments are too many");
        let base = last.checked_add(1).filter(|base| *base < u32::MAX / 2).ok_or_else(too_long)?;
        let modules = map.x_facebook_offsets.take().unwrap_or_default();
        self.files.push([number, base, self.modules.len() as u32, modules.len() as u32]);
        self.modules.extend(modules.into_iter().map(|line| base.checked_add(line?)));
        for part in map.parts()? {
            if stop() {
                return Err(SymbolError::Interrupted);
            }
            self.part(part, base)?;
        }
        Ok(())
    }

    /// Appends a part. `base`: number of the first line of the part's file.
    fn part(&mut self, part: Part<'_>, base: u32) -> Result<()> {
        let Part { map, start, end } = part;
        let [start, end] = [start, end].map(|(line, column)| (line.saturating_add(base), column));
        let sources = map.sources.unwrap_or_default();
        let names = map.names.unwrap_or_default();
        let from = self.segments.len();
        if let Some(text) = &map.mappings {
            self.segments.reserve(text.0.len() / 6);
            mappings::read(&text.0, (start, end), (sources.len(), names.len()), &mut self.segments)?;
        }
        let first_source = self.sources.len() as u32;
        let names: Vec<u32> = names.iter().map(|n| self.strings.intern(&safe::one_line(&n.0))).collect();
        for segment in &mut self.segments[from..] {
            if segment.source != NONE {
                segment.source += first_source;
            }
            if segment.name != NONE {
                segment.name = names[segment.name as usize];
            }
        }
        let root = map.source_root.as_ref().map_or("", |r| &r.0);
        let mut contents = map.sources_content.unwrap_or_default().into_iter();
        for source in &sources {
            let name = source.as_ref().map_or(Cow::Borrowed("<unknown>"), |s| source_name(root, &s.0));
            let name = self.strings.intern(&safe::one_line(&name));
            let content = contents.next().flatten().map_or([NONE, 0], |text| self.add_content(&text));
            self.sources.push([name, content[0], content[1]]);
        }
        let function_maps = map.x_facebook_sources.unwrap_or_default();
        for (source, maps) in (first_source..).zip(function_maps).take(sources.len()) {
            // The first entry is the function map; others are extensions of bundlers.
            if let Some(function_map) = maps.into_iter().flatten().next().flatten() {
                self.function_map(source, &function_map.mappings.0, &function_map.names);
            }
        }
        Ok(())
    }

    fn add_content(&mut self, text: &Text<'_>) -> [u32; 2] {
        let (Ok(offset), Ok(len)) = (u32::try_from(self.content.len()), u32::try_from(text.0.len())) else {
            return [NONE, 0];
        };
        self.content.extend_from_slice(text.0.as_bytes());
        [offset, len]
    }

    /// Reads Metro's function map: column, name and line per segment. A malformed map ends the list.
    fn function_map(&mut self, source: u32, text: &str, names: &[Text<'_>]) {
        let names: Vec<u32> = names.iter().map(|n| self.strings.intern(&safe::one_line(&n.0))).collect();
        let bytes = text.as_bytes();
        let (mut at, mut column, mut name, mut line) = (0, 0i64, 0i64, 1i64);
        while at < bytes.len() {
            match bytes[at] {
                b';' => {
                    column = 0;
                    at += 1;
                }
                b',' => at += 1,
                _ => {
                    for value in [&mut column, &mut name, &mut line] {
                        if bytes.get(at).is_some_and(|b| !matches!(b, b',' | b';')) {
                            let Ok(delta) = mappings::number(bytes, &mut at) else { return };
                            *value += delta;
                        }
                    }
                    let (Ok(line), Ok(column)) = (u32::try_from(line), u32::try_from(column)) else { return };
                    let Some(&name) = usize::try_from(name).ok().and_then(|n| names.get(n)) else { return };
                    self.functions.push((source, line, column, name));
                }
            }
        }
    }

    fn write(self, map: &[u8], id: Option<DebugId>) -> Result<Vec<u8>> {
        let segments = &self.segments;
        let hint = self.strings.bytes().len() + self.content.len() + segments.len() * 21 + self.scopes.len() * 12;
        let mut writer = Writer::new(Kind::Script, map, hint);
        if let Some(id) = id {
            writer.id(id, Arch::Unknown);
        }
        // The order of the section numbers in `read.rs`.
        writer.section(self.strings.bytes())?;
        writer.numbers(lines(segments))?;
        writer.numbers(segments.iter().map(|s| s.column))?;
        writer.numbers(segments.iter().step_by(SAMPLE).map(|s| s.column))?;
        writer.rows(segments.iter().map(|s| [s.source, s.source_line, s.source_column, s.name]))?;
        writer.rows(self.sources.iter().copied())?;
        writer.section(&self.content)?;
        writer.rows(self.scopes.iter().map(|s| [s.0, s.1, s.2]))?;
        writer.rows(self.functions.iter().map(|f| [f.0, f.1, f.2, f.3]))?;
        writer.numbers(self.modules.iter().map(|line| line.unwrap_or(NONE)))?;
        writer.rows(self.files.iter().copied())?;
        Ok(writer.finish())
    }
}

/// The lines with segments, each followed by its first segment, and a final pair as end marker.
fn lines(segments: &[Segment]) -> Vec<u32> {
    let mut lines = Vec::new();
    let mut last = None;
    for (number, segment) in (0u32..).zip(segments) {
        if last != Some(segment.line) {
            lines.extend([segment.line, number]);
            last = Some(segment.line);
        }
    }
    lines.extend([NONE, segments.len() as u32]);
    lines
}

/// The name of a source below its root. `.` and `..` are resolved below a root or a scheme.
fn source_name<'s>(root: &str, source: &'s str) -> Cow<'s, str> {
    let has_scheme = |s: &str| s.contains("://");
    if source.len() + root.len() > NAME_BYTES_MAX {
        return Cow::Borrowed(source);
    }
    let joined = match root {
        "" => Cow::Borrowed(source),
        _ if has_scheme(source) || source.starts_with('/') => Cow::Borrowed(source),
        root => Cow::Owned(format!("{}/{source}", root.trim_end_matches('/'))),
    };
    if root.is_empty() && !has_scheme(source) {
        return joined;
    }
    let (head, path) = match joined.find("://") {
        Some(at) => match joined[at + 3..].find('/') {
            Some(slash) => joined.split_at(at + 3 + slash),
            None => return joined,
        },
        None => ("", &*joined),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|p| !p.is_empty() && *p != "..") => {
                parts.pop();
            }
            ".." if !head.is_empty() => {}
            part => parts.push(part),
        }
    }
    Cow::Owned(format!("{head}{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(root: &str, source: &str, expected: &str) {
        assert_eq!(source_name(root, source), expected);
    }

    #[test]
    fn sources_are_named_under_their_root() {
        check("", "../src/a.ts", "../src/a.ts");
        check("https://src.example.com/x/y/", "../../src_open/a.ts", "https://src.example.com/src_open/a.ts");
        check("https://src.example.com/x", "../../../../etc/passwd", "https://src.example.com/etc/passwd");
        check("/app", "./src/a.ts", "/app/src/a.ts");
        check("", "webpack:///./lib/a.ts", "webpack:///lib/a.ts");
        check("/app", "webpack://name/./a.ts", "webpack://name/a.ts");
        check("../..", "../a", "../../../a");
    }
}
