//! How many are worked on at once, and who may wait for a turn. Spec: limits, rows "Ingest concurrency", "Upload concurrency".
//!
//! Beyond the waiting room the answer is no, at once. Turns go round between projects, and a full waiting room gives up
//! the last seat of the project with the most: one noisy project cannot starve the others. Waiting counts against no
//! timeout. A [`Permit`] is a slot; dropping it passes the slot on.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A gate with slots and a waiting room.
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
    /// Of those who came from outside; who returns has a seat already.
    waiting: usize,
    /// Projects with someone waiting, in the order of their next turns.
    lines: VecDeque<Line>,
    next_ticket: u64,
}

struct Line {
    project: u32,
    waiters: VecDeque<Waiter>,
}

struct Waiter {
    ticket: u64,
    called: oneshot::Sender<Permit>,
    from_outside: bool,
}

/// A slot.
pub struct Permit(Arc<Inner>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

/// The waiting room is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl Admission {
    pub fn new(slots: usize, waiting_max: usize) -> Admission {
        let state = State { free: slots, waiting: 0, lines: VecDeque::new(), next_ticket: 0 };
        Admission { inner: Arc::new(Inner { waiting_max, state: Mutex::new(state) }) }
    }

    /// A slot, at once or after waiting.
    pub async fn enter(&self, project: u32) -> Result<Permit, Full> {
        self.queue(project, true).await
    }

    /// The same for someone who was in already and let others go first: there is always a seat.
    pub async fn enter_again(&self, project: u32) -> Result<Permit, Full> {
        self.queue(project, false).await
    }

    /// Who waits now.
    pub fn waiting(&self) -> usize {
        self.inner.state.lock().lines.iter().map(|line| line.waiters.len()).sum()
    }

    async fn queue(&self, project: u32, from_outside: bool) -> Result<Permit, Full> {
        let (ticket, call) = {
            let mut state = self.inner.state.lock();
            if state.free > 0 {
                state.free -= 1;
                return Ok(Permit(self.inner.clone()));
            }
            if from_outside && state.waiting >= self.inner.waiting_max && !state.make_room_for(project) {
                return Err(Full);
            }
            let (called, call) = oneshot::channel();
            (state.sit_down(project, called, from_outside), call)
        };
        let mut seat = Seat { inner: &self.inner, project, ticket: Some(ticket) };
        let permit = call.await;
        // Called or sent away: the seat is free already.
        seat.ticket = None;
        permit.map_err(|_| Full)
    }
}

/// Leaves the waiting room when dropped before being called.
struct Seat<'a> {
    inner: &'a Inner,
    project: u32,
    ticket: Option<u64>,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.inner.state.lock();
        let left = state.leave(self.project, ticket);
        drop(state);
        drop(left);
    }
}

impl Inner {
    fn pass_on(self: &Arc<Inner>) {
        let mut state = self.state.lock();
        match state.next() {
            Some(waiter) => {
                drop(state);
                // One who has just given up drops the permit again, which calls the next.
                drop(waiter.called.send(Permit(self.clone())));
            }
            None => state.free += 1,
        }
    }
}

impl State {
    fn sit_down(&mut self, project: u32, called: oneshot::Sender<Permit>, from_outside: bool) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting += usize::from(from_outside);
        let waiter = Waiter { ticket, called, from_outside };
        match self.lines.iter_mut().find(|line| line.project == project) {
            // Who returns holds memory: before those of its project who hold none.
            Some(line) if !from_outside => line.waiters.push_front(waiter),
            Some(line) => line.waiters.push_back(waiter),
            None => self.lines.push_back(Line { project, waiters: VecDeque::from([waiter]) }),
        }
        ticket
    }

    /// The next to be called: the first of the first project, which then goes to the end.
    fn next(&mut self) -> Option<Waiter> {
        let mut line = self.lines.pop_front()?;
        let waiter = line.waiters.pop_front()?;
        self.waiting -= usize::from(waiter.from_outside);
        if !line.waiters.is_empty() {
            self.lines.push_back(line);
        }
        Some(waiter)
    }

    /// Sends away the last of the project with the most waiters, when `project` would still have fewer than it.
    fn make_room_for(&mut self, project: u32) -> bool {
        let seats = |line: &Line| line.waiters.iter().filter(|waiter| waiter.from_outside).count();
        let own = self.lines.iter().find(|line| line.project == project).map_or(0, seats);
        let Some(longest) = self.lines.iter_mut().max_by_key(|line| seats(line)) else { return false };
        if seats(longest) <= own + 1 {
            return false;
        }
        let Some(last) = longest.waiters.iter().rposition(|waiter| waiter.from_outside) else { return false };
        // Dropping its sender tells it.
        longest.waiters.remove(last);
        self.waiting -= 1;
        true
    }

    fn leave(&mut self, project: u32, ticket: u64) -> Option<Waiter> {
        let at = self.lines.iter().position(|line| line.project == project)?;
        let line = &mut self.lines[at];
        let seat = line.waiters.iter().position(|waiter| waiter.ticket == ticket)?;
        let waiter = line.waiters.remove(seat)?;
        if line.waiters.is_empty() {
            self.lines.remove(at);
        }
        self.waiting -= usize::from(waiter.from_outside);
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

    /// Polls once; what is not ready stays pending.
    async fn once(wait: &mut Wait<'_>) -> Poll<Result<Permit, Full>> {
        poll_fn(|context| Poll::Ready(wait.as_mut().poll(context))).await
    }

    async fn sitting<'a>(gate: &'a Admission, project: u32) -> Wait<'a> {
        let mut wait: Wait<'a> = Box::pin(gate.enter(project));
        assert!(once(&mut wait).await.is_pending());
        wait
    }

    // Spec: limits, row "Ingest concurrency".
    #[tokio::test]
    async fn slots_then_waiting_room_then_no() {
        let gate = Admission::new(1, 2);
        let held = gate.enter(1).await.expect("a free slot");
        let second = sitting(&gate, 1).await;
        let third = sitting(&gate, 1).await;
        assert!(gate.enter(1).await.is_err(), "the waiting room is full");

        drop(third);
        let fourth = sitting(&gate, 1).await;
        assert!(gate.enter(1).await.is_err(), "who gives up waiting frees one seat");

        drop(held);
        drop(second.await.expect("its turn"));
        drop(fourth.await.expect("its turn"));
        assert!(gate.enter(1).await.is_ok());
    }

    #[tokio::test]
    async fn turns_go_round_between_projects() {
        let gate = Admission::new(1, 100);
        let held = gate.enter(1).await.expect("a free slot");
        let mut waits = Vec::new();
        for (name, project) in [("a", 1), ("b", 1), ("c", 1), ("x", 2), ("y", 2), ("z", 3)] {
            waits.push((name, sitting(&gate, project).await));
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
    async fn a_full_room_gives_up_the_last_seat_of_the_noisiest() {
        let gate = Admission::new(1, 3);
        let held = gate.enter(1).await.expect("a free slot");
        let (mut first, mut second, mut third) =
            (sitting(&gate, 1).await, sitting(&gate, 1).await, sitting(&gate, 1).await);
        assert!(gate.enter(1).await.is_err());
        let mut other = sitting(&gate, 2).await;
        assert!(matches!(once(&mut third).await, Poll::Ready(Err(Full))));
        assert!(gate.enter(2).await.is_err(), "two and one: no project has two more than the other");
        assert_eq!(gate.waiting(), 3);
        drop(held);
        drop(first.as_mut().await);
        assert!(once(&mut second).await.is_pending() || once(&mut other).await.is_pending());
    }

    #[tokio::test]
    async fn who_returns_always_has_a_seat_and_goes_first() {
        let gate = Admission::new(1, 1);
        let held = gate.enter(1).await.expect("a free slot");
        let mut outside = sitting(&gate, 1).await;
        let mut again: Wait<'_> = Box::pin(gate.enter_again(1));
        assert!(once(&mut again).await.is_pending());
        drop(held);
        let Poll::Ready(Ok(permit)) = once(&mut again).await else { panic!("not called") };
        assert!(once(&mut outside).await.is_pending());
        drop(permit);
        assert!(outside.await.is_ok());
    }

    #[tokio::test]
    async fn a_slot_called_to_someone_who_has_left_goes_on() {
        let gate = Admission::new(1, 4);
        let held = gate.enter(1).await.expect("a free slot");
        let gone = sitting(&gate, 1).await;
        let stays = sitting(&gate, 1).await;
        drop(held);
        // Called, but never looked: the permit lies in the channel.
        drop(gone);
        assert!(stays.await.is_ok());
        assert_eq!(gate.waiting(), 0);
    }
}
