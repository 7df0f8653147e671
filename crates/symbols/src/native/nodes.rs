//! Hash-consed frames: one node per distinct (function, file, line, column, caller), so equal inline chains are
//! stored once.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// No node: the address is not covered, or the frame has no caller.
pub(super) const NONE: u32 = u32::MAX;

/// Columns from here on do not fit beside the file number and are stored apart.
pub(super) const COLUMN_WIDE: u32 = 0xfff;
/// Highest file number.
pub(super) const FILE_MAX: u32 = 0xf_ffff;

/// One frame: what it is in, and the frame it was inlined into.
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
}
