//! Copies a backup into an empty data directory. The catalog is copied last: no server starts on a directory without
//! it.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::write::{copy_bytes, make_parent, sync_folders};
use crate::backup::manifest::{Manifest, NAME};
use tidewatch_runtime::files;

const LAST: &str = "catalog.sqlite";
/// A folder that an empty file system may have in its root.
const LOST_AND_FOUND: &str = "lost+found";

/// Copies the files of a backup into `data`, and verifies each one. Returns the manifest. Blocks.
pub fn restore(from: &Path, data: &Path) -> anyhow::Result<Manifest> {
    let manifest = Manifest::read(from)?;
    files::create_data_directory(data).with_context(|| format!("cannot make {}", data.display()))?;
    for entry in fs::read_dir(data).with_context(|| format!("cannot list {}", data.display()))? {
        let name = entry?.file_name();
        ensure!(name == LOST_AND_FOUND, "{} is not empty: it has {}", data.display(), name.display());
    }
    let (last, rest): (Vec<_>, Vec<_>) = manifest.files.iter().partition(|entry| entry.path == LAST);
    ensure!(!last.is_empty(), "{} of {} lists no {LAST}", NAME, from.display());
    for entry in rest.into_iter().chain(last) {
        let (source, place) = (entry.place(from), entry.place(data));
        let copied = make_parent(&place).and_then(|()| copy_bytes(&source, &place, Path::new(&entry.path), u64::MAX));
        let copied = copied.with_context(|| format!("cannot copy {}", source.display()))?;
        ensure!(
            copied == *entry,
            "{} is damaged: it is not what was backed up; remove what is in {} before the next try",
            source.display(),
            data.display()
        );
    }
    sync_folders(data)?;
    Ok(manifest)
}
