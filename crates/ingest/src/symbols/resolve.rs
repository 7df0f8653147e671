//! Symbolication: resolves a raw stack trace with the artifacts it requests. Spec: symbolication; WIRE 4.3; DECISIONS
//! 14.
//!
//! It never waits for a build: a missing artifact is queued, and the trace stays raw.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidewatch_domain::rules::exception::{RawStack, Symbolic, Symbolicate};
use tidewatch_symbols::{Arch, Artifact, ArtifactRequest, DebugId, Hints, Native, Resolved, SourceContext, Trace};
use uuid::Uuid;

use super::Symbols;
use super::build_hints::BuildHints;
use super::cache::Cached;
use super::gather::{Gathered, Source};
use super::index::Index;
use super::keys::SymbolKey;
use super::missing::MissingFile;
use super::release::Release;

/// Symbolicates the stack traces of one request.
pub struct Symbolicator<'s> {
    /// Uploads and artifacts.
    pub symbols: &'s Symbols,
    /// The project whose uploads are used.
    pub project: Uuid,
    /// When the traces were received. Nanoseconds since the epoch.
    pub now_ns: i64,
    /// Remaining time for symbolication in this request.
    pub left: Cell<Duration>,
}

impl Symbolicate for Symbolicator<'_> {
    fn resolve<'a>(&self, raw: &RawStack<'_, 'a>) -> Symbolic<'a> {
        let named = BuildHints::of(raw);
        if self.left.get().is_zero() {
            // Stored raw, and queued to be resolved in the background.
            self.symbols.resymbolication.add(self.project);
            return Symbolic { build: named.stored(), ..Symbolic::default() };
        }
        let start = Instant::now();
        let resolved = named.with_hints(|hints| self.symbols.resolve(self.project, raw.text, hints, self.now_ns));
        self.left.set(self.left.get().saturating_sub(start.elapsed()));
        let Some((resolved, missing)) = resolved else { return Symbolic::default() };
        for request in &missing {
            self.symbols.missing.add(self.project, MissingFile::of(request, named.release()), self.now_ns);
        }
        Symbolic { build: named.stored(), ..symbolic(resolved, raw) }
    }
}

/// The changes of an exception by its resolved trace.
pub fn symbolic<'a>(resolved: Resolved, raw: &RawStack<'_, '_>) -> Symbolic<'a> {
    let text = resolved.is_changed(raw.text).then_some(resolved.text);
    let renamed = resolved.exception_type.filter(|(obfuscated, _)| obfuscated == raw.exception_type);
    Symbolic { text, exception_type: renamed.map(|(_, original)| original), build: None }
}

impl Symbols {
    /// Resolves a trace as far as the project's uploads permit, and returns the missing files. `None`: it is symbolic
    /// already, or has no known format. Artifacts that are not in memory are read from disk.
    pub fn resolve(
        &self,
        project: Uuid,
        text: &str,
        hints: &Hints<'_>,
        now_ns: i64,
    ) -> Option<(Resolved, Vec<ArtifactRequest>)> {
        let trace = Trace::read(text, hints)?;
        let gathered = self.gather(project, &trace, &Release::of(hints.version, hints.dist), now_ns);
        let resolved = trace.resolve(&gathered.artifacts());
        Some((resolved, gathered.missing))
    }

    /// The source lines around the frames of a raw trace, where source maps embed them.
    pub fn context(&self, project: Uuid, text: &str, hints: &Hints<'_>, now_ns: i64) -> Vec<SourceContext> {
        let Some(trace) = Trace::read(text, hints) else { return Vec::new() };
        let release = Release::of(hints.version, hints.dist);
        trace.context(&self.gather(project, &trace, &release, now_ns).artifacts())
    }

    /// The functions at addresses of the native file with this build id, outermost first, each with its source file. An
    /// unknown address is left out; a file that is not uploaded counts as missing.
    pub fn native_functions(
        &self,
        project: Uuid,
        build_id: &str,
        addresses: &BTreeSet<u64>,
        now_ns: i64,
    ) -> HashMap<u64, Vec<(String, String)>> {
        let Some(id) = DebugId::parse(build_id) else { return HashMap::new() };
        let request = ArtifactRequest::Native { id, arch: Arch::Unknown };
        let keys = [SymbolKey::Elf(id), SymbolKey::MachO(id)];
        let found = keys.into_iter().find_map(|key| Some((self.artifact(project, key.clone())?, key)));
        let Some((bytes, key)) = found else {
            self.missing.add(project, request.into(), now_ns);
            return HashMap::new();
        };
        self.missing.found(project, &request.into());
        self.last_used.add(project, &key, None, now_ns);
        let Some(native) = Artifact::open(&bytes).ok().and_then(Native::open) else { return HashMap::new() };
        let functions = |address: &u64| {
            let mut chain: Vec<(String, String)> =
                native.frames(*address).map(|frame| (frame.function().to_owned(), frame.file().to_owned())).collect();
            chain.reverse();
            (!chain.is_empty()).then_some((*address, chain))
        };
        addresses.iter().filter_map(functions).collect()
    }

    fn gather(&self, project: Uuid, trace: &Trace<'_>, release: &Release, now_ns: i64) -> Gathered {
        let gathered = Gathered::of(trace, &mut Uploads { symbols: self, project, release, now_ns });
        gathered.found.iter().for_each(|request| self.missing.found(project, &MissingFile::of(request, release)));
        gathered
    }

    /// Loads an artifact from memory or disk. One that is missing or stale is queued for a build.
    fn artifact(&self, project: Uuid, key: SymbolKey) -> Option<Arc<[u8]>> {
        let since = match self.cache.find(project, &key) {
            Cached::Artifact(bytes) => return Some(bytes),
            Cached::Missing => return None,
            Cached::Unknown(since) => since,
        };
        let loaded = self.load(project, &key);
        match &loaded {
            Some(bytes) => self.cache.put(project, key, bytes.clone(), since),
            None => self.cache.put_missing(project, key, since),
        }
        loaded
    }

    fn load(&self, project: Uuid, key: &SymbolKey) -> Option<Arc<[u8]>> {
        let info = self.store.info(project, key)?;
        let found = self.store.artifact(project, key).unwrap_or_else(|error| {
            tracing::warn!(%error, "a symbol artifact cannot be read: {error}");
            None
        });
        let is_fresh = |bytes: &[u8]| {
            let hash = u128::from_str_radix(&info.hash, 16).unwrap_or_default();
            let opened = Artifact::open(bytes).and_then(Artifact::verify);
            opened.and_then(|artifact| artifact.made_from(info.bytes, hash)).is_ok()
        };
        let fresh = found.filter(|bytes| is_fresh(bytes));
        if fresh.is_none() {
            self.builder.enqueue(project, key.clone());
        }
        fresh.map(|bytes| Arc::from(&bytes[..]))
    }
}

/// The uploads of a project.
struct Uploads<'s> {
    symbols: &'s Symbols,
    project: Uuid,
    /// The trace's release.
    release: &'s Release,
    now_ns: i64,
}

impl Uploads<'_> {
    /// Unreadable files count as missing; the error is logged.
    fn or_none<T: Default>(found: std::io::Result<T>) -> T {
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, "the uploads of a project cannot be listed: {error}");
            T::default()
        })
    }
}

impl Source for Uploads<'_> {
    fn artifact(&mut self, key: &SymbolKey) -> Option<Arc<[u8]>> {
        let bytes = self.symbols.artifact(self.project, key.clone())?;
        let is_map = key.is_source_map() || matches!(key, SymbolKey::SourceMapById(_));
        let script = Some(key).filter(|_| is_map);
        let script = script
            .and_then(|map| Self::or_none(self.symbols.store.with_index(self.project, |index| index.sibling(map))));
        self.symbols.last_used.add(self.project, key, script, self.now_ns);
        Some(bytes)
    }

    fn dart_images(&mut self, id: Option<DebugId>) -> Vec<SymbolKey> {
        Self::or_none(self.symbols.store.with_index(self.project, |index| index.dart_images(id, self.release)))
    }

    fn mapping(&mut self, id: DebugId) -> Option<SymbolKey> {
        let find = |index: &Index| index.mapping(id, self.release).cloned();
        Self::or_none(self.symbols.store.with_index(self.project, find))
    }

    fn map_of_script(&mut self, path: &str, id: Option<DebugId>) -> Option<SymbolKey> {
        let find = |index: &Index| index.map_of_script(path, id, self.release).cloned();
        Self::or_none(self.symbols.store.with_index(self.project, find))
    }
}
