//! Originals and artifacts on disk: `<key>`, what is known of it as `<key>.info`, and what was made from it as `<key>.tw`.
//!
//! A file is in place whole or not at all, and durable before it is acknowledged: written aside, synced, renamed, and the
//! folder synced.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tidewatch_symbols::{Arch, DebugId, source_hash};
use uuid::Uuid;

use super::keys::{FOLDERS, SymbolKey, folder};
use super::sort::{Content, Kept};

/// The folder of all blobs.
pub struct SymbolStore {
    root: PathBuf,
}

/// What is known of an original besides its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    pub kind: String,
    /// As its sender called it.
    pub name: String,
    /// Of the app, when the sender said it.
    pub version: Option<String>,
    pub bytes: u64,
    /// XXH3-128 of the content, 32 hex digits.
    pub hash: String,
    pub has_debug_info: bool,
    /// Nanoseconds since the epoch.
    pub uploaded_ns: i64,
}

/// What came of storing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is new, or other than what was there.
    Stored,
    /// The same bytes were there.
    Same,
    /// What was there has debug information, and this has none.
    Worse,
}

const INFO: &str = "info";
const ARTIFACT: &str = "tw";

impl SymbolStore {
    pub fn new(root: PathBuf) -> SymbolStore {
        SymbolStore { root }
    }

    fn path(&self, project: Uuid, key: &SymbolKey) -> PathBuf {
        self.root.join(key.path(project))
    }

    /// Durable when it returns. `source`: the whole upload on the same disk; `content`: its bytes.
    pub fn put(&self, project: Uuid, kept: &Kept, source: &Path, content: &[u8], info: Info) -> io::Result<Put> {
        let path = self.path(project, &kept.key);
        let bytes = match &kept.content {
            Content::Whole => content,
            Content::Inside(bytes) => bytes,
        };
        let info = Info { bytes: bytes.len() as u64, hash: format!("{:032x}", source_hash(bytes)), ..info };
        if let Some(known) = self.info(project, &kept.key)
            && path.exists()
        {
            if known.hash == info.hash {
                return Ok(Put::Same);
            }
            if known.has_debug_info && !info.has_debug_info {
                return Ok(Put::Worse);
            }
        }
        let beside = Beside::new(&path)?;
        match &kept.content {
            Content::Whole => beside.link(source)?,
            Content::Inside(bytes) => beside.write(bytes)?,
        }
        beside.take_place()?;
        // An artifact of what was there before is of no use.
        remove_if_there(&with(&path, ARTIFACT))?;
        let text = serde_json::to_vec(&info).map_err(io::Error::other)?;
        write_whole(&with(&path, INFO), &text)?;
        Ok(Put::Stored)
    }

    /// `None`: there is no such original.
    pub fn read(&self, project: Uuid, key: &SymbolKey) -> io::Result<Option<Vec<u8>>> {
        if_there(fs::read(self.path(project, key)))
    }

    pub fn info(&self, project: Uuid, key: &SymbolKey) -> Option<Info> {
        info_at(&self.path(project, key))
    }

    pub fn artifact(&self, project: Uuid, key: &SymbolKey) -> io::Result<Option<Vec<u8>>> {
        if_there(fs::read(with(&self.path(project, key), ARTIFACT)))
    }

    pub fn put_artifact(&self, project: Uuid, key: &SymbolKey, artifact: &[u8]) -> io::Result<()> {
        write_whole(&with(&self.path(project, key), ARTIFACT), artifact)
    }

    /// Every original of a project: its path below the folder of all blobs, and what is known of it. By path.
    pub fn list(&self, project: Uuid) -> io::Result<Vec<(String, Info)>> {
        let mut found = Vec::new();
        for name in FOLDERS {
            let below = folder(name, project);
            let Some(entries) = if_there(fs::read_dir(self.root.join(&below)))? else { continue };
            for entry in entries {
                let path = entry?.path();
                let original =
                    path.extension().is_some_and(|extension| extension == INFO).then(|| path.with_extension(""));
                let named = original.as_deref().and_then(|path| path.file_name()?.to_str());
                if let Some(named) = named
                    && let Some(info) = original.as_deref().and_then(info_at)
                {
                    found.push((format!("{below}/{named}"), info));
                }
            }
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }

    /// The keys of the project's Dart images.
    pub fn dart_images(&self, project: Uuid) -> io::Result<Vec<SymbolKey>> {
        let Some(entries) = if_there(fs::read_dir(self.root.join(folder("dartsymbols", project))))? else {
            return Ok(Vec::new());
        };
        let mut images = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let parts = name.to_str().and_then(|name| name.strip_suffix(".symbols")?.split_once('-'));
            let key = parts.and_then(|(id, arch)| Some(SymbolKey::Dart(DebugId::parse(id)?, Arch::parse(arch)?)));
            images.extend(key);
        }
        Ok(images)
    }

    /// An original and all that was made from it, by its listed path. Whether it was there.
    pub fn remove(&self, path: &str) -> io::Result<bool> {
        let path = self.root.join(path);
        let was_there = remove_if_there(&path)?;
        remove_if_there(&with(&path, ARTIFACT))?;
        remove_if_there(&with(&path, INFO))?;
        Ok(was_there)
    }
}

fn with(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

fn info_at(original: &Path) -> Option<Info> {
    serde_json::from_slice(&fs::read(with(original, INFO)).ok()?).ok()
}

fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove_if_there(path: &Path) -> io::Result<bool> {
    Ok(if_there(fs::remove_file(path))?.is_some())
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = Beside::new(path)?;
    beside.write(bytes)?;
    beside.take_place()
}

/// A file on its way to its place; gone when it does not get there.
struct Beside<'a> {
    place: &'a Path,
    folder: &'a Path,
    path: PathBuf,
}

impl<'a> Beside<'a> {
    fn new(place: &'a Path) -> io::Result<Beside<'a>> {
        let folder = place.parent().ok_or_else(|| io::Error::other("a blob lies in a folder"))?;
        fs::create_dir_all(folder)?;
        Ok(Beside { place, folder, path: folder.join(format!(".{}", Uuid::new_v4())) })
    }

    /// The same file under another name; where that cannot be, a copy.
    fn link(&self, source: &Path) -> io::Result<()> {
        if fs::hard_link(source, &self.path).is_err() {
            fs::copy(source, &self.path)?;
        }
        File::open(&self.path)?.sync_all()
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create_new(&self.path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn take_place(self) -> io::Result<()> {
        fs::rename(&self.path, self.place)?;
        File::open(self.folder)?.sync_all()
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        // Of the same file under two names `rename` leaves both.
        let _ = fs::remove_file(&self.path);
    }
}
