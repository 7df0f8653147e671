//! The artifacts from which a trace is resolved.

use hashbrown::HashMap;

use crate::{Arch, DebugId, artifact::Artifact, js::Script, native::Native, r8::Mapping};

/// An artifact to which a trace refers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ArtifactRequest {
    /// A Mach-O or ELF image. Among slices with the same id, the one for `arch` is preferred.
    Native {
        /// Mach-O UUID or ELF build id.
        id: DebugId,
        /// The architecture of the trace's process.
        arch: Arch,
    },
    /// A `mapping.txt` of R8 or ProGuard.
    Mapping {
        /// The UUID reported by the app, or the map id in the frames.
        id: DebugId,
    },
    /// The source map of a script: by debug id if the trace has one, otherwise (or if no map has that id) by path.
    Script {
        /// The debug id reported for the script.
        debug_id: Option<DebugId>,
        /// The path of the script's URL without its leading slash. The last segment is the file name.
        path: String,
    },
    /// The project's Dart image, if it has exactly one for `arch` (any, if unknown): the trace does not name its build.
    OnlyDart {
        /// The architecture of the trace's process.
        arch: Arch,
    },
}

/// The artifacts that the caller found for the [`ArtifactRequest`]s of a trace.
#[derive(Debug, Default)]
pub struct ArtifactSet<'a> {
    native: HashMap<DebugId, Vec<Native<'a>>>,
    only_dart: Option<Native<'a>>,
    mappings: HashMap<DebugId, Mapping<'a>>,
    scripts: HashMap<ScriptKey, Script<'a>>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum ScriptKey {
    Id(DebugId),
    Path(String),
    File(String),
}

impl<'a> ArtifactSet<'a> {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a native artifact under `id`. An artifact of another kind is ignored.
    pub fn add_native(&mut self, id: DebugId, artifact: Artifact<'a>) {
        if let Some(native) = Native::open(artifact) {
            self.native.entry(id).or_default().push(native);
        }
    }

    /// Adds the artifact for [`ArtifactRequest::OnlyDart`].
    pub fn add_only_dart(&mut self, artifact: Artifact<'a>) {
        self.only_dart = Native::open(artifact);
    }

    pub(super) fn only_dart(&self) -> Option<&Native<'a>> {
        self.only_dart.as_ref()
    }

    /// Adds the artifact of a mapping under its id. An artifact of another kind is ignored.
    pub fn add_mapping(&mut self, id: DebugId, artifact: Artifact<'a>) {
        if let Some(mapping) = Mapping::open(artifact) {
            self.mappings.insert(id, mapping);
        }
    }

    pub(super) fn mapping(&self, id: &DebugId) -> Option<&Mapping<'a>> {
        self.mappings.get(id)
    }

    /// Adds the artifact of a script under its debug id. An artifact of another kind is ignored.
    pub fn add_script(&mut self, id: DebugId, artifact: Artifact<'a>) {
        if let Some(script) = Script::open(artifact) {
            self.scripts.insert(ScriptKey::Id(id), script);
        }
    }

    /// Adds the artifact of a script under the path of an [`ArtifactRequest::Script`]. Other paths do not match.
    pub fn add_script_path(&mut self, path: &str, artifact: Artifact<'a>) {
        if let Some(script) = Script::open(artifact) {
            self.scripts.insert(ScriptKey::Path(path.to_owned()), script);
        }
    }

    /// Adds the artifact of a script under its file name, which matches in every folder.
    pub fn add_script_file(&mut self, file: &str, artifact: Artifact<'a>) {
        if let Some(script) = Script::open(artifact) {
            self.scripts.insert(ScriptKey::File(file.to_owned()), script);
        }
    }

    pub(super) fn script(&self, id: Option<DebugId>, path: &str) -> Option<&Script<'a>> {
        let by_id = id.and_then(|id| self.scripts.get(&ScriptKey::Id(id)));
        let by_path = || self.scripts.get(&ScriptKey::Path(path.to_owned()));
        by_id.or_else(by_path).or_else(|| self.scripts.get(&ScriptKey::File(file_name(path).to_owned())))
    }

    pub(super) fn native(&self, id: &DebugId, arch: Arch) -> Option<&Native<'a>> {
        let slices = self.native.get(id)?;
        let is = |wanted: Arch| slices.iter().find(move |n| n.artifact().arch() == wanted);
        // docs/decisions/0005, 4: the architecture only selects among slices with the same id.
        is(arch)
            .or_else(|| match arch {
                Arch::Arm64 => is(Arch::Arm64e),
                Arch::Arm64e => is(Arch::Arm64),
                _ => None,
            })
            .or_else(|| slices.first())
    }
}

/// The last segment of a URL's path, without query and fragment.
pub(super) fn file_name(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
