//! Offsets of the header fields. All numbers are little-endian; sections start at multiples of eight.

/// Incremented whenever any layout changes. Artifacts of another version are rebuilt, never migrated.
pub const FORMAT_VERSION: u16 = 2;

/// Length of the header.
pub const HEADER_BYTES: usize = 320;

pub(super) const MAGIC: [u8; 4] = *b"TWSY";
pub(super) const SECTIONS_MAX: usize = 16;

pub(super) const AT_VERSION: usize = 4;
pub(super) const AT_KIND: usize = 6;
pub(super) const AT_ARCH: usize = 8;
pub(super) const AT_FLAGS: usize = 12;
pub(super) const AT_SOURCE_LEN: usize = 16;
pub(super) const AT_SOURCE_HASH: usize = 24;
pub(super) const AT_BASE: usize = 40;
pub(super) const AT_BASE_LEN: usize = 48;
pub(super) const AT_BODY_LEN: usize = 56;
pub(super) const AT_BODY_HASH: usize = 64;
pub(super) const AT_ID: usize = 72;
pub(super) const AT_ID_LEN: usize = 136;
pub(super) const AT_SECTIONS: usize = 144;
pub(super) const AT_HEADER_HASH: usize = 312;
const _: () = assert!(AT_SECTIONS + SECTIONS_MAX * 8 <= AT_HEADER_HASH);

/// The layout of the sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Machine code: Mach-O, ELF, Dart.
    Native = 1,
    /// R8 or ProGuard `mapping.txt`.
    R8 = 2,
    /// A JavaScript source map.
    Script = 3,
}

impl Kind {
    pub(super) fn from_code(code: u16) -> Option<Self> {
        [Self::Native, Self::R8, Self::Script].into_iter().find(|k| *k as u16 == code)
    }
}
