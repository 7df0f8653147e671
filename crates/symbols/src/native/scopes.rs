//! The functions and inlined calls of a unit.

/// Marks the absence of an enclosing scope.
pub(super) const TOP: u32 = u32::MAX;

/// A function or an inlined call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// Offset of the name.
    pub function: u32,
    /// The scope into which it was inlined, or [`TOP`] for a function.
    pub parent: u32,
    /// Position of the call: file number, line, column.
    pub call: (u32, u32, u32),
    /// 1 for a function, 2 for a call inlined into it, and so on.
    pub depth: u32,
    /// The node of the caller's frame, created on first use; `u32::MAX - 1` until then.
    pub caller_node: u32,
}
