//! Originals and artifacts on disk: `<key>`, what is known of it as `<key>.info`, what was made from it as `<key>.tw`,
//! and when it was used last as `<key>.used`.
//!
//! A file is in place whole or not at all, and durable before it is acknowledged ([`super::disk`]).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, RwLock};
use tidewatch_symbols::{Arch, DebugId, source_hash};
use uuid::Uuid;

use super::disk::{Beside, if_there, remove_if_there, write_whole};
use super::index::Index;
use super::info::charge;
pub use super::info::{Info, Uploader};
use super::keys::{FOLDERS, SymbolKey, folder};
use super::sort::{Content, Kept};
use tidewatch_runtime::files::copy_hashed;

/// The folder of all blobs.
pub struct SymbolStore {
    root: PathBuf,
    /// Held by whoever changes files.
    changing: Mutex<()>,
    /// Of projects that somebody asked about.
    indexes: RwLock<HashMap<Uuid, Index>>,
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

/// By how much a project's originals would grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Growth {
    pub bytes: u64,
    pub files: u64,
}

pub const INFO: &str = "info";
pub const ARTIFACT: &str = "tw";
pub const USED: &str = "used";

impl SymbolStore {
    pub fn new(root: PathBuf) -> SymbolStore {
        SymbolStore { root, changing: Mutex::default(), indexes: RwLock::default() }
    }

    fn path(&self, project: Uuid, key: &SymbolKey) -> PathBuf {
        self.root.join(key.path(project))
    }

    /// Asks the index of a project, which is read from the disk when nobody did before.
    pub fn ask<T>(&self, project: Uuid, question: impl FnOnce(&Index) -> T) -> io::Result<T> {
        if let Some(index) = self.indexes.read().get(&project) {
            return Ok(question(index));
        }
        let _changing = self.changing.lock();
        self.load(project)?;
        Ok(question(self.indexes.read().get(&project).unwrap_or(&Index::default())))
    }

    /// Its caller holds `changing`.
    fn load(&self, project: Uuid) -> io::Result<()> {
        if self.indexes.read().contains_key(&project) {
            return Ok(());
        }
        let mut index = Index::default();
        for Listed { path, info, .. } in self.list(project)? {
            if let Some(key) = SymbolKey::of_path(&path, project) {
                index.insert(key, &info);
            }
        }
        self.indexes.write().insert(project, index);
        Ok(())
    }

    /// By how much [`SymbolStore::put`] would let the project's originals grow.
    pub fn growth(&self, project: Uuid, kept: &Kept, content: &[u8]) -> io::Result<Growth> {
        let bytes = kept.bytes_of(content);
        let key = self.place(project, kept)?;
        Ok(match self.known(project, &key) {
            Some(known) if known.hash == hash_of(bytes) => Growth::default(),
            Some(known) => Growth { bytes: charge(bytes.len() as u64).saturating_sub(known.charge()), files: 0 },
            None => Growth { bytes: charge(bytes.len() as u64), files: 1 },
        })
    }

    /// The key it is kept under: its own, unless that holds another slice, or a script of another folder.
    fn place(&self, project: Uuid, kept: &Kept) -> io::Result<SymbolKey> {
        match (&kept.key, &kept.path, kept.arch) {
            (SymbolKey::MachO(id), _, Some(arch)) => {
                let is_other = |info: Info| info.arch.is_some_and(|known| known != arch.as_str());
                let is_taken = self.known(project, &kept.key).is_some_and(is_other);
                Ok(if is_taken { SymbolKey::MachOSlice(*id, arch) } else { kept.key.clone() })
            }
            (SymbolKey::SourceMap(_) | SymbolKey::Script(_), Some(path), _) => {
                self.ask(project, |index| match index.at(path, &kept.key) {
                    Some(known) => known.clone(),
                    None if !index.contains(&kept.key) => kept.key.clone(),
                    None if kept.key.is_source_map() => SymbolKey::SourceMapAt(path.clone()),
                    None => SymbolKey::ScriptAt(path.clone()),
                })
            }
            _ => Ok(kept.key.clone()),
        }
    }

    /// Durable when it returns; with the key that it is kept under. `source`: the whole upload on the same disk; `content`:
    /// its bytes.
    pub fn put(
        &self,
        project: Uuid,
        kept: &Kept,
        source: &Path,
        content: &[u8],
        info: Info,
    ) -> io::Result<(Put, SymbolKey)> {
        let key = self.place(project, kept)?;
        let path = self.path(project, &key);
        let bytes = kept.bytes_of(content);
        let mut info = Info { bytes: bytes.len() as u64, hash: hash_of(bytes), ..info };
        let _changing = self.changing.lock();
        self.load(project)?;
        if let Some(mut known) = self.known(project, &key) {
            if known.hash == info.hash {
                let is_new = known.add_version(info.version.take());
                if is_whole(&path, &known)? {
                    if is_new {
                        self.put_info(&path, &known)?;
                    }
                    return Ok((Put::Same, key));
                }
                // A damaged original is replaced.
                info = Info { version: known.version, earlier_versions: known.earlier_versions, ..info };
            } else if known.has_debug_info && !info.has_debug_info {
                return Ok((Put::Worse, key));
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
        self.put_info(&path, &info)?;
        if let Some(index) = self.indexes.write().get_mut(&project) {
            index.insert(key.clone(), &info);
        }
        Ok((Put::Stored, key))
    }

    fn put_info(&self, original: &Path, info: &Info) -> io::Result<()> {
        write_whole(&with(original, INFO), &serde_json::to_vec(info).map_err(io::Error::other)?)
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

    pub fn has_artifact(&self, project: Uuid, key: &SymbolKey) -> bool {
        with(&self.path(project, key), ARTIFACT).exists()
    }

    /// Nothing is kept of an original that has gone meanwhile.
    pub fn put_artifact(&self, project: Uuid, key: &SymbolKey, artifact: &[u8]) -> io::Result<()> {
        let path = self.path(project, key);
        let _changing = self.changing.lock();
        if path.exists() { write_whole(&with(&path, ARTIFACT), artifact) } else { Ok(()) }
    }

    /// When it was used last, as far as that is on disk.
    pub fn used(&self, project: Uuid, key: &SymbolKey) -> Option<i64> {
        used_at(&self.path(project, key))
    }

    /// Lost in a power cut, it is a little too old.
    pub fn put_used(&self, project: Uuid, key: &SymbolKey, used_ns: i64) -> io::Result<()> {
        let path = self.path(project, key);
        let _changing = self.changing.lock();
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

    /// Dart images: of this build, or all.
    pub fn dart_images(&self, project: Uuid, id: Option<DebugId>) -> io::Result<Vec<SymbolKey>> {
        self.ask(project, |index| index.dart_images(id))
    }

    /// The architecture of the slice that is kept under this key.
    pub fn arch(&self, project: Uuid, key: &SymbolKey) -> Option<Arch> {
        match key {
            SymbolKey::MachOSlice(_, arch) => Some(*arch),
            _ => self.info(project, key)?.arch.as_deref().and_then(Arch::parse),
        }
    }

    /// An original and all that was made from it, by its listed path. Whether it was there.
    pub fn remove(&self, project: Uuid, path: &str) -> io::Result<bool> {
        let key = SymbolKey::of_path(path, project);
        let path = self.root.join(path);
        let _changing = self.changing.lock();
        let was_there = remove_if_there(&path)?;
        for extension in [ARTIFACT, USED, INFO] {
            remove_if_there(&with(&path, extension))?;
        }
        if let (Some(key), Some(index)) = (key, self.indexes.write().get_mut(&project)) {
            index.remove(&key);
        }
        Ok(was_there)
    }

    /// Everything of a project.
    pub fn remove_all(&self, project: Uuid) -> io::Result<()> {
        let _changing = self.changing.lock();
        self.indexes.write().remove(&project);
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

/// Whether the file has the length and the hash that its `.info` records. Reads all of it.
pub fn is_whole(original: &Path, info: &Info) -> io::Result<bool> {
    let file = File::open(original)?;
    if file.metadata()?.len() != info.bytes {
        return Ok(false);
    }
    Ok(copy_hashed(file, &mut io::sink())?.1 == info.hash)
}

fn info_at(original: &Path) -> Option<Info> {
    serde_json::from_slice(&fs::read(with(original, INFO)).ok()?).ok()
}

fn used_at(original: &Path) -> Option<i64> {
    fs::read_to_string(with(original, USED)).ok()?.trim().parse().ok()
}
