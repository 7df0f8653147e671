//! Positioned, checksummed reads of a part's file, without a shared offset.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use tidewatch_journal::disk::DiskFile;

use super::checksums::BlockSums;
use crate::schedule::yielding::yield_point;

/// Positioned, checksummed reads of one part. Cheap to clone, safe to share between threads.
#[derive(Clone)]
pub struct PartFile {
    file: Arc<dyn DiskFile>,
    bytes: u64,
    sums: Arc<BlockSums>,
}

impl PartFile {
    /// A reader of a file of `bytes` bytes. Bytes that `sums` cover are checked.
    pub fn new(file: Arc<dyn DiskFile>, bytes: u64, sums: Arc<BlockSums>) -> PartFile {
        PartFile { file, bytes, sums }
    }

    /// Bytes at the start of the file that have block checksums; the rest has a single checksum.
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

/// A part whose end is read at once. The `parquet` crate reads footer and indexes in pieces, each of which would wait
/// for the disk.
pub struct Tail {
    file: PartFile,
    start: u64,
    bytes: Bytes,
}

/// The tail is one in this many bytes of the file, about the size of footer and indexes.
const TAIL_SHARE: u64 = 256;
const TAIL_BYTES: std::ops::RangeInclusive<u64> = 64 * 1024..=512 * 1024;

impl Tail {
    /// Length of the tail of a file of `bytes` bytes.
    pub fn length(bytes: u64) -> u64 {
        (bytes / TAIL_SHARE).clamp(*TAIL_BYTES.start(), *TAIL_BYTES.end()).min(bytes)
    }

    /// Reads the tail of a file.
    pub fn read(file: PartFile) -> Result<Tail, ParquetError> {
        let length = Tail::length(file.bytes);
        let start = file.bytes - length;
        let bytes = file.get_bytes(start, length as usize)?;
        Ok(Tail { file, start, bytes })
    }

    /// The index in `bytes` of an offset of the file; `None` before the tail.
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

/// Sequential reads from an offset of the part, in steps of [`READ_AHEAD`] bytes.
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
