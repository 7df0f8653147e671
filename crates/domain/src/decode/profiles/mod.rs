//! Decodes profiles: pprof and the OTLP profiles signal (`v1development`), into one form. WIRE 2.1.
//!
//! Both have tables to which samples refer by id or index. A body whose tables refer to something that does not exist
//! is refused; a sample that does is kept with [`Sample::NO_STACK`](crate::model::Sample::NO_STACK).

mod bounds;
mod otlp;
mod otlp_json;
mod pprof;
mod stacks;
mod tables;

use bumpalo::Bump;

pub use self::bounds::{STACK_DEPTH_MAX, STACK_LOCATIONS_MAX};
use super::batch::RECORDS_MAX;
use super::batch::check_size;
use super::{DecodeError, Encoding};
use crate::model::ProfileBatch;

/// Encoded size that every useful sample, location or function exceeds.
const ENTRY_BYTES_MIN: usize = 8;

/// Number of entries of a kind that a body of any size may have.
const ENTRIES_ALWAYS: usize = 4096;

/// Maximum number of entries of a kind in a body of this size.
fn entries_max(body_bytes: usize) -> usize {
    (body_bytes / ENTRY_BYTES_MIN).clamp(ENTRIES_ALWAYS, 2 * RECORDS_MAX)
}

/// Decodes a profile in the format of pprof (`profile.proto`), not compressed.
pub fn pprof<'a>(body: &'a [u8], arena: &'a Bump) -> Result<ProfileBatch<'a>, DecodeError> {
    check_size(body).and_then(|()| pprof::profile(body, entries_max(body.len()), arena)).map_err(|fault| *fault)
}

/// Decodes an `ExportProfilesServiceRequest`.
pub fn otlp_profiles<'a>(encoding: Encoding, body: &'a [u8], arena: &'a Bump) -> Result<ProfileBatch<'a>, DecodeError> {
    let entries_max = entries_max(body.len());
    check_size(body)
        .and_then(|()| match encoding {
            Encoding::Protobuf => otlp::request(body, entries_max, arena),
            Encoding::Json => {
                let converted = arena.alloc_slice_copy(&otlp_json::to_protobuf(body)?);
                otlp::request(converted, entries_max, arena)
            }
        })
        .map_err(|fault| *fault)
}
