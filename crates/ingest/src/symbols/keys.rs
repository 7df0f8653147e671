//! Keys of originals, and their paths on disk. Spec: symbol artifacts, row "Stored key"; WIRE 4.1 and 4.2.
//!
//! A key consists of ids that were read from the file, or of a validated file name, never of an unchecked path.

use std::fmt;
use std::path::Path;

use tidewatch_blobs::is_pending;
use tidewatch_symbols::{Arch, DebugId};
use uuid::Uuid;

use super::release::ReleaseId;
use tidewatch_limits as limits;
use tidewatch_runtime::redact::is_hidden;

/// The key of an original.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SymbolKey {
    /// One slice of a Mach-O file, by its `LC_UUID`.
    MachO(DebugId),
    /// A slice that shares its `LC_UUID` with a slice for another architecture, which is stored as `MachO`.
    MachOSlice(DebugId, Arch),
    /// An ELF file, by its GNU build id.
    Elf(DebugId),
    /// A Dart image, by build id and architecture.
    Dart(DebugId, Arch),
    /// `mapping.txt` of R8, by the id that its app reports.
    Mapping(DebugId),
    /// The same of one release.
    MappingOf(DebugId, ReleaseId),
    /// A source map, by its file name.
    SourceMap(FileName),
    /// A script, by its file name.
    Script(FileName),
    /// A source map whose file name is taken by a map of another folder, by its path.
    SourceMapAt(ScriptPath),
    /// The same for a script.
    ScriptAt(ScriptPath),
    /// A source map of one release, by its path.
    SourceMapOf(ReleaseId, ScriptPath),
    /// The same for a script.
    ScriptOf(ReleaseId, ScriptPath),
    /// A source map, by its debug id.
    SourceMapById(DebugId),
    /// A script, by its debug id.
    ScriptById(DebugId),
}

/// A validated file name, the last component of a path: no separator, no hidden character, no leading `.`, no `#`
/// and digits at its end, and no extension that the store uses for its own files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileName(String);

impl FileName {
    /// The file name of a Unix or Windows path as the client sent it. `None`: it is not valid.
    pub fn of(path: &str) -> Option<FileName> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let fits = !name.is_empty()
            && name.len() <= limits::SYMBOL_NAME_BYTES_MAX
            && !name.starts_with('.')
            && !is_pending(Path::new(name))
            && !BESIDE.iter().any(|extension| name.ends_with(extension))
            && !name.contains(is_hidden);
        fits.then(|| FileName(name.to_owned()))
    }

    /// The file name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file name with `extension` appended, which includes its dot.
    pub fn with(&self, extension: &str) -> FileName {
        FileName(format!("{}{extension}", self.0))
    }
}

/// Path of a script or a source map in its build: names joined by `/`, of which the last is a valid [`FileName`]. It
/// has no `.`, and neither `..` nor anything before it. Leading folders are cut until the encoded path fits a file name
/// on disk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScriptPath(String);

impl ScriptPath {
    /// The path as the client sent it, normalized. `None`: its file name is not valid.
    pub fn of(path: &str) -> Option<ScriptPath> {
        FileName::of(path)?;
        let is_inside = |part: &&str| *part != ".." && !part.chars().any(char::is_control);
        let is_name = |part: &&str| !matches!(*part, "" | ".");
        let parts: Vec<&str> = path.rsplit(['/', '\\']).take_while(is_inside).filter(is_name).collect();
        let mut fitting = parts.len();
        let encoded = |count: usize| parts[..count].iter().map(|part| encoded(part).len() + SLASH.len()).sum::<usize>();
        while fitting > 1 && encoded(fitting) > limits::SYMBOL_NAME_BYTES_MAX {
            fitting -= 1;
        }
        let kept: Vec<&str> = parts[..fitting].iter().rev().copied().collect();
        (!kept.is_empty()).then(|| ScriptPath(kept.join("/")))
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Path of the script that a source map belongs to; a script's own path.
    pub fn of_script(&self) -> &str {
        self.0.strip_suffix(".map").unwrap_or(&self.0)
    }

    fn encoded(&self) -> String {
        encoded(&self.0)
    }

    fn decode(name: &str) -> Option<ScriptPath> {
        ScriptPath::of(&name.replace(SLASH, "/").replace(PERCENT, "%")).filter(|path| path.encoded() == name)
    }
}

/// Percent-encoding, as in URLs.
const SLASH: &str = "%2F";
const PERCENT: &str = "%25";

fn encoded(text: &str) -> String {
    text.replace('%', PERCENT).replace('/', SLASH)
}

const BESIDE: [&str; 3] = [".info", ".tw", ".used"];

/// Folders for originals. Each has a folder per project, named by the project's id.
pub const FOLDERS: [&str; 8] = [
    "iossymbols",
    "elfsymbols",
    "dartsymbols",
    "androidmappings",
    "sourcemaps",
    // The next ones are inside a project's folder in `sourcemaps`.
    BY_DEBUG_ID,
    BY_PATH,
    BY_RELEASE,
];

const BY_DEBUG_ID: &str = "by-debug-id";
const BY_PATH: &str = "by-path";
const BY_RELEASE: &str = "by-release";

/// Path of `folder`, one of [`FOLDERS`], for one project.
pub fn folder(folder: &str, project: Uuid) -> String {
    match folder {
        BY_DEBUG_ID | BY_PATH | BY_RELEASE => format!("sourcemaps/{project}/{folder}"),
        folder => format!("{folder}/{project}"),
    }
}

impl SymbolKey {
    /// Path of the original below the blobs folder, with `/`.
    pub fn path(&self, project: Uuid) -> String {
        let folder = folder(self.folder(), project);
        match self {
            SymbolKey::MachO(id) => format!("{folder}/{id}.dsym"),
            SymbolKey::MachOSlice(id, arch) => format!("{folder}/{id}-{arch}.dsym"),
            SymbolKey::Elf(id) => format!("{folder}/{id}.elf"),
            SymbolKey::Dart(id, arch) => format!("{folder}/{id}-{arch}.symbols"),
            SymbolKey::Mapping(id) => format!("{folder}/{id}.txt"),
            SymbolKey::MappingOf(id, release) => format!("{folder}/{id}-{release}.txt"),
            SymbolKey::SourceMap(name) | SymbolKey::Script(name) => format!("{folder}/{}", name.as_str()),
            SymbolKey::SourceMapAt(path) | SymbolKey::ScriptAt(path) => format!("{folder}/{}", path.encoded()),
            SymbolKey::SourceMapOf(release, path) | SymbolKey::ScriptOf(release, path) => {
                format!("{folder}/{release}-{}", path.encoded())
            }
            SymbolKey::SourceMapById(id) => format!("{folder}/{id}.js.map"),
            SymbolKey::ScriptById(id) => format!("{folder}/{id}.js"),
        }
    }

    fn folder(&self) -> &'static str {
        match self {
            SymbolKey::MachO(_) | SymbolKey::MachOSlice(..) => "iossymbols",
            SymbolKey::Elf(_) => "elfsymbols",
            SymbolKey::Dart(..) => "dartsymbols",
            SymbolKey::Mapping(_) | SymbolKey::MappingOf(..) => "androidmappings",
            SymbolKey::SourceMap(_) | SymbolKey::Script(_) => "sourcemaps",
            SymbolKey::SourceMapById(_) | SymbolKey::ScriptById(_) => BY_DEBUG_ID,
            SymbolKey::SourceMapAt(_) | SymbolKey::ScriptAt(_) => BY_PATH,
            SymbolKey::SourceMapOf(..) | SymbolKey::ScriptOf(..) => BY_RELEASE,
        }
    }

    /// Name of the kind of file, for display.
    pub fn kind(&self) -> &'static str {
        match self {
            SymbolKey::MachO(_) | SymbolKey::MachOSlice(..) => "dsym",
            SymbolKey::Elf(_) => "elf",
            SymbolKey::Dart(..) => "dart",
            SymbolKey::Mapping(_) | SymbolKey::MappingOf(..) => "mapping",
            SymbolKey::SourceMap(_)
            | SymbolKey::SourceMapAt(_)
            | SymbolKey::SourceMapOf(..)
            | SymbolKey::SourceMapById(_) => "source_map",
            SymbolKey::Script(_) | SymbolKey::ScriptAt(_) | SymbolKey::ScriptOf(..) | SymbolKey::ScriptById(_) => {
                "script"
            }
        }
    }

    /// Whether it is a source map keyed by name or path, not by debug id.
    pub fn is_source_map(&self) -> bool {
        matches!(self, SymbolKey::SourceMap(_) | SymbolKey::SourceMapAt(_) | SymbolKey::SourceMapOf(..))
    }

    /// Whether it is a script keyed by name or path, not by debug id.
    pub fn is_script(&self) -> bool {
        matches!(self, SymbolKey::Script(_) | SymbolKey::ScriptAt(_) | SymbolKey::ScriptOf(..))
    }

    /// The release that is part of the key.
    pub fn release(&self) -> Option<ReleaseId> {
        match self {
            SymbolKey::SourceMapOf(release, _) | SymbolKey::ScriptOf(release, _) | SymbolKey::MappingOf(_, release) => {
                Some(*release)
            }
            _ => None,
        }
    }

    /// Whether an artifact is built of it. None is built of a script: its map's artifact includes the function names.
    pub fn has_artifact(&self) -> bool {
        !self.is_script() && !matches!(self, SymbolKey::ScriptById(_))
    }

    /// The key of an original by its listed path.
    pub fn of_path(path: &str, project: Uuid) -> Option<SymbolKey> {
        let (folder_path, file) = path.rsplit_once('/')?;
        let kind = FOLDERS.into_iter().find(|kind| folder(kind, project) == folder_path)?;
        let id = |extension: &str| DebugId::parse(file.strip_suffix(extension)?);
        match kind {
            "iossymbols" => id(".dsym").map(SymbolKey::MachO).or_else(|| {
                let (id, arch) = file.strip_suffix(".dsym")?.split_once('-')?;
                Some(SymbolKey::MachOSlice(DebugId::parse(id)?, Arch::parse(arch)?))
            }),
            "elfsymbols" => id(".elf").map(SymbolKey::Elf),
            "dartsymbols" => {
                let (id, arch) = file.strip_suffix(".symbols")?.split_once('-')?;
                Some(SymbolKey::Dart(DebugId::parse(id)?, Arch::parse(arch)?))
            }
            "androidmappings" => match file.strip_suffix(".txt")?.split_once('-') {
                Some((id, release)) => Some(SymbolKey::MappingOf(DebugId::parse(id)?, ReleaseId::parse(release)?)),
                None => id(".txt").map(SymbolKey::Mapping),
            },
            "sourcemaps" if file.ends_with(".map") => FileName::of(file).map(SymbolKey::SourceMap),
            "sourcemaps" => FileName::of(file).map(SymbolKey::Script),
            BY_PATH if file.ends_with(".map") => ScriptPath::decode(file).map(SymbolKey::SourceMapAt),
            BY_PATH => ScriptPath::decode(file).map(SymbolKey::ScriptAt),
            BY_RELEASE => {
                let (release, path) = file.split_once('-')?;
                let (release, path) = (ReleaseId::parse(release)?, ScriptPath::decode(path)?);
                Some(match file.ends_with(".map") {
                    true => SymbolKey::SourceMapOf(release, path),
                    false => SymbolKey::ScriptOf(release, path),
                })
            }
            _ => id(".js.map").map(SymbolKey::SourceMapById).or_else(|| id(".js").map(SymbolKey::ScriptById)),
        }
    }

    /// The source map whose artifact uses function names of this script, by file name or debug id. The store finds maps
    /// by path.
    pub fn map_of_script(&self) -> Option<SymbolKey> {
        match self {
            SymbolKey::Script(name) => Some(SymbolKey::SourceMap(name.with(".map"))),
            SymbolKey::ScriptById(id) => Some(SymbolKey::SourceMapById(*id)),
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
        let release = ReleaseId::parse("0123456789abcdef").expect("an id");
        let name = |text| FileName::of(text).expect("a name");
        let at = |text| ScriptPath::of(text).expect("a path");
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
            (SymbolKey::MachOSlice(id, Arch::X64), "iossymbols/{p}/0123456789abcdef0123456789abcdef-x64.dsym"),
            (SymbolKey::SourceMapAt(at("./a b/app%.js.map")), "sourcemaps/{p}/by-path/a b%2Fapp%25.js.map"),
            (SymbolKey::ScriptAt(at("..\\x\\%2F\\app.js")), "sourcemaps/{p}/by-path/x%2F%252F%2Fapp.js"),
            (SymbolKey::SourceMapById(id), "sourcemaps/{p}/by-debug-id/0123456789abcdef0123456789abcdef.js.map"),
            (
                SymbolKey::SourceMapOf(release, at("a-b/app.js.map")),
                "sourcemaps/{p}/by-release/0123456789abcdef-a-b%2Fapp.js.map",
            ),
            (SymbolKey::ScriptOf(release, at("app.js")), "sourcemaps/{p}/by-release/0123456789abcdef-app.js"),
            (
                SymbolKey::MappingOf(id, release),
                "androidmappings/{p}/0123456789abcdef0123456789abcdef-0123456789abcdef.txt",
            ),
            (SymbolKey::ScriptById(id), "sourcemaps/{p}/by-debug-id/0123456789abcdef0123456789abcdef.js"),
        ] {
            assert_eq!(key.path(project), expected.replace("{p}", &project.to_string()));
            assert_eq!(SymbolKey::of_path(&key.path(project), project), Some(key));
        }
        let script = SymbolKey::Script(name("app.js"));
        assert_eq!(script.map_of_script(), Some(SymbolKey::SourceMap(name("app.js.map"))));
    }

    #[test]
    fn script_paths() {
        for (path, expected) in [
            ("dist/a/index.js.map", Some("dist/a/index.js.map")),
            ("/dist/./x//index.js", Some("dist/x/index.js")),
            ("a/../b/index.js", Some("b/index.js")),
            ("C:\\dist\\index.js", Some("C:/dist/index.js")),
            ("index.js", Some("index.js")),
            ("a/..", None),
            ("a/x.tw", None),
        ] {
            assert_eq!(ScriptPath::of(path).as_ref().map(ScriptPath::as_str), expected, "{path:?}");
        }
        let long = ScriptPath::of(&format!("{}index.js", "folder/".repeat(60))).expect("a path");
        assert!(long.as_str().len() < 201 && long.as_str().ends_with("folder/index.js"), "{}", long.as_str());
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
