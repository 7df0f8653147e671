//! Looks up addresses in a native artifact.
//!
//! The crate's documentation describes the sections.
//!
//! Cache misses and mispredicted branches dominate the cost of a look-up at a random address. Therefore there are about
//! as many buckets as ranges; the innermost frame is stored beside its range's start and contains the number of frames
//! (so the processor can start the next look-up while the callers are loaded); and callers are stored together.

use std::cmp::Ordering;

use super::nodes::{CALLER_BITS, CALLER_MAX, COLUMN_WIDE, MANY, NONE};
use crate::{
    artifact::{Artifact, Kind, text_at, u32_at},
    limits::INLINE_DEPTH_MAX,
};

pub(super) const STRINGS: usize = 0;
pub(super) const FILES: usize = 1;
pub(super) const CALLERS: usize = 2;
pub(super) const WIDE_COLUMNS: usize = 3;
pub(super) const RANGES: usize = 4;
pub(super) const BUCKETS: usize = 5;
pub(super) const ANCHORS: usize = 6;

/// Size of a range and of a frame in bytes.
const RANGE: usize = 20;
const FRAME: usize = 16;
/// In `WIDE_COLUMNS`: the number is a range's and not a caller's.
pub(super) const OF_RANGE: u32 = 1 << 31;
/// Maximum number of ranges in a bucket that are searched linearly, without branches.
const FEW: u32 = 4;

/// The shift that gives about one range per bucket.
pub(super) fn bucket_shift(starts: &[u32]) -> u32 {
    let last = starts.last().copied().unwrap_or(0);
    let wanted = starts.len().max(1) as u32;
    (0..32).find(|shift| last >> shift <= wanted).unwrap_or(31)
}

/// A resolved frame.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    strings: &'a [u8],
    files: &'a [u8],
    function: u32,
    /// Number of the file.
    file: u32,
    /// 0 for compiler-generated code.
    pub line: u32,
    /// 0 when unknown.
    pub column: u32,
}

impl<'a> Frame<'a> {
    /// The demangled function name: one line, never empty.
    #[inline]
    pub fn function(&self) -> &'a str {
        text_at(self.strings, self.function)
    }

    /// The path in the debug information, on one line.
    #[inline]
    pub fn file(&self) -> &'a str {
        text_at(self.strings, u32_at(self.files, self.file as usize))
    }
}

/// A native artifact.
#[derive(Debug, Clone, Copy)]
pub struct Native<'a> {
    artifact: Artifact<'a>,
    strings: &'a [u8],
    files: &'a [u8],
    callers: &'a [u8],
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
            callers: artifact.section(CALLERS),
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
    /// Empty for an unknown address.
    #[inline]
    pub fn frames(&self, offset: u64) -> Chain<'a> {
        let (at, bytes) = self.range_of(offset).unwrap_or((0, &[]));
        let left = match u32_at(bytes, 3) >> CALLER_BITS {
            MANY => INLINE_DEPTH_MAX,
            few => few as usize,
        };
        Chain { native: *self, at, bytes, left }
    }

    /// Number and innermost frame of the range that covers an offset.
    #[inline]
    fn range_of(&self, offset: u64) -> Option<(u32, &'a [u8])> {
        let address = u32::try_from(offset).ok()?;
        let bucket = (address >> self.shift) as usize;
        let bounds = self.buckets.get(bucket * 4..bucket * 4 + 8)?;
        let (mut low, mut high) = (u32_at(bounds, 0), u32_at(bounds, 1));
        while low.saturating_add(FEW) < high {
            let middle = low + (high - low) / 2;
            match self.starts_by(middle, address) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let passed = (low..low.saturating_add(FEW)).map(|at| u32::from((at < high) & self.starts_by(at, address)));
        let at = (low + passed.sum::<u32>()).checked_sub(1)?;
        let from = at as usize * RANGE;
        Some((at | OF_RANGE, self.ranges.get(from + 4..from + RANGE)?))
    }

    #[inline]
    fn starts_by(&self, range: u32, address: u32) -> bool {
        u32_at(self.ranges, range as usize * (RANGE / 4)) <= address
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

    fn wide_column(&self, frame: u32) -> u32 {
        let pairs = self.artifact.section(WIDE_COLUMNS);
        let (mut low, mut high) = (0, pairs.len() / 8);
        while low < high {
            let middle = low + (high - low) / 2;
            match u32_at(pairs, middle * 2).cmp(&frame) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return u32_at(pairs, middle * 2 + 1),
            }
        }
        0
    }
}

/// The inline chain of an address, innermost frame first, at most [`INLINE_DEPTH_MAX`].
#[derive(Debug, Clone)]
pub struct Chain<'a> {
    native: Native<'a>,
    /// Number of the next frame: of a range with [`OF_RANGE`], or of a caller.
    at: u32,
    /// The next frame; empty at the end.
    bytes: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Chain<'a> {
    type Item = Frame<'a>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'a>> {
        self.left = self.left.checked_sub(1)?;
        let bytes: &[u8; FRAME] = self.bytes.try_into().ok()?;
        let (function, packed, line) = (u32_at(bytes, 0), u32_at(bytes, 1), u32_at(bytes, 2));
        let column = match packed & COLUMN_WIDE {
            COLUMN_WIDE => self.native.wide_column(self.at),
            column => column,
        };
        if self.left > 0 {
            // Callers precede their callees, so a damaged artifact cannot contain a cycle.
            let caller = u32_at(bytes, 3) & CALLER_MAX;
            let from = if caller < self.at { caller as usize * FRAME } else { usize::MAX - FRAME };
            self.bytes = self.native.callers.get(from..from + FRAME).unwrap_or_default();
            self.at = caller;
        }
        let Native { strings, files, .. } = self.native;
        Some(Frame { strings, files, function, file: packed >> 12, line, column })
    }
}
