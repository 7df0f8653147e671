//! Progress and outcome of demo data loads of this process. `jobs/demo/load.rs` does the loading.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// All loads of this process.
pub struct Demos {
    loads: Mutex<HashMap<u32, Arc<Load>>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// Held while a load is started.
    beginning: tokio::sync::Mutex<()>,
    closing: watch::Sender<bool>,
    ends: [AtomicU64; End::ALL.len()],
}

/// How a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All demo data is stored.
    Loaded,
    /// An export was refused, or an error occurred.
    Failed,
    /// The project was deleted, or the server stopped.
    Stopped,
}

impl End {
    /// Every outcome.
    pub const ALL: [End; 3] = [End::Loaded, End::Failed, End::Stopped];

    /// The name in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            End::Loaded => "loaded",
            End::Failed => "failed",
            End::Stopped => "stopped",
        }
    }
}

/// A load, which is running until it has an outcome.
#[derive(Default)]
pub struct Load {
    percent: AtomicU8,
    spans: AtomicU64,
    end: Mutex<Option<(End, Option<String>)>>,
}

impl Load {
    /// Whether it has not ended.
    pub fn is_running(&self) -> bool {
        self.end.lock().is_none()
    }

    /// Progress in percent, 0 to 100.
    pub fn percent(&self) -> u8 {
        self.percent.load(Ordering::Relaxed)
    }

    /// Number of spans stored.
    pub fn spans(&self) -> u64 {
        self.spans.load(Ordering::Relaxed)
    }

    /// Adds to the number of stored spans.
    pub fn add_spans(&self, spans: u64) {
        self.spans.fetch_add(spans, Ordering::Relaxed);
    }

    /// Sets the progress in percent.
    pub fn set_percent(&self, percent: u8) {
        self.percent.store(percent, Ordering::Relaxed);
    }

    /// The error message of a failed load.
    pub fn error(&self) -> Option<String> {
        self.end.lock().as_ref().and_then(|(_, error)| error.clone())
    }
}

impl Default for Demos {
    fn default() -> Demos {
        Demos {
            loads: Mutex::default(),
            tasks: Mutex::default(),
            beginning: tokio::sync::Mutex::default(),
            closing: watch::channel(false).0,
            ends: Default::default(),
        }
    }
}

impl Demos {
    /// The latest load of a project; `None`: this process loaded none.
    pub fn of(&self, project: u32) -> Option<Arc<Load>> {
        self.loads.lock().get(&project).cloned()
    }

    /// Number of loads by outcome, since the start.
    pub fn ended(&self) -> impl Iterator<Item = (End, u64)> {
        End::ALL.into_iter().zip(&self.ends).map(|(end, count)| (end, count.load(Ordering::Relaxed)))
    }

    /// Locks the start of loads, so that only one is started at a time.
    pub async fn one_at_a_time(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.beginning.lock().await
    }

    /// Adds a running load. `is_known`: whether a project still exists; loads of other projects are removed.
    pub fn add(&self, project: u32, load: Arc<Load>, task: JoinHandle<()>, is_known: impl Fn(u32) -> bool) {
        let mut loads = self.loads.lock();
        loads.retain(|number, _| is_known(*number));
        loads.insert(project, load);
        drop(loads);
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Records the outcome of a load, and the error message of a failed one.
    pub fn end(&self, load: &Load, end: End, error: Option<String>) {
        self.ends[end as usize].fetch_add(1, Ordering::Relaxed);
        *load.end.lock() = Some((end, error));
    }

    /// A channel whose value becomes true when the server stops.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Stops the running loads. The next start finds them interrupted.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in tasks {
            // A task that has panicked has ended too.
            let _ = task.await;
        }
    }

    /// Whether the server is stopping.
    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }
}
