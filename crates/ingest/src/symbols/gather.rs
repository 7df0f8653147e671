//! The artifacts that a stack trace refers to, from the server's store or from files at hand.

use std::sync::Arc;

use tidewatch_symbols::{Arch, Artifact, ArtifactRequest, ArtifactSet, DebugId, Trace};

use super::keys::SymbolKey;

/// Where artifacts are looked for.
pub trait Source {
    /// `None`: there is none, or none yet.
    fn artifact(&mut self, key: &SymbolKey) -> Option<Arc<[u8]>>;
    /// Dart images: of this build, or all.
    fn dart_images(&mut self, id: Option<DebugId>) -> Vec<SymbolKey>;
    /// The source map of the script with this path. `None` too where several could be meant. `id`: the script's debug
    /// id, which a map with another one does not belong to.
    fn map_of_script(&mut self, path: &str, id: Option<DebugId>) -> Option<SymbolKey>;
}

/// What was found for a trace.
#[derive(Default)]
pub struct Gathered {
    held: Vec<Held>,
    pub found: Vec<ArtifactRequest>,
    pub missing: Vec<ArtifactRequest>,
}

struct Held {
    place: Place,
    bytes: Arc<[u8]>,
}

enum Place {
    Native(DebugId),
    OnlyDart,
    Mapping(DebugId),
    Script(DebugId),
    ScriptPath(String),
}

impl Gathered {
    /// The available artifacts that the trace requests.
    pub fn of(trace: &Trace<'_>, source: &mut dyn Source) -> Gathered {
        let mut gathered = Gathered::default();
        for request in trace.requests() {
            gathered.add(request, source);
        }
        let after = trace.further_requests(&gathered.artifacts());
        for request in after {
            gathered.add(request, source);
        }
        gathered
    }

    pub fn artifacts(&self) -> ArtifactSet<'_> {
        let mut artifacts = ArtifactSet::new();
        for Held { place, bytes } in &self.held {
            let Ok(artifact) = Artifact::open(bytes) else { continue };
            match place {
                Place::Native(id) => artifacts.add_native(*id, artifact),
                Place::OnlyDart => artifacts.add_only_dart(artifact),
                Place::Mapping(id) => artifacts.add_mapping(*id, artifact),
                Place::Script(id) => artifacts.add_script(*id, artifact),
                Place::ScriptPath(path) => artifacts.add_script_path(path, artifact),
            }
        }
        artifacts
    }

    fn add(&mut self, request: ArtifactRequest, source: &mut dyn Source) {
        let before = self.held.len();
        match &request {
            ArtifactRequest::Native { id, arch } => {
                for key in native_keys(*id, *arch, source) {
                    self.hold(&key, Place::Native(*id), source);
                }
            }
            ArtifactRequest::Mapping { id } => self.hold(&SymbolKey::Mapping(*id), Place::Mapping(*id), source),
            ArtifactRequest::Script { debug_id, path } => {
                if let Some(id) = debug_id {
                    self.hold(&SymbolKey::SourceMapById(*id), Place::Script(*id), source);
                }
                // The name of a script whose id is known by content says nothing that the id does not.
                if self.held.len() == before
                    && let Some(key) = source.map_of_script(path, *debug_id)
                {
                    self.hold(&key, Place::ScriptPath(path.clone()), source);
                }
            }
            ArtifactRequest::OnlyDart { arch } => {
                let images = source.dart_images(None);
                let is_meant = |key: &SymbolKey| matches!(key, SymbolKey::Dart(_, known) if *arch == Arch::Unknown || known == arch);
                if let Some(key) = only(images.into_iter().filter(is_meant)) {
                    self.hold(&key, Place::OnlyDart, source);
                }
            }
        }
        let found = if self.held.len() > before { &mut self.found } else { &mut self.missing };
        found.push(request);
    }

    fn hold(&mut self, key: &SymbolKey, place: Place, source: &mut dyn Source) {
        self.held.extend(source.artifact(key).map(|bytes| Held { place, bytes }));
    }
}

/// Of an image: under its id; where several slices share that, the one for the architecture too. A Dart image is known by
/// both, and without the architecture by its id if only one has that.
fn native_keys(id: DebugId, arch: Arch, source: &mut dyn Source) -> Vec<SymbolKey> {
    let mut keys = vec![SymbolKey::MachO(id), SymbolKey::Elf(id)];
    let twin = match arch {
        Arch::Arm64 => Some(Arch::Arm64e),
        Arch::Arm64e => Some(Arch::Arm64),
        _ => None,
    };
    let slices = [Some(arch).filter(|arch| *arch != Arch::Unknown), twin].into_iter().flatten();
    keys.extend(slices.map(|arch| SymbolKey::MachOSlice(id, arch)));
    let images = source.dart_images(Some(id));
    let exact = SymbolKey::Dart(id, arch);
    let dart = if images.contains(&exact) { Some(exact) } else { only(images.into_iter()) };
    keys.extend(dart);
    keys
}

fn only(mut keys: impl Iterator<Item = SymbolKey>) -> Option<SymbolKey> {
    let first = keys.next()?;
    keys.next().is_none().then_some(first)
}
