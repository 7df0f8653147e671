//! Checksums of parts: a flipped bit on disk is an error, never a wrong answer.
//!
//! A part's rows, indexes and bloom filters have one checksum per block of [`BLOCK_BYTES`], stored in the file's
//! metadata. Every read is widened to whole blocks and checked. The rest of the file (page indexes and footer,
//! including the block checksums) has one checksum, stored in the catalog and checked when the footer is read.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes per checksum.
pub const BLOCK_BYTES: u64 = 16 * 1024;

/// Metadata key. Value: `<bytes covered>:<eight hexadecimal digits per block>`.
pub const CHECKSUMS: &str = "tidewatch.checksums";

/// Block checksums of the first `covered` bytes of a file. The last block may be shorter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockSums {
    /// The number of bytes covered.
    pub covered: u64,
    sums: Vec<u32>,
}

fn sum(block: &[u8]) -> u32 {
    xxh3_64(block) as u32
}

impl BlockSums {
    /// The value of the metadata key [`CHECKSUMS`].
    pub fn encode(&self) -> String {
        let mut text = format!("{}:", self.covered);
        self.sums.iter().for_each(|sum| text.push_str(&format!("{sum:08x}")));
        text
    }

    /// `None` when the string is not of the form that [`BlockSums::encode`] writes.
    pub fn decode(text: &str) -> Option<BlockSums> {
        let (covered, digits) = text.split_once(':')?;
        let covered: u64 = covered.parse().ok()?;
        if digits.len() as u64 != covered.div_ceil(BLOCK_BYTES).checked_mul(8)? || !digits.is_ascii() {
            return None;
        }
        let sums = (0..digits.len() / 8).map(|index| u32::from_str_radix(&digits[index * 8..index * 8 + 8], 16));
        Some(BlockSums { covered, sums: sums.collect::<Result<_, _>>().ok()? })
    }

    /// Widens a range of bytes to whole blocks; `None` when it is not covered.
    pub fn around(&self, start: u64, length: u64) -> Option<std::ops::Range<u64>> {
        let end = start.checked_add(length).filter(|end| *end <= self.covered)?;
        let last = end.div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES).min(self.covered);
        Some(start / BLOCK_BYTES * BLOCK_BYTES..last)
    }

    /// The file offset of the first block that does not match its checksum. `bytes` are whole blocks that begin at
    /// `start`, see [`BlockSums::around`].
    pub fn first_wrong(&self, start: u64, bytes: &[u8]) -> Option<u64> {
        let first = (start / BLOCK_BYTES) as usize;
        let blocks = bytes.chunks(BLOCK_BYTES as usize).enumerate();
        let mut wrong = blocks.filter(|(index, block)| self.sums.get(first + index) != Some(&sum(block)));
        wrong.next().map(|(index, _)| start + index as u64 * BLOCK_BYTES)
    }
}

/// Computes checksums of bytes in the order they are written: block by block, after [`Checksummer::cut`] a single one.
#[derive(Default)]
pub struct Checksummer {
    sums: BlockSums,
    /// The last, incomplete block.
    open: Vec<u8>,
    tail: Option<Xxh3>,
}

impl Checksummer {
    /// Adds the next bytes of the file.
    pub fn update(&mut self, mut bytes: &[u8]) {
        if let Some(tail) = &mut self.tail {
            tail.update(bytes);
            return;
        }
        self.sums.covered += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_BYTES as usize - self.open.len()));
            self.open.extend_from_slice(now);
            if self.open.len() == BLOCK_BYTES as usize {
                self.close_block();
            }
            bytes = later;
        }
    }

    fn close_block(&mut self) {
        self.sums.sums.push(sum(&self.open));
        self.open.clear();
    }

    /// Ends the blocks and returns their checksums. The bytes that follow have a single checksum.
    pub fn cut(&mut self) -> &BlockSums {
        if !self.open.is_empty() {
            self.close_block();
        }
        self.tail = Some(Xxh3::new());
        &self.sums
    }

    /// The checksum of all bytes after [`Checksummer::cut`].
    pub fn tail(&self) -> u64 {
        self.tail.as_ref().map_or(0, Xxh3::digest)
    }
}

/// The checksum of the rest of a file, as computed by [`Checksummer::tail`].
pub fn tail_sum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_found() {
        let block = BLOCK_BYTES as usize;
        for length in [0, 1, block - 1, block, block + 1, 3 * block + 7] {
            let bytes: Vec<u8> = (0..length).map(|index| (index * 7 % 251) as u8).collect();
            let mut checksummer = Checksummer::default();
            bytes.chunks(1000).for_each(|piece| checksummer.update(piece));
            let sums = BlockSums::decode(&checksummer.cut().encode()).unwrap();
            assert_eq!(sums.covered, length as u64);
            assert_eq!(sums.first_wrong(0, &bytes), None, "{length}");
            for at in (0..length).step_by(997) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 4;
                assert_eq!(sums.first_wrong(0, &damaged), Some((at / block * block) as u64));
            }
        }
    }

    #[test]
    fn reads_are_widened_to_blocks() {
        let sums = BlockSums { covered: 2 * BLOCK_BYTES + 100, sums: vec![1, 2, 3] };
        let b = BLOCK_BYTES;
        for (start, length, expected) in [
            (0, 1, Some(0..b)),
            (b - 1, 2, Some(0..2 * b)),
            (2 * b + 5, 95, Some(2 * b..2 * b + 100)),
            (2 * b, 101, None),
            (u64::MAX, 2, None),
        ] {
            assert_eq!(sums.around(start, length), expected, "{start} {length}");
        }
        assert!(
            ["", "5", "5:", "5:0000000", "5:0000000g", "-1:", "16385:00000000"]
                .iter()
                .all(|t| BlockSums::decode(t).is_none())
        );
    }
}
