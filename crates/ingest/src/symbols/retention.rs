//! Removes uploads of old releases, by their number and by their age. Note 0023.
//!
//! Only uploads whose key has a release are removed, and none that a stack trace used lately. What is removed is counted
//! by reason, per project, in a small file.

use std::collections::HashMap;
use std::io;

use tidewatch_domain::units::DAY_NS;
use uuid::Uuid;

use super::Symbols;
use super::index::ReleaseFile;
use super::keys::SymbolKey;
use super::removals::RemovalReason;
use tidewatch_limits as limits;

impl Symbols {
    /// Removes uploads of old releases of a project that no stack trace used lately. Blocks.
    pub fn remove_old_releases(&self, project: Uuid, now_ns: i64) -> io::Result<()> {
        let files = self.store.with_index(project, |index| index.release_files())?;
        let unused_since = now_ns.saturating_sub(days(limits::SYMBOL_USED_DAYS));
        for (file, reason) in candidates(files, now_ns) {
            let used = [self.last_used.of(project, &file.key), self.store.used(project, &file.key)];
            if used.into_iter().flatten().any(|used_ns| used_ns >= unused_since) {
                continue;
            }
            if self.store.remove(project, &file.key.path(project))? {
                self.removals.add(project, reason, file.charge, now_ns)?;
            }
            self.builder.interrupt(project, &file.key);
            self.last_used.forget(project, &file.key);
            self.cache.forget(project, &file.key);
        }
        Ok(())
    }
}

fn days(days: u64) -> i64 {
    i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_NS)
}

/// Identifies what releases have in common: the path and the kind of a script or map, the id of a mapping.
fn name(key: &SymbolKey) -> Option<(&'static str, String)> {
    match key {
        SymbolKey::SourceMapOf(_, path) | SymbolKey::ScriptOf(_, path) => Some((key.kind(), path.as_str().to_owned())),
        SymbolKey::MappingOf(id, _) => Some((key.kind(), id.to_string())),
        _ => None,
    }
}

/// The files that are to be removed unless they are used.
fn candidates(mut files: Vec<ReleaseFile>, now_ns: i64) -> Vec<(ReleaseFile, RemovalReason)> {
    files.sort_by_key(|file| std::cmp::Reverse(file.uploaded_ns));
    let oldest_ns = now_ns.saturating_sub(days(limits::SYMBOL_RELEASE_DAYS));
    let mut newer: HashMap<(&'static str, String), usize> = HashMap::new();
    let reason_of = |file: &ReleaseFile| {
        let count = newer.entry(name(&file.key)?).or_default();
        *count += 1;
        if file.uploaded_ns < oldest_ns {
            return Some(RemovalReason::ReleaseTooOld);
        }
        (*count > limits::SYMBOL_RELEASES_MAX).then_some(RemovalReason::TooManyReleases)
    };
    let reasons: Vec<Option<RemovalReason>> = files.iter().map(reason_of).collect();
    files.into_iter().zip(reasons).filter_map(|(file, reason)| Some((file, reason?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::keys::ScriptPath;
    use super::super::release::Release;
    use super::*;

    fn file(number: usize, path: &str, uploaded_ns: i64) -> ReleaseFile {
        let release = Release::of(Some(&number.to_string()), None).id().expect("it names a version");
        let path = ScriptPath::of(path).expect("a path");
        ReleaseFile { key: SymbolKey::SourceMapOf(release, path), uploaded_ns, charge: 1 }
    }

    #[test]
    fn old_releases_table() {
        let now = days(1000);
        let max = limits::SYMBOL_RELEASES_MAX;
        let of = |count: usize, path: &str| (0..count).map(|n| file(n, path, now - n as i64)).collect::<Vec<_>>();
        let old = file(1, "a.js.map", now - days(limits::SYMBOL_RELEASE_DAYS) - 1);
        for (files, expected) in [
            (of(max, "a.js.map"), vec![]),
            (of(max + 2, "a.js.map"), vec![RemovalReason::TooManyReleases; 2]),
            ([of(max, "a.js.map"), of(max, "b.js.map")].concat(), vec![]),
            (vec![file(0, "a.js.map", now), old.clone()], vec![RemovalReason::ReleaseTooOld]),
            (vec![old], vec![RemovalReason::ReleaseTooOld]),
        ] {
            let found: Vec<RemovalReason> = candidates(files, now).into_iter().map(|(_, reason)| reason).collect();
            assert_eq!(found, expected);
        }
        let oldest = candidates(of(max + 1, "a.js.map"), now);
        assert_eq!(oldest.first().map(|(file, _)| file.uploaded_ns), Some(now - max as i64));
    }
}
