//! Loads of demo data by this process: how far each is, and how it ended. `demo/load.rs` does the loading.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The loads of this process.
pub struct Demos {
    loads: Mutex<HashMap<u32, Arc<Load>>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    /// One call begins a load at a time.
    beginning: tokio::sync::Mutex<()>,
    closing: watch::Sender<bool>,
    ends: [AtomicU64; End::ALL.len()],
}

/// How a load ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Loaded,
    Failed,
    /// The project was deleted, or the server stopped.
    Stopped,
}

impl End {
    pub const ALL: [End; 3] = [End::Loaded, End::Failed, End::Stopped];

    pub fn as_str(self) -> &'static str {
        match self {
            End::Loaded => "loaded",
            End::Failed => "failed",
            End::Stopped => "stopped",
        }
    }
}

/// One load. Running until it has an end.
#[derive(Default)]
pub struct Load {
    percent: AtomicU8,
    spans: AtomicU64,
    end: Mutex<Option<(End, Option<String>)>>,
}

impl Load {
    pub fn is_running(&self) -> bool {
        self.end.lock().is_none()
    }

    /// Of the traffic, 0 to 100.
    pub fn percent(&self) -> u8 {
        self.percent.load(Ordering::Relaxed)
    }

    /// Stored.
    pub fn spans(&self) -> u64 {
        self.spans.load(Ordering::Relaxed)
    }

    /// `spans` more are stored.
    pub fn add_spans(&self, spans: u64) {
        self.spans.fetch_add(spans, Ordering::Relaxed);
    }

    pub fn set_percent(&self, percent: u8) {
        self.percent.store(percent, Ordering::Relaxed);
    }

    /// Why it failed.
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
    /// The latest load of a project; none: not by this process.
    pub fn of(&self, project: u32) -> Option<Arc<Load>> {
        self.loads.lock().get(&project).cloned()
    }

    /// Loads that ended since the start.
    pub fn ended(&self) -> impl Iterator<Item = (End, u64)> {
        End::ALL.into_iter().zip(&self.ends).map(|(end, count)| (end, count.load(Ordering::Relaxed)))
    }

    /// Whatever begins a load holds this meanwhile.
    pub async fn one_at_a_time(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.beginning.lock().await
    }

    /// Adds a load that has begun. `is_known`: whether a project is still there; loads of others are forgotten.
    pub fn add(&self, project: u32, load: Arc<Load>, task: JoinHandle<()>, is_known: impl Fn(u32) -> bool) {
        let mut loads = self.loads.lock();
        loads.retain(|number, _| is_known(*number));
        loads.insert(project, load);
        drop(loads);
        let mut tasks = self.tasks.lock();
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    /// Notes how a load ended, and why it failed.
    pub fn end(&self, load: &Load, end: End, error: Option<String>) {
        self.ends[end as usize].fetch_add(1, Ordering::Relaxed);
        *load.end.lock() = Some((end, error));
    }

    /// Becomes true when the server stops.
    pub fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Ends the loads that run. They are found interrupted at the next start.
    pub async fn close(&self) {
        self.closing.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock());
        for task in tasks {
            // One that has panicked is over too.
            let _ = task.await;
        }
    }

    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }
}
