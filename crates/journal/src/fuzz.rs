//! Entry points for fuzzing: reading arbitrary bytes as a segment must terminate without a panic.

use crate::Position;
use crate::disk::DiskFile;
use crate::reader;
use crate::segment::{HEADER_BYTES, Header, RecordHeader};
use std::io;

/// Reads `bytes` as a segment and returns the number of records.
///
/// # Panics
/// When the result is inconsistent.
pub fn segment(bytes: &[u8]) -> usize {
    let block = &bytes[..bytes.len().min(HEADER_BYTES as usize)];
    let Ok(header) = Header::decode(block) else { return 0 };
    let mut last = header.base;
    let mut records = 0;
    let scan = reader::scan(&Bytes(bytes), header, header.base, None, |position, payload| {
        assert!(position.0 >= last.0 + payload.len() as u64, "records overlap");
        last = position;
        records += 1;
        Ok::<(), ()>(())
    });
    let scan = scan.expect("bytes in memory can be read");
    assert_eq!(scan.end, last);
    assert!(scan.extent >= scan.end);
    for hole in &scan.holes {
        assert!(hole.from < hole.to && hole.to <= scan.extent, "{hole:?}");
    }
    records
}

/// Reads a segment built from `recipe` and returns the number of records: a valid header, then valid, torn and damaged
/// records and garbage. The fuzzer need not guess checksums.
pub fn recipe(recipe: &[u8]) -> usize {
    let (salt, base) = (0x5eed, u64::from(recipe.first().copied().unwrap_or_default()));
    let is_recycled = base & 1 == 1;
    let (sealed_at, torn_from) = (Position(base), Position(base));
    let header = Header { salt, base: Position(base), sealed_at, torn_from, is_recycled };
    let mut bytes = header.encode();
    let (mut rest, mut group) = (recipe, base);
    while let [what, len, tail @ ..] = rest {
        let (content, tail) = tail.split_at(tail.len().min(usize::from(*len)));
        rest = tail;
        let start = base + bytes.len() as u64 - HEADER_BYTES;
        // Starts a group or continues the current one.
        group = if what & 0x10 == 0 { start } else { group };
        let mut crc = crc32c::crc32c(content);
        let mut declared = content.len() as u32;
        match what % 8 {
            0..4 => {}
            4 => crc ^= 1,
            5 => declared = u32::from_le_bytes([*len, *what, *len, *what]),
            6 => {
                bytes.extend_from_slice(content);
                continue;
            }
            _ => {
                bytes.resize(bytes.len() + usize::from(*len), 0);
                continue;
            }
        }
        let back = u32::try_from(start - group).unwrap_or_default();
        bytes.extend_from_slice(&RecordHeader { len: declared, back, crc }.encode(salt, start));
        bytes.extend_from_slice(content);
    }
    segment(&bytes)
}

/// A read-only file in memory.
struct Bytes<'a>(&'a [u8]);

impl DiskFile for Bytes<'_> {
    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.0.get(offset as usize..).unwrap_or_default();
        let read = into.len().min(rest.len());
        into[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn valid_records_are_read() {
        assert_eq!(recipe(&[0, 3, b'a', b'b', b'c', 0x10, 0, 1, 1, b'd']), 3);
    }

    proptest! {
        #[test]
        fn any_recipe_is_read(bytes in vec(any::<u8>(), 0..600)) {
            recipe(&bytes);
        }
    }
}
