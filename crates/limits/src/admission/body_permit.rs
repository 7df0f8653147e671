//! The permit of one request body at the ingest gate: a slot while the server works on it, and its reserved memory.
//!
//! Nothing is read before a slot is free. While the server waits for the client's bytes the slot is released, so that
//! slow clients cannot occupy all slots; the reserved memory stays. Dropping the permit releases slot and memory.

use axum::body::Body;
use bytes::Bytes;

use super::budget::{Budget, MemoryReservation};
use super::slots::{Admission, Full, Permit};
use super::slow_client::{self, BodyError, BodyObserver};
use crate::RouteLimits;

/// Admission of one request body. Dropping it releases its slot and its memory.
pub struct BodyPermit {
    gate: Admission,
    project: u32,
    permit: Option<Permit>,
    reservation: MemoryReservation,
}

impl BodyPermit {
    /// Waits for a slot. [`Full`] when the queue has no place.
    pub async fn enter(gate: &Admission, budget: &Budget, project: u32) -> Result<BodyPermit, Full> {
        let permit = gate.enter(project).await?;
        Ok(BodyPermit { gate: gate.clone(), project, permit: Some(permit), reservation: budget.reserve(project) })
    }

    /// Reads the whole body, as received, and waits for the slot again if it was released. `declared` is the
    /// `Content-Length`. [`BodyError::NoMemory`] when the memory budget is exhausted.
    pub async fn read(&mut self, body: Body, declared: Option<u64>, limits: &RouteLimits) -> Result<Bytes, BodyError> {
        let body = slow_client::read(body, declared, limits, self).await?;
        if self.permit.is_none() {
            self.permit = Some(self.gate.reenter(self.project).await.map_err(|Full| BodyError::NoMemory)?);
        }
        Ok(body)
    }

    /// Grows the reservation to `bytes` in total, for what is decoded from the body. Returns false, and changes
    /// nothing, when the budget is exceeded.
    #[must_use]
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        self.reservation.grow_to(bytes)
    }
}

impl BodyObserver for BodyPermit {
    fn reserve(&mut self, bytes: usize) -> bool {
        self.reservation.grow_to(bytes)
    }

    fn on_wait(&mut self) {
        self.permit = None;
    }
}

impl BodyObserver for MemoryReservation {
    fn reserve(&mut self, bytes: usize) -> bool {
        self.grow_to(bytes)
    }
}
