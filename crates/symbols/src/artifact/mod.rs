//! The `.tw` container: one header, up to sixteen sections, one checksum rule, for all three layouts.
//!
//! `layout.rs` is the header, `write.rs` builds, `read.rs` opens, `strings.rs` interns. What the sections hold is
//! said by `native`, `r8` and `js`, and for readers of the bytes in the crate's own documentation.

mod layout;
mod read;
mod strings;
mod write;

pub use layout::{FORMAT_VERSION, Kind};
pub use read::{Artifact, Stale};
pub(crate) use read::{text_at, u32_at};
pub(crate) use strings::Strings;
pub(crate) use write::Writer;

/// The hash that says which original an artifact was made from.
pub fn source_hash(source: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(source)
}
