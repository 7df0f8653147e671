//! The thread that builds artifacts, one at a time: after an upload is answered, and when an artifact is requested and
//! missing.
//!
//! Projects take turns. The running build is cancelled when its original is removed or replaced, when the server stops,
//! and after [`limits::ARTIFACT_BUILD_MAX`].

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
use super::resymbolication_queue::ResymbolicationQueue;
use super::store::SymbolStore;
use tidewatch_limits as limits;
use tidewatch_runtime::background::HeartbeatGuard;

/// Queues keys whose artifacts are missing, and builds them on a thread.
pub struct Builder {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Whether the running build is to be cancelled.
    is_interrupted: AtomicBool,
    built: AtomicU64,
    failed: AtomicU64,
    heartbeat: Heartbeat,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Uuid, SymbolKey)>,
    /// The running build.
    current: Option<(Uuid, SymbolKey)>,
    /// The project of the previous build.
    last: Option<Uuid>,
    is_closed: bool,
}

/// Reasons for which an artifact cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum NoArtifact {
    /// The original cannot be converted.
    #[error(transparent)]
    Unusable(#[from] SymbolError),
    /// There is no original, or one of a kind that has no artifact.
    #[error("there is no such upload")]
    Missing,
    /// Converting the original panicked.
    #[error("reading it panicked")]
    Panicked,
    /// Reading the original or writing the artifact failed.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl Builder {
    /// Starts the thread. A built artifact is removed from `cache`'s list of missing ones, and its project is queued in
    /// `resymbolication`. A build that takes longer than `build_max` is cancelled. `on_start` is called on the thread
    /// before the first build.
    pub fn start(
        store: Arc<SymbolStore>,
        cache: Arc<Cache>,
        resymbolication: Arc<ResymbolicationQueue>,
        build_max: Duration,
        on_start: fn(),
    ) -> io::Result<Builder> {
        let shared = Arc::new(Shared::new());
        let worker = shared.clone();
        let run = move || {
            let _running = HeartbeatGuard(worker.heartbeat.clone());
            on_start();
            worker.run(&store, &cache, &resymbolication, build_max);
        };
        let thread = std::thread::Builder::new().name("symbols".into()).spawn(run)?;
        Ok(Builder { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Heartbeat of the thread.
    pub fn heartbeat(&self) -> &Heartbeat {
        &self.shared.heartbeat
    }

    /// Queues the original for a build. Does nothing when the queue is full: the next request for the artifact queues
    /// it again.
    pub fn enqueue(&self, project: Uuid, key: SymbolKey) {
        let mut queue = self.shared.queue.lock();
        let wanted = (project, key);
        if queue.waiting.len() < limits::ARTIFACTS_WAITING_MAX && !queue.waiting.contains(&wanted) {
            queue.waiting.push_back(wanted);
            drop(queue);
            self.shared.changed.notify_all();
        }
    }

    /// Removes a project from the queue, and cancels the running build if it belongs to the project.
    pub fn forget(&self, project: Uuid) {
        let mut queue = self.shared.queue.lock();
        queue.waiting.retain(|(known, _)| *known != project);
        if queue.current.as_ref().is_some_and(|(known, _)| *known == project) {
            self.shared.is_interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// Cancels the running build of this original, because it was replaced or removed.
    pub fn interrupt(&self, project: Uuid, key: &SymbolKey) {
        let queue = self.shared.queue.lock();
        if queue.current.as_ref().is_some_and(|(known, current)| *known == project && current == key) {
            self.shared.is_interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// Number of artifacts built and of failed builds, since the start.
    pub fn stats(&self) -> (u64, u64) {
        (self.shared.built.load(Ordering::Relaxed), self.shared.failed.load(Ordering::Relaxed))
    }

    /// Stops the thread: cancels the running build and leaves the queue, whose artifacts are built when they are
    /// requested.
    pub fn close(&self) {
        let mut queue = self.shared.queue.lock();
        queue.is_closed = true;
        self.shared.is_interrupted.store(true, Ordering::Relaxed);
        drop(queue);
        self.shared.changed.notify_all();
    }

    /// Blocks until the queue is empty and no build is running, or the builder is closed.
    pub fn wait_until_idle(&self) {
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

    fn run(&self, store: &SymbolStore, cache: &Cache, resymbolication: &ResymbolicationQueue, build_max: Duration) {
        while let Some((project, key)) = self.next() {
            let begun = Instant::now();
            let stop = || {
                self.heartbeat.beat();
                self.is_interrupted.load(Ordering::Relaxed) || begun.elapsed() >= build_max
            };
            // The only state shared with a build that panicked are files, which are written atomically.
            let attempt = catch_unwind(AssertUnwindSafe(|| build(store, project, &key, &stop)));
            match attempt.unwrap_or(Err(NoArtifact::Panicked)) {
                Ok(artifact) => {
                    self.built.fetch_add(1, Ordering::Relaxed);
                    cache.forget(project, &key);
                    resymbolication.add(project);
                    tracing::debug!(key = key.path(project), bytes = artifact.len(), "made a symbol artifact");
                }
                // A script without a source map.
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
        // Round-robin: the next key of another project than the last one.
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

/// Builds an artifact from its original and stores it. Blocks; reads the original into memory.
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
    let script = store.with_index(project, |index| index.sibling(key))?;
    let script = script.map(|script| store.read(project, &script)).transpose()?.flatten();
    let from = Original { key, content: &original, arch: store.arch(project, key), script: script.as_deref() };
    let artifact = from.convert(stop)?;
    store.put_artifact(project, key, &artifact)?;
    Ok(artifact)
}

/// The input of a build.
pub struct Original<'o> {
    /// The key that the artifact is stored under.
    pub key: &'o SymbolKey,
    /// The uploaded file.
    pub content: &'o [u8],
    /// The architecture of native code, to choose between slices that share an id.
    pub arch: Option<Arch>,
    /// The minified script, from which function names of a source map's artifact are read.
    pub script: Option<&'o [u8]>,
}

impl Original<'_> {
    /// Converts the original to an artifact. `stop` is polled; once it returns true the build ends with
    /// [`SymbolError::Interrupted`].
    pub fn convert(&self, stop: &dyn Fn() -> bool) -> Result<Vec<u8>, NoArtifact> {
        match self.key {
            SymbolKey::MachO(id) | SymbolKey::MachOSlice(id, _) => self.convert_slice(*id, stop),
            SymbolKey::Elf(_) | SymbolKey::Dart(..) => convert_elf(self.content, stop),
            SymbolKey::Mapping(id) | SymbolKey::MappingOf(id, _) => {
                Ok(convert_mapping_unless(self.content, Some(*id), stop)?)
            }
            SymbolKey::SourceMap(_)
            | SymbolKey::SourceMapAt(_)
            | SymbolKey::SourceMapOf(..)
            | SymbolKey::SourceMapById(_) => {
                let id = if let SymbolKey::SourceMapById(id) = self.key { Some(*id) } else { None };
                Ok(convert_source_map_unless(self.content, self.script, id, stop)?)
            }
            SymbolKey::Script(_) | SymbolKey::ScriptAt(_) | SymbolKey::ScriptOf(..) | SymbolKey::ScriptById(_) => {
                Err(NoArtifact::Missing)
            }
        }
    }

    /// Converts the slice with this id; of several, the one for the architecture.
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
    use super::super::classify_upload::{Fields, classify_upload};
    use super::super::store::Info;
    use super::*;

    fn key(number: u8) -> SymbolKey {
        SymbolKey::MachO(DebugId::from_bytes(&[number]).expect("an id"))
    }

    // The queue alternates between projects.
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

    // The running build is cancelled when its original is removed, when its project is removed, and when the server
    // stops.
    #[test]
    fn a_build_without_use_is_interrupted() {
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

    // A build that takes too long is cancelled and counted, and the thread continues with the next one.
    #[test]
    fn a_build_that_takes_too_long_is_cancelled() {
        const MAP: &[u8] = br#"{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA"}"#;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = Uuid::from_u128(1);
        let store = Arc::new(SymbolStore::new(tidewatch_blobs::BlobStore::in_memory().expect("a runtime")));
        let mut keys = Vec::new();
        for name in ["a.js.map", "b.js.map"] {
            let kept = classify_upload(MAP, name, Fields::default()).expect("a source map");
            let put = store.put(project, &kept[0], MAP, Info::default()).expect("the disk works");
            keys.push(put.1);
        }
        let start = |build_max| {
            let resymbolication = Arc::new(ResymbolicationQueue::open(folder.path().join("again")).expect("a folder"));
            Builder::start(store.clone(), Arc::new(Cache::new(1 << 20)), resymbolication, build_max, || ())
                .expect("a thread")
        };
        let has_artifacts = || keys.iter().filter(|key| store.has_artifact(project, key)).count();
        for (build_max, stats, made) in [(Duration::ZERO, (0, 2), 0), (limits::ARTIFACT_BUILD_MAX, (2, 0), 2)] {
            let builder = start(build_max);
            keys.iter().for_each(|key| builder.enqueue(project, key.clone()));
            builder.wait_until_idle();
            assert_eq!((builder.stats(), has_artifacts()), (stats, made), "{build_max:?}");
        }
    }
}
