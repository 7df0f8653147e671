//! The converted artifacts of a folder.

use std::path::Path;

use tidewatch_symbols::{Artifact, ArtifactRequest, ArtifactSet, DebugId, Upload, convert_native, detect};

use crate::fixtures;

/// Artifacts by id.
pub struct Library(Vec<(DebugId, Vec<u8>)>);

impl Library {
    /// Converts every image with debug information below the folders.
    pub fn of(root: &Path, folders: &[&str]) -> Self {
        let mut artifacts = Vec::new();
        for path in folders.iter().flat_map(|folder| fixtures::files(&root.join(folder))) {
            let Some(bytes) = fixtures::read(&path) else { continue };
            let Ok(Upload::Native { slices, .. }) = detect(&bytes, None) else { continue };
            for slice in slices.iter().filter(|s| s.has_debug_info) {
                let Some(id) = slice.id else { continue };
                artifacts.push((id, convert_native(&bytes, slice).expect("a fixture converts")));
            }
        }
        Self(artifacts)
    }

    /// The artifact with an id.
    pub fn artifact(&self, id: DebugId) -> Option<Artifact<'_>> {
        let (_, bytes) = self.0.iter().find(|(known, _)| *known == id)?;
        Some(Artifact::open(bytes).expect("just written"))
    }

    /// The artifacts that the requests name.
    pub fn artifacts(&self, requests: &[ArtifactRequest]) -> ArtifactSet<'_> {
        let mut artifacts = ArtifactSet::new();
        for (id, bytes) in &self.0 {
            if requests
                .iter()
                .any(|request| matches!(request, ArtifactRequest::Native { id: needed, .. } if needed == id))
            {
                artifacts.add_native(*id, Artifact::open(bytes).expect("just written"));
            }
        }
        artifacts
    }
}
