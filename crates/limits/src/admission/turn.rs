//! One body's turn at the ingest gate: a slot while we work on it, and the memory it holds.
//!
//! Nothing is read before there is a slot. While the client lets us wait the slot goes to others, so that slow clients
//! cannot hold them all; the body's bytes stay counted. Slot and memory go when the turn is dropped, with the bytes.

use axum::body::Body;
use bytes::Bytes;

use super::budget::{Budget, Held};
use super::pace::{self, Cut, Keeper};
use super::slots::{Admission, Full, Permit};
use crate::RouteLimits;

pub struct Turn {
    gate: Admission,
    project: u32,
    permit: Option<Permit>,
    held: Held,
}

impl Turn {
    /// Waits for a slot; `Full` when the waiting room has no seat.
    pub async fn enter(gate: &Admission, budget: &Budget, project: u32) -> Result<Turn, Full> {
        let permit = gate.enter(project).await?;
        Ok(Turn { gate: gate.clone(), project, permit: Some(permit), held: budget.hold(project) })
    }

    /// The whole body, as received. Afterwards the slot is held again.
    pub async fn read(&mut self, body: Body, declared: Option<u64>, limits: &RouteLimits) -> Result<Bytes, Cut> {
        let body = pace::read(body, declared, limits, self).await?;
        if self.permit.is_none() {
            self.permit = Some(self.gate.enter_again(self.project).await.map_err(|Full| Cut::NoMemory)?);
        }
        Ok(body)
    }

    /// More memory for what is made of the body; false when that is too much.
    #[must_use]
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        self.held.grow_to(bytes)
    }
}

impl Keeper for Turn {
    fn holds(&mut self, bytes: usize) -> bool {
        self.held.grow_to(bytes)
    }

    fn waits(&mut self) {
        self.permit = None;
    }
}

impl Keeper for Held {
    fn holds(&mut self, bytes: usize) -> bool {
        self.grow_to(bytes)
    }
}
