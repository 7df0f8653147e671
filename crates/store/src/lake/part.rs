//! One immutable Parquet part: what the catalog knows of it, and how it is read.
//!
//! A part is opened when somebody reads it: nothing but these few numbers stays in memory for a part that nobody asks
//! for. Reads are positioned ([`PartFile`] has no shared offset: `File::try_clone` would share one between threads).
//! A part that the catalog no longer lists is unlinked when its last reader lets go.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::reader::{ChunkReader, Length};

use super::attr_columns::AttrColumns;
use super::footers::Footers;
use crate::StoreError;
use crate::tables::Table;
use tidewatch_journal::disk::{Disk, DiskFile};

/// What the catalog knows of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartFacts {
    pub id: u64,
    /// Age: the lowest id among the flushed parts that went into this one.
    pub first_id: u64,
    pub table: Table,
    /// UTC day, days since 1970-01-01; the folder and the unit of retention.
    pub day: i32,
    pub rows: u64,
    pub bytes: u64,
    /// Smallest and greatest `time`, both inclusive, nanoseconds.
    pub time_min: i64,
    pub time_max: i64,
    /// Smallest and greatest project number, both inclusive.
    pub project_min: u32,
    pub project_max: u32,
    /// How many merges deep: 0 as flushed.
    pub level: u8,
}

pub struct Part {
    pub facts: PartFacts,
    path: PathBuf,
    disk: Arc<dyn Disk>,
    footers: Arc<Footers>,
    doomed: AtomicBool,
}

impl Part {
    /// `path` is the part's file; it is not touched yet.
    pub fn new(disk: Arc<dyn Disk>, path: PathBuf, facts: PartFacts) -> Part {
        Part { facts, path, disk, footers: Arc::default(), doomed: AtomicBool::new(false) }
    }

    /// Its footer is kept among these, of parts with other ids.
    pub fn sharing(self, footers: &Arc<Footers>) -> Part {
        // `Part` has a destructor, so its fields cannot be moved out one by one.
        let mut part = self;
        part.footers = Arc::clone(footers);
        part
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A fresh reader. Cheap to clone, safe to share between threads.
    pub fn file(&self) -> Result<PartFile, StoreError> {
        let file = self.disk.open(&self.path).map_err(|e| StoreError::io("open", &self.path, e))?;
        Ok(PartFile { file: Arc::from(file), bytes: self.facts.bytes })
    }

    /// Footer, row groups and page indexes; kept once read, as long as there is room.
    ///
    /// Use with [`Part::file`] in `ParquetRecordBatchReaderBuilder::new_with_metadata`.
    pub fn metadata(&self) -> Result<ArrowReaderMetadata, StoreError> {
        if let Some(metadata) = self.footers.get(self.facts.id) {
            return Ok(metadata);
        }
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let metadata =
            ArrowReaderMetadata::load(&self.file()?, options).map_err(|e| StoreError::parquet(&self.path, e))?;
        self.footers.keep(self.facts.id, &metadata);
        Ok(metadata)
    }

    /// The attributes that have columns of their own in this part.
    pub fn attr_columns(&self) -> Result<AttrColumns, StoreError> {
        Ok(AttrColumns::of(&self.metadata()?))
    }

    /// The error for rows that cannot be decoded.
    pub fn damaged(&self, error: &arrow::error::ArrowError) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), why: error.to_string() }
    }

    /// No row of the part can lie in `from <= time < to` of these projects.
    pub fn misses(&self, projects: &[u32], from: i64, to: i64) -> bool {
        let facts = &self.facts;
        let no_time = facts.time_max < from || facts.time_min >= to;
        no_time || !projects.iter().any(|project| (facts.project_min..=facts.project_max).contains(project))
    }

    /// The catalog has forgotten this part: unlink it when the last reader is gone.
    pub fn doom(&self) {
        self.doomed.store(true, Ordering::Release);
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.footers.forget(self.facts.id);
        if !self.doomed.load(Ordering::Acquire) {
            return;
        }
        // A file that stays behind is an orphan, which the next start removes.
        if let Err(error) = self.disk.remove(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove a part that is no longer needed");
        }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("path", &self.path).field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// Positioned reads of one part.
#[derive(Clone)]
pub struct PartFile {
    file: Arc<dyn DiskFile>,
    bytes: u64,
}

impl PartFile {
    fn read_exact_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; length];
        self.file.read_exact_at(&mut buffer, offset)?;
        Ok(buffer)
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
        Ok(Bytes::from(self.read_exact_at(start, length)?))
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
            self.buffer = Bytes::from(self.file.read_exact_at(self.at, length as usize)?);
            self.at += length;
        }
        let count = self.buffer.len().min(into.len());
        into[..count].copy_from_slice(&self.buffer.split_to(count));
        Ok(count)
    }
}
