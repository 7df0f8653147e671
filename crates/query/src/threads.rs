//! Threads on which queries of the telemetry store run, at a lower priority than ingest (decision 0009).
//!
//! A thread cannot raise its priority again, so these threads run only queries. Threads that a query starts inherit its
//! priority.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{io, thread};

use parking_lot::Mutex;
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// A pool of query threads. After it is dropped, its threads finish the queued jobs and end.
pub struct QueryThreads {
    queue: Sender<Job>,
}

impl QueryThreads {
    /// Starts `count` threads. `on_start` is called on each thread before its first query.
    pub fn start(count: usize, on_start: fn()) -> io::Result<QueryThreads> {
        let (queue, work) = channel();
        let work = Arc::new(Mutex::new(work));
        for _ in 0..count {
            let work = Arc::clone(&work);
            thread::Builder::new().name("query".to_owned()).spawn(move || run(&work, on_start))?;
        }
        Ok(QueryThreads { queue })
    }

    /// Runs `job` on a query thread and returns its result; `None` when it panicked. A job runs to its end, even when
    /// this future is dropped.
    pub async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (result_sender, result) = oneshot::channel();
        let work = move || {
            let _ = result_sender.send(job());
        };
        self.queue.send(Box::new(work)).ok()?;
        result.await.ok()
    }
}

fn run(work: &Mutex<Receiver<Job>>, on_start: fn()) {
    on_start();
    loop {
        // One thread waits for a job; the others wait for the lock.
        let next = work.lock().recv();
        let Ok(work) = next else { return };
        // The panic hook has reported the panic. The dropped sender makes `QueryThreads::run` return `None`.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn queries_run_after_a_panic() {
        let threads = QueryThreads::start(1, || ()).unwrap();
        assert_eq!(threads.run(|| 7).await, Some(7));
        assert_eq!(threads.run(|| -> u8 { panic!("a bug, on purpose") }).await, None);
        assert_eq!(threads.run(|| 8).await, Some(8));
    }

    #[tokio::test]
    async fn jobs_run_concurrently_up_to_the_number_of_threads() {
        let threads = QueryThreads::start(2, || ()).unwrap();
        let both = Arc::new(std::sync::Barrier::new(2));
        let (a, b) = (Arc::clone(&both), both);
        let (a, b) = tokio::join!(threads.run(move || a.wait().is_leader()), threads.run(move || b.wait().is_leader()));
        assert_eq!([a, b].into_iter().flatten().filter(|is_leader| *is_leader).count(), 1);
    }
}
