//! The artifacts at hand while a trace is resolved.

use hashbrown::HashMap;

use crate::{Arch, DebugId, artifact::Artifact, js::Script, native::Native, r8::Mapping};

/// An artifact that a trace refers to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Need {
    /// A Mach-O or ELF image by its id. Of several slices with that id, the one for `arch` serves best.
    Native {
        /// Mach-O UUID or build id.
        id: DebugId,
        /// What the trace says it ran on.
        arch: Arch,
    },
    /// A `mapping.txt`: by the uuid the app reports, or by the map id in the frames.
    Mapping {
        /// That id.
        id: DebugId,
    },
    /// A script: by its debug id if the trace gives one, else (or if that id is unknown) by its path.
    Script {
        /// The debug id reported for the script.
        debug_id: Option<DebugId>,
        /// The path of its URL: without scheme, host, query and fragment, and without a slash at its beginning. The last
        /// part is the file name.
        path: String,
    },
    /// A Dart trace that does not say which build it is from: the project's Dart image, if it has exactly one for
    /// `arch` (any, if unknown).
    OnlyDart {
        /// What the trace says it ran on.
        arch: Arch,
    },
}

/// What was found of the [`Need`]s, by the caller, wherever it keeps artifacts.
#[derive(Debug, Default)]
pub struct Shelf<'a> {
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

impl<'a> Shelf<'a> {
    /// An empty shelf.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a native artifact under its own id (or `id`, for files that carry none).
    pub fn add_native(&mut self, id: DebugId, artifact: Artifact<'a>) {
        if let Some(native) = Native::open(artifact) {
            self.native.entry(id).or_default().push(native);
        }
    }

    /// Answers [`Need::OnlyDart`].
    pub fn add_only_dart(&mut self, artifact: Artifact<'a>) {
        self.only_dart = Native::open(artifact);
    }

    pub(super) fn only_dart(&self) -> Option<&Native<'a>> {
        self.only_dart.as_ref()
    }

    /// Puts a mapping's artifact under the id it was uploaded for.
    pub fn add_mapping(&mut self, id: DebugId, artifact: Artifact<'a>) {
        if let Some(mapping) = Mapping::open(artifact) {
            self.mappings.insert(id, mapping);
        }
    }

    pub(super) fn mapping(&self, id: &DebugId) -> Option<&Mapping<'a>> {
        self.mappings.get(id)
    }

    /// Puts a script's artifact under its debug id.
    pub fn add_script(&mut self, id: DebugId, artifact: Artifact<'a>) {
        if let Some(script) = Script::open(artifact) {
            self.scripts.insert(ScriptKey::Id(id), script);
        }
    }

    /// Puts a script's artifact under the path of a [`Need::Script`]: it serves no other folder.
    pub fn add_script_path(&mut self, path: &str, artifact: Artifact<'a>) {
        if let Some(script) = Script::open(artifact) {
            self.scripts.insert(ScriptKey::Path(path.to_owned()), script);
        }
    }

    /// Puts a script's artifact under its file name: it serves every folder.
    pub fn add_script_file(&mut self, file: &str, artifact: Artifact<'a>) {
        if let Some(script) = Script::open(artifact) {
            self.scripts.insert(ScriptKey::File(file.to_owned()), script);
        }
    }

    pub(super) fn script(&self, id: Option<DebugId>, path: &str) -> Option<&Script<'a>> {
        let by_id = id.and_then(|id| self.scripts.get(&ScriptKey::Id(id)));
        let by_path = || self.scripts.get(&ScriptKey::Path(path.to_owned()));
        by_id.or_else(by_path).or_else(|| self.scripts.get(&ScriptKey::File(super::script::file_name(path).to_owned())))
    }

    pub(super) fn native(&self, id: &DebugId, arch: Arch) -> Option<&Native<'a>> {
        let slices = self.native.get(id)?;
        let is = |wanted: Arch| slices.iter().find(move |n| n.artifact().arch() == wanted);
        // docs/decisions/0005, 4: the id decides; the architecture only chooses between slices that share it.
        is(arch)
            .or_else(|| match arch {
                Arch::Arm64 => is(Arch::Arm64e),
                Arch::Arm64e => is(Arch::Arm64),
                _ => None,
            })
            .or_else(|| slices.first())
    }
}
