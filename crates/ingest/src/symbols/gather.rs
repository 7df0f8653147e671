//! Collects the artifacts that a stack trace refers to, from the server's store or from local files.

use std::sync::Arc;

use tidewatch_symbols::{Arch, Artifact, ArtifactRequest, ArtifactSet, DebugId, Trace};

use super::keys::SymbolKey;

/// A source of artifacts.
pub trait Source {
    /// The artifact of a key. `None`: there is none, or it is not built yet.
    fn artifact(&mut self, key: &SymbolKey) -> Option<Arc<[u8]>>;
    /// The mapping with this id, of the trace's release.
    fn mapping(&mut self, id: DebugId) -> Option<SymbolKey>;
    /// Keys of Dart images: those with this build id, or those of the trace's release.
    fn dart_images(&mut self, id: Option<DebugId>) -> Vec<SymbolKey>;
    /// The source map of the script with this path, of the trace's release. `None` also when several match equally well. `id`: the script's
    /// debug id; a map with another debug id does not match.
    fn map_of_script(&mut self, path: &str, id: Option<DebugId>) -> Option<SymbolKey>;
}

/// The artifacts found for a stack trace.
#[derive(Default)]
pub struct Gathered {
    held: Vec<Held>,
    /// Requests for which at least one artifact was found.
    pub found: Vec<ArtifactRequest>,
    /// Requests for which none was found, as far as they would resolve frames that are still raw.
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
    /// Requests every artifact of the trace from `source`, in two rounds: the second one needs the artifacts of the
    /// first.
    pub fn of(trace: &Trace<'_>, source: &mut dyn Source) -> Gathered {
        let mut gathered = Gathered::default();
        for request in trace.requests() {
            gathered.add(request, source);
        }
        let before = gathered.missing.len();
        let after = trace.further_requests(&gathered.artifacts());
        for request in after {
            gathered.add(request, source);
        }
        // The original file of a resolved frame may have a source map of its own, but need not.
        gathered.missing.truncate(before);
        if !gathered.missing.is_empty() {
            let needed = trace.unresolved_requests(&gathered.artifacts());
            gathered.missing.retain(|request| needed.contains(request));
        }
        gathered
    }

    /// The found artifacts, to resolve the trace with.
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
            ArtifactRequest::Mapping { id } => {
                if let Some(key) = source.mapping(*id) {
                    self.hold(&key, Place::Mapping(*id), source);
                }
            }
            ArtifactRequest::Script { debug_id, path } => {
                if let Some(id) = debug_id {
                    self.hold(&SymbolKey::SourceMapById(*id), Place::Script(*id), source);
                }
                // A script whose debug id was found needs no look-up by name.
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

/// The keys of an image: its id, and its id with the architecture where several slices share the id. A Dart image is
/// keyed by both; without the architecture it is found by its id if that is unique.
fn native_keys(id: DebugId, arch: Arch, source: &mut dyn Source) -> Vec<SymbolKey> {
    let mut keys = vec![SymbolKey::MachO(id), SymbolKey::Elf(id)];
    let compatible = match arch {
        Arch::Arm64 => Some(Arch::Arm64e),
        Arch::Arm64e => Some(Arch::Arm64),
        _ => None,
    };
    let slices = [Some(arch).filter(|arch| *arch != Arch::Unknown), compatible].into_iter().flatten();
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
