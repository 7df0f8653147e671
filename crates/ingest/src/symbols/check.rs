//! Verifies symbol files and source maps on disk against the hashes recorded at their upload, and artifacts against
//! their checksums. Read-only.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tidewatch_blobs::{BlobStore, is_pending};
use tidewatch_symbols::{Artifact, Stale};

use super::disk::if_exists;
use super::info::Info;
use super::missing;
use super::store::{ARTIFACT, INFO, USED, is_whole};

/// Reads every file below `blobs` and adds a sentence per finding to `findings`. Returns the number of originals.
/// Blocks.
pub fn check(blobs: &Path, findings: &mut Vec<String>) -> u64 {
    let mut originals = 0;
    let store = match BlobStore::in_folder(blobs) {
        Ok(store) => store,
        Err(error) => {
            findings.push(format!("{}: {error}", blobs.display()));
            return 0;
        }
    };
    let mut folders = vec![blobs.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let mut files = match files_of(&folder, &mut folders) {
            Ok(files) => files,
            Err(error) => {
                findings.push(format!("{}: {error}", folder.display()));
                continue;
            }
        };
        files.sort();
        for path in files {
            originals += u64::from(kind_of(blobs, &path) == Some(Kind::Original));
            if let Err(why) = check_file(&store, blobs, &path) {
                findings.push(format!("{}: {why}", path.display()));
            }
        }
    }
    originals
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Original,
    Info,
    Artifact,
    Missing,
}

/// Whether the path is that of an uploaded file or of its `.info` file.
pub fn is_upload(blobs: &Path, path: &Path) -> bool {
    matches!(kind_of(blobs, path), Some(Kind::Original | Kind::Info))
}

/// `None`: a file without a checksum.
fn kind_of(blobs: &Path, path: &Path) -> Option<Kind> {
    if is_pending(path) {
        return None;
    }
    match (path.parent()?.strip_prefix(blobs).ok()?.to_str(), path.extension().and_then(OsStr::to_str)) {
        (Some("missing"), _) => Some(Kind::Missing),
        // Empty files, one per project in the resymbolication queue.
        (Some("again"), _) | (_, Some(USED)) => None,
        // Counts of removed uploads, which begin again if they are lost.
        (Some("removed"), _) => None,
        // Logos of status pages, which share the store.
        (Some(folder), _) if folder.starts_with("statuspages/") => None,
        (_, Some(INFO)) => Some(Kind::Info),
        (_, Some(ARTIFACT)) => Some(Kind::Artifact),
        _ => Some(Kind::Original),
    }
}

/// The files of a folder; subfolders are added to `folders`. A file whose write a crash interrupted is excluded: it is
/// [pending](is_pending), or has a hidden name.
fn files_of(folder: &Path, folders: &mut Vec<PathBuf>) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in if_exists(fs::read_dir(folder))?.into_iter().flatten() {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        } else if !entry.file_name().as_encoded_bytes().starts_with(b".") && !is_pending(&entry.path()) {
            files.push(entry.path());
        }
    }
    Ok(files)
}

fn check_file(store: &BlobStore, blobs: &Path, path: &Path) -> Result<(), String> {
    let message = |error: io::Error| error.to_string();
    match kind_of(blobs, path) {
        Some(Kind::Original) => {
            let mut beside = path.as_os_str().to_owned();
            beside.push(".");
            beside.push(INFO);
            let Some(text) = if_exists(fs::read(beside)).map_err(message)? else {
                return Err("it has no .info file and is not listed; upload it again".to_owned());
            };
            // An unreadable .info file is reported for that file.
            let Ok(info) = serde_json::from_slice::<Info>(&text) else { return Ok(()) };
            let name = path.strip_prefix(blobs).ok().and_then(Path::to_str).unwrap_or_default();
            match is_whole(store, name, &info).map_err(message)? {
                true => Ok(()),
                false => Err("its content is not what was uploaded; upload it again".to_owned()),
            }
        }
        Some(Kind::Info) => {
            if !path.with_extension("").exists() {
                return Err("the file that it describes is missing; upload it again".to_owned());
            }
            let info = serde_json::from_slice::<Info>(&fs::read(path).map_err(message)?);
            info.map(drop).map_err(|error| format!("it cannot be read ({error}); upload its file again"))
        }
        Some(Kind::Artifact) => match Artifact::open(&fs::read(path).map_err(message)?).and_then(Artifact::verify) {
            // Another version of the program wrote it.
            Ok(_) | Err(Stale::Version { .. }) => Ok(()),
            Err(why) => Err(format!("{why}; the server makes it again when a stack trace needs it")),
        },
        Some(Kind::Missing) if !missing::is_readable(path) => {
            Err("it cannot be read; the list of missing uploads is made anew as stack traces arrive".to_owned())
        }
        Some(Kind::Missing) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logos_of_status_pages_are_no_uploads() {
        let blobs = Path::new("blobs");
        for (path, expected) in [
            ("blobs/statuspages/5/logo", None),
            ("blobs/statuspages/5/logo#1", None),
            ("blobs/sourcemaps/p/a.js", Some(Kind::Original)),
            ("blobs/sourcemaps/p/a.js.info", Some(Kind::Info)),
            ("blobs/missing/p", Some(Kind::Missing)),
            ("blobs/removed/p.json", None),
        ] {
            assert_eq!(kind_of(blobs, Path::new(path)), expected, "{path}");
        }
    }
}
