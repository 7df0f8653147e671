//! After a start, the parts of the files that first queries need are read once, newest first, so that they are in the
//! page cache.
//!
//! The process itself keeps only the block lists of the trace id indexes. Roll-ups are read for the newest day only,
//! and before all else, because nearly every page needs them.
//!
//! No query waits for it.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::lifecycle::state::Shared;
use crate::part::Part;
use tidewatch_store::rollup::spec::Spec;

/// Maximum bytes read in total, and bytes per read.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// Reads until all parts are read, [`BYTES_MAX`] is reached, or the lake stops. Read errors are ignored; the queries
/// that need the file report them.
pub fn warm_up(shared: &Shared) {
    let mut parts: Vec<Arc<Part>> = shared.state.lock().parts.iter().flatten().cloned().collect();
    let newest = parts.iter().map(|part| part.facts.day).max();
    let is_rolled_up = |part: &Part| Spec::of(part.facts.table).is_some();
    parts.sort_by_cached_key(|part| (!is_rolled_up(part), Reverse(part.facts.time_max)));
    let (mut read, mut buffer) = (0, vec![0; BUFFER_BYTES]);
    for part in parts {
        if read >= BYTES_MAX || shared.state.lock().stopping {
            break;
        }
        let of_newest = is_rolled_up(&part) && Some(part.facts.day) == newest;
        match part.prefetch(of_newest, &mut buffer) {
            Ok(bytes) => read += bytes,
            Err(error) => tracing::debug!(%error, "cannot read a part ahead of the first query"),
        }
    }
    tracing::debug!(bytes = read, "read ahead of the first queries");
}
