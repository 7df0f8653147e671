//! Originals and artifacts on disk: `<key>`, what is known of it as `<key>.info`, what was made from it as `<key>.tw`,
//! and when it was used last as `<key>.used`.
//!
//! A file is in place whole or not at all, and durable before it is acknowledged: written aside, synced, renamed, and the
//! folder synced.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tidewatch_symbols::{Arch, DebugId, source_hash};
use uuid::Uuid;

use super::keys::{FOLDERS, SymbolKey, folder};
use super::sort::{Content, Kept};

/// The folder of all blobs.
pub struct SymbolStore {
    root: PathBuf,
    /// Bytes of a project's originals, once somebody asked. Whoever changes files holds it.
    sizes: Mutex<HashMap<Uuid, u64>>,
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
    /// Of native code.
    #[serde(default)]
    pub arch: Option<String>,
    /// `None`: stored before that was noted.
    #[serde(default)]
    pub by: Option<Uploader>,
}

/// Who sent an original. An upload token is the project's, not a person's: the rest is what is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uploader {
    /// As the tool calls itself; may be empty.
    pub user_agent: String,
    /// Its network address.
    pub address: String,
}

/// An original as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Below the folder of all blobs.
    pub path: String,
    pub info: Info,
    /// When a stack trace was resolved with it last, to about an hour. Nanoseconds since the epoch.
    pub used_ns: Option<i64>,
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
const USED: &str = "used";

impl SymbolStore {
    pub fn new(root: PathBuf) -> SymbolStore {
        SymbolStore { root, sizes: Mutex::default() }
    }

    fn path(&self, project: Uuid, key: &SymbolKey) -> PathBuf {
        self.root.join(key.path(project))
    }

    /// By how many bytes [`SymbolStore::put`] would let the project's originals grow.
    pub fn growth(&self, project: Uuid, kept: &Kept, content: &[u8]) -> u64 {
        let bytes = kept.bytes_of(content);
        match self.known(project, &kept.key) {
            Some(known) if known.hash == hash_of(bytes) => 0,
            Some(known) => (bytes.len() as u64).saturating_sub(known.bytes),
            None => bytes.len() as u64,
        }
    }

    /// Bytes of a project's originals.
    pub fn size(&self, project: Uuid) -> io::Result<u64> {
        let mut sizes = self.sizes.lock();
        if let Some(size) = sizes.get(&project) {
            return Ok(*size);
        }
        let size = self.list(project)?.iter().map(|listed| listed.info.bytes).sum();
        sizes.insert(project, size);
        Ok(size)
    }

    /// Durable when it returns. `source`: the whole upload on the same disk; `content`: its bytes.
    pub fn put(&self, project: Uuid, kept: &Kept, source: &Path, content: &[u8], info: Info) -> io::Result<Put> {
        let path = self.path(project, &kept.key);
        let bytes = kept.bytes_of(content);
        let info = Info { bytes: bytes.len() as u64, hash: hash_of(bytes), ..info };
        let mut sizes = self.sizes.lock();
        let known = self.known(project, &kept.key);
        if let Some(known) = &known {
            if known.hash == info.hash {
                return Ok(Put::Same);
            }
            if known.has_debug_info && !info.has_debug_info {
                return Ok(Put::Worse);
            }
        }
        // Counted again when that is asked for, should this fail half-way.
        let size = sizes.remove(&project);
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
        if let Some(size) = size {
            sizes.insert(project, size.saturating_sub(known.map_or(0, |known| known.bytes)) + info.bytes);
        }
        Ok(Put::Stored)
    }

    fn known(&self, project: Uuid, key: &SymbolKey) -> Option<Info> {
        self.info(project, key).filter(|_| self.path(project, key).exists())
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

    /// Nothing is kept of an original that has gone meanwhile.
    pub fn put_artifact(&self, project: Uuid, key: &SymbolKey, artifact: &[u8]) -> io::Result<()> {
        let path = self.path(project, key);
        let _changing = self.sizes.lock();
        if path.exists() { write_whole(&with(&path, ARTIFACT), artifact) } else { Ok(()) }
    }

    /// When it was used last, as far as that is on disk.
    pub fn used(&self, project: Uuid, key: &SymbolKey) -> Option<i64> {
        used_at(&self.path(project, key))
    }

    /// Lost in a power cut, it is a little too old.
    pub fn put_used(&self, project: Uuid, key: &SymbolKey, used_ns: i64) -> io::Result<()> {
        let path = self.path(project, key);
        let _changing = self.sizes.lock();
        if path.exists() { fs::write(with(&path, USED), used_ns.to_string()) } else { Ok(()) }
    }

    /// Every original of a project, by path.
    pub fn list(&self, project: Uuid) -> io::Result<Vec<Listed>> {
        let mut found = Vec::new();
        for name in FOLDERS {
            let below = folder(name, project);
            let Some(entries) = if_there(fs::read_dir(self.root.join(&below)))? else { continue };
            for entry in entries {
                let path = entry?.path();
                let original =
                    path.extension().is_some_and(|extension| extension == INFO).then(|| path.with_extension(""));
                let Some(original) = original else { continue };
                if let Some(named) = original.file_name().and_then(|name| name.to_str())
                    && let Some(info) = info_at(&original)
                {
                    found.push(Listed { path: format!("{below}/{named}"), info, used_ns: used_at(&original) });
                }
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
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
    pub fn remove(&self, project: Uuid, path: &str) -> io::Result<bool> {
        let path = self.root.join(path);
        let mut sizes = self.sizes.lock();
        sizes.remove(&project);
        let was_there = remove_if_there(&path)?;
        for extension in [ARTIFACT, USED, INFO] {
            remove_if_there(&with(&path, extension))?;
        }
        Ok(was_there)
    }

    /// Everything of a project.
    pub fn remove_all(&self, project: Uuid) -> io::Result<()> {
        let mut sizes = self.sizes.lock();
        sizes.remove(&project);
        for name in FOLDERS {
            if_there(fs::remove_dir_all(self.root.join(folder(name, project))))?;
        }
        Ok(())
    }
}

impl Kept {
    fn bytes_of<'a>(&'a self, content: &'a [u8]) -> &'a [u8] {
        match &self.content {
            Content::Whole => content,
            Content::Inside(bytes) => bytes,
        }
    }
}

fn hash_of(bytes: &[u8]) -> String {
    format!("{:032x}", source_hash(bytes))
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

fn used_at(original: &Path) -> Option<i64> {
    fs::read_to_string(with(original, USED)).ok()?.trim().parse().ok()
}

pub(super) fn if_there<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<bool> {
    Ok(if_there(fs::remove_file(path))?.is_some())
}

pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
