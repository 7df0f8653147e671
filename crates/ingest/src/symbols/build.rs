//! The thread that makes artifacts: one at a time, after the upload was answered, and again when one is asked for.
//!
//! Projects take turns. The conversion under way ends early when its original is removed or replaced, when the server
//! stops, and after a time ([`limits::ARTIFACT_BUILD_MAX`]).

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_symbols::{Arch, DebugId, SymbolError, Upload, detect, slices_of};
use tidewatch_symbols::{convert_mapping_unless, convert_native_unless, convert_source_map_unless};
use uuid::Uuid;

use super::cache::Cache;
use super::keys::SymbolKey;
use super::store::SymbolStore;
use super::waiting::Waiting;
use tidewatch_limits as limits;
use tidewatch_runtime::background::Running;

/// Takes keys whose artifacts are missing.
pub struct Builder {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// The conversion under way is of no use any more.
    is_interrupted: AtomicBool,
    built: AtomicU64,
    failed: AtomicU64,
    heartbeat: Heartbeat,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Uuid, SymbolKey)>,
    /// The conversion under way.
    current: Option<(Uuid, SymbolKey)>,
    /// The project whose turn was last.
    last: Option<Uuid>,
    is_closed: bool,
}

/// Why there is no artifact.
#[derive(Debug, thiserror::Error)]
pub enum NoArtifact {
    #[error(transparent)]
    Unusable(#[from] SymbolError),
    #[error("there is no such upload")]
    Missing,
    #[error("reading it panicked")]
    Panicked,
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl Builder {
    /// What it makes, the cache looks for again, and stack traces of its project are resolved again. A conversion that takes
    /// longer than `build_max` is given up. `on_start` is called on the thread that converts.
    pub fn start(
        store: Arc<SymbolStore>,
        cache: Arc<Cache>,
        again: Arc<Waiting>,
        build_max: Duration,
        on_start: fn(),
    ) -> io::Result<Builder> {
        let shared = Arc::new(Shared::new());
        let worker = shared.clone();
        let run = move || {
            let _running = Running(worker.heartbeat.clone());
            on_start();
            worker.run(&store, &cache, &again, build_max);
        };
        let thread = std::thread::Builder::new().name("symbols".into()).spawn(run)?;
        Ok(Builder { shared, thread: Mutex::new(Some(thread)) })
    }

    pub fn heartbeat(&self) -> &Heartbeat {
        &self.shared.heartbeat
    }

    /// Makes the artifact of this original, unless too many wait: then whoever needs it asks again.
    pub fn ask(&self, project: Uuid, key: SymbolKey) {
        let mut queue = self.shared.queue.lock();
        let asked = (project, key);
        if queue.waiting.len() < limits::ARTIFACTS_WAITING_MAX && !queue.waiting.contains(&asked) {
            queue.waiting.push_back(asked);
            drop(queue);
            self.shared.changed.notify_all();
        }
    }

    /// Nothing of this project waits any more.
    pub fn forget(&self, project: Uuid) {
        let mut queue = self.shared.queue.lock();
        queue.waiting.retain(|(known, _)| *known != project);
        if queue.current.as_ref().is_some_and(|(known, _)| *known == project) {
            self.shared.is_interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// The original is another one now, or none: an artifact of what it was is of no use.
    pub fn interrupt(&self, project: Uuid, key: &SymbolKey) {
        let queue = self.shared.queue.lock();
        if queue.current.as_ref().is_some_and(|(known, current)| *known == project && current == key) {
            self.shared.is_interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// Artifacts made, and originals that none could be made from, since the start.
    pub fn figures(&self) -> (u64, u64) {
        (self.shared.built.load(Ordering::Relaxed), self.shared.failed.load(Ordering::Relaxed))
    }

    /// Ends soon: the conversion under way is given up, and what waits is made when it is needed.
    pub fn close(&self) {
        let mut queue = self.shared.queue.lock();
        queue.is_closed = true;
        self.shared.is_interrupted.store(true, Ordering::Relaxed);
        drop(queue);
        self.shared.changed.notify_all();
    }

    /// Blocks until nothing waits, or it is closed.
    pub fn settle(&self) {
        let mut queue = self.shared.queue.lock();
        while !queue.is_closed && (queue.current.is_some() || !queue.waiting.is_empty()) {
            self.shared.changed.wait(&mut queue);
        }
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        self.close();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that makes symbol artifacts panicked");
        }
    }
}

impl Shared {
    fn new() -> Shared {
        Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
            is_interrupted: AtomicBool::new(false),
            built: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            heartbeat: Heartbeat::new("symbols"),
        }
    }

    fn run(&self, store: &SymbolStore, cache: &Cache, again: &Waiting, build_max: Duration) {
        while let Some((project, key)) = self.next() {
            let begun = Instant::now();
            let stop = || {
                self.heartbeat.beat();
                self.is_interrupted.load(Ordering::Relaxed) || begun.elapsed() >= build_max
            };
            // Nothing is shared with what panicked but files, which are written whole or not at all.
            let attempt = catch_unwind(AssertUnwindSafe(|| build(store, project, &key, &stop)));
            match attempt.unwrap_or(Err(NoArtifact::Panicked)) {
                Ok(artifact) => {
                    self.built.fetch_add(1, Ordering::Relaxed);
                    cache.forget(project, &key);
                    again.add(project);
                    tracing::debug!(key = key.path(project), bytes = artifact.len(), "made a symbol artifact");
                }
                // A script that came without its map.
                Err(NoArtifact::Missing) => {}
                Err(NoArtifact::Unusable(SymbolError::Interrupted)) if self.is_interrupted.load(Ordering::Relaxed) => {
                    tracing::debug!(key = key.path(project), "a symbol artifact was given up");
                }
                Err(error) => {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(%error, "no symbols can be looked up in {}: {error}", key.path(project));
                }
            }
        }
    }

    fn next(&self) -> Option<(Uuid, SymbolKey)> {
        let mut queue = self.queue.lock();
        queue.current = None;
        self.changed.notify_all();
        self.heartbeat.idle();
        while queue.waiting.is_empty() && !queue.is_closed {
            self.changed.wait(&mut queue);
        }
        if queue.is_closed {
            return None;
        }
        // A project with many files lets the others pass.
        let last = queue.last;
        let turn = queue.waiting.iter().position(|(project, _)| Some(*project) != last).unwrap_or(0);
        let next = queue.waiting.remove(turn);
        self.is_interrupted.store(false, Ordering::Relaxed);
        queue.last = next.as_ref().map(|(project, _)| *project);
        queue.current.clone_from(&next);
        self.heartbeat.beat();
        next
    }
}

/// Makes an artifact from its original and keeps it. Blocks; holds the original in memory.
pub fn build(
    store: &SymbolStore,
    project: Uuid,
    key: &SymbolKey,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>, NoArtifact> {
    if !key.has_artifact() {
        return Err(NoArtifact::Missing);
    }
    let original = store.read(project, key)?.ok_or(NoArtifact::Missing)?;
    let script = store.ask(project, |index| index.sibling(key))?;
    let script = script.map(|script| store.read(project, &script)).transpose()?.flatten();
    let from = Original { key, content: &original, arch: store.arch(project, key), script: script.as_deref() };
    let artifact = from.convert(stop)?;
    store.put_artifact(project, key, &artifact)?;
    Ok(artifact)
}

/// What an artifact is made from.
pub struct Original<'o> {
    pub key: &'o SymbolKey,
    pub content: &'o [u8],
    /// Of native code, where slices share an id.
    pub arch: Option<Arch>,
    /// What a source map's names of functions are read from.
    pub script: Option<&'o [u8]>,
}

impl Original<'_> {
    /// The artifact, unless `stop` says that nobody wants it.
    pub fn convert(&self, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, NoArtifact> {
        match self.key {
            SymbolKey::MachO(id) | SymbolKey::MachOSlice(id, _) => self.convert_slice(*id, stop),
            SymbolKey::Elf(_) | SymbolKey::Dart(..) => convert_elf(self.content, stop),
            SymbolKey::Mapping(id) => Ok(convert_mapping_unless(self.content, Some(*id), stop)?),
            SymbolKey::SourceMap(_) | SymbolKey::SourceMapAt(_) | SymbolKey::SourceMapById(_) => {
                let id = if let SymbolKey::SourceMapById(id) = self.key { Some(*id) } else { None };
                Ok(convert_source_map_unless(self.content, self.script, id, stop)?)
            }
            SymbolKey::Script(_) | SymbolKey::ScriptAt(_) | SymbolKey::ScriptById(_) => Err(NoArtifact::Missing),
        }
    }

    /// Of slices that share the id, the one for the architecture.
    fn convert_slice(&self, id: DebugId, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, NoArtifact> {
        let slices = slices_of(self.content)?;
        let mut with_id = slices.iter().filter(|slice| slice.id == Some(id));
        let exact = with_id.clone().find(|slice| Some(slice.arch) == self.arch);
        let slice = exact.or_else(|| with_id.next()).ok_or(NoArtifact::Missing)?;
        Ok(convert_native_unless(self.content, slice, stop)?)
    }
}

fn convert_elf(original: &[u8], stop: &dyn Fn() -> bool) -> Result<Vec<u8>, NoArtifact> {
    match detect(original, None)? {
        Upload::Native { slices, .. } => {
            let slice = slices.first().ok_or(NoArtifact::Missing)?;
            Ok(convert_native_unless(original, slice, stop)?)
        }
        _ => Err(NoArtifact::Missing),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sort::{Fields, sort};
    use super::super::store::Info;
    use super::*;

    fn key(number: u8) -> SymbolKey {
        SymbolKey::MachO(DebugId::from_bytes(&[number]).expect("an id"))
    }

    // Many files of one project hold up nobody else's.
    #[test]
    fn projects_take_turns() {
        let shared = Shared::new();
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        shared.queue.lock().waiting.extend([(one, key(1)), (one, key(2)), (one, key(3)), (other, key(4))]);
        let order: Vec<(Uuid, SymbolKey)> = std::iter::from_fn(|| {
            let is_empty = shared.queue.lock().waiting.is_empty();
            (!is_empty).then(|| shared.next()).flatten()
        })
        .collect();
        assert_eq!(order, [(one, key(1)), (other, key(4)), (one, key(2)), (one, key(3))]);
    }

    // The conversion under way is given up when its file goes, when its project goes, and when the server stops.
    #[test]
    fn what_nobody_wants_is_interrupted() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let is_interrupted = |change: fn(&Builder, Uuid, Uuid)| {
            let builder = Builder { shared: Arc::new(Shared::new()), thread: Mutex::new(None) };
            builder.shared.queue.lock().waiting.push_back((one, key(1)));
            assert_eq!(builder.shared.next(), Some((one, key(1))));
            change(&builder, one, other);
            builder.shared.is_interrupted.load(Ordering::Relaxed)
        };
        assert!(is_interrupted(|builder, one, _| builder.interrupt(one, &key(1))));
        assert!(is_interrupted(|builder, one, _| builder.forget(one)));
        assert!(is_interrupted(|builder, _, _| builder.close()));
        assert!(!is_interrupted(|builder, one, other| {
            builder.interrupt(one, &key(2));
            builder.interrupt(other, &key(1));
            builder.forget(other);
        }));
    }

    // A file that takes too long is given up and counted; the thread goes on with the next one.
    #[test]
    fn a_conversion_that_takes_too_long_is_given_up() {
        const MAP: &[u8] = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA"}"#;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (project, source) = (Uuid::from_u128(1), folder.path().join("upload"));
        std::fs::write(&source, MAP).expect("a file");
        let store = Arc::new(SymbolStore::new(folder.path().join("blobs")));
        let mut keys = Vec::new();
        for name in ["a.js.map", "b.js.map"] {
            let kept = sort(MAP, name, Fields::default()).expect("a source map");
            let put = store.put(project, &kept[0], &source, MAP, Info::default()).expect("the disk works");
            keys.push(put.1);
        }
        let start = |build_max| {
            let again = Arc::new(Waiting::open(folder.path().join("again")).expect("a folder"));
            Builder::start(store.clone(), Arc::new(Cache::new(1 << 20)), again, build_max, || ()).expect("a thread")
        };
        let has_artifacts = || keys.iter().filter(|key| store.has_artifact(project, key)).count();
        for (build_max, figures, made) in [(Duration::ZERO, (0, 2), 0), (limits::ARTIFACT_BUILD_MAX, (2, 0), 2)] {
            let builder = start(build_max);
            keys.iter().for_each(|key| builder.ask(project, key.clone()));
            builder.settle();
            assert_eq!((builder.figures(), has_artifacts()), (figures, made), "{build_max:?}");
        }
    }
}
