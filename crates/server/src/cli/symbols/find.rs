//! Finds symbol files in files and folders, by the rules of the server.
//!
//! A file that is named must be usable, or is refused with a sentence. In a folder only usable files are selected:
//! debug files with debug information, Dart `.symbols`, mappings, source maps, and scripts that belong to one.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tidewatch_symbols::{Arch, DebugId, Upload, detect, source_hash};

use crate::cli::terminal::megabytes;
use tidewatch_ingest::symbols::classify_upload;
use tidewatch_ingest::symbols::classify_upload::{ClassifiedFile, Content, Fields};
use tidewatch_ingest::symbols::keys::{ScriptPath, SymbolKey};
use tidewatch_limits as limits;

/// One usable file.
#[derive(Debug)]
pub struct Found {
    /// Path of the file.
    pub path: PathBuf,
    /// Its path relative to the named file or folder, with `/`, as it is sent to the server.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// XXH3-128 of the content, 32 hex digits.
    pub hash: String,
    /// All keys it would be stored under.
    pub keys: Vec<FoundKey>,
}

/// A key that a file would be stored under.
#[derive(Debug, Clone)]
pub struct FoundKey {
    /// The key.
    pub key: SymbolKey,
    /// Whether it has debug information.
    pub has_debug_info: bool,
    /// Architecture of native code.
    pub arch: Option<Arch>,
    /// Path of a script or a source map in its build.
    pub path: Option<ScriptPath>,
    /// Debug id of a script or a source map.
    pub debug_id: Option<DebugId>,
}

/// A file that cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its path, as in [`Found::name`].
    pub name: String,
    /// Reason, as a sentence.
    pub why: String,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Findings {
    /// Usable files.
    pub found: Vec<Found>,
    /// Named files that cannot be used, and files of folders that lack metadata.
    pub refused: Vec<Refused>,
    /// Other files of folders, and why they are skipped.
    pub skipped: Vec<Refused>,
}

impl FoundKey {
    fn of(kept: ClassifiedFile) -> FoundKey {
        let ClassifiedFile { key, has_debug_info, arch, path, debug_id, .. } = kept;
        FoundKey { key, has_debug_info, arch, path, debug_id }
    }
}

impl Found {
    /// Reads the file again and returns the content that is stored under `key`.
    pub fn content(&self, key: &SymbolKey, fields: Fields<'_>) -> anyhow::Result<Vec<u8>> {
        let bytes = std::fs::read(&self.path)?;
        let kept = classify_upload::classify_upload(&bytes, &self.name, fields).map_err(anyhow::Error::msg)?;
        let found = kept.into_iter().find(|kept| kept.key == *key);
        match found.map(|kept| kept.content) {
            Some(Content::Inside(inside)) => Ok(inside),
            Some(Content::Whole) => Ok(bytes),
            None => anyhow::bail!("{} has changed meanwhile", self.name),
        }
    }
}

/// Searches the named files and folders, each file once: files first, so that none of them is skipped as part of a
/// folder. One file is in memory at a time.
pub fn find(paths: &[PathBuf], fields: Fields<'_>) -> Findings {
    let mut finder = Finder { fields, visited: HashSet::new(), findings: Findings::default() };
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| path.is_dir());
    for path in files.into_iter().chain(folders) {
        finder.named(path);
    }
    finder.findings
}

struct Finder<'a> {
    fields: Fields<'a>,
    visited: HashSet<PathBuf>,
    findings: Findings,
}

impl Finder<'_> {
    fn named(&mut self, path: &Path) {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                let found = self.findings.found.len();
                if let Err(error) = self.folder(path) {
                    self.refuse(shown(path), error.to_string());
                } else if is_bundle(path) && self.findings.found.len() == found {
                    self.refuse(
                        shown(path),
                        "the bundle has no file with debug information in Contents/Resources/DWARF".into(),
                    );
                }
            }
            Ok(_) => {
                let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
                self.file(path, name, true);
            }
            Err(error) => self.refuse(shown(path), error.to_string()),
        }
    }

    /// Searches a folder. Hidden folders and `node_modules` are excluded; links to folders are not followed.
    fn folder(&mut self, root: &Path) -> io::Result<()> {
        let mut waiting = vec![folder_to_search(root)];
        while let Some(folder) = waiting.pop() {
            let mut entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries.collect::<io::Result<Vec<_>>>()?,
                // A bundle without its folder for files with debug information.
                Err(error) if error.kind() == io::ErrorKind::NotFound && folder != root => continue,
                Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", folder.display()))),
            };
            entries.sort_by_key(std::fs::DirEntry::file_name);
            let mut folders = Vec::new();
            for entry in entries {
                let (path, name) = (entry.path(), entry.file_name());
                if entry.file_type()?.is_dir() {
                    if !name.as_encoded_bytes().starts_with(b".") && name != OsStr::new("node_modules") {
                        folders.push(folder_to_search(&path));
                    }
                } else if path.is_file() {
                    let below = path.strip_prefix(root).unwrap_or(&path);
                    self.file(&path, below.to_string_lossy().replace('\\', "/"), false);
                }
            }
            waiting.extend(folders.into_iter().rev());
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: String, is_named: bool) {
        if path.canonicalize().is_ok_and(|path| !self.visited.insert(path)) {
            return;
        }
        match self.judge(path, &name, is_named) {
            Ok(Ok(found)) => self.findings.found.push(found),
            Ok(Err(why)) => self.findings.skipped.push(Refused { name, why }),
            Err(why) => self.refuse(name, why),
        }
    }

    /// Classifies a file. The inner error is the reason to skip it, for files that were not named; the outer one is the
    /// reason to refuse it.
    fn judge(&self, path: &Path, name: &str, is_named: bool) -> Result<Result<Found, String>, String> {
        let mut file = File::open(path).map_err(|error| error.to_string())?;
        let bytes = file.metadata().map_err(|error| error.to_string())?.len();
        let mut content = Vec::new();
        (&mut file).take(HEAD_BYTES).read_to_end(&mut content).map_err(|error| error.to_string())?;
        if !is_named && !may_be_usable(name, &content) {
            return Ok(Err("not a symbol file".to_owned()));
        }
        if bytes > limits::UPLOAD_FILE_BYTES_MAX as u64 {
            return Err(format!(
                "it has {}, and a file may have {} MiB",
                megabytes(bytes),
                limits::UPLOAD_FILE_BYTES_MAX >> 20
            ));
        }
        file.read_to_end(&mut content).map_err(|error| error.to_string())?;
        match classify_upload::classify_upload(&content, name, self.fields) {
            Ok(kept) if is_named || is_useful(path, &content, &kept) => Ok(Ok(Found {
                path: path.to_owned(),
                name: name.to_owned(),
                bytes: content.len() as u64,
                hash: format!("{:032x}", source_hash(&content)),
                keys: kept.into_iter().map(FoundKey::of).collect(),
            })),
            Ok(kept) if kept.iter().any(|kept| kept.key.is_script()) => {
                Ok(Err("a script without a source map".to_owned()))
            }
            Ok(_) => Ok(Err("it has no debug information".to_owned())),
            // A file that lacks only metadata that a flag can supply is refused; other files are skipped.
            Err(why) if is_named || matches!(detect(&content, Some(name)), Ok(upload) if lacks_metadata(&upload)) => {
                Err(why)
            }
            Err(why) => Ok(Err(why)),
        }
    }

    fn refuse(&mut self, name: String, why: String) {
        self.findings.refused.push(Refused { name, why });
    }
}

/// Enough bytes to distinguish the formats.
const HEAD_BYTES: u64 = 64 << 10;

/// A quick check of name and first bytes, so that not every file of a folder is read.
fn may_be_usable(name: &str, head: &[u8]) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match head.get(..4) {
        Some(b"\x7fELF" | [0xcf | 0xce, 0xfa, 0xed, 0xfe] | [0xfe, 0xed, 0xfa, 0xcf | 0xce]) => true,
        Some([0xca, 0xfe, 0xba, 0xbe | 0xbf]) => extension != "class",
        _ => match extension.as_str() {
            "map" | "js" | "cjs" | "mjs" | "bundle" | "jsbundle" => true,
            "txt" => memchr::memmem::find(head, b" -> ").is_some(),
            _ => false,
        },
    }
}

/// Whether a look-up can use it.
fn is_useful(path: &Path, content: &[u8], kept: &[ClassifiedFile]) -> bool {
    let is_script = |key: &SymbolKey| matches!(key, SymbolKey::Script(_));
    if kept.iter().any(|kept| is_script(&kept.key)) {
        let mut map = path.as_os_str().to_owned();
        map.push(".map");
        let names_one = || memchr::memmem::rfind(content, b"sourceMappingURL=").is_some();
        return kept.len() > 1 || Path::new(&map).is_file() || names_one();
    }
    kept.iter().any(|kept| kept.has_debug_info)
}

fn lacks_metadata(upload: &Upload) -> bool {
    match upload {
        Upload::Native { slices, .. } => slices.iter().any(|slice| slice.has_debug_info),
        Upload::Mapping { .. } => true,
        Upload::SourceMap { .. } | Upload::Script { .. } => false,
    }
}

fn is_bundle(folder: &Path) -> bool {
    folder.extension().is_some_and(|extension| extension == "dSYM")
}

/// The folder to search: in a dSYM bundle only the folder of files with debug information.
fn folder_to_search(folder: &Path) -> PathBuf {
    if is_bundle(folder) { folder.join("Contents/Resources/DWARF") } else { folder.to_owned() }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = r#"{"version":3,"sources":[],"names":[],"mappings":""}"#;

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            std::fs::write(path, content).expect("a file");
        }
        folder
    }

    fn names(findings: &Findings) -> Vec<&str> {
        findings.found.iter().map(|found| found.name.as_str()).collect()
    }

    #[test]
    fn usable_files_of_a_folder_are_found() {
        let folder = folder(&[
            ("dist/a.js", b"a()\n"),
            ("dist/a.js.map", MAP.as_bytes()),
            ("dist/plain.js", b"b()\n"),
            ("dist/far.js", b"c()\n//# sourceMappingURL=https://maps.example/far.js.map\n"),
            ("dist/linker.map", b"# Path: x\n"),
            ("dist/index.html", b"<html>"),
            ("dist/A.class", b"\xca\xfe\xba\xbe\0\0\0\x34"),
            ("node_modules/b/b.js.map", MAP.as_bytes()),
            (".cache/c.js.map", MAP.as_bytes()),
            ("notes.txt", b"a -> b\n"),
        ]);
        let paths = [folder.path().to_owned(), folder.path().join("dist/a.js.map")];
        let findings = find(&paths, Fields::default());
        assert_eq!(names(&findings), ["a.js.map", "dist/a.js", "dist/far.js"]);
        assert_eq!(findings.refused, vec![]);
        let skipped: Vec<&str> = findings.skipped.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(skipped, ["notes.txt", "dist/A.class", "dist/index.html", "dist/linker.map", "dist/plain.js"]);
        assert!(findings.skipped.iter().all(|file| !file.why.is_empty()), "{:?}", findings.skipped);
    }

    #[test]
    fn named_files_that_are_unusable_are_refused() {
        let folder = folder(&[("a.txt", b"hello"), ("Empty.dSYM/Contents/Info.plist", b"x"), ("plain.js", b"x()")]);
        let path = |name: &str| folder.path().join(name);
        let findings =
            find(&[path("a.txt"), path("none.map"), path("Empty.dSYM"), path("plain.js")], Fields::default());
        assert_eq!(names(&findings), ["plain.js"]);
        assert_eq!(findings.refused.len(), 3);
        assert!(findings.refused.iter().all(|refused| !refused.why.is_empty()), "{:?}", findings.refused);
    }

    // A flag can supply the id; skipping the file silently would look like success.
    #[test]
    fn a_mapping_that_lacks_its_id_is_refused_even_in_a_folder() {
        let mapping: &[u8] = b"# compiler: R8\na.B -> c:\n    void m() -> d\n";
        let folder = folder(&[("mapping.txt", mapping)]);
        let paths = [folder.path().to_owned()];
        assert!(find(&paths, Fields::default()).refused[0].why.contains("proguard_uuid"));
        let fields = Fields { proguard_uuid: Some("6c2f7a3e-93a1-4c60-b6a7-0d6f5a3d1c11"), ..Fields::default() };
        assert_eq!(names(&find(&paths, fields)), ["mapping.txt"]);
    }
}
