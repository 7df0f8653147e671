//! Functions and inlined calls of one unit.

/// No enclosing scope.
pub(super) const TOP: u32 = u32::MAX;

/// A function or an inlined call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// Offset of its name.
    pub function: u32,
    /// The scope it was inlined into, or [`TOP`] for a function of its own.
    pub parent: u32,
    /// Where it was called: file number, line, column.
    pub call: (u32, u32, u32),
    /// 1 for a function of its own, 2 for what is inlined into it, and so on.
    pub depth: u32,
    /// The node of its caller's frame, made on first use; `u32::MAX - 1` until then.
    pub caller_node: u32,
}
