//! Groups and their states, as one thread collects them.

use std::time::Instant;

use arrow::array::RecordBatch;

use super::grouping::Grouping;
use crate::batch::keys::Groups;
use crate::scan::aggregators::finish::{Cell, Finish};
use crate::scan::aggregators::{Selected, State};
use crate::scan::filter::passes as passing;
use crate::scan::from_rollups::read::{self, CellReader};
use crate::scan::passes::Pass;
use tidewatch_store::StoreError;
use tidewatch_store::query_memory::Share;

/// Groups and states of one thread.
pub(super) struct Collected<'a> {
    pub(super) groups: Groups,
    pub(super) states: Vec<State>,
    pub(super) assigned: Vec<u32>,
    /// Only groups of this pass are collected.
    pub(super) pass: Option<Pass<'a>>,
    pub(super) share: Share<'a>,
}

impl Collected<'_> {
    pub(super) fn update(&mut self, grouping: &Grouping, batch: &RecordBatch) -> Result<(), StoreError> {
        match self.pass {
            _ if batch.num_rows() == 0 => Ok(()),
            Some(pass) => self.add_rows(grouping, &pass.filter(batch)?),
            None => self.add_rows(grouping, batch),
        }
    }

    pub(super) fn add_rows(&mut self, grouping: &Grouping, batch: &RecordBatch) -> Result<(), StoreError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.groups.assign(batch, &mut self.assigned)?;
        let masks = grouping.tests.iter().map(|test| passing(test, batch)).collect::<Result<Vec<_>, _>>()?;
        for (state, (measure, test)) in self.states.iter_mut().zip(&grouping.measures) {
            state.grow(self.groups.len());
            let selected = Selected { groups: &self.assigned, mask: test.map(|test| &masks[test]) };
            state.update(*measure, batch, &selected)?;
        }
        self.share.holds(self.bytes())
    }

    /// Approximate heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.groups.bytes() + self.states.iter().map(State::bytes).sum::<usize>()
    }

    pub(super) fn add_cells(
        &mut self,
        grouping: &Grouping,
        cells: CellReader<'_>,
        deadline: Instant,
    ) -> Result<(), StoreError> {
        let Collected { groups, states, share, .. } = self;
        cells.each(groups, deadline, |groups, columns, counted, tests| {
            states.iter_mut().for_each(|state| state.grow(groups.len()));
            read::add(&grouping.measures, states, columns, counted, tests)?;
            share.holds(groups.bytes() + states.iter().map(State::bytes).sum::<usize>())
        })
    }

    /// Merges the groups of another thread. Both are in memory until the end.
    pub(super) fn merge(&mut self, grouping: &Grouping, other: Collected<'_>) -> Result<(), StoreError> {
        self.share.holds(self.bytes() + other.bytes())?;
        let groups = self.groups.absorb(&other.groups);
        for ((state, other), (measure, _)) in self.states.iter_mut().zip(other.states).zip(&grouping.measures) {
            state.grow(self.groups.len());
            state.merge(*measure, other, &groups);
        }
        self.share.holds(self.bytes())
    }

    /// Reserves memory for the cells of an answer of `count` groups. Returns the bytes reserved.
    pub(super) fn holds_answer(&mut self, grouping: &Grouping, count: usize) -> Result<usize, StoreError> {
        let cells = grouping.aggregates.iter().map(|(_, finish, _)| match finish {
            Finish::Quantiles(qs) => size_of::<Cell>() + size_of_val(qs.as_slice()),
            _ => size_of::<Cell>(),
        });
        let group = size_of::<usize>() + cells.sum::<usize>();
        let held = self.bytes().saturating_add(count.saturating_mul(group));
        self.share.holds(held)?;
        Ok(held)
    }
}
