//! The thread that makes artifacts: one at a time, after the upload was answered, and again when one is asked for.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};
use tidewatch_store::lake::stand_back;
use tidewatch_symbols::{DebugId, SymbolError, convert_mapping, convert_native, convert_source_map, slices_of};
use tidewatch_symbols::{Upload, detect};
use uuid::Uuid;

use super::again::Again;
use super::cache::Cache;
use super::keys::SymbolKey;
use super::store::SymbolStore;
use crate::limits;

/// Takes keys whose artifacts are missing.
pub struct Builder {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    built: AtomicU64,
    failed: AtomicU64,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(Uuid, SymbolKey)>,
    is_working: bool,
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
    /// What it makes, the cache looks for again, and stack traces of its project are resolved again.
    pub fn start(store: Arc<SymbolStore>, cache: Arc<Cache>, again: Arc<Again>) -> io::Result<Builder> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
            built: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        });
        let worker = shared.clone();
        let run = move || {
            stand_back(limits::SYMBOLS_NICE);
            worker.run(&store, &cache, &again);
        };
        let thread = std::thread::Builder::new().name("symbols".into()).spawn(run)?;
        Ok(Builder { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Makes the artifact of this original, unless too many wait: then whoever needs it asks again.
    pub fn ask(&self, project: Uuid, key: SymbolKey) {
        // A script has no artifact of its own: its map's takes the names of functions from it.
        let key = key.map_of_script().unwrap_or(key);
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
        self.shared.queue.lock().waiting.retain(|(known, _)| *known != project);
    }

    /// Artifacts made, and originals that none could be made from, since the start.
    pub fn figures(&self) -> (u64, u64) {
        (self.shared.built.load(Ordering::Relaxed), self.shared.failed.load(Ordering::Relaxed))
    }

    /// Ends when the artifact under way is made; what waits is made when it is needed.
    pub fn close(&self) {
        self.shared.queue.lock().is_closed = true;
        self.shared.changed.notify_all();
    }

    /// Blocks until nothing waits, or it is closed.
    pub fn settle(&self) {
        let mut queue = self.shared.queue.lock();
        while !queue.is_closed && (queue.is_working || !queue.waiting.is_empty()) {
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
    fn run(&self, store: &SymbolStore, cache: &Cache, again: &Again) {
        while let Some((project, key)) = self.next() {
            // Nothing is shared with what panicked but files, which are written whole or not at all.
            let attempt = catch_unwind(AssertUnwindSafe(|| build(store, project, &key)));
            match attempt.unwrap_or(Err(NoArtifact::Panicked)) {
                Ok(artifact) => {
                    self.built.fetch_add(1, Ordering::Relaxed);
                    cache.forget(project, &key);
                    again.add(project);
                    tracing::debug!(key = key.path(project), bytes = artifact.len(), "made a symbol artifact");
                }
                // A script that came without its map.
                Err(NoArtifact::Missing) => {}
                Err(error) => {
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(%error, "no symbols can be looked up in {}: {error}", key.path(project));
                }
            }
        }
    }

    fn next(&self) -> Option<(Uuid, SymbolKey)> {
        let mut queue = self.queue.lock();
        queue.is_working = false;
        self.changed.notify_all();
        while queue.waiting.is_empty() && !queue.is_closed {
            self.changed.wait(&mut queue);
        }
        let next = if queue.is_closed { None } else { queue.waiting.pop_front() };
        queue.is_working = next.is_some();
        next
    }
}

/// Makes an artifact from its original and keeps it. Blocks; holds the original in memory.
pub fn build(store: &SymbolStore, project: Uuid, key: &SymbolKey) -> Result<Vec<u8>, NoArtifact> {
    let original = store.read(project, key)?.ok_or(NoArtifact::Missing)?;
    let script = key.script_of_map().map(|script| store.read(project, &script)).transpose()?.flatten();
    let artifact = convert(key, &original, script.as_deref())?;
    store.put_artifact(project, key, &artifact)?;
    Ok(artifact)
}

/// The artifact of an original. `script`: what a source map's names of functions are read from.
pub fn convert(key: &SymbolKey, original: &[u8], script: Option<&[u8]>) -> Result<Vec<u8>, NoArtifact> {
    match key {
        SymbolKey::MachO(id) => convert_slice(original, *id),
        SymbolKey::Elf(_) | SymbolKey::Dart(..) => convert_elf(original),
        SymbolKey::Mapping(id) => Ok(convert_mapping(original, Some(*id))?),
        SymbolKey::SourceMap(_) | SymbolKey::SourceMapById(_) => {
            let script = script.map(String::from_utf8_lossy);
            let id = if let SymbolKey::SourceMapById(id) = key { Some(*id) } else { None };
            Ok(convert_source_map(original, script.as_deref(), id)?)
        }
        SymbolKey::Script(_) | SymbolKey::ScriptById(_) => Err(NoArtifact::Missing),
    }
}

fn convert_slice(original: &[u8], id: DebugId) -> Result<Vec<u8>, NoArtifact> {
    let slices = slices_of(original)?;
    let slice = slices.iter().find(|slice| slice.id == Some(id)).ok_or(NoArtifact::Missing)?;
    Ok(convert_native(original, slice)?)
}

fn convert_elf(original: &[u8]) -> Result<Vec<u8>, NoArtifact> {
    match detect(original, None)? {
        Upload::Native { slices, .. } => {
            let slice = slices.first().ok_or(NoArtifact::Missing)?;
            Ok(convert_native(original, slice)?)
        }
        _ => Err(NoArtifact::Missing),
    }
}
