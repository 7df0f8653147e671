//! Bounds of profiles, and strings within them.

use bumpalo::Bump;

/// Maximum number of locations in all stacks of a request.
pub const STACK_LOCATIONS_MAX: usize = 16 << 20;

/// Maximum number of locations of a stack; those nearest to the root are left out. One more than the frames that are
/// stored, so that the projection knows.
pub const STACK_DEPTH_MAX: usize = 1025;

/// Maximum number of sample types of a profile in the format of pprof.
pub(super) const SAMPLE_TYPES_MAX: usize = 64;

/// Maximum length of a string that is not UTF-8, in bytes: that of a stored name.
pub(super) const INVALID_UTF8_BYTES_MAX: usize = 1024;

/// A string. Invalid UTF-8, which profilers of native code send, is replaced, and cut off at
/// [`INVALID_UTF8_BYTES_MAX`]. Entries of string tables are converted once, because any number of entries may refer to one.
pub(super) fn text<'a>(bytes: &'a [u8], arena: &'a Bump) -> &'a str {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => arena.alloc_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(INVALID_UTF8_BYTES_MAX)])),
    }
}
