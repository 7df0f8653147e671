//! The on-disk layout of a segment. All integers are little-endian.
//!
//! ```text
//! name    {base:020}.segment
//! 0       header      magic 8 | version u32 | flags u32 | salt u64 | base u64 | sealed_at u64 | torn_from u64 | crc32c u32
//! 2048    a second copy of the header, in another sector
//! 4096    records     len u32 | back u32 | crc32c u32 of the payload | check u32 | payload
//!         zeros       written ahead of the records; in a recycled file 16 zero bytes, then the old content
//! ```
//! The byte at file offset `4096 + n` has position `base + n`. `check` is the crc32c of salt, position, len, back and
//! crc. A record is therefore valid only at its own position in its own segment: neither old bytes of a recycled file
//! nor a payload forged to look like a record pass, because senders do not know the salt.
//! `back` is the distance to the first record of the group. Everything before a group was durable when it was written.
//! `sealed_at` is the end of the previous segment's durable records. Bytes after it were refused or torn.
//! Flag 1 marks a recycled file: bytes after the end of the records carry no information.
//! `torn_from` is the start of the previous segment's torn tail if valid records follow it, else `sealed_at`.

use crate::Position;
use std::path::{Path, PathBuf};

pub(crate) const HEADER_BYTES: u64 = 4096;
pub(crate) const VERSION: u32 = 1;
const COPIES_AT: [usize; 2] = [0, 2048];
const COPY_BYTES: usize = 52;
const MAGIC: [u8; 8] = *b"TWJRNL\r\n";
const FLAG_RECYCLED: u32 = 1;
const SUFFIX: &str = ".segment";

/// Positions within a file that starts here cannot overflow.
const BASE_MAX: u64 = u64::MAX >> 1;

pub(crate) const RECORD_HEADER_BYTES: usize = 16;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub salt: u64,
    /// Position of the first byte after the header block.
    pub base: Position,
    /// End of the previous segment's durable records; `sealed_at <= base`.
    pub sealed_at: Position,
    /// Holes from here to `sealed_at` are a torn write that was reported when this segment was created.
    pub torn_from: Position,
    /// Whether the file held another segment before.
    pub is_recycled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeaderError {
    /// Valid checksum, unknown format version.
    Version(u32),
    Damaged,
}

impl Header {
    /// The header block, `HEADER_BYTES` long.
    pub fn encode(&self) -> Vec<u8> {
        let mut copy = Vec::with_capacity(COPY_BYTES);
        copy.extend(MAGIC);
        copy.extend(VERSION.to_le_bytes());
        copy.extend((if self.is_recycled { FLAG_RECYCLED } else { 0 }).to_le_bytes());
        copy.extend(self.salt.to_le_bytes());
        copy.extend(self.base.0.to_le_bytes());
        copy.extend(self.sealed_at.0.to_le_bytes());
        copy.extend(self.torn_from.0.to_le_bytes());
        copy.extend(crc32c::crc32c(&copy).to_le_bytes());
        let mut block = vec![0; HEADER_BYTES as usize];
        for at in COPIES_AT {
            block[at..at + COPY_BYTES].copy_from_slice(&copy);
        }
        block
    }

    /// Decodes the first valid copy in the header block. `block` may be truncated.
    pub fn decode(block: &[u8]) -> Result<Header, HeaderError> {
        let copies = COPIES_AT.iter().filter_map(|&at| block.get(at..at + COPY_BYTES));
        for copy in copies {
            let crc = u32_at(copy, COPY_BYTES - 4);
            if copy[..8] != MAGIC || crc32c::crc32c(&copy[..COPY_BYTES - 4]) != crc {
                continue;
            }
            let version = u32_at(copy, 8);
            if version != VERSION {
                return Err(HeaderError::Version(version));
            }
            let header = Header {
                salt: u64_at(copy, 16),
                base: Position(u64_at(copy, 24)),
                sealed_at: Position(u64_at(copy, 32)),
                torn_from: Position(u64_at(copy, 40)),
                is_recycled: u32_at(copy, 12) & FLAG_RECYCLED != 0,
            };
            if header.torn_from <= header.sealed_at && header.sealed_at <= header.base && header.base.0 <= BASE_MAX {
                return Ok(header);
            }
        }
        Err(HeaderError::Damaged)
    }
}

/// Written after the last record of a recycled file, to distinguish the end of its records from damage.
pub(crate) const END_MARK: [u8; RECORD_HEADER_BYTES] = [0; RECORD_HEADER_BYTES];

/// The header of a record.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    /// Payload size in bytes.
    pub len: u32,
    /// Bytes from the start of the group to the start of this record.
    pub back: u32,
    /// crc32c of the payload.
    pub crc: u32,
}

impl RecordHeader {
    /// Encodes the header of a record that starts at position `start`.
    pub fn encode(&self, salt: u64, start: u64) -> [u8; RECORD_HEADER_BYTES] {
        let mut bytes = [0; RECORD_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&self.len.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.back.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.crc.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.check(salt, start).to_le_bytes());
        bytes
    }

    /// Decodes the header of a record of this segment that starts at position `start`. `None` when `check` differs.
    pub fn decode(bytes: &[u8], salt: u64, start: u64) -> Option<RecordHeader> {
        if bytes.len() < RECORD_HEADER_BYTES {
            return None;
        }
        let header = RecordHeader { len: u32_at(bytes, 0), back: u32_at(bytes, 4), crc: u32_at(bytes, 8) };
        (header.check(salt, start) == u32_at(bytes, 12)).then_some(header)
    }

    /// The header of a queued record. `back` and `check` are filled in once its position is known.
    pub fn unplaced(len: u32, crc: u32) -> [u8; RECORD_HEADER_BYTES] {
        let mut bytes = [0; RECORD_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&len.to_le_bytes());
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Payload size of a queued record.
    pub fn unplaced_len(bytes: &[u8]) -> usize {
        u32_at(bytes, 0) as usize
    }

    /// Payload checksum of a queued record.
    pub fn unplaced_crc(bytes: &[u8]) -> u32 {
        u32_at(bytes, 8)
    }

    fn check(&self, salt: u64, start: u64) -> u32 {
        let mut bytes = [0; 28];
        bytes[0..8].copy_from_slice(&salt.to_le_bytes());
        bytes[8..16].copy_from_slice(&start.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.len.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.back.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.crc.to_le_bytes());
        crc32c::crc32c(&bytes)
    }
}

pub(crate) fn path(dir: &Path, base: Position) -> PathBuf {
    dir.join(format!("{:020}{SUFFIX}", base.0))
}

/// The base in a segment's file name; `None` for any other file.
pub(crate) fn base_of(path: &Path) -> Option<Position> {
    let digits = path.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    if digits.len() != 20 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&base| base <= BASE_MAX).map(Position)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut value = [0; 4];
    value.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(value)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        salt: 0x0102_0304_0506_0708,
        base: Position(1000),
        sealed_at: Position(900),
        torn_from: Position(800),
        is_recycled: true,
    };

    #[test]
    fn header_layout() {
        let block = HEADER.encode();
        assert_eq!(block.len() as u64, HEADER_BYTES);
        for (at, bytes, what) in [
            (0, &b"TWJRNL\r\n"[..], "magic"),
            (8, &[1, 0, 0, 0], "version"),
            (12, &[1, 0, 0, 0], "flags"),
            (16, &[8, 7, 6, 5, 4, 3, 2, 1], "salt"),
            (24, &[232, 3, 0, 0, 0, 0, 0, 0], "base"),
            (32, &[132, 3, 0, 0, 0, 0, 0, 0], "sealed_at"),
            (40, &[32, 3, 0, 0, 0, 0, 0, 0], "torn_from"),
            (52, &[0; 100], "nothing"),
        ] {
            assert_eq!(&block[at..at + bytes.len()], bytes, "{what}");
            assert_eq!(&block[2048 + at..2048 + at + bytes.len()], bytes, "{what} of the copy");
        }
    }

    #[test]
    fn header_survives_the_loss_of_either_copy() {
        for damage in [0..52, 2048..2100] {
            for at in damage {
                let mut block = HEADER.encode();
                block[at] ^= 0x10;
                assert_eq!(Header::decode(&block), Ok(HEADER), "byte {at}");
            }
        }
        let mut block = HEADER.encode();
        (block[3], block[2050]) = (0, 0);
        assert_eq!(Header::decode(&block), Err(HeaderError::Damaged));
        assert_eq!(Header::decode(&[]), Err(HeaderError::Damaged));
        assert_eq!(Header::decode(&HEADER.encode()[..52]), Ok(HEADER), "a short file with one whole copy");
    }

    #[test]
    fn header_of_another_version_is_not_damage() {
        let mut block = HEADER.encode();
        block[8] = 2;
        let crc = crc32c::crc32c(&block[..48]);
        block[48..52].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(Header::decode(&block), Err(HeaderError::Version(2)));
    }

    #[test]
    fn record_is_valid_only_at_its_own_position() {
        let header = RecordHeader { len: 5, back: 0x0201, crc: crc32c::crc32c(b"hello") };
        let bytes = header.encode(77, 4000);
        assert_eq!(bytes[..12], [5, 0, 0, 0, 1, 2, 0, 0, 0x4c, 0xbb, 0x71, 0x9a]);
        assert_eq!(RecordHeader::decode(&bytes, 77, 4000), Some(header));
        assert_eq!(RecordHeader::decode(&bytes, 77, 4001), None, "another position");
        assert_eq!(RecordHeader::decode(&bytes, 78, 4000), None, "another segment");
        assert_eq!(RecordHeader::decode(&bytes[..15], 77, 4000), None, "cut");
        assert_eq!(RecordHeader::decode(&[0; 16], 77, 4000), None, "zeros");
        for bit in 0..128 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(RecordHeader::decode(&flipped, 77, 4000), None, "bit {bit}");
        }
    }

    #[test]
    fn segment_names() {
        let named = path(Path::new("/j"), Position(42));
        assert_eq!(named, Path::new("/j/00000000000000000042.segment"));
        for (name, base) in [
            ("00000000000000000042.segment", Some(42)),
            ("09223372036854775807.segment", Some(BASE_MAX)),
            ("09223372036854775808.segment", None),
            ("99999999999999999999.segment", None),
            ("42.segment", None),
            ("+0000000000000000042.segment", None),
            ("00000000000000000042.tmp", None),
            ("next.tmp", None),
            ("lock", None),
        ] {
            assert_eq!(base_of(Path::new(name)), base.map(Position), "{name}");
        }
    }
}
