//! Classifies an uploaded file: its kind and keys, or one sentence on why it is refused. WIRE 4.1, 4.2.
//!
//! The format is detected from the content. Form fields supply metadata that some formats lack: `arch` and `debug_id`
//! for Dart, `proguard_uuid` for R8.

use tidewatch_symbols::{Arch, DebugId, Slice, Upload, detect};

use super::keys::{FileName, ScriptPath, SymbolKey};
use super::release::{Release, ReleaseId};

/// The form fields of an upload besides the file.
#[derive(Debug, Default, Clone, Copy)]
pub struct Fields<'a> {
    /// Architecture of a Dart image.
    pub arch: Option<&'a str>,
    /// Build id of a Dart image.
    pub debug_id: Option<&'a str>,
    /// Id of an R8 mapping.
    pub proguard_uuid: Option<&'a str>,
    /// Version of the app.
    pub version: Option<&'a str>,
    /// Distribution: one of several builds of a version.
    pub dist: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// The release that the upload names.
    pub fn release(&self) -> Release {
        Release::of(self.version, self.dist)
    }

    /// Reads the known fields. The first of several with one name counts; an empty value counts as absent.
    pub fn of(fields: &'a [(String, String)]) -> Fields<'a> {
        let find = |name: &str| {
            let value = fields.iter().find(|(known, _)| known == name)?.1.trim();
            (!value.is_empty()).then_some(value)
        };
        Fields {
            arch: find("arch"),
            debug_id: find("debug_id"),
            proguard_uuid: find("proguard_uuid"),
            version: find("version").or_else(|| find("release")),
            dist: find("dist"),
        }
    }
}

/// One key under which an uploaded file is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassifiedFile {
    /// The key. The store may choose another one if it is taken.
    pub key: SymbolKey,
    /// Content stored under it.
    pub content: Content,
    /// Whether it has debug information. Only native code can lack it.
    pub has_debug_info: bool,
    /// Architecture of native code; `None` for other files.
    pub arch: Option<Arch>,
    /// Path of a script or a source map in its build.
    pub path: Option<ScriptPath>,
    /// Debug id of a script or a source map, if it has one.
    pub debug_id: Option<DebugId>,
    /// The release, if the upload names one.
    pub release: Option<ReleaseId>,
}

/// The content that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The file as uploaded.
    Whole,
    /// The inline source map of a script.
    Inside(Vec<u8>),
}

/// The keys of an uploaded file; a fat Mach-O file has one per slice. The error is a sentence for the client.
pub fn classify_upload(bytes: &[u8], name: &str, fields: Fields<'_>) -> Result<Vec<ClassifiedFile>, String> {
    let release = fields.release().id();
    let keys = keys_of(bytes, name, fields)?;
    Ok(keys.into_iter().map(|file| ClassifiedFile { release, ..file }).collect())
}

fn keys_of(bytes: &[u8], name: &str, fields: Fields<'_>) -> Result<Vec<ClassifiedFile>, String> {
    match detect(bytes, Some(name)).map_err(|error| error.to_string())? {
        Upload::Native { slices, is_macho: true } => slices
            .iter()
            .map(|slice| {
                let id = slice.id.ok_or("it has no UUID")?;
                Ok(native(SymbolKey::MachO(id), slice))
            })
            .collect(),
        Upload::Native { slices, is_macho: false } => {
            let slice = slices.first().ok_or("it holds no code")?;
            let is_dart = slice.is_dart || extension(name) == "symbols";
            let key = if is_dart { dart(slice, name, fields)? } else { elf(slice)? };
            Ok(vec![native(key, slice)])
        }
        Upload::Mapping { map_id } => {
            let given = fields.proguard_uuid.map(|text| DebugId::parse(text).ok_or("proguard_uuid is not hexadecimal"));
            let id = given.transpose()?.or(map_id).filter(|id| !id.is_zero());
            let id = id.ok_or("a mapping needs the form field proguard_uuid, and has no pg_map_id of its own")?;
            Ok(vec![whole(SymbolKey::Mapping(id))])
        }
        Upload::SourceMap { debug_id } => {
            let path = ScriptPath::of(name);
            let name = FileName::of(name).ok_or(BAD_NAME)?;
            let by_id = debug_id.map(SymbolKey::SourceMapById);
            let keys = [Some(SymbolKey::SourceMap(name)), by_id].into_iter().flatten();
            Ok(keys.map(|key| ClassifiedFile { path: path.clone(), debug_id, ..whole(key) }).collect())
        }
        Upload::Script { debug_id, inline_map } => {
            let path = ScriptPath::of(name);
            let map_path = ScriptPath::of(&format!("{name}.map"));
            let name = FileName::of(name).ok_or(BAD_NAME)?;
            let keys = [Some(SymbolKey::Script(name)), debug_id.map(SymbolKey::ScriptById)].into_iter().flatten();
            let mut kept: Vec<ClassifiedFile> =
                keys.map(|key| ClassifiedFile { path: path.clone(), debug_id, ..whole(key) }).collect();
            if let Some(map) = inline_map {
                let maps: Vec<_> = kept.iter().filter_map(|script| script.key.map_of_script()).collect();
                kept.extend(maps.into_iter().map(|key| ClassifiedFile {
                    content: Content::Inside(map.clone()),
                    path: map_path.clone(),
                    debug_id,
                    ..whole(key)
                }));
            }
            Ok(kept)
        }
    }
}

const BAD_NAME: &str = "its file name cannot be used";

fn whole(key: SymbolKey) -> ClassifiedFile {
    ClassifiedFile {
        key,
        content: Content::Whole,
        has_debug_info: true,
        arch: None,
        path: None,
        debug_id: None,
        release: None,
    }
}

fn native(key: SymbolKey, slice: &Slice) -> ClassifiedFile {
    let arch = match &key {
        SymbolKey::Dart(_, arch) => *arch,
        _ => slice.arch,
    };
    ClassifiedFile { has_debug_info: slice.has_debug_info, arch: Some(arch), ..whole(key) }
}

fn elf(slice: &Slice) -> Result<SymbolKey, String> {
    let id = slice.id.filter(|id| !id.is_zero()).ok_or("it has no build id: link it with --build-id")?;
    Ok(SymbolKey::Elf(id))
}

/// The key of a Dart image. The build id in the file takes precedence, and a form field with another id is an error.
/// Only architectures that Dart compiles for are accepted.
fn dart(slice: &Slice, name: &str, fields: Fields<'_>) -> Result<SymbolKey, String> {
    let given = match fields.debug_id {
        Some(text) => Some(DebugId::parse(text).ok_or("debug_id is not hexadecimal")?),
        None => None,
    };
    let id = match (slice.id, given) {
        (Some(own), Some(given)) if own != given => {
            return Err(format!("debug_id is {given}, but the file's own build id is {own}"));
        }
        (own, given) => own.or(given).filter(|id| !id.is_zero()),
    };
    let id = id.ok_or("it has no build id: send it as the form field debug_id")?;
    let stated = fields.arch.or_else(|| name.strip_suffix(".symbols")?.rsplit(['-', '.']).next());
    let arch = match stated.and_then(Arch::parse).unwrap_or(slice.arch) {
        arch @ (Arch::Arm64 | Arch::X64 | Arch::Arm | Arch::Ia32) => arch,
        _ => return Err("its architecture is unknown: send arm64, x64, arm or ia32 as the form field arch".to_owned()),
    };
    Ok(SymbolKey::Dart(id, arch))
}

/// The warning about two source maps without debug ids that share a file name.
pub fn collision(name: &str, other: &str) -> String {
    format!(
        "{name} and {other} have one file name and no debug ids: a frame is resolved only if its URL tells their folders apart"
    )
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Whether `/api/sourcemaps/upload` accepts a file of this name. Clients skip other files of a build folder. WIRE 4.1.
pub fn is_source_map_or_script(name: &str) -> bool {
    ["map", "js", "cjs", "mjs"].iter().any(|known| extension(name).eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "85314830-023f-4cf1-a267-535f4e37bb17";

    fn keys(bytes: &[u8], name: &str, fields: Fields<'_>) -> Result<Vec<String>, String> {
        let kept = classify_upload(bytes, name, fields)?;
        Ok(kept
            .iter()
            .map(|kept| kept.key.path(uuid::Uuid::nil()).replace("00000000-0000-0000-0000-000000000000", "p"))
            .collect())
    }

    // WIRE 4.1: by file name, and by debug id where there is one.
    #[test]
    fn source_maps_and_scripts() {
        let id = ID.replace('-', "");
        let map = format!(r#"{{"version":3,"sources":[],"names":[],"mappings":"","debugId":"{ID}"}}"#);
        let script = format!("x()\n//# debugId={ID}\n");
        let inside = "x()\n//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IiJ9";
        for (bytes, name, expected) in [
            (
                map.as_str(),
                "dist/a.js.map",
                vec!["sourcemaps/p/a.js.map".to_owned(), format!("sourcemaps/p/by-debug-id/{id}.js.map")],
            ),
            (&script, "a.js", vec!["sourcemaps/p/a.js".to_owned(), format!("sourcemaps/p/by-debug-id/{id}.js")]),
            (inside, "b.mjs", vec!["sourcemaps/p/b.mjs".to_owned(), "sourcemaps/p/b.mjs.map".to_owned()]),
        ] {
            assert_eq!(keys(bytes.as_bytes(), name, Fields::default()), Ok(expected), "{name}");
        }
    }

    // WIRE 4.2, row R8.
    #[test]
    fn mappings() {
        let own = "# compiler: R8\n# pg_map_id: 0123abc\na.B -> c:\n";
        let none = "a.B -> c:\n    void m() -> d\n";
        let with = |text| Fields { proguard_uuid: Some(text), ..Fields::default() };
        let id = ID.replace('-', "");
        assert_eq!(keys(none.as_bytes(), "mapping.txt", with(ID)), Ok(vec![format!("androidmappings/p/{id}.txt")]));
        assert_eq!(keys(own.as_bytes(), "mapping.txt", with(ID)), Ok(vec![format!("androidmappings/p/{id}.txt")]));
        assert_eq!(
            keys(own.as_bytes(), "m.txt", Fields::default()),
            Ok(vec!["androidmappings/p/0123abc.txt".to_owned()])
        );
        assert!(keys(none.as_bytes(), "mapping.txt", Fields::default()).unwrap_err().contains("proguard_uuid"));
        assert!(keys(none.as_bytes(), "mapping.txt", with("../x")).is_err());
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        for (bytes, name) in
            [(&b"hello"[..], "a.txt"), (b"", "a.map"), (b"PK\x03\x04", "dSYM.zip"), (b"{\"a\":1}", "a.map")]
        {
            assert!(!keys(bytes, name, Fields::default()).expect_err(name).is_empty());
        }
    }

    #[test]
    fn other_files_of_a_build_folder_are_not_uploads() {
        for (name, expected) in [("a.js.map", true), ("a.MJS", true), ("a.css", false), ("map", false), ("a.ts", false)]
        {
            assert_eq!(is_source_map_or_script(name), expected, "{name}");
        }
    }
}
