//! How many large bodies are worked on at once, and how many may wait for their turn.
//!
//! Spec: limits, row "Ingest concurrency". Waiting counts against no timeout; beyond the waiting room the answer is no,
//! at once. Small bodies take less time than asking and are not asked about.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The gate before the decoders.
pub struct Admission {
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_max: usize,
}

/// Leaves the waiting room when dropped, however the wait ended.
struct Seat<'a>(&'a AtomicUsize);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Admission {
    pub fn new(slots: usize, waiting_max: usize) -> Admission {
        Admission { slots: Arc::new(Semaphore::new(slots)), waiting: AtomicUsize::new(0), waiting_max }
    }

    /// A slot, held until the permit is dropped; `None` when the waiting room is full.
    pub async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = self.slots.clone().try_acquire_owned() {
            return Some(permit);
        }
        let seat = Seat(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.waiting_max {
            return None;
        }
        let permit = self.slots.clone().acquire_owned().await;
        drop(seat);
        permit.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;

    /// Polls once; what is not ready stays pending.
    async fn once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        poll_fn(|context| Poll::Ready(std::pin::Pin::new(&mut *future).poll(context))).await
    }

    // Spec: limits, row "Ingest concurrency".
    #[tokio::test]
    async fn slots_then_waiting_room_then_no() {
        let gate = Admission::new(1, 2);
        let held = gate.enter().await.expect("a free slot");
        let (mut second, mut third) = (Box::pin(gate.enter()), Box::pin(gate.enter()));
        assert!(once(&mut second).await.is_pending());
        assert!(once(&mut third).await.is_pending());
        assert!(gate.enter().await.is_none(), "the waiting room is full");

        drop(third);
        let mut fourth = Box::pin(gate.enter());
        assert!(once(&mut fourth).await.is_pending(), "who gives up waiting frees the seat");

        drop(held);
        assert!(second.await.is_some());
        assert!(fourth.await.is_some());
    }
}
