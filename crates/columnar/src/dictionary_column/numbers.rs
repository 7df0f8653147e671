//! Numbers that stand for no value of the chunk.

/// The number of a row without a value.
pub(super) const NULL: u32 = u32::MAX;

/// A value of an array's own dictionary that has no number in the chunk yet.
pub(super) const UNKNOWN: u32 = u32::MAX - 1;
