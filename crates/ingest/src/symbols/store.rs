//! Originals and artifacts as blobs: the original as `<key>`, its metadata as `<key>.info`, its artifact as `<key>.tw`,
//! and the time of its last use as `<key>.used`.
//!
//! Blobs are written as a whole, and are durable before they are acknowledged.

use std::collections::HashMap;
use std::io;

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use tidewatch_blobs::BlobStore;
use tidewatch_symbols::{Arch, source_hash};
use uuid::Uuid;
use xxhash_rust::xxh3::Xxh3;

use super::classify_upload::{ClassifiedFile, Content};
use super::index::Index;
use super::info::charge;
pub use super::info::{Info, Uploader};
use super::keys::{FOLDERS, SymbolKey, folder};

/// The files of all projects.
pub struct SymbolStore {
    blobs: BlobStore,
    /// Held while files are changed.
    changing: Mutex<()>,
    /// Indexes of projects that were queried since the start.
    indexes: RwLock<HashMap<Uuid, Index>>,
}

/// An original in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Name of the blob.
    pub path: String,
    /// Its metadata.
    pub info: Info,
    /// When a stack trace last used it, accurate to about an hour. Nanoseconds since the epoch; `None`: never.
    pub used_ns: Option<i64>,
}

/// The outcome of storing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The file is new, or replaced another content.
    Stored,
    /// The same content was stored already.
    Same,
    /// Not stored: the existing file has debug information and this one has none.
    Worse,
}

/// Growth of a project's originals by an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Growth {
    /// Additional bytes charged to the quota.
    pub bytes: u64,
    /// Additional files.
    pub files: u64,
}

/// Extension of metadata files.
pub const INFO: &str = "info";
/// Extension of artifacts.
pub const ARTIFACT: &str = "tw";
/// Extension of files with the time of the last use.
pub const USED: &str = "used";

impl SymbolStore {
    /// A store of files in `blobs`.
    pub fn new(blobs: BlobStore) -> SymbolStore {
        SymbolStore { blobs, changing: Mutex::default(), indexes: RwLock::default() }
    }

    /// Calls `query` with the index of a project. The index is built from disk at the first query.
    pub fn with_index<T>(&self, project: Uuid, query: impl FnOnce(&Index) -> T) -> io::Result<T> {
        if let Some(index) = self.indexes.read().get(&project) {
            return Ok(query(index));
        }
        let _changing = self.changing.lock();
        self.load(project)?;
        Ok(query(self.indexes.read().get(&project).unwrap_or(&Index::default())))
    }

    /// Projects whose index was queried since the start.
    pub fn projects(&self) -> Vec<Uuid> {
        self.indexes.read().keys().copied().collect()
    }

    /// Builds the index of a project. The caller holds `changing`.
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

    /// Growth of the project's originals by [`SymbolStore::put`].
    pub fn growth(&self, project: Uuid, kept: &ClassifiedFile, content: &[u8]) -> io::Result<Growth> {
        let bytes = kept.bytes_of(content);
        let key = self.place(project, kept)?;
        Ok(match self.known(project, &key) {
            Some(known) if known.hash == hash_of(bytes) => Growth::default(),
            Some(known) => Growth { bytes: charge(bytes.len() as u64).saturating_sub(known.charge()), files: 0 },
            None => Growth { bytes: charge(bytes.len() as u64), files: 1 },
        })
    }

    /// The key to store the file under: that of its release, or its own, unless another slice or a script of another
    /// folder has that.
    fn place(&self, project: Uuid, kept: &ClassifiedFile) -> io::Result<SymbolKey> {
        match (kept.release, &kept.key, &kept.path) {
            (Some(release), SymbolKey::SourceMap(_), Some(path)) => {
                return Ok(SymbolKey::SourceMapOf(release, path.clone()));
            }
            (Some(release), SymbolKey::Script(_), Some(path)) => return Ok(SymbolKey::ScriptOf(release, path.clone())),
            (Some(release), SymbolKey::Mapping(id), _) => return Ok(SymbolKey::MappingOf(*id, release)),
            _ => {}
        }
        match (&kept.key, &kept.path, kept.arch) {
            (SymbolKey::MachO(id), _, Some(arch)) => {
                let is_other = |info: Info| info.arch.is_some_and(|known| known != arch.as_str());
                let is_taken = self.known(project, &kept.key).is_some_and(is_other);
                Ok(if is_taken { SymbolKey::MachOSlice(*id, arch) } else { kept.key.clone() })
            }
            (SymbolKey::SourceMap(_) | SymbolKey::Script(_), Some(path), _) => {
                self.with_index(project, |index| match index.at(path, &kept.key) {
                    Some(known) => known.clone(),
                    None if !index.contains(&kept.key) => kept.key.clone(),
                    None if kept.key.is_source_map() => SymbolKey::SourceMapAt(path.clone()),
                    None => SymbolKey::ScriptAt(path.clone()),
                })
            }
            _ => Ok(kept.key.clone()),
        }
    }

    /// Stores a file, durably, and returns the key it is stored under. `content`: the bytes of the upload.
    pub fn put(
        &self,
        project: Uuid,
        kept: &ClassifiedFile,
        content: &[u8],
        info: Info,
    ) -> io::Result<(Put, SymbolKey)> {
        let key = self.place(project, kept)?;
        let name = key.path(project);
        let bytes = kept.bytes_of(content);
        let mut info = Info { bytes: bytes.len() as u64, hash: hash_of(bytes), ..info };
        let _changing = self.changing.lock();
        self.load(project)?;
        if let Some(mut known) = self.known(project, &key) {
            if known.hash == info.hash {
                let is_new = known.add_version(info.version.take());
                if is_whole(&self.blobs, &name, &known)? {
                    if is_new {
                        self.put_info(&name, &known)?;
                    }
                    return Ok((Put::Same, key));
                }
                // A damaged original is replaced.
                info = Info { version: known.version, earlier_versions: known.earlier_versions, ..info };
            } else if known.has_debug_info && !info.has_debug_info {
                return Ok((Put::Worse, key));
            }
        }
        self.blobs.put(&name, bytes)?;
        // The artifact of the replaced content is stale.
        self.blobs.delete(&with(&name, ARTIFACT))?;
        self.put_info(&name, &info)?;
        if let Some(index) = self.indexes.write().get_mut(&project) {
            index.insert(key.clone(), &info);
        }
        Ok((Put::Stored, key))
    }

    fn put_info(&self, original: &str, info: &Info) -> io::Result<()> {
        self.blobs.put(&with(original, INFO), &serde_json::to_vec(info).map_err(io::Error::other)?)
    }

    fn known(&self, project: Uuid, key: &SymbolKey) -> Option<Info> {
        self.info(project, key).filter(|_| self.exists(&key.path(project)))
    }

    fn exists(&self, name: &str) -> bool {
        self.blobs.len(name).is_ok_and(|length| length.is_some())
    }

    /// Reads an original. `None`: it does not exist.
    pub fn read(&self, project: Uuid, key: &SymbolKey) -> io::Result<Option<Bytes>> {
        self.blobs.get(&key.path(project))
    }

    /// Metadata of an original. `None`: it does not exist or is not readable.
    pub fn info(&self, project: Uuid, key: &SymbolKey) -> Option<Info> {
        info_of(&self.blobs.get(&with(&key.path(project), INFO)).ok()??)
    }

    /// Reads the artifact of an original. `None`: it does not exist.
    pub fn artifact(&self, project: Uuid, key: &SymbolKey) -> io::Result<Option<Bytes>> {
        self.blobs.get(&with(&key.path(project), ARTIFACT))
    }

    /// Whether the original has an artifact, which may be stale.
    pub fn has_artifact(&self, project: Uuid, key: &SymbolKey) -> bool {
        self.exists(&with(&key.path(project), ARTIFACT))
    }

    /// Stores an artifact, unless its original was removed meanwhile.
    pub fn put_artifact(&self, project: Uuid, key: &SymbolKey, artifact: &[u8]) -> io::Result<()> {
        let name = key.path(project);
        let _changing = self.changing.lock();
        if self.exists(&name) { self.blobs.put(&with(&name, ARTIFACT), artifact) } else { Ok(()) }
    }

    /// When it was used last, as stored. Nanoseconds since the epoch.
    pub fn used(&self, project: Uuid, key: &SymbolKey) -> Option<i64> {
        used_of(&self.blobs.get(&with(&key.path(project), USED)).ok()??)
    }

    /// Stores the time of the last use. It is not synced: after a power cut it may be out of date.
    pub fn put_used(&self, project: Uuid, key: &SymbolKey, used_ns: i64) -> io::Result<()> {
        let name = key.path(project);
        let _changing = self.changing.lock();
        if self.exists(&name) {
            self.blobs.put_unsynced(&with(&name, USED), used_ns.to_string().as_bytes())
        } else {
            Ok(())
        }
    }

    /// Lists every original of a project, by name.
    pub fn list(&self, project: Uuid) -> io::Result<Vec<Listed>> {
        let mut found = Vec::new();
        for name in FOLDERS {
            let names: Vec<String> =
                self.blobs.list(&folder(name, project))?.into_iter().map(|blob| blob.name).collect();
            let infos: Vec<String> = names.iter().filter(|name| has_extension(name, INFO)).cloned().collect();
            let used = names.into_iter().filter(|name| has_extension(name, USED));
            let times: HashMap<String, i64> = {
                let used: Vec<String> = used.collect();
                let read = self.blobs.get_all(used.clone())?;
                used.into_iter().zip(read).filter_map(|(name, bytes)| Some((name, used_of(&bytes?)?))).collect()
            };
            for (name, bytes) in infos.iter().zip(self.blobs.get_all(infos.clone())?) {
                let path = name[..name.len() - INFO.len() - 1].to_owned();
                if let Some(info) = bytes.as_deref().and_then(info_of) {
                    let used_ns = times.get(&with(&path, USED)).copied();
                    found.push(Listed { path, info, used_ns });
                }
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }

    /// The architecture of the slice under this key.
    pub fn arch(&self, project: Uuid, key: &SymbolKey) -> Option<Arch> {
        match key {
            SymbolKey::MachOSlice(_, arch) => Some(*arch),
            _ => self.info(project, key)?.arch.as_deref().and_then(Arch::parse),
        }
    }

    /// Removes an original and the files derived from it, by its listed name. Returns whether it existed.
    pub fn remove(&self, project: Uuid, path: &str) -> io::Result<bool> {
        let key = SymbolKey::of_path(path, project);
        let _changing = self.changing.lock();
        let was_there = self.blobs.delete(path)?;
        for extension in [ARTIFACT, USED, INFO] {
            self.blobs.delete(&with(path, extension))?;
        }
        if let (Some(key), Some(index)) = (key, self.indexes.write().get_mut(&project)) {
            index.remove(&key);
        }
        Ok(was_there)
    }

    /// Removes all files of a project.
    pub fn remove_all(&self, project: Uuid) -> io::Result<()> {
        let _changing = self.changing.lock();
        self.indexes.write().remove(&project);
        FOLDERS.iter().try_for_each(|name| self.blobs.delete_below(&folder(name, project)))
    }
}

impl ClassifiedFile {
    fn bytes_of<'a>(&'a self, content: &'a [u8]) -> &'a [u8] {
        match &self.content {
            Content::Whole => content,
            Content::Inside(bytes) => bytes,
        }
    }
}

fn hash_of(bytes: &[u8]) -> String {
    hex_of(source_hash(bytes))
}

fn hex_of(hash: u128) -> String {
    format!("{hash:032x}")
}

fn with(name: &str, extension: &str) -> String {
    format!("{name}.{extension}")
}

fn has_extension(name: &str, extension: &str) -> bool {
    name.strip_suffix(extension).is_some_and(|name| name.ends_with('.'))
}

/// Whether the blob has the length and the hash of its metadata. Reads the whole blob.
pub fn is_whole(blobs: &BlobStore, name: &str, info: &Info) -> io::Result<bool> {
    if blobs.len(name)? != Some(info.bytes) {
        return Ok(false);
    }
    let mut hasher = Xxh3::new();
    Ok(blobs.read(name, |part| hasher.update(part))? && hex_of(hasher.digest128()) == info.hash)
}

fn info_of(bytes: &[u8]) -> Option<Info> {
    serde_json::from_slice(bytes).ok()
}

fn used_of(bytes: &[u8]) -> Option<i64> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}
