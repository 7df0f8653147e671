//! Names of what is kept. Spec: symbol artifacts, row "Stored key"; WIRE 4.1 and 4.2.
//!
//! A key is made of ids that were read from the file, or of a file name that was checked: never of a path.

use std::fmt;

use tidewatch_symbols::{Arch, DebugId};
use uuid::Uuid;

use crate::limits;
use crate::redact::is_hidden;

/// One original.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SymbolKey {
    /// One slice of a Mach-O file, by its `LC_UUID`.
    MachO(DebugId),
    /// By its GNU build id.
    Elf(DebugId),
    Dart(DebugId, Arch),
    /// `mapping.txt`, by the id its app reports.
    Mapping(DebugId),
    SourceMap(FileName),
    Script(FileName),
    SourceMapById(DebugId),
    ScriptById(DebugId),
}

/// The last part of a path: no separator, no hidden character, no `.` at its beginning, and none of the names that the
/// store itself puts beside originals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileName(String);

impl FileName {
    /// Of `path` as its sender wrote it, for Unix or for Windows.
    pub fn of(path: &str) -> Option<FileName> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let fits = !name.is_empty()
            && name.len() <= limits::SYMBOL_NAME_BYTES_MAX
            && !name.starts_with('.')
            && !BESIDE.iter().any(|extension| name.ends_with(extension))
            && !name.contains(is_hidden);
        fits.then(|| FileName(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `app.js` of `app.js.map`.
    pub fn without(&self, extension: &str) -> Option<FileName> {
        let stem = self.0.strip_suffix(extension).filter(|stem| !stem.is_empty())?;
        Some(FileName(stem.to_owned()))
    }

    pub fn with(&self, extension: &str) -> FileName {
        FileName(format!("{}{extension}", self.0))
    }
}

const BESIDE: [&str; 3] = [".info", ".tw", ".used"];

/// The folders originals of a project lie in, below one that bears its id.
pub const FOLDERS: [&str; 6] = [
    "iossymbols",
    "elfsymbols",
    "dartsymbols",
    "androidmappings",
    "sourcemaps",
    // Below a project's `sourcemaps`.
    BY_DEBUG_ID,
];

const BY_DEBUG_ID: &str = "by-debug-id";

/// Where `folder` of [`FOLDERS`] is for one project.
pub fn folder(folder: &str, project: Uuid) -> String {
    match folder {
        BY_DEBUG_ID => format!("sourcemaps/{project}/{BY_DEBUG_ID}"),
        folder => format!("{folder}/{project}"),
    }
}

impl SymbolKey {
    /// Below the folder of all blobs, with `/`.
    pub fn path(&self, project: Uuid) -> String {
        let folder = folder(self.folder(), project);
        match self {
            SymbolKey::MachO(id) => format!("{folder}/{id}.dsym"),
            SymbolKey::Elf(id) => format!("{folder}/{id}.elf"),
            SymbolKey::Dart(id, arch) => format!("{folder}/{id}-{arch}.symbols"),
            SymbolKey::Mapping(id) => format!("{folder}/{id}.txt"),
            SymbolKey::SourceMap(name) | SymbolKey::Script(name) => format!("{folder}/{}", name.as_str()),
            SymbolKey::SourceMapById(id) => format!("{folder}/{id}.js.map"),
            SymbolKey::ScriptById(id) => format!("{folder}/{id}.js"),
        }
    }

    fn folder(&self) -> &'static str {
        match self {
            SymbolKey::MachO(_) => "iossymbols",
            SymbolKey::Elf(_) => "elfsymbols",
            SymbolKey::Dart(..) => "dartsymbols",
            SymbolKey::Mapping(_) => "androidmappings",
            SymbolKey::SourceMap(_) | SymbolKey::Script(_) => "sourcemaps",
            SymbolKey::SourceMapById(_) | SymbolKey::ScriptById(_) => BY_DEBUG_ID,
        }
    }

    /// What a person calls such a file.
    pub fn kind(&self) -> &'static str {
        match self {
            SymbolKey::MachO(_) => "dsym",
            SymbolKey::Elf(_) => "elf",
            SymbolKey::Dart(..) => "dart",
            SymbolKey::Mapping(_) => "mapping",
            SymbolKey::SourceMap(_) | SymbolKey::SourceMapById(_) => "source_map",
            SymbolKey::Script(_) | SymbolKey::ScriptById(_) => "script",
        }
    }

    /// The key that is kept under this path, as listed.
    pub fn of_path(path: &str, project: Uuid) -> Option<SymbolKey> {
        let (folder_path, file) = path.rsplit_once('/')?;
        let kind = FOLDERS.into_iter().find(|kind| folder(kind, project) == folder_path)?;
        let id = |extension: &str| DebugId::parse(file.strip_suffix(extension)?);
        match kind {
            "iossymbols" => id(".dsym").map(SymbolKey::MachO),
            "elfsymbols" => id(".elf").map(SymbolKey::Elf),
            "dartsymbols" => {
                let (id, arch) = file.strip_suffix(".symbols")?.split_once('-')?;
                Some(SymbolKey::Dart(DebugId::parse(id)?, Arch::parse(arch)?))
            }
            "androidmappings" => id(".txt").map(SymbolKey::Mapping),
            "sourcemaps" if file.ends_with(".map") => FileName::of(file).map(SymbolKey::SourceMap),
            "sourcemaps" => FileName::of(file).map(SymbolKey::Script),
            _ => id(".js.map").map(SymbolKey::SourceMapById).or_else(|| id(".js").map(SymbolKey::ScriptById)),
        }
    }

    /// The map whose artifact takes names of functions from this script.
    pub fn map_of_script(&self) -> Option<SymbolKey> {
        match self {
            SymbolKey::Script(name) => Some(SymbolKey::SourceMap(name.with(".map"))),
            SymbolKey::ScriptById(id) => Some(SymbolKey::SourceMapById(*id)),
            _ => None,
        }
    }

    /// The script of this map, which may never be uploaded.
    pub fn script_of_map(&self) -> Option<SymbolKey> {
        match self {
            SymbolKey::SourceMap(name) => name.without(".map").map(SymbolKey::Script),
            SymbolKey::SourceMapById(id) => Some(SymbolKey::ScriptById(*id)),
            _ => None,
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let project = Uuid::from_u128(7);
        let id = DebugId::parse("0123456789ABCDEF0123456789abcdef").expect("an id");
        let name = |text| FileName::of(text).expect("a name");
        for (key, expected) in [
            (SymbolKey::MachO(id), "iossymbols/{p}/0123456789abcdef0123456789abcdef.dsym"),
            (SymbolKey::Elf(id), "elfsymbols/{p}/0123456789abcdef0123456789abcdef.elf"),
            (
                SymbolKey::Dart(id, Arch::parse("x86_64").expect("an architecture")),
                "dartsymbols/{p}/0123456789abcdef0123456789abcdef-x64.symbols",
            ),
            (SymbolKey::Mapping(id), "androidmappings/{p}/0123456789abcdef0123456789abcdef.txt"),
            (SymbolKey::SourceMap(name("dist/app.js.map")), "sourcemaps/{p}/app.js.map"),
            (SymbolKey::Script(name("C:\\dist\\app.js")), "sourcemaps/{p}/app.js"),
            (SymbolKey::SourceMapById(id), "sourcemaps/{p}/by-debug-id/0123456789abcdef0123456789abcdef.js.map"),
            (SymbolKey::ScriptById(id), "sourcemaps/{p}/by-debug-id/0123456789abcdef0123456789abcdef.js"),
        ] {
            assert_eq!(key.path(project), expected.replace("{p}", &project.to_string()));
            assert_eq!(SymbolKey::of_path(&key.path(project), project), Some(key));
        }
        let map = SymbolKey::SourceMap(name("app.js.map"));
        assert_eq!(map.script_of_map().and_then(|script| script.map_of_script()), Some(map));
    }

    #[test]
    fn file_names() {
        for (path, expected) in [
            ("a.js", Some("a.js")),
            ("../../etc/passwd", Some("passwd")),
            ("..\\x.map", Some("x.map")),
            ("..", None),
            ("a/..", None),
            (".hidden", None),
            ("a/", None),
            ("", None),
            ("a\nb", None),
            ("a\0b", None),
            ("app.js.map.info", None),
            ("app.js.map.tw", None),
        ] {
            assert_eq!(FileName::of(path).as_ref().map(FileName::as_str), expected, "{path:?}");
        }
        assert_eq!(FileName::of(&"a".repeat(201)), None);
    }
}
