//! After a start: what first questions need of the parts is read once, newest first, so that the system has it in memory.
//!
//! Of our own memory this takes the lists of the ids' indexes. Roll-ups are read of the newest day alone, first of all:
//! nearly every page asks for them.

use std::cmp::Reverse;
use std::sync::Arc;

use super::part::Part;
use super::state::Shared;
use tidewatch_store::rollup::spec::Spec;

/// Read at most, and at a time.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// Until everything is read, there is too much of it, or the lake stops. What cannot be read is left to the questions
/// that need it.
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
        match part.touch(of_newest, &mut buffer) {
            Ok(bytes) => read += bytes,
            Err(error) => tracing::debug!(%error, "cannot read a part ahead of the first question"),
        }
    }
    tracing::debug!(bytes = read, "read ahead of the first questions");
}
