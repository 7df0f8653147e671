//! The first sight of each `service.version` per service and environment.
//!
//! Known versions are in memory, so that a request whose versions are known costs one look-up each and writes nothing.
//! A sight is stored after its request is acknowledged, by a task outside the ingest path ([`FirstVersions::store`]).
//! After a crash in between, the replay of the journal sees it again; a request that parts already cover is found in
//! the store's counts by sender (`server/jobs/first_versions.rs`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use parking_lot::{Mutex, RwLock};
use tidewatch_accounts::{ControlError, FirstVersion, Projects};
use tidewatch_domain::model::RequestKind;
use tidewatch_domain::units::MINUTE_NS;
use tidewatch_limits as limits;
use tidewatch_store::columns::Rows;
use tokio::sync::Notify;
use xxhash_rust::xxh3::Xxh3Default;

/// Known versions, and those that are not stored yet.
#[derive(Debug, Default)]
pub struct FirstVersions {
    known: RwLock<Known>,
    /// By [`key`].
    pending: Mutex<HashMap<u128, FirstVersion>>,
    /// Held while pending ones are written: who waits for it finds them stored.
    writing: tokio::sync::Mutex<()>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Known {
    /// By [`key`], the first time, nanoseconds since the epoch.
    first_ns: HashMap<u128, i64>,
    /// Number of versions by project.
    counts: HashMap<u32, usize>,
}

impl FirstVersions {
    /// Adds versions that are stored.
    pub fn load(&self, stored: &[FirstVersion]) {
        let mut known = self.known.write();
        for version in stored {
            known.add(version);
        }
    }

    /// The versions of a request that are not known, or are seen before their known time. Times after `received_ns`
    /// count as that time. Profiles do not count: they lack the environment. Empty, without an allocation, when all
    /// are known.
    pub fn unknown(&self, rows: &Rows, received_ns: i64) -> Vec<FirstVersion> {
        let mut unknown = Vec::new();
        if matches!(rows.kind, RequestKind::Profile | RequestKind::OtlpProfiles) {
            return unknown;
        }
        let project = rows.project;
        for (sender, first_ns) in rows.senders.versions() {
            let first_ns = first_ns.min(received_ns);
            let key = key(project, sender.service, sender.environment, sender.version);
            if self.known.read().is_news(key, first_ns) {
                unknown.push(FirstVersion {
                    project,
                    service: sender.service.to_owned(),
                    environment: sender.environment.to_owned(),
                    version: sender.version.to_owned(),
                    first_ns,
                });
            }
        }
        unknown
    }

    /// Adds versions of an acknowledged request, to be stored. Beyond [`limits::FIRST_VERSIONS_MAX`] of a project they
    /// are ignored.
    pub fn add(&self, seen: Vec<FirstVersion>) {
        if seen.is_empty() {
            return;
        }
        for version in seen {
            let is_added = self.known.write().add(&version);
            if is_added {
                self.add_pending(version);
            }
        }
        self.arrived.notify_one();
    }

    /// Whether a version of this service in this environment is known.
    pub fn is_known(&self, project: u32, service: &str, environment: &str, version: &str) -> bool {
        self.known.read().first_ns.contains_key(&key(project, service, environment, version))
    }

    /// Waits until versions are to be stored.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Stores what is pending. When it returns `Ok`, every version added before is stored. After an error all are
    /// still pending.
    pub async fn store(&self, projects: &Projects) -> Result<(), ControlError> {
        let _writing = self.writing.lock().await;
        let pending = std::mem::take(&mut *self.pending.lock());
        if pending.is_empty() {
            return Ok(());
        }
        let mut seen: Vec<FirstVersion> = pending.into_values().collect();
        seen.sort_by_key(|version| (version.project, version.first_ns));
        let stored = projects.add_first_versions(&seen).await;
        if stored.is_err() {
            seen.into_iter().for_each(|version| self.add_pending(version));
        }
        stored
    }

    fn add_pending(&self, version: FirstVersion) {
        let FirstVersion { project, ref service, ref environment, version: ref name, .. } = version;
        match self.pending.lock().entry(key(project, service, environment, name)) {
            Entry::Occupied(mut known) if known.get().first_ns > version.first_ns => drop(known.insert(version)),
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => drop(place.insert(version)),
        }
    }
}

impl Known {
    fn is_news(&self, key: u128, first_ns: i64) -> bool {
        match self.first_ns.get(&key) {
            Some(known) => first_ns.div_euclid(MINUTE_NS) < known.div_euclid(MINUTE_NS),
            None => true,
        }
    }

    /// Returns false for what is known, and beyond the limit.
    fn add(&mut self, version: &FirstVersion) -> bool {
        let FirstVersion { project, service, environment, version: name, first_ns } = version;
        let key = key(*project, service, environment, name);
        if !self.is_news(key, *first_ns) {
            return false;
        }
        if !self.first_ns.contains_key(&key) {
            let count = self.counts.entry(*project).or_default();
            if *count >= limits::FIRST_VERSIONS_MAX {
                return false;
            }
            *count += 1;
            if *count == limits::FIRST_VERSIONS_MAX {
                tracing::warn!(project, "project {project} has {count} versions: later ones are not recorded");
            }
        }
        self.first_ns.insert(key, *first_ns);
        true
    }
}

/// Identifies a version of a service in an environment.
fn key(project: u32, service: &str, environment: &str, version: &str) -> u128 {
    let mut hash = Xxh3Default::new();
    hash.update(&project.to_le_bytes());
    for part in [service, environment, version] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(name: &str, first_ns: i64) -> FirstVersion {
        let (service, environment) = ("cart".to_owned(), "production".to_owned());
        FirstVersion { project: 1, service, environment, version: name.to_owned(), first_ns }
    }

    fn pending(versions: &FirstVersions) -> Vec<(String, i64)> {
        let mut pending: Vec<(String, i64)> =
            versions.pending.lock().values().map(|one| (one.version.clone(), one.first_ns)).collect();
        pending.sort();
        pending
    }

    #[test]
    fn a_version_is_news_once_and_again_when_it_was_there_in_an_earlier_minute() {
        let versions = FirstVersions::default();
        versions.load(&[version("1", 5 * MINUTE_NS)]);
        versions.add(vec![version("1", 6 * MINUTE_NS), version("1", 5 * MINUTE_NS - 1), version("2", 70)]);
        versions.add(vec![version("2", 80), version("2", 60)]);
        assert_eq!(pending(&versions), [("1".to_owned(), 5 * MINUTE_NS - 1), ("2".to_owned(), 70)]);
        assert!(versions.is_known(1, "cart", "production", "2"));
        assert!(!versions.is_known(2, "cart", "production", "2") && !versions.is_known(1, "cart", "", "2"));
    }

    #[test]
    fn a_project_has_a_bounded_number_of_versions() {
        let versions = FirstVersions::default();
        let all = (0..limits::FIRST_VERSIONS_MAX + 2).map(|number| version(&number.to_string(), 1)).collect();
        versions.add(all);
        assert_eq!(versions.pending.lock().len(), limits::FIRST_VERSIONS_MAX);
    }
}
