//! The lake's threads: one flushes, one merges and expires rows, one corrects AI Traces, one reads ahead after the start.
//! They end with the lake.
//!
//! Each thread works in steps ([`run_steps`]). A step that panics is repeated later: its work is either unfinished and
//! invisible, or guarded by `publishing`. Several consecutive panics end the process, because their cause is unknown; a
//! restart begins with the state on the disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;
use tidewatch_journal::heartbeat::Heartbeat;

use crate::lifecycle::state::{Shared, State};
use crate::lifecycle::warm::warm_up;
use crate::schedule::thread_priority::background;
use crate::schedule::yielding::set_throttle;

/// Wait after a failed flush, doubled each time up to the maximum.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(10);
/// Interval of merging, and of retention.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(5);
const RETENTION_INTERVAL: Duration = Duration::from_secs(60);
/// Interval of corrections of AI Traces, and the pause after one as a multiple of its duration.
const USAGE_INTERVAL: Duration = Duration::from_secs(1);
const USAGE_PAUSE_FACTOR: u32 = 20;
/// Number of consecutive panics after which a thread ends the process.
const PANICS_MAX: u32 = 5;
/// The `nice` increment of the merging thread, which is never urgent.
const MAINTENANCE_NICE: i32 = 10;

pub struct Workers {
    shared: Option<Arc<Shared>>,
    threads: Vec<JoinHandle<()>>,
    heartbeats: Vec<Heartbeat>,
}

/// The result of a step.
enum Step {
    Done,
    /// The lake is stopping.
    Stop,
}

impl Workers {
    pub fn none() -> Workers {
        Workers { shared: None, threads: Vec::new(), heartbeats: Vec::new() }
    }

    pub fn start(shared: &Arc<Shared>) -> Workers {
        let mut heartbeats = Vec::new();
        let mut spawn = |name: &'static str, run: fn(&Shared, &Heartbeat)| {
            let (shared, heartbeat) = (Arc::clone(shared), Heartbeat::new(name));
            heartbeats.push(heartbeat.clone());
            let run = move || {
                heartbeat.register_current_thread();
                run(&shared, &heartbeat);
            };
            thread::Builder::new().name(name.to_owned()).spawn(run).expect("the process may have four more threads")
        };
        let threads = vec![
            spawn("lake-flush", flush_loop),
            spawn("lake-upkeep", maintenance_loop),
            spawn("lake-usage", usage_loop),
            spawn("lake-warm-up", |shared, heartbeat| {
                background(MAINTENANCE_NICE);
                warm_up(shared);
                heartbeat.idle();
            }),
        ];
        Workers { shared: Some(Arc::clone(shared)), threads, heartbeats }
    }

    /// The heartbeats of the threads.
    pub fn heartbeats(&self) -> &[Heartbeat] {
        &self.heartbeats
    }

    /// Ends and joins the threads. A running flush or merge is finished or aborted first.
    pub fn stop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.state.lock().stopping = true;
            shared.wake.notify_all();
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the lake panicked");
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs steps until the lake stops, also after a panic. Too many consecutive panics call
/// [`crate::LakeOptions::on_fatal`].
fn run_steps(shared: &Shared, heartbeat: &Heartbeat, mut step: impl FnMut() -> Step) {
    let mut panics = 0;
    loop {
        match catch_unwind(AssertUnwindSafe(&mut step)) {
            Ok(Step::Done) => panics = 0,
            Ok(Step::Stop) => return heartbeat.idle(),
            Err(_) => {
                panics += 1;
                let thread = heartbeat.name();
                if panics == PANICS_MAX {
                    heartbeat.end_by_panic();
                    (shared.options.on_fatal)(&format!("thread {thread} has panicked {panics} times in a row"));
                    return;
                }
                tracing::error!(thread, panics, "thread {thread} has panicked; it tries again");
                let wait = RETRY_MIN.saturating_mul(1 << panics).min(RETRY_MAX);
                if is_stopping_after(shared, wait) {
                    return heartbeat.idle();
                }
            }
        }
    }
}

fn flush_loop(shared: &Shared, heartbeat: &Heartbeat) {
    // Without `nice`, because requests wait for the flush when memory is full.
    background(0);
    set_throttle(&shared.layout.throttle);
    let mut retry = RETRY_MIN;
    let mut not_before: Option<Instant> = None;
    run_steps(shared, heartbeat, || {
        heartbeat.idle();
        let Some(seal) = wait_for_work(shared, not_before) else { return Step::Stop };
        heartbeat.beat();
        if seal {
            let mut dedup = shared.dedup.lock();
            shared.state.lock().seal(&mut dedup);
        }
        not_before = match shared.flush_oldest() {
            Ok(_) => {
                retry = RETRY_MIN;
                None
            }
            Err(error) => {
                tracing::error!(%error, cause = ?std::error::Error::source(&error), "cannot flush; the rows stay in memory and in the journal");
                let wait = retry;
                retry = (retry * 2).min(RETRY_MAX);
                Some(Instant::now() + wait)
            }
        };
        Step::Done
    });
}

/// Waits for work. `Some(true)`: the active memtable is old enough to be sealed; `Some(false)`: a sealed memtable is to
/// be flushed; `None`: stop.
fn wait_for_work(shared: &Shared, not_before: Option<Instant>) -> Option<bool> {
    let mut state = shared.state.lock();
    loop {
        // Freeing a hundred megabytes takes a while.
        MutexGuard::unlocked(&mut state, || shared.buffer_pool.release_unused(Instant::now()));
        if state.stopping {
            return None;
        }
        let now = Instant::now();
        let until = match (not_before, due(&state, shared.options.flush_age)) {
            (Some(not_before), _) if now < not_before => Some(not_before),
            _ if !state.sealed.is_empty() => return Some(false),
            (_, Some(due)) if due <= now => return Some(true),
            (_, due) => due,
        };
        // The first request in an empty memtable wakes no thread: check again within the maximum age.
        let until = until.unwrap_or(now + shared.options.flush_age.max(Duration::from_millis(10)));
        let until = shared.buffer_pool.due().map_or(until, |due| until.min(due));
        shared.wake.wait_until(&mut state, until);
    }
}

fn due(state: &State, age: Duration) -> Option<Instant> {
    state.active.since.map(|since| since + age)
}

fn maintenance_loop(shared: &Shared, heartbeat: &Heartbeat) {
    background(MAINTENANCE_NICE);
    let mut retained: Option<Instant> = None;
    run_steps(shared, heartbeat, || {
        heartbeat.idle();
        if is_stopping_after(shared, MAINTENANCE_INTERVAL) {
            return Step::Stop;
        }
        heartbeat.beat();
        let now_ns = shared.trusted_now();
        let mut worked = Instant::now();
        let mut stop = || {
            heartbeat.beat();
            let pause = worked.elapsed() * shared.merge_pause_factor();
            let stop = is_stopping_after(shared, pause);
            worked = Instant::now();
            stop
        };
        let is_project_retention_new = std::mem::take(&mut shared.state.lock().is_project_retention_new);
        if is_project_retention_new || retained.is_none_or(|at| at.elapsed() >= RETENTION_INTERVAL) {
            // Set before the attempt: after a panic it is not repeated at once, and merging proceeds.
            retained = Some(Instant::now());
            shared.remove_due(&mut stop);
        }
        while shared.merge_next(now_ns.unwrap_or(i64::MIN), &mut stop) && !stop() {}
        Step::Done
    });
}

/// Corrects AI Traces that repeat the usage of others. DECISIONS 32.
fn usage_loop(shared: &Shared, heartbeat: &Heartbeat) {
    background(MAINTENANCE_NICE);
    set_throttle(&shared.layout.throttle);
    let mut wait = USAGE_INTERVAL;
    run_steps(shared, heartbeat, || {
        heartbeat.idle();
        if is_stopping_after(shared, wait) {
            return Step::Stop;
        }
        heartbeat.beat();
        let start = Instant::now();
        let stop = || {
            heartbeat.beat();
            shared.state.lock().stopping
        };
        if let Err(error) = shared.settle_usage(&stop) {
            tracing::warn!(%error, "cannot compare the usage of AI Traces: {error}");
        }
        // Rewriting parts takes a small share of the time.
        wait = USAGE_INTERVAL.max(start.elapsed() * USAGE_PAUSE_FACTOR);
        Step::Done
    });
}

/// Waits for `pause` unless the lake stops; true when it does.
fn is_stopping_after(shared: &Shared, pause: Duration) -> bool {
    let until = Instant::now() + pause;
    let mut state = shared.state.lock();
    while !state.stopping {
        if shared.wake.wait_until(&mut state, until).timed_out() {
            break;
        }
    }
    state.stopping
}
