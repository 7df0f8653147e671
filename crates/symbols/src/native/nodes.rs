//! Hash-consed frames: one node per distinct (function, file, line, column, caller). Equal inline chains are stored once.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Marks an uncovered address, or a frame without a caller.
pub(super) const NONE: u32 = u32::MAX;
/// Columns from this one on do not fit beside the file number and are stored separately.
pub(super) const COLUMN_WIDE: u32 = 0xfff;
/// Bits of a caller's number. The bits above contain the number of frames.
pub(super) const CALLER_BITS: u32 = 24;
/// Marks an absent caller; one more than the highest number.
pub(super) const CALLER_MAX: u32 = (1 << CALLER_BITS) - 1;
/// Number of frames from which on the number is not exact.
pub(super) const MANY: u32 = 0xff;
/// Highest file number.
pub(super) const FILE_MAX: u32 = 0xf_ffff;

/// A frame, and the frame into which it was inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    /// Offset of the function's name.
    pub function: u32,
    /// Number of the file.
    pub file: u32,
    pub line: u32,
    pub column: u32,
    /// The caller's node, or [`NONE`].
    pub parent: u32,
}

impl Node {
    /// The encoded row, with the caller's number and the number of frames from this one outwards.
    pub(super) fn row(&self, caller: Caller) -> [u32; 4] {
        let depth = caller.depth.saturating_add(1).min(MANY);
        let place = self.file << 12 | self.column.min(COLUMN_WIDE);
        [self.function, place, self.line, depth << CALLER_BITS | caller.number.min(CALLER_MAX)]
    }

    fn hash(&self) -> u64 {
        let mut bytes = [0; 20];
        for (field, value) in
            bytes.chunks_exact_mut(4).zip([self.function, self.file, self.line, self.column, self.parent])
        {
            field.copy_from_slice(&value.to_le_bytes());
        }
        xxh3_64(&bytes)
    }
}

#[derive(Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    numbers: HashTable<u32>,
}

impl Nodes {
    pub(super) fn intern(&mut self, node: Node) -> u32 {
        let hash = node.hash();
        if let Some(&number) = self.numbers.find(hash, |&number| self.nodes[number as usize] == node) {
            return number;
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(node);
        let nodes = &self.nodes;
        self.numbers.insert_unique(hash, number, |&number| nodes[number as usize].hash());
        number
    }

    pub(super) fn as_slice(&self) -> &[Node] {
        &self.nodes
    }

    /// Each node as a caller; `None` when there are too many.
    pub(super) fn callers(&self) -> Option<Vec<Caller>> {
        let mut callers = vec![Caller::NONE; self.nodes.len()];
        for node in self.nodes.iter().filter(|node| node.parent != NONE) {
            callers[node.parent as usize].depth = 1;
        }
        let mut number = 0;
        // Callers precede their callees.
        for at in 0..callers.len() {
            if callers[at].depth > 0 {
                let outer = numbered(&callers, self.nodes[at].parent);
                callers[at] = Caller { number, depth: outer.depth.saturating_add(1).min(MANY) };
                number += 1;
            }
        }
        (number <= CALLER_MAX).then_some(callers)
    }
}

/// A node as the caller of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caller {
    /// Index among the callers.
    pub number: u32,
    /// Number of frames from this one outwards, itself included, up to [`MANY`]; 0 for a node that is not a caller.
    pub depth: u32,
}

impl Caller {
    pub(super) const NONE: Caller = Caller { number: NONE, depth: 0 };
}

/// A node's entry in [`Nodes::callers`]. `node` may be [`NONE`].
pub(super) fn numbered(callers: &[Caller], node: u32) -> Caller {
    callers.get(node as usize).copied().unwrap_or(Caller::NONE)
}
