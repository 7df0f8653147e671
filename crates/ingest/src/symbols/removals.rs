//! Counts of removed uploads, by project and reason, in a small file each.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::disk::{if_exists, remove_if_exists, write_atomically};

/// Reason for removing an upload. Part of the API: a name never changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// There are [`limits::SYMBOL_RELEASES_MAX`] newer releases of the file.
    TooManyReleases,
    /// It was uploaded more than [`limits::SYMBOL_RELEASE_DAYS`] days ago.
    ReleaseTooOld,
}

impl RemovalReason {
    /// Every reason.
    pub const ALL: [RemovalReason; 2] = [RemovalReason::TooManyReleases, RemovalReason::ReleaseTooOld];

    /// The name in the API and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            RemovalReason::TooManyReleases => "too_many_releases",
            RemovalReason::ReleaseTooOld => "release_too_old",
        }
    }
}

/// Uploads that were removed for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// The reason.
    pub reason: RemovalReason,
    /// Number of files.
    pub files: u64,
    /// Bytes that they were charged with.
    pub bytes: u64,
    /// Time of the latest removal. Nanoseconds since the epoch.
    pub last_ns: i64,
}

/// Counts of removed uploads, by project and reason.
pub struct Removals {
    folder: PathBuf,
    projects: Mutex<HashMap<Uuid, Vec<Removed>>>,
}

impl Removals {
    /// Reads the files in this folder. Unreadable ones are ignored: the counts begin again.
    pub fn open(folder: PathBuf) -> io::Result<Removals> {
        let mut projects = HashMap::new();
        for entry in if_exists(fs::read_dir(&folder))?.into_iter().flatten() {
            let path = entry?.path();
            let project = path.file_stem().and_then(|stem| Uuid::parse_str(stem.to_str()?).ok());
            if let (Some(project), Some(counts)) = (project, read(&path)) {
                projects.insert(project, counts);
            }
        }
        Ok(Removals { folder, projects: Mutex::new(projects) })
    }

    /// Counts of a project, by reason.
    pub fn list(&self, project: Uuid) -> Vec<Removed> {
        self.projects.lock().get(&project).cloned().unwrap_or_default()
    }

    /// Number of removed uploads of all projects.
    pub fn total(&self, reason: RemovalReason) -> u64 {
        let projects = self.projects.lock();
        projects.values().flatten().filter(|removed| removed.reason == reason).map(|removed| removed.files).sum()
    }

    /// Adds a removal. Blocks.
    pub(super) fn add(&self, project: Uuid, reason: RemovalReason, bytes: u64, now_ns: i64) -> io::Result<()> {
        let mut projects = self.projects.lock();
        let counts = projects.entry(project).or_default();
        let at = counts.iter().position(|known| known.reason == reason).unwrap_or_else(|| {
            counts.push(Removed { reason, files: 0, bytes: 0, last_ns: now_ns });
            counts.len() - 1
        });
        let of = &mut counts[at];
        (of.files, of.bytes, of.last_ns) = (of.files + 1, of.bytes + bytes, of.last_ns.max(now_ns));
        counts.sort_by_key(|removed| removed.reason);
        let text = serde_json::to_vec(counts).map_err(io::Error::other)?;
        write_atomically(&self.path(project), &text)
    }

    /// Removes a deleted project and its file. Blocks.
    pub fn forget(&self, project: Uuid) -> io::Result<()> {
        self.projects.lock().remove(&project);
        remove_if_exists(&self.path(project)).map(|_| ())
    }

    fn path(&self, project: Uuid) -> PathBuf {
        self.folder.join(format!("{project}.json"))
    }
}

fn read(path: &Path) -> Option<Vec<Removed>> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_a_restart() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let open = || Removals::open(folder.path().join("removed")).expect("the disk works");
        let project = Uuid::from_u128(7);
        for (reason, bytes) in [(RemovalReason::ReleaseTooOld, 5), (RemovalReason::TooManyReleases, 7)] {
            open().add(project, reason, bytes, 9).expect("the disk works");
            open().add(project, reason, bytes, 8).expect("the disk works");
        }
        let removed = |reason, bytes| Removed { reason, files: 2, bytes, last_ns: 9 };
        let expected = [removed(RemovalReason::TooManyReleases, 14), removed(RemovalReason::ReleaseTooOld, 10)];
        assert_eq!(open().list(project), expected);
        assert_eq!(open().total(RemovalReason::ReleaseTooOld), 2);
        open().forget(project).expect("the disk works");
        assert_eq!(open().list(project), []);
    }
}
