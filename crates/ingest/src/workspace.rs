//! Buffers that exports are decoded with, kept for the next ones.
//!
//! The buffers belong to no thread: a large export on one of many threads would otherwise leave its memory there. Few are
//! kept, and of each only what most exports need.

use bumpalo::Bump;
use parking_lot::Mutex;
use tidewatch_domain::model::{LogBatch, MetricBatch, TraceBatch};
use tidewatch_limits as limits;

use super::coding::Inflater;

/// Buffers for one export at a time.
#[derive(Default)]
pub struct Workspace {
    pub inflater: Inflater,
    /// For profiles, which are compressed inside the body.
    pub inner_inflater: Inflater,
    pub arena: Bump,
    pub lists: Lists,
}

/// Empty lists with the capacity of earlier batches.
#[derive(Default)]
pub struct Lists {
    pub traces: TraceBatch<'static>,
    pub metrics: MetricBatch<'static>,
    pub logs: LogBatch<'static>,
}

static KEPT: Mutex<Vec<Workspace>> = Mutex::new(Vec::new());

/// Calls `decode` with a workspace that nobody else uses meanwhile. One that a panic left inconsistent is freed.
pub fn with<T>(decode: impl FnOnce(&mut Workspace) -> T) -> T {
    let latest = KEPT.lock().pop();
    let mut workspace = latest.unwrap_or_default();
    let decoded = decode(&mut workspace);
    workspace.clear();
    let mut kept = KEPT.lock();
    if kept.len() < limits::INGEST_WORKSPACES_KEPT {
        kept.push(workspace);
    }
    decoded
}

impl Workspace {
    /// Empties the arena, and frees the buffers that are larger than most exports need.
    fn clear(&mut self) {
        self.inflater.free_above(limits::INGEST_BUFFER_BYTES_KEPT);
        self.inner_inflater.free_above(limits::INGEST_BUFFER_BYTES_KEPT);
        if self.arena.allocated_bytes() > limits::INGEST_BUFFER_BYTES_KEPT {
            self.arena = Bump::new();
        }
        self.arena.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::Coding;

    #[test]
    fn a_workspace_keeps_the_memory_of_usual_exports_only() {
        let mut workspace = Workspace::default();
        for (bytes, is_kept) in
            [(limits::INGEST_BUFFER_BYTES_KEPT / 4, true), (limits::INGEST_BUFFER_BYTES_KEPT + 1, false)]
        {
            let body = zstd::encode_all(&vec![0; bytes][..], 0).expect("memory");
            workspace.inflater.inflate(Coding::Zstd, &body, bytes).expect("zstd");
            workspace.arena.alloc_slice_fill_copy(bytes, 0_u8);
            workspace.clear();
            assert_eq!(workspace.inflater.buffer_bytes() > 0, is_kept, "{bytes}");
            assert_eq!(workspace.arena.allocated_bytes() > 0, is_kept, "{bytes}");
        }
    }
}
