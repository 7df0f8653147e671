//! `manifest.json`: the content of a backup. It is written last, so a backup without it is incomplete.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use tidewatch_runtime::files::copy_hashed;

/// File name of the manifest in a backup.
pub const NAME: &str = "manifest.json";
/// [`Manifest::control_database`] of a SQLite file.
pub const SQLITE: &str = "sqlite";
/// [`Manifest::control_database`] of a PostgreSQL database.
pub const POSTGRESQL: &str = "postgresql";
const VERSION: u32 = 1;

/// The content of a backup, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Version of the format.
    pub version: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// When it was made. Nanoseconds since the epoch.
    pub made_ns: i64,
    /// Whether the keys in `secrets/` are in the backup.
    pub with_secrets: bool,
    /// [`SQLITE`]: the control database is in the backup. [`POSTGRESQL`]: it is not.
    pub control_database: String,
    /// Every file of the backup.
    pub files: Vec<Entry>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Path relative to the data directory, separated by `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// XXH3-128 of the content, 32 hex digits.
    pub xxh3: String,
}

impl Manifest {
    /// A manifest of the current version, written by this program.
    pub fn new(made_ns: i64, with_secrets: bool, control_database: &str, files: Vec<Entry>) -> Manifest {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let control_database = control_database.to_owned();
        Manifest { version: VERSION, program, made_ns, with_secrets, control_database, files }
    }

    /// Reads the manifest of a backup. An error if there is none, or if it cannot be used.
    pub fn read(backup: &Path) -> anyhow::Result<Manifest> {
        let path = backup.join(NAME);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bail!("{} is no complete backup: it has no {NAME}", backup.display())
            }
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        Manifest::parse(&text).with_context(|| format!("{} cannot be used", path.display()))
    }

    /// Parses a manifest. An error for another version, and for paths that are not inside a data directory.
    pub fn parse(text: &[u8]) -> anyhow::Result<Manifest> {
        let manifest: Manifest = serde_json::from_slice(text)?;
        ensure!(manifest.version == VERSION, "version {} is not {VERSION}", manifest.version);
        for entry in &manifest.files {
            ensure!(is_below(&entry.path), "{:?} is no path below a data directory", entry.path);
        }
        Ok(manifest)
    }

    /// Writes the manifest durably.
    pub fn write(&self, backup: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        let path = backup.join(NAME);
        let write = || -> io::Result<()> {
            let mut file = File::create(&path)?;
            file.write_all(&text)?;
            file.sync_all()?;
            File::open(backup)?.sync_all()
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    /// Verifies the files of a backup against its manifest. Returns a sentence per difference.
    pub fn differences(backup: &Path) -> Vec<String> {
        match Manifest::read(backup) {
            Err(error) => vec![format!("{error:#}")],
            Ok(manifest) => {
                let differs = |entry: &Entry| entry.verify(backup).err().map(|error| format!("{error:#}"));
                manifest.files.iter().filter_map(differs).collect()
            }
        }
    }

    /// Total size in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|entry| entry.bytes).sum()
    }

    /// A summary for display.
    pub fn summary(&self) -> String {
        format!("{} files, {} bytes", self.files.len(), self.bytes())
    }
}

impl Entry {
    /// The entry for a file with this content.
    pub fn of(path: &Path, content: impl Read) -> io::Result<Entry> {
        let (bytes, xxh3) = copy_hashed(content, &mut io::sink())?;
        Ok(Entry::new(path, bytes, xxh3))
    }

    /// The entry for a file of this size and hash.
    pub fn new(path: &Path, bytes: u64, xxh3: String) -> Entry {
        Entry { path: path.to_string_lossy().into_owned(), bytes, xxh3 }
    }

    /// Path of the file below `root`.
    pub fn place(&self, root: &Path) -> PathBuf {
        root.join(&self.path)
    }

    /// Verifies size and content of the file below `root`.
    pub fn verify(&self, root: &Path) -> anyhow::Result<()> {
        let place = self.place(root);
        let found = File::open(&place).and_then(|file| copy_hashed(file, &mut io::sink()));
        let (bytes, xxh3) = found.with_context(|| format!("cannot read {}", place.display()))?;
        ensure!((bytes, &xxh3) == (self.bytes, &self.xxh3), "{} is not what was backed up", place.display());
        Ok(())
    }
}

/// Whether it is a relative path that stays inside its root.
fn is_below(path: &str) -> bool {
    !path.is_empty()
        && !path.ends_with('/')
        && path != NAME
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_stay_below_the_data_directory() {
        for path in ["catalog.sqlite", "parts/spans/2026-11-21/1.parquet", "secrets/login.key", "..a/b"] {
            assert!(is_below(path), "{path}");
        }
        for path in ["", "/", "/etc/passwd", "..", "a/../b", "../a", "a/..", "./a/../..", "a/", NAME] {
            assert!(!is_below(path), "{path}");
        }
    }

    fn manifest() -> impl Strategy<Value = Manifest> {
        let entry = ("[a-z]{1,9}(/[a-z0-9]{1,9}){0,3}", any::<u64>(), "[0-9a-f]{32}")
            .prop_map(|(path, bytes, xxh3)| Entry { path, bytes, xxh3 });
        (any::<i64>(), any::<bool>(), prop::collection::vec(entry, 0..5))
            .prop_map(|(made_ns, with_secrets, files)| Manifest::new(made_ns, with_secrets, SQLITE, files))
    }

    proptest! {
        #[test]
        fn manifests_are_read_back(manifest in manifest()) {
            let text = serde_json::to_vec(&manifest).unwrap();
            prop_assert_eq!(Manifest::parse(&text).unwrap(), manifest);
        }
    }
}
