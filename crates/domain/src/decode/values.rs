//! Stacks for incomplete arrays and maps. A complete list is copied to the arena once.

use bumpalo::Bump;

use super::fault::{Fault, fault};
use crate::model::{AnyValue, KeyValue};

/// Maximum nesting depth of an `AnyValue`: the value of an attribute or a log body is level 1, the elements of an array
/// or map in it are level 2. Bodies with deeper values are refused.
pub const VALUE_DEPTH_MAX: u32 = 32;

/// The stacks of a decoder, for either encoding.
pub(crate) struct Stacks<'a> {
    pub arena: &'a Bump,
    pub elements: Vec<AnyValue<'a>>,
    pub pairs: Vec<KeyValue<'a>>,
}

impl<'a> Stacks<'a> {
    pub(crate) fn new(arena: &'a Bump) -> Self {
        Stacks { arena, elements: Vec::new(), pairs: Vec::new() }
    }

    /// Pops the elements from `base` on, as a value.
    pub(crate) fn take_array(&mut self, base: usize) -> AnyValue<'a> {
        let list = self.arena.alloc_slice_copy(&self.elements[base..]);
        self.elements.truncate(base);
        AnyValue::Array(list)
    }

    /// Pops the pairs from `base` on, as a value.
    pub(crate) fn take_map(&mut self, base: usize) -> AnyValue<'a> {
        let list = self.arena.alloc_slice_copy(&self.pairs[base..]);
        self.pairs.truncate(base);
        AnyValue::Map(list)
    }
}

/// Refuses a value deeper than [`VALUE_DEPTH_MAX`]. `at` is its offset in the body.
#[inline]
pub(crate) fn check_depth(depth: u32, at: usize) -> Result<(), Fault> {
    if depth > VALUE_DEPTH_MAX {
        return Err(fault!("a value at byte {at} is nested deeper than {VALUE_DEPTH_MAX} levels"));
    }
    Ok(())
}
