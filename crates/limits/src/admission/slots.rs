//! A fair semaphore with a bounded queue. Spec: limits, rows "Ingest concurrency", "Upload concurrency".
//!
//! When the queue is full, further requests are refused at once. Slots are granted to projects in rotation, and a full
//! queue evicts the last waiter of the project with the most, so that one noisy project cannot starve the others.
//! Waiting counts against no timeout. A [`Permit`] is a slot; dropping it grants the slot to the next waiter.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A number of slots and a bounded queue for them. Clones share both.
#[derive(Clone)]
pub struct Admission {
    inner: Arc<Inner>,
}

struct Inner {
    waiting_max: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// New waiters in the queue, which `waiting_max` limits; reentering ones are not counted.
    waiting: usize,
    /// Projects with waiters, in the order in which they get the next slots.
    queues: VecDeque<ProjectQueue>,
    next_ticket: u64,
}

struct ProjectQueue {
    project: u32,
    waiters: VecDeque<Waiter>,
}

struct Waiter {
    ticket: u64,
    grant: oneshot::Sender<Permit>,
    is_new: bool,
}

/// An occupied slot. Dropping it grants the slot to the next waiter.
pub struct Permit(Arc<Inner>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl Admission {
    /// `slots` slots, and a queue of at most `waiting_max` waiters.
    pub fn new(slots: usize, waiting_max: usize) -> Admission {
        let state = State { free: slots, waiting: 0, queues: VecDeque::new(), next_ticket: 0 };
        Admission { inner: Arc::new(Inner { waiting_max, state: Mutex::new(state) }) }
    }

    /// Takes a slot, at once or after waiting in the queue. [`Full`] when the queue has no place, or when the waiter is
    /// evicted from it.
    pub async fn enter(&self, project: u32) -> Result<Permit, Full> {
        self.queue(project, true).await
    }

    /// Like [`Admission::enter`], for a request that had a slot and released it: never [`Full`], and ahead of the new
    /// waiters of its project.
    pub async fn reenter(&self, project: u32) -> Result<Permit, Full> {
        self.queue(project, false).await
    }

    /// Number of waiters in the queue, reentering ones included.
    pub fn waiting(&self) -> usize {
        self.inner.state.lock().queues.iter().map(|queue| queue.waiters.len()).sum()
    }

    async fn queue(&self, project: u32, is_new: bool) -> Result<Permit, Full> {
        let (ticket, granted) = {
            let mut state = self.inner.state.lock();
            if state.free > 0 {
                state.free -= 1;
                return Ok(Permit(self.inner.clone()));
            }
            if is_new && state.waiting >= self.inner.waiting_max && !state.evict_for(project) {
                return Err(Full);
            }
            let (grant, granted) = oneshot::channel();
            (state.push(project, grant, is_new), granted)
        };
        let mut entry = QueueEntry { inner: &self.inner, project, ticket: Some(ticket) };
        let permit = granted.await;
        // The waiter was granted a slot or evicted: it is no longer in the queue.
        entry.ticket = None;
        permit.map_err(|_| Full)
    }
}

/// Removes its waiter from the queue when dropped before a slot is granted.
struct QueueEntry<'a> {
    inner: &'a Inner,
    project: u32,
    ticket: Option<u64>,
}

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.inner.state.lock();
        let removed = state.remove(self.project, ticket);
        drop(state);
        drop(removed);
    }
}

impl Inner {
    fn release(self: &Arc<Inner>) {
        let mut state = self.state.lock();
        match state.next() {
            Some(waiter) => {
                drop(state);
                // If the waiter was dropped meanwhile, sending fails and drops the permit, which grants the slot to the
                // next.
                drop(waiter.grant.send(Permit(self.clone())));
            }
            None => state.free += 1,
        }
    }
}

impl State {
    fn push(&mut self, project: u32, grant: oneshot::Sender<Permit>, is_new: bool) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting += usize::from(is_new);
        let waiter = Waiter { ticket, grant, is_new };
        match self.queues.iter_mut().find(|queue| queue.project == project) {
            // A reentering waiter holds memory: it comes before those of its project that hold none.
            Some(queue) if !is_new => queue.waiters.push_front(waiter),
            Some(queue) => queue.waiters.push_back(waiter),
            None => self.queues.push_back(ProjectQueue { project, waiters: VecDeque::from([waiter]) }),
        }
        ticket
    }

    /// Removes the next waiter: the first one of the first project, which then moves to the end.
    fn next(&mut self) -> Option<Waiter> {
        let mut queue = self.queues.pop_front()?;
        let waiter = queue.waiters.pop_front()?;
        self.waiting -= usize::from(waiter.is_new);
        if !queue.waiters.is_empty() {
            self.queues.push_back(queue);
        }
        Some(waiter)
    }

    /// Evicts the last new waiter of the project with the most, if that has at least two more than `project`.
    fn evict_for(&mut self, project: u32) -> bool {
        let queued = |queue: &ProjectQueue| queue.waiters.iter().filter(|waiter| waiter.is_new).count();
        let own = self.queues.iter().find(|queue| queue.project == project).map_or(0, queued);
        let Some(longest) = self.queues.iter_mut().max_by_key(|queue| queued(queue)) else { return false };
        if queued(longest) <= own + 1 {
            return false;
        }
        let Some(last) = longest.waiters.iter().rposition(|waiter| waiter.is_new) else { return false };
        // Dropping the sender ends its wait with `Full`.
        longest.waiters.remove(last);
        self.waiting -= 1;
        true
    }

    fn remove(&mut self, project: u32, ticket: u64) -> Option<Waiter> {
        let at = self.queues.iter().position(|queue| queue.project == project)?;
        let queue = &mut self.queues[at];
        let entry = queue.waiters.iter().position(|waiter| waiter.ticket == ticket)?;
        let waiter = queue.waiters.remove(entry)?;
        if queue.waiters.is_empty() {
            self.queues.remove(at);
        }
        self.waiting -= usize::from(waiter.is_new);
        Some(waiter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::task::Poll;

    type Wait<'a> = Pin<Box<dyn Future<Output = Result<Permit, Full>> + 'a>>;

    /// Polls a future once.
    async fn once(wait: &mut Wait<'_>) -> Poll<Result<Permit, Full>> {
        poll_fn(|context| Poll::Ready(wait.as_mut().poll(context))).await
    }

    async fn waiting_for_slot<'a>(gate: &'a Admission, project: u32) -> Wait<'a> {
        let mut wait: Wait<'a> = Box::pin(gate.enter(project));
        assert!(once(&mut wait).await.is_pending());
        wait
    }

    // Spec: limits, row "Ingest concurrency".
    #[tokio::test]
    async fn requests_get_slots_then_queue_places_then_full() {
        let gate = Admission::new(1, 2);
        let held = gate.enter(1).await.expect("a free slot");
        let second = waiting_for_slot(&gate, 1).await;
        let third = waiting_for_slot(&gate, 1).await;
        assert!(gate.enter(1).await.is_err(), "the queue is full");

        drop(third);
        let fourth = waiting_for_slot(&gate, 1).await;
        assert!(gate.enter(1).await.is_err(), "a dropped waiter frees one place");

        drop(held);
        drop(second.await.expect("a granted slot"));
        drop(fourth.await.expect("a granted slot"));
        assert!(gate.enter(1).await.is_ok());
    }

    #[tokio::test]
    async fn slots_rotate_between_projects() {
        let gate = Admission::new(1, 100);
        let held = gate.enter(1).await.expect("a free slot");
        let mut waits = Vec::new();
        for (name, project) in [("a", 1), ("b", 1), ("c", 1), ("x", 2), ("y", 2), ("z", 3)] {
            waits.push((name, waiting_for_slot(&gate, project).await));
        }
        let mut order = String::new();
        let mut slot = Some(held);
        while !waits.is_empty() {
            drop(slot.take());
            for at in 0..waits.len() {
                if let Poll::Ready(permit) = once(&mut waits[at].1).await {
                    order += waits.remove(at).0;
                    slot = permit.ok();
                    break;
                }
            }
        }
        assert_eq!(order, "axzbyc");
    }

    #[tokio::test]
    async fn a_full_queue_evicts_the_last_waiter_of_the_project_with_the_most() {
        let gate = Admission::new(1, 3);
        let held = gate.enter(1).await.expect("a free slot");
        let (mut first, mut second, mut third) =
            (waiting_for_slot(&gate, 1).await, waiting_for_slot(&gate, 1).await, waiting_for_slot(&gate, 1).await);
        assert!(gate.enter(1).await.is_err());
        let mut other = waiting_for_slot(&gate, 2).await;
        assert!(matches!(once(&mut third).await, Poll::Ready(Err(Full))));
        assert!(gate.enter(2).await.is_err(), "two and one: no project has two more than the other");
        assert_eq!(gate.waiting(), 3);
        drop(held);
        drop(first.as_mut().await);
        assert!(once(&mut second).await.is_pending() || once(&mut other).await.is_pending());
    }

    #[tokio::test]
    async fn a_reentering_waiter_is_never_refused_and_comes_first_in_its_project() {
        let gate = Admission::new(1, 1);
        let held = gate.enter(1).await.expect("a free slot");
        let mut new = waiting_for_slot(&gate, 1).await;
        let mut again: Wait<'_> = Box::pin(gate.reenter(1));
        assert!(once(&mut again).await.is_pending());
        drop(held);
        let Poll::Ready(Ok(permit)) = once(&mut again).await else { panic!("no slot was granted") };
        assert!(once(&mut new).await.is_pending());
        drop(permit);
        assert!(new.await.is_ok());
    }

    #[tokio::test]
    async fn a_slot_granted_to_a_dropped_waiter_is_passed_on() {
        let gate = Admission::new(1, 4);
        let held = gate.enter(1).await.expect("a free slot");
        let dropped = waiting_for_slot(&gate, 1).await;
        let other = waiting_for_slot(&gate, 1).await;
        drop(held);
        // The slot was granted, but the waiter was not polled: the permit is in the channel.
        drop(dropped);
        assert!(other.await.is_ok());
        assert_eq!(gate.waiting(), 0);
    }
}
