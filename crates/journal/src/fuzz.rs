//! What a fuzzer calls: arbitrary bytes as a segment file must be read without a panic and without end.

use crate::disk::DiskFile;
use crate::reader;
use crate::segment::{HEADER_BYTES, Header};
use std::io;

/// Reads `bytes` as a segment. Returns how many records it holds.
///
/// Panics, which is what a fuzzer looks for, when the result contradicts itself.
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

/// A file that is only read.
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
