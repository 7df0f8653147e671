//! Originals and artifacts on disk: the original as `<key>`, its metadata as `<key>.info`, its artifact as `<key>.tw`,
//! and the time of its last use as `<key>.used`.
//!
//! Files are written atomically, and are durable before they are acknowledged ([`super::disk`]).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::{Mutex, RwLock};
use tidewatch_symbols::{Arch, DebugId, source_hash};
use uuid::Uuid;

use super::classify_upload::{ClassifiedFile, Content};
use super::disk::{PendingFile, if_exists, remove_if_exists, write_atomically};
use super::index::Index;
use super::info::charge;
pub use super::info::{Info, Uploader};
use super::keys::{FOLDERS, SymbolKey, folder};
use tidewatch_runtime::files::copy_hashed;

/// The blobs folder, with the files of all projects.
pub struct SymbolStore {
    root: PathBuf,
    /// Held while files are changed.
    changing: Mutex<()>,
    /// Indexes of projects that were queried since the start.
    indexes: RwLock<HashMap<Uuid, Index>>,
}

/// An original in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Path below the blobs folder.
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
    /// A store in this folder, which is created by the first upload.
    pub fn new(root: PathBuf) -> SymbolStore {
        SymbolStore { root, changing: Mutex::default(), indexes: RwLock::default() }
    }

    fn path(&self, project: Uuid, key: &SymbolKey) -> PathBuf {
        self.root.join(key.path(project))
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

    /// The key to store the file under: its own, unless another slice or a script of another folder has that.
    fn place(&self, project: Uuid, kept: &ClassifiedFile) -> io::Result<SymbolKey> {
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

    /// Stores a file, durably, and returns the key it is stored under. `source`: the path of the upload on the same
    /// file system; `content`: its bytes.
    pub fn put(
        &self,
        project: Uuid,
        kept: &ClassifiedFile,
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
        let pending = PendingFile::new(&path)?;
        match &kept.content {
            Content::Whole => pending.link(source)?,
            Content::Inside(bytes) => pending.write(bytes)?,
        }
        pending.publish()?;
        // The artifact of the replaced content is stale.
        remove_if_exists(&with(&path, ARTIFACT))?;
        self.put_info(&path, &info)?;
        if let Some(index) = self.indexes.write().get_mut(&project) {
            index.insert(key.clone(), &info);
        }
        Ok((Put::Stored, key))
    }

    fn put_info(&self, original: &Path, info: &Info) -> io::Result<()> {
        write_atomically(&with(original, INFO), &serde_json::to_vec(info).map_err(io::Error::other)?)
    }

    fn known(&self, project: Uuid, key: &SymbolKey) -> Option<Info> {
        self.info(project, key).filter(|_| self.path(project, key).exists())
    }

    /// Reads an original. `None`: it does not exist.
    pub fn read(&self, project: Uuid, key: &SymbolKey) -> io::Result<Option<Vec<u8>>> {
        if_exists(fs::read(self.path(project, key)))
    }

    /// Metadata of an original. `None`: it does not exist or is not readable.
    pub fn info(&self, project: Uuid, key: &SymbolKey) -> Option<Info> {
        info_at(&self.path(project, key))
    }

    /// Reads the artifact of an original. `None`: it does not exist.
    pub fn artifact(&self, project: Uuid, key: &SymbolKey) -> io::Result<Option<Vec<u8>>> {
        if_exists(fs::read(with(&self.path(project, key), ARTIFACT)))
    }

    /// Whether the original has an artifact, which may be stale.
    pub fn has_artifact(&self, project: Uuid, key: &SymbolKey) -> bool {
        with(&self.path(project, key), ARTIFACT).exists()
    }

    /// Stores an artifact, unless its original was removed meanwhile.
    pub fn put_artifact(&self, project: Uuid, key: &SymbolKey, artifact: &[u8]) -> io::Result<()> {
        let path = self.path(project, key);
        let _changing = self.changing.lock();
        if path.exists() { write_atomically(&with(&path, ARTIFACT), artifact) } else { Ok(()) }
    }

    /// When it was used last, as stored on disk. Nanoseconds since the epoch.
    pub fn used(&self, project: Uuid, key: &SymbolKey) -> Option<i64> {
        used_at(&self.path(project, key))
    }

    /// Stores the time of the last use. It is not synced: after a power cut it may be out of date.
    pub fn put_used(&self, project: Uuid, key: &SymbolKey, used_ns: i64) -> io::Result<()> {
        let path = self.path(project, key);
        let _changing = self.changing.lock();
        if path.exists() { fs::write(with(&path, USED), used_ns.to_string()) } else { Ok(()) }
    }

    /// Lists every original of a project, by path.
    pub fn list(&self, project: Uuid) -> io::Result<Vec<Listed>> {
        let mut found = Vec::new();
        for name in FOLDERS {
            let below = folder(name, project);
            let Some(entries) = if_exists(fs::read_dir(self.root.join(&below)))? else { continue };
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

    /// Keys of Dart images: those with this build id, or all.
    pub fn dart_images(&self, project: Uuid, id: Option<DebugId>) -> io::Result<Vec<SymbolKey>> {
        self.with_index(project, |index| index.dart_images(id))
    }

    /// The architecture of the slice under this key.
    pub fn arch(&self, project: Uuid, key: &SymbolKey) -> Option<Arch> {
        match key {
            SymbolKey::MachOSlice(_, arch) => Some(*arch),
            _ => self.info(project, key)?.arch.as_deref().and_then(Arch::parse),
        }
    }

    /// Removes an original and the files derived from it, by its listed path. Returns whether it existed.
    pub fn remove(&self, project: Uuid, path: &str) -> io::Result<bool> {
        let key = SymbolKey::of_path(path, project);
        let path = self.root.join(path);
        let _changing = self.changing.lock();
        let was_there = remove_if_exists(&path)?;
        for extension in [ARTIFACT, USED, INFO] {
            remove_if_exists(&with(&path, extension))?;
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
        for name in FOLDERS {
            if_exists(fs::remove_dir_all(self.root.join(folder(name, project))))?;
        }
        Ok(())
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
    format!("{:032x}", source_hash(bytes))
}

fn with(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

/// Whether the file has the length and the hash recorded in its `.info`. Reads the whole file.
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
