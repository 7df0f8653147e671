//! Collects stacks; equal lists of locations of a body are one stack.

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3Builder;

use super::bounds::{STACK_DEPTH_MAX, STACK_LOCATIONS_MAX};
use crate::decode::fault::{Fault, fault};
use crate::decode::protobuf::reader::Reader;
use crate::model::{ProfileBatch, Sample, Slice};

/// The stacks of a body by their packed lists of locations.
#[derive(Default)]
pub(super) struct Stacks<'a>(HashMap<&'a [u8], u32, Xxh3Builder>);

impl<'a> Stacks<'a> {
    /// The stack with this packed list of location references, leaf first. `locate`: the index of a location.
    /// [`Sample::NO_STACK`] when a location does not exist.
    pub(super) fn packed(
        &mut self,
        packed: &'a [u8],
        batch: &mut ProfileBatch<'a>,
        locate: impl Fn(u64) -> Option<u32>,
    ) -> Result<u32, Fault> {
        if let Some(known) = self.0.get(packed) {
            return Ok(*known);
        }
        let mut reader = Reader::new(packed);
        let references = std::iter::from_fn(|| (!reader.is_done()).then(|| reader.varint()));
        let stack = push(references, batch, locate)?;
        self.0.insert(packed, stack);
        Ok(stack)
    }
}

/// Appends a stack and returns its index.
pub(super) fn push(
    references: impl Iterator<Item = Result<u64, Fault>>,
    batch: &mut ProfileBatch<'_>,
    locate: impl Fn(u64) -> Option<u32>,
) -> Result<u32, Fault> {
    let start = batch.stack_locations.len();
    let mut depth = 0;
    for reference in references {
        let Some(location) = locate(reference?) else {
            batch.stack_locations.truncate(start);
            return Ok(Sample::NO_STACK);
        };
        depth += 1;
        if depth > STACK_DEPTH_MAX {
            continue;
        }
        if batch.stack_locations.len() >= STACK_LOCATIONS_MAX {
            return Err(fault!("more than {STACK_LOCATIONS_MAX} locations in the stacks of a request"));
        }
        batch.stack_locations.push(location);
    }
    let slice = Slice { start: start as u32, end: batch.stack_locations.len() as u32 };
    batch.stacks.push(slice);
    Ok(batch.stacks.len() as u32 - 1)
}
