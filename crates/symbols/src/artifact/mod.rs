//! The `.tw` container: one header, up to sixteen sections and checksums, for all three layouts.
//!
//! `layout.rs` defines the header, `write.rs` builds, `read.rs` opens, `strings.rs` interns. `native`, `r8` and `js`
//! define the sections; the crate's documentation describes them.
//!
//! An artifact of another version is rebuilt from its original, never migrated.

mod layout;
mod read;
mod strings;
mod write;

pub use layout::{FORMAT_VERSION, Kind};
pub use read::{Artifact, Stale};
pub(crate) use read::{text_at, u32_at};
pub(crate) use strings::Strings;
pub(crate) use write::Writer;

/// The hash that identifies the original of an artifact.
pub fn source_hash(source: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(source)
}
