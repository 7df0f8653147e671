//! Threads on which questions to the telemetry store are answered, a step behind all else (decision 0009).
//!
//! A thread cannot get its priority back, so these do nothing but this; threads that a question starts stand where it does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{io, thread};

use parking_lot::Mutex;
use tokio::sync::oneshot;

type Work = Box<dyn FnOnce() + Send>;

/// They end with it, each once what waits is done.
pub struct QueryThreads {
    waiting: Sender<Work>,
}

impl QueryThreads {
    /// `on_start` is called on each thread before its first query.
    pub fn start(count: usize, on_start: fn()) -> io::Result<QueryThreads> {
        let (waiting, work) = channel();
        let work = Arc::new(Mutex::new(work));
        for _ in 0..count {
            let work = Arc::clone(&work);
            thread::Builder::new().name("query".to_owned()).spawn(move || run(&work, on_start))?;
        }
        Ok(QueryThreads { waiting })
    }

    /// What `ask` answers; `None` when it panicked. Runs to its end, whether or not anyone still waits.
    pub async fn run<T: Send + 'static>(&self, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (told, answer) = oneshot::channel();
        let work = move || {
            let _ = told.send(ask());
        };
        self.waiting.send(Box::new(work)).ok()?;
        answer.await.ok()
    }
}

fn run(work: &Mutex<Receiver<Work>>, on_start: fn()) {
    on_start();
    loop {
        // One waits for work, the others for their turn to.
        let next = work.lock().recv();
        let Ok(work) = next else { return };
        // It was reported where it happened; whoever asked hears that there is no answer.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn questions_are_answered_also_after_a_panic() {
        let threads = QueryThreads::start(1, || ()).unwrap();
        assert_eq!(threads.run(|| 7).await, Some(7));
        assert_eq!(threads.run(|| -> u8 { panic!("a bug, on purpose") }).await, None);
        assert_eq!(threads.run(|| 8).await, Some(8));
    }

    #[tokio::test]
    async fn as_many_at_once_as_there_are_threads() {
        let threads = QueryThreads::start(2, || ()).unwrap();
        let both = Arc::new(std::sync::Barrier::new(2));
        let (a, b) = (Arc::clone(&both), both);
        let (a, b) = tokio::join!(threads.run(move || a.wait().is_leader()), threads.run(move || b.wait().is_leader()));
        assert_eq!([a, b].into_iter().flatten().filter(|is_leader| *is_leader).count(), 1);
    }
}
