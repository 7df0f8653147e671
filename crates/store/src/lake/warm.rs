//! After a start: what first questions need of the parts is read once, newest first, so that the system has it in memory.
//!
//! Of our own memory this takes the lists of the ids' indexes and a few footers: those of the newest day's roll-ups,
//! which nearly every page asks for.

use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::part::Part;
use super::scan::share_waits;
use super::state::Shared;
use crate::StoreError;
use crate::rollup::spec::Spec;

/// Read at most.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Until everything is read, there is too much of it, or the lake stops. What cannot be read is left to the questions
/// that need it.
pub fn warm_up(shared: &Shared) {
    let mut parts: Vec<Arc<Part>> = shared.state.lock().parts.iter().flatten().cloned().collect();
    let newest = parts.iter().map(|part| part.facts.day).max();
    let is_rolled_up = |part: &Part| Spec::of(part.facts.table).is_some();
    parts.sort_by_cached_key(|part| (!is_rolled_up(part), Reverse(part.facts.time_max)));
    let read = AtomicU64::new(0);
    let touched = share_waits(
        &parts,
        || (),
        |(), part| {
            if read.load(Ordering::Relaxed) >= BYTES_MAX || shared.state.lock().stopping {
                return Ok(());
            }
            let of_newest = is_rolled_up(part) && Some(part.facts.day) == newest;
            let bytes = touch(part, of_newest).unwrap_or_else(|error| {
                tracing::debug!(%error, "cannot read a part ahead of the first question");
                0
            });
            read.fetch_add(bytes, Ordering::Relaxed);
            Ok(())
        },
    );
    drop(touched);
    tracing::debug!(bytes = read.into_inner(), "read ahead of the first questions");
}

/// Bytes read.
fn touch(part: &Part, with_rollup: bool) -> Result<u64, StoreError> {
    let tail = part.touch_tail()?;
    let ids = part.touch_ids()?;
    let rollup = if with_rollup { part.touch_rollup()? } else { 0 };
    Ok(tail + ids + rollup)
}
