//! The lake's own threads: one flushes, one merges and retains, one reads ahead after the start. All end when the lake
//! does.
//!
//! Each works in steps ([`keep_on`]). A step that panics is done again later: what it was busy with is either unfinished
//! work that nobody sees, or guarded by `publishing`. Several panics in a row end the process, as nothing says what is
//! wrong; a restart begins with what the disk holds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;
use tidewatch_journal::heartbeat::Heartbeat;

use super::state::{Shared, State};
use super::warm::warm_up;
use crate::schedule::thread_priority::stand_back;
use crate::schedule::yielding::keep_pace;

/// Waiting time after a failed flush: doubled each time up to the maximum.
const RETRY_MIN: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(10);
/// How often merging and retention look for work.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
const RETAIN_EVERY: Duration = Duration::from_secs(60);
/// Panics in a row after which a thread gives the process up.
const PANICS_MAX: u32 = 5;
/// How far merging stands back (`nice`): it is never urgent.
const UPKEEP_NICE: i32 = 10;

pub struct Workers {
    shared: Option<Arc<Shared>>,
    threads: Vec<JoinHandle<()>>,
    heartbeats: Vec<Heartbeat>,
}

/// What one step of a thread came to.
enum Step {
    Done,
    /// The lake stops.
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
            thread::Builder::new().name(name.to_owned()).spawn(run).expect("the process may have three more threads")
        };
        let threads = vec![
            spawn("lake-flush", flush_loop),
            spawn("lake-upkeep", upkeep_loop),
            spawn("lake-warm-up", |shared, heartbeat| {
                stand_back(UPKEEP_NICE);
                warm_up(shared);
                heartbeat.idle();
            }),
        ];
        Workers { shared: Some(Arc::clone(shared)), threads, heartbeats }
    }

    /// Of the threads.
    pub fn heartbeats(&self) -> &[Heartbeat] {
        &self.heartbeats
    }

    /// Ends and joins the threads; a flush or merge that is under way is finished or given up first.
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

/// Does steps until the lake stops, also after one has panicked. Too many panics in a row: [`super::LakeOptions::give_up`].
fn keep_on(shared: &Shared, heartbeat: &Heartbeat, mut step: impl FnMut() -> Step) {
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
                    (shared.options.give_up)(&format!("thread {thread} has panicked {panics} times in a row"));
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
    // Not in `nice`: what comes in waits for it when memory is full.
    stand_back(0);
    keep_pace(&shared.layout.pace);
    let mut retry = RETRY_MIN;
    let mut not_before: Option<Instant> = None;
    keep_on(shared, heartbeat, || {
        heartbeat.idle();
        let Some(seal) = wait_for_work(shared, not_before) else { return Step::Stop };
        heartbeat.beat();
        if seal {
            let mut seen = shared.seen.lock();
            shared.state.lock().seal(&mut seen);
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

/// `Some(true)`: the active memtable is old enough to be sealed; `Some(false)`: something sealed waits; `None`: stop.
fn wait_for_work(shared: &Shared, not_before: Option<Instant>) -> Option<bool> {
    let mut state = shared.state.lock();
    loop {
        // Giving a hundred megabytes back takes a while.
        MutexGuard::unlocked(&mut state, || shared.spare.let_go(Instant::now()));
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
        // A first request in an empty memtable wakes nobody: look again within the age it may reach.
        let until = until.unwrap_or(now + shared.options.flush_age.max(Duration::from_millis(10)));
        let until = shared.spare.due().map_or(until, |due| until.min(due));
        shared.wake.wait_until(&mut state, until);
    }
}

fn due(state: &State, age: Duration) -> Option<Instant> {
    state.active.since.map(|since| since + age)
}

fn upkeep_loop(shared: &Shared, heartbeat: &Heartbeat) {
    stand_back(UPKEEP_NICE);
    let mut retained: Option<Instant> = None;
    keep_on(shared, heartbeat, || {
        heartbeat.idle();
        if is_stopping_after(shared, UPKEEP_EVERY) {
            return Step::Stop;
        }
        heartbeat.beat();
        let now_ns = shared.trusted_now();
        let mut worked = Instant::now();
        let mut stop = || {
            heartbeat.beat();
            let pause = worked.elapsed() * shared.merge_rests();
            let stop = is_stopping_after(shared, pause);
            worked = Instant::now();
            stop
        };
        let is_keeping_new = std::mem::take(&mut shared.state.lock().is_keeping_new);
        if is_keeping_new || retained.is_none_or(|at| at.elapsed() >= RETAIN_EVERY) {
            // Before the attempt: one that panics is not tried again at once, and merging gets its turn.
            retained = Some(Instant::now());
            shared.remove_due(&mut stop);
        }
        while shared.merge_next(now_ns.unwrap_or(i64::MIN), &mut stop) && !stop() {}
        Step::Done
    });
}

/// Waits this long unless the lake stops; true when it does.
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
