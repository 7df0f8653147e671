//! Where the journal lives and how large it and its parts may grow.

use crate::disk::{Disk, RealDisk};
use crate::errors::OpenError;
use crate::segment::HEADER_BYTES;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone)]
pub struct Options {
    /// Made when missing; nothing else may live in it.
    pub dir: PathBuf,
    /// A segment is closed before it grows past this; only one group larger than a segment makes a larger one.
    pub segment_bytes: u64,
    /// Bound of all segments together; appends beyond it are refused as `Full` until something is trimmed.
    pub bytes_max: u64,
    /// Bound of one record's payload.
    pub record_bytes_max: usize,
    /// Bound of what waits for the writer, and so of one group. A single record may exceed it when nothing waits.
    pub queue_bytes_max: usize,
    pub disk: Arc<dyn Disk>,
    /// Called on the writer thread when it ends by a panic, after the journal has closed.
    pub on_panic: Arc<dyn Fn() + Send + Sync>,
}

/// Keeps `back` and `len` of a record within their 32 bits, with room to spare.
const GROUP_BYTES_LIMIT: usize = 1 << 30;

impl Options {
    /// 64 MiB segments, 2 GiB in all, records up to 64 MiB, 16 MiB waiting, on the real disk.
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

    /// Zeros written ahead of the records, so that most syncs change no file size: a 64th of a segment, 4 KiB to 1 MiB.
    pub(crate) fn zero_ahead_bytes(&self) -> u64 {
        (self.segment_bytes / 64).clamp(4 << 10, 1 << 20)
    }

    /// A trimmed segment of at least so many bytes is used again.
    pub(crate) fn spare_bytes(&self) -> u64 {
        self.segment_bytes / 2
    }

    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let group_max = self.record_bytes_max.max(self.queue_bytes_max);
        if group_max > GROUP_BYTES_LIMIT {
            return Err(OpenError::Options(format!("records and queue are bounded by {GROUP_BYTES_LIMIT} bytes")));
        }
        // The active segment cannot be trimmed; it alone must not fill the journal.
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
