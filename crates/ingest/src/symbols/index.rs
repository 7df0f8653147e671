//! An index of one project's originals in memory: their total size, the paths of scripts, and the Dart images.

use std::collections::HashMap;

use tidewatch_symbols::{Arch, DebugId};

use super::info::Info;
use super::keys::{FileName, ScriptPath, SymbolKey};
use super::release::{Fit, Release, fitting};

/// The index of one project. It mirrors the files on disk.
#[derive(Debug, Default)]
pub struct Index {
    entries: HashMap<SymbolKey, Entry>,
    /// Keys of scripts and source maps, by the script's file name.
    by_name: HashMap<String, Vec<SymbolKey>>,
    /// Keys of mappings, by the id that the app reports.
    mappings: HashMap<DebugId, Vec<SymbolKey>>,
    /// Total bytes charged to the quota.
    charged: u64,
}

#[derive(Debug)]
struct Entry {
    charge: u64,
    hash: String,
    path: Option<ScriptPath>,
    debug_id: Option<DebugId>,
    releases: Vec<Release>,
    uploaded_ns: i64,
}

impl Index {
    /// Adds an original, or replaces the one under its key.
    pub fn insert(&mut self, key: SymbolKey, info: &Info) {
        self.remove(&key);
        let path = info.path_of(&key);
        if let Some(path) = &path {
            self.by_name.entry(file_name(path.of_script()).to_owned()).or_default().push(key.clone());
        }
        if let SymbolKey::Mapping(id) | SymbolKey::MappingOf(id, _) = &key {
            self.mappings.entry(*id).or_default().push(key.clone());
        }
        self.charged += info.charge();
        let debug_id = info.debug_id.as_deref().and_then(DebugId::parse);
        let (releases, uploaded_ns) = (info.releases(), info.uploaded_ns);
        let entry = Entry { charge: info.charge(), hash: info.hash.clone(), path, debug_id, releases, uploaded_ns };
        self.entries.insert(key, entry);
    }

    /// Removes an original; does nothing when it is not indexed.
    pub fn remove(&mut self, key: &SymbolKey) {
        let Some(entry) = self.entries.remove(key) else { return };
        self.charged -= entry.charge;
        if let SymbolKey::Mapping(id) | SymbolKey::MappingOf(id, _) = key
            && let Some(keys) = self.mappings.get_mut(id)
        {
            keys.retain(|known| known != key);
            if keys.is_empty() {
                self.mappings.remove(id);
            }
        }
        let Some(path) = entry.path else { return };
        let name = file_name(path.of_script());
        if let Some(keys) = self.by_name.get_mut(name) {
            keys.retain(|known| known != key);
            if keys.is_empty() {
                self.by_name.remove(name);
            }
        }
    }

    /// Total bytes charged to the project's quota.
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// Number of originals.
    pub fn files(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Keys of Dart images: those with this build id, or those that fit this release of a trace that names no build.
    pub fn dart_images(&self, id: Option<DebugId>, release: &Release) -> Vec<SymbolKey> {
        let Some(id) = id else {
            let images = self.entries.keys().filter(|key| matches!(key, SymbolKey::Dart(..)));
            return fitting(images.map(|key| (self.fit(key, release), key.clone())).collect());
        };
        let architectures = [Arch::Arm64, Arch::X64, Arch::Arm, Arch::Ia32];
        let keys = architectures.map(|arch| SymbolKey::Dart(id, arch)).into_iter();
        keys.filter(|key| self.entries.contains_key(key)).collect()
    }

    /// The key of the script or source map with this path. `like`: a key of the same kind.
    pub fn at(&self, path: &ScriptPath, like: &SymbolKey) -> Option<&SymbolKey> {
        let keys = self.by_name.get(file_name(path.of_script()))?.iter();
        let mut of_kind =
            keys.filter(|key| key.is_source_map() == like.is_source_map() && key.release() == like.release());
        of_kind.find(|key| self.path(key) == Some(path))
    }

    /// Uploads whose keys have a release.
    pub fn release_files(&self) -> Vec<ReleaseFile> {
        let with_release = self.entries.iter().filter(|(key, _)| key.release().is_some());
        let file = |(key, entry): (&SymbolKey, &Entry)| ReleaseFile {
            key: key.clone(),
            uploaded_ns: entry.uploaded_ns,
            charge: entry.charge,
        };
        with_release.map(file).collect()
    }

    /// Whether there is an original under this key.
    pub fn contains(&self, key: &SymbolKey) -> bool {
        self.entries.contains_key(key)
    }

    /// The mapping with this id for a trace of this release, the newest of several.
    pub fn mapping(&self, id: DebugId, release: &Release) -> Option<&SymbolKey> {
        let keys = self.mappings.get(&id)?.iter();
        let fitting = fitting(keys.map(|key| (self.fit(key, release), key)).collect());
        fitting.into_iter().max_by_key(|key| self.uploaded_ns(key))
    }

    /// The source map of the script with this path, for a trace of this release: of the maps with its file name that fit
    /// the release, the one with the longest common path suffix, and of one path the newest. `None` when several match
    /// equally well, unless their content is equal. A map with another debug id than `id` does not match.
    pub fn map_of_script(&self, path: &str, id: Option<DebugId>, release: &Release) -> Option<&SymbolKey> {
        let keys = self.by_name.get(file_name(path))?;
        let may_be = |key: &&SymbolKey| {
            let other = self.entries.get(*key).and_then(|entry| entry.debug_id);
            key.is_source_map() && (id.is_none() || other.is_none() || other == id)
        };
        let candidates = keys.iter().filter(may_be).map(|key| (self.fit(key, release), key)).collect();
        let mut newest: Vec<(&ScriptPath, &SymbolKey)> = Vec::new();
        let mut places: HashMap<&ScriptPath, usize> = HashMap::new();
        for key in fitting(candidates) {
            let Some(known) = self.path(key) else { continue };
            let place = *places.entry(known).or_insert(newest.len());
            let order = |key: &SymbolKey| (self.uploaded_ns(key), key.release());
            match newest.get_mut(place) {
                None => newest.push((known, key)),
                Some((_, other)) if order(other) < order(key) => *other = key,
                Some(_) => {}
            }
        }
        let ranked: Vec<((usize, bool), &SymbolKey)> =
            newest.into_iter().map(|(known, key)| (rank(path, known.of_script()), key)).collect();
        let best = ranked.iter().map(|(rank, _)| *rank).max()?;
        let mut winners = ranked.iter().filter(|(rank, _)| *rank == best).map(|(_, key)| *key);
        let first = winners.next()?;
        winners.all(|key| self.hash(key) == self.hash(first)).then_some(first)
    }

    fn fit(&self, key: &SymbolKey, release: &Release) -> Fit {
        let entry = self.entries.get(key);
        entry.and_then(|entry| entry.releases.iter().map(|known| known.fit(release)).max()).unwrap_or(Fit::Unsaid)
    }

    fn uploaded_ns(&self, key: &SymbolKey) -> i64 {
        self.entries.get(key).map_or(i64::MIN, |entry| entry.uploaded_ns)
    }

    /// The script of a source map, or the source map of a script, of the same release: the one with the same path, else
    /// the only one with its file name.
    pub fn sibling(&self, key: &SymbolKey) -> Option<SymbolKey> {
        match key {
            SymbolKey::SourceMapById(id) => return Some(SymbolKey::ScriptById(*id)),
            SymbolKey::ScriptById(id) => return Some(SymbolKey::SourceMapById(*id)),
            _ => {}
        }
        let path = self.path(key)?.of_script();
        let of_name = self.by_name.get(file_name(path))?;
        let (same, other): (Vec<&SymbolKey>, Vec<&SymbolKey>) = of_name
            .iter()
            .filter(|known| known.release() == key.release())
            .partition(|known| known.is_source_map() == key.is_source_map());
        let exact = other.iter().find(|known| self.path(known).map(ScriptPath::of_script) == Some(path));
        let only = || if let ([_], [only]) = (&same[..], &other[..]) { Some(only) } else { None };
        exact.or_else(only).map(|known| (*known).clone())
    }

    /// Paths of other source maps of the release with the same file name and other content that have no debug id.
    pub fn of_same_name<'i>(&'i self, key: &'i SymbolKey) -> impl Iterator<Item = &'i str> {
        let path = self.path(key);
        let keys = path.and_then(|path| self.by_name.get(file_name(path.of_script()))).into_iter().flatten();
        let others = keys.filter(move |known| {
            *known != key
                && known.is_source_map()
                && known.release() == key.release()
                && self.hash(known) != self.hash(key)
                && self.entries.get(*known).is_some_and(|entry| entry.debug_id.is_none())
        });
        others.filter_map(|known| self.path(known)).map(ScriptPath::as_str)
    }

    fn path(&self, key: &SymbolKey) -> Option<&ScriptPath> {
        self.entries.get(key)?.path.as_ref()
    }

    fn hash(&self, key: &SymbolKey) -> Option<&str> {
        self.entries.get(key).map(|entry| entry.hash.as_str())
    }
}

/// An upload whose key has a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseFile {
    /// Its key.
    pub key: SymbolKey,
    /// Nanoseconds since the epoch.
    pub uploaded_ns: i64,
    /// Bytes charged to the quota.
    pub charge: u64,
}

/// The number of equal path components at the end of both paths, and whether that is all of the shorter path.
fn rank(wanted: &str, path: &str) -> (usize, bool) {
    let names = |path: &str| path.split(['/', '\\']).filter(|name| !matches!(*name, "" | ".")).count();
    let (one, other) = (wanted.rsplit(['/', '\\']), path.rsplit('/'));
    let common = one.zip(other).take_while(|(one, other)| one == other).count();
    (common, common == names(wanted).min(names(path)))
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The key of a script or source map if no other file has its name. `None`: the file name is not valid.
pub fn by_name(path: &ScriptPath, is_map: bool) -> Option<SymbolKey> {
    let name = FileName::of(path.as_str())?;
    Some(if is_map { SymbolKey::SourceMap(name) } else { SymbolKey::Script(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(paths: &[(&str, &str)]) -> Index {
        let mut index = Index::default();
        for (path, hash) in paths {
            let path = ScriptPath::of(path).expect("a path");
            let info = Info { path: Some(path.as_str().to_owned()), hash: (*hash).to_owned(), ..Info::default() };
            let is_map = path.as_str().ends_with(".map");
            index.insert(if is_map { SymbolKey::SourceMapAt(path) } else { SymbolKey::ScriptAt(path) }, &info);
        }
        index
    }

    #[track_caller]
    fn check(paths: &[(&str, &str)], wanted: &str, expected: Option<&str>) {
        let index = index(paths);
        let found = index
            .map_of_script(wanted, None, &Release::default())
            .and_then(|key| index.path(key))
            .map(ScriptPath::of_script);
        assert_eq!(found, expected, "{wanted}");
    }

    #[test]
    fn the_longest_common_path_wins_and_ties_match_nothing() {
        let two = [("dist/a/index.js.map", "1"), ("dist/b/index.js.map", "2")];
        check(&two, "b/index.js", Some("dist/b/index.js"));
        check(&two, "static/a/index.js", Some("dist/a/index.js"));
        check(&two, "c/index.js", None);
        check(&two, "index.js", None);
        check(&two[..1], "c/index.js", Some("dist/a/index.js"));
        check(&[("a/index.js.map", "1"), ("index.js.map", "2")], "a/index.js", Some("a/index.js"));
        check(&[("a/index.js.map", "1"), ("index.js.map", "2")], "b/index.js", Some("index.js"));
        check(&[("a/index.js.map", "1"), ("b/index.js.map", "1")], "c/index.js", Some("a/index.js"));
        check(&two, "other.js", None);
    }

    // DECISIONS 33. Uploads: version and path; of a trace without a version the newest counts.
    #[test]
    fn each_release_has_its_own_map() {
        let uploads = [("1", "a/app.js.map"), ("2", "a/app.js.map"), ("2", "b/app.js.map"), ("", "a/app.js.map")];
        let index_of = |uploads: &[(&str, &str)]| {
            let mut index = Index::default();
            for (at, (version, path)) in (0..).zip(uploads) {
                let release = Release::of(Some(version), None);
                let at_path = ScriptPath::of(path).expect("a path");
                let info = Info {
                    path: Some((*path).to_owned()),
                    hash: at.to_string(),
                    version: release.version.clone(),
                    uploaded_ns: at,
                    ..Info::default()
                };
                let key = match release.id() {
                    Some(id) => SymbolKey::SourceMapOf(id, at_path),
                    None => SymbolKey::SourceMapAt(at_path),
                };
                index.insert(key, &info);
            }
            index
        };
        let found = |uploads: &[(&str, &str)], version: &str, script: &str| {
            let index = index_of(uploads);
            let key = index.map_of_script(script, None, &Release::of(Some(version), None))?.clone();
            index.hash(&key).map(str::to_owned)
        };
        for (uploads, version, script, expected) in [
            (&uploads[..], "1", "a/app.js", Some("0")),
            (&uploads, "2", "a/app.js", Some("1")),
            (&uploads, "2", "b/app.js", Some("2")),
            // The path does not tell the maps of the release apart.
            (&uploads, "2", "c/app.js", None),
            (&uploads, "3", "a/app.js", None),
            (&uploads, "", "a/app.js", Some("3")),
            (&uploads[..3], "", "a/app.js", Some("1")),
            (&uploads[3..], "3", "a/app.js", Some("0")),
        ] {
            assert_eq!(found(uploads, version, script).as_deref(), expected, "{version:?} {script}");
        }
    }

    #[test]
    fn scripts_are_matched_to_their_maps() {
        let index =
            index(&[("a/x.js.map", "1"), ("b/x.js.map", "2"), ("b/x.js", "3"), ("m/y.js.map", "4"), ("s/y.js", "5")]);
        let at = |path| ScriptPath::of(path).expect("a path");
        for (map, script) in [("b/x.js.map", Some("b/x.js")), ("a/x.js.map", None), ("m/y.js.map", Some("s/y.js"))] {
            let script = script.map(|script| SymbolKey::ScriptAt(at(script)));
            let map = SymbolKey::SourceMapAt(at(map));
            assert_eq!(index.sibling(&map), script);
            assert!(script.is_none_or(|script| index.sibling(&script) == Some(map)));
        }
    }

    #[test]
    fn removed_files_are_not_counted() {
        let mut index = index(&[("a/x.js.map", "1"), ("b/x.js.map", "2")]);
        let key = SymbolKey::SourceMapAt(ScriptPath::of("a/x.js.map").expect("a path"));
        assert_eq!((index.files(), index.charged()), (2, 2 * 4096), "no file is smaller than a block");
        index.remove(&key);
        index.remove(&key);
        assert_eq!((index.files(), index.charged()), (1, 4096));
        assert_eq!(index.map_of_script("x.js", None, &Release::default()).map(SymbolKey::is_source_map), Some(true));
    }
}
