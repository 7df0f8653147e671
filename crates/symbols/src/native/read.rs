//! Looking addresses up in a native artifact.
//!
//! Sections: `STRINGS`; `FILES`, one string offset per file number; `NODES`, 16 bytes each (function's string offset,
//! file number in the high 20 bits and column in the low 12, line, parent node); `WIDE_COLUMNS`, pairs of node and
//! column for columns of 4095 and more; `RANGES`, pairs of start and node, sorted; `BUCKETS`, an index into the ranges
//! by address; `ANCHORS`, the two Dart symbols.

use std::cmp::Ordering;

use super::nodes::{COLUMN_WIDE, NONE};
use crate::{
    artifact::{Artifact, Kind, text_at, u32_at},
    limits::INLINE_DEPTH_MAX,
};

pub(super) const STRINGS: usize = 0;
pub(super) const FILES: usize = 1;
pub(super) const NODES: usize = 2;
pub(super) const WIDE_COLUMNS: usize = 3;
pub(super) const RANGES: usize = 4;
pub(super) const BUCKETS: usize = 5;
pub(super) const ANCHORS: usize = 6;

/// About eight ranges per bucket.
pub(super) fn bucket_shift(starts: &[u32]) -> u32 {
    let last = starts.last().copied().unwrap_or(0);
    let wanted = (starts.len() / 8).max(1) as u32;
    (0..32).find(|shift| last >> shift <= wanted).unwrap_or(31)
}

/// A resolved frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    strings: &'a [u8],
    function: u32,
    file: u32,
    /// 0: compiler generated.
    pub line: u32,
    /// 0: unknown.
    pub column: u32,
}

impl<'a> Frame<'a> {
    /// Demangled, one line, never empty in a match.
    #[inline]
    pub fn function(&self) -> &'a str {
        text_at(self.strings, self.function)
    }

    /// As the debug information has it, one line.
    #[inline]
    pub fn file(&self) -> &'a str {
        text_at(self.strings, self.file)
    }
}

/// A native artifact, ready for look-ups.
#[derive(Debug, Clone, Copy)]
pub struct Native<'a> {
    artifact: Artifact<'a>,
    strings: &'a [u8],
    files: &'a [u8],
    nodes: &'a [u8],
    ranges: &'a [u8],
    buckets: &'a [u8],
    shift: u32,
}

impl<'a> Native<'a> {
    /// `None` if the artifact is of another kind.
    pub fn open(artifact: Artifact<'a>) -> Option<Self> {
        (artifact.kind() == Kind::Native).then(|| Self {
            artifact,
            strings: artifact.section(STRINGS),
            files: artifact.section(FILES),
            nodes: artifact.section(NODES),
            ranges: artifact.section(RANGES),
            buckets: artifact.section(BUCKETS),
            shift: artifact.flags().min(31),
        })
    }

    /// The container.
    pub fn artifact(&self) -> Artifact<'a> {
        self.artifact
    }

    /// The frames at an offset from the image's base (`__TEXT` of Mach-O, address 0 of ELF), innermost first.
    ///
    /// Empty if nothing is known about the address.
    #[inline]
    pub fn frames(&self, offset: u64) -> Chain<'a> {
        Chain { native: *self, node: self.node_at(offset), left: INLINE_DEPTH_MAX }
    }

    fn node_at(&self, offset: u64) -> u32 {
        let Ok(address) = u32::try_from(offset) else { return NONE };
        let bucket = (address >> self.shift) as usize;
        if (bucket + 1) * 4 >= self.buckets.len() {
            return NONE;
        }
        let (mut low, mut high) = (u32_at(self.buckets, bucket), u32_at(self.buckets, bucket + 1));
        while low < high {
            let middle = low + (high - low) / 2;
            match u32_at(self.ranges, middle as usize * 2) <= address {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        match low {
            0 => NONE,
            index if (index as usize) * 8 <= self.ranges.len() => u32_at(self.ranges, index as usize * 2 - 1),
            _ => NONE,
        }
    }

    /// The address of `_kDartIsolateSnapshotInstructions`, relative to the base.
    pub fn dart_isolate(&self) -> Option<u32> {
        self.anchor(0)
    }

    /// The address of `_kDartVmSnapshotInstructions`, relative to the base.
    pub fn dart_vm(&self) -> Option<u32> {
        self.anchor(1)
    }

    fn anchor(&self, number: usize) -> Option<u32> {
        let anchors = self.artifact.section(ANCHORS);
        Some(u32_at(anchors, number)).filter(|a| anchors.len() == 8 && *a != NONE)
    }

    fn wide_column(&self, node: u32) -> u32 {
        let pairs = self.artifact.section(WIDE_COLUMNS);
        let (mut low, mut high) = (0, pairs.len() / 8);
        while low < high {
            let middle = low + (high - low) / 2;
            match u32_at(pairs, middle * 2).cmp(&node) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return u32_at(pairs, middle * 2 + 1),
            }
        }
        0
    }
}

/// The inline chain of one address: the innermost frame first, at most [`INLINE_DEPTH_MAX`].
#[derive(Debug, Clone)]
pub struct Chain<'a> {
    native: Native<'a>,
    node: u32,
    left: usize,
}

impl<'a> Iterator for Chain<'a> {
    type Item = Frame<'a>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'a>> {
        let node = self.node;
        let bytes = self.native.nodes.get(node as usize * 16..node as usize * 16 + 16)?;
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let (function, packed, line, parent) = (u32_at(bytes, 0), u32_at(bytes, 1), u32_at(bytes, 2), u32_at(bytes, 3));
        // Callers are written before what they call: a damaged artifact cannot make a cycle.
        self.node = if parent < node { parent } else { NONE };
        let column = match packed & COLUMN_WIDE {
            COLUMN_WIDE => self.native.wide_column(node),
            column => column,
        };
        let file = u32_at(self.native.files, (packed >> 12) as usize);
        Some(Frame { strings: self.native.strings, function, file, line, column })
    }
}
