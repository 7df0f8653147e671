//! Reading the bytes of a part: positioned, checked, no shared offset.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use tidewatch_journal::disk::DiskFile;

use super::checksums::BlockSums;
use crate::schedule::yielding::yield_point;

/// Positioned reads of one part.
#[derive(Clone)]
pub struct PartFile {
    file: Arc<dyn DiskFile>,
    bytes: u64,
    sums: Arc<BlockSums>,
}

impl PartFile {
    /// A file of so many bytes; what `sums` cover is checked.
    pub fn new(file: Arc<dyn DiskFile>, bytes: u64, sums: Arc<BlockSums>) -> PartFile {
        PartFile { file, bytes, sums }
    }

    /// Bytes from the start of the file that have checksums block by block; the rest has one of its own.
    pub fn checked_bytes(&self) -> u64 {
        self.sums.covered
    }

    fn read_exact_at(&self, start: u64, length: usize) -> io::Result<Bytes> {
        yield_point();
        let blocks = self.sums.around(start, length as u64);
        let range = blocks.clone().unwrap_or(start..start + length as u64);
        let mut buffer = vec![0; (range.end - range.start) as usize];
        self.file.read_exact_at(&mut buffer, range.start)?;
        if blocks.is_some()
            && let Some(wrong) = self.sums.first_wrong(range.start, &buffer)
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("the checksum of the bytes at {wrong} does not match"),
            ));
        }
        let from = (start - range.start) as usize;
        Ok(Bytes::from(buffer).slice(from..from + length))
    }
}

impl Length for PartFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for PartFile {
    type T = PartRead;

    fn get_read(&self, start: u64) -> Result<PartRead, ParquetError> {
        Ok(PartRead { file: self.clone(), at: start, buffer: Bytes::new() })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} are past the end ({} bytes)",
                self.bytes
            )));
        }
        Ok(self.read_exact_at(start, length)?)
    }
}

/// A part whose end is read in one go: its footer and indexes are asked for piece by piece, and each piece would be a
/// wait for the disk.
pub struct Tail {
    file: PartFile,
    start: u64,
    bytes: Bytes,
}

/// About what footer and indexes take, as a share of the file.
const TAIL_SHARE: u64 = 256;
const TAIL_BYTES: std::ops::RangeInclusive<u64> = 64 * 1024..=512 * 1024;

impl Tail {
    /// Bytes of the tail of a file of so many.
    pub fn length(bytes: u64) -> u64 {
        (bytes / TAIL_SHARE).clamp(*TAIL_BYTES.start(), *TAIL_BYTES.end()).min(bytes)
    }

    pub fn read(file: PartFile) -> Result<Tail, ParquetError> {
        let length = Tail::length(file.bytes);
        let start = file.bytes - length;
        let bytes = file.get_bytes(start, length as usize)?;
        Ok(Tail { file, start, bytes })
    }

    /// Where an offset of the file lies in `bytes`.
    fn inside(&self, offset: u64) -> Option<usize> {
        offset.checked_sub(self.start).map(|from| from as usize).filter(|from| *from <= self.bytes.len())
    }
}

impl Length for Tail {
    fn len(&self) -> u64 {
        self.file.bytes
    }
}

impl ChunkReader for Tail {
    type T = PartRead;

    fn get_read(&self, start: u64) -> Result<PartRead, ParquetError> {
        match self.inside(start) {
            Some(from) => {
                let file = self.file.clone();
                Ok(PartRead { at: file.bytes, file, buffer: self.bytes.slice(from..) })
            }
            None => self.file.get_read(start),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match self.inside(start) {
            Some(from) if length <= self.bytes.len() - from => Ok(self.bytes.slice(from..from + length)),
            _ => self.file.get_bytes(start, length),
        }
    }
}

/// Sequential reads from a place in the part, in steps of [`READ_AHEAD`].
pub struct PartRead {
    file: PartFile,
    at: u64,
    buffer: Bytes,
}

const READ_AHEAD: u64 = 64 * 1024;

impl Read for PartRead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.buffer.is_empty() {
            let length = self.file.bytes.saturating_sub(self.at).min(READ_AHEAD);
            self.buffer = self.file.read_exact_at(self.at, length as usize)?;
            self.at += length;
        }
        let count = self.buffer.len().min(into.len());
        into[..count].copy_from_slice(&self.buffer.split_to(count));
        Ok(count)
    }
}
