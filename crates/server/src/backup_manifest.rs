//! `manifest.json`: what a backup holds. Written last, so that a backup without one is known to be incomplete.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};

use tidewatch_runtime::files::copy_hashed;

pub const NAME: &str = "manifest.json";
pub const SQLITE: &str = "sqlite";
pub const POSTGRESQL: &str = "postgresql";
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub version: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// Nanoseconds since the epoch.
    pub made_ns: i64,
    pub with_secrets: bool,
    /// [`SQLITE`]: it is in the backup. [`POSTGRESQL`]: it is not.
    pub control_database: String,
    pub files: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Below the data directory, with `/` between names.
    pub path: String,
    pub bytes: u64,
    /// XXH3-128 of the content, 32 hex digits.
    pub xxh3: String,
}

impl Manifest {
    pub fn new(made_ns: i64, with_secrets: bool, control_database: &str, files: Vec<Entry>) -> Manifest {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let control_database = control_database.to_owned();
        Manifest { version: VERSION, program, made_ns, with_secrets, control_database, files }
    }

    /// The manifest of a backup. Every path of it lies below the backup.
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

    pub fn parse(text: &[u8]) -> anyhow::Result<Manifest> {
        let manifest: Manifest = serde_json::from_slice(text)?;
        ensure!(manifest.version == VERSION, "version {} is not {VERSION}", manifest.version);
        for entry in &manifest.files {
            ensure!(is_below(&entry.path), "{:?} is no path below a data directory", entry.path);
        }
        Ok(manifest)
    }

    /// Durable when it returns.
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

    /// Where the files of a backup are not what the manifest says, a sentence each.
    pub fn differences(backup: &Path) -> Vec<String> {
        match Manifest::read(backup) {
            Err(error) => vec![format!("{error:#}")],
            Ok(manifest) => {
                let differs = |entry: &Entry| entry.verify(backup).err().map(|error| format!("{error:#}"));
                manifest.files.iter().filter_map(differs).collect()
            }
        }
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|entry| entry.bytes).sum()
    }

    /// For people.
    pub fn summary(&self) -> String {
        format!("{} files, {} bytes", self.files.len(), self.bytes())
    }
}

impl Entry {
    /// Of a file with this content.
    pub fn of(path: &Path, content: impl Read) -> io::Result<Entry> {
        let (bytes, xxh3) = copy_hashed(content, &mut io::sink())?;
        Ok(Entry::new(path, bytes, xxh3))
    }

    pub fn new(path: &Path, bytes: u64, xxh3: String) -> Entry {
        Entry { path: path.to_string_lossy().into_owned(), bytes, xxh3 }
    }

    pub fn place(&self, root: &Path) -> PathBuf {
        root.join(&self.path)
    }

    /// The file below `root` has this size and content.
    pub fn verify(&self, root: &Path) -> anyhow::Result<()> {
        let place = self.place(root);
        let found = File::open(&place).and_then(|file| copy_hashed(file, &mut io::sink()));
        let (bytes, xxh3) = found.with_context(|| format!("cannot read {}", place.display()))?;
        ensure!((bytes, &xxh3) == (self.bytes, &self.xxh3), "{} is not what was backed up", place.display());
        Ok(())
    }
}

/// A relative path without any way out.
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
        fn manifests_come_back(manifest in manifest()) {
            let text = serde_json::to_vec(&manifest).unwrap();
            prop_assert_eq!(Manifest::parse(&text).unwrap(), manifest);
        }
    }
}
