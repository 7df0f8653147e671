//! Converted artifacts of a folder, as a server would keep them.

use std::path::Path;

use tidewatch_symbols::{Artifact, DebugId, Need, Shelf, Upload, convert_native, detect};

use crate::fixtures;

/// Artifacts by id.
pub struct Library(Vec<(DebugId, Vec<u8>)>);

impl Library {
    /// Every image with debug information below the folders that match.
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

    /// The artifact of an id.
    pub fn artifact(&self, id: DebugId) -> Option<Artifact<'_>> {
        let (_, bytes) = self.0.iter().find(|(known, _)| *known == id)?;
        Some(Artifact::open(bytes).expect("just written"))
    }

    /// A shelf with what is needed of it.
    pub fn shelf(&self, needs: &[Need]) -> Shelf<'_> {
        let mut shelf = Shelf::new();
        for (id, bytes) in &self.0 {
            if needs.iter().any(|need| matches!(need, Need::Native { id: needed, .. } if needed == id)) {
                shelf.add_native(*id, Artifact::open(bytes).expect("just written"));
            }
        }
        shelf
    }
}
