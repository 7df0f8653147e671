//! The directory and the size limits of a journal.

use crate::disk::{Disk, RealDisk};
use crate::errors::OpenError;
use crate::segment::HEADER_BYTES;
use std::path::PathBuf;
use std::sync::Arc;

/// The directory and the size limits of a journal.
#[derive(Clone)]
pub struct Options {
    /// The journal's own directory, created when missing.
    pub dir: PathBuf,
    /// Maximum size of a segment file. Only a group that is larger than a segment exceeds it.
    pub segment_bytes: u64,
    /// Maximum size of all segments. Appends beyond it fail with `Full` until segments are trimmed.
    pub bytes_max: u64,
    /// Maximum size of a record's payload.
    pub record_bytes_max: usize,
    /// Maximum size of the queue, and so of one group. A single record may exceed it when the queue is empty.
    pub queue_bytes_max: usize,
    /// The file system.
    pub disk: Arc<dyn Disk>,
    /// Called on the writer thread after a panic, once the journal is closed.
    pub on_panic: Arc<dyn Fn() + Send + Sync>,
}

/// Keeps `back` and `len` of a record well within their 32 bits.
const GROUP_BYTES_LIMIT: usize = 1 << 30;

impl Options {
    /// 64 MiB per segment, 2 GiB in total, 64 MiB per record, 16 MiB in the queue, on the real disk.
    pub fn new(dir: impl Into<PathBuf>) -> Options {
        Options {
            dir: dir.into(),
            segment_bytes: 64 << 20,
            bytes_max: 2 << 30,
            record_bytes_max: 64 << 20,
            queue_bytes_max: 16 << 20,
            disk: Arc::new(RealDisk),
            on_panic: Arc::new(|| {}),
        }
    }

    /// Zeros written ahead of the records, so that most syncs do not change the file size: 1/64 of a segment, between
    /// 4 KiB and 1 MiB.
    pub(crate) fn zero_ahead_bytes(&self) -> u64 {
        (self.segment_bytes / 64).clamp(4 << 10, 1 << 20)
    }

    /// Minimum size of a trimmed segment file that is recycled.
    pub(crate) fn spare_bytes_min(&self) -> u64 {
        self.segment_bytes / 2
    }

    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let group_max = self.record_bytes_max.max(self.queue_bytes_max);
        if group_max > GROUP_BYTES_LIMIT {
            return Err(OpenError::Options(format!("records and queue are bounded by {GROUP_BYTES_LIMIT} bytes")));
        }
        // The active segment cannot be trimmed, so it must not fill the journal on its own.
        let active_max = self.segment_bytes.max(group_max as u64) + HEADER_BYTES + self.zero_ahead_bytes();
        if self.bytes_max < 2 * active_max {
            return Err(OpenError::Options(format!(
                "bytes_max {} is less than two segments, {} bytes",
                self.bytes_max,
                2 * active_max
            )));
        }
        Ok(())
    }
}
