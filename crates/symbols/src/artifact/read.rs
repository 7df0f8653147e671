//! Opens the container: header checks on open, the checksum of the body on request.

use integer_encoding::VarInt;
use xxhash_rust::xxh3::xxh3_64;

use super::layout::{
    AT_ARCH, AT_BASE, AT_BODY_HASH, AT_BODY_LEN, AT_FLAGS, AT_HEADER_HASH, AT_ID, AT_ID_LEN, AT_KIND, AT_SECTIONS,
    AT_SOURCE_HASH, AT_SOURCE_LEN, AT_VERSION, FORMAT_VERSION, HEADER_BYTES, Kind, MAGIC, SECTIONS_MAX,
};
use crate::{Arch, DebugId};

/// Reasons for which an artifact must be built again from its original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// Not an artifact, or truncated.
    #[error("not a .tw artifact, or cut off")]
    Damaged,
    /// Written by another version of this crate.
    #[error("written in format {found}, this version reads {FORMAT_VERSION}")]
    Version {
        /// The version in the file.
        found: u16,
    },
    /// The checksum does not match.
    #[error("the checksum does not match")]
    Checksum,
    /// Built from another original.
    #[error("made from another original")]
    Source,
}

/// An opened artifact that borrows its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Artifact<'a> {
    bytes: &'a [u8],
    kind: Kind,
}

impl<'a> Artifact<'a> {
    /// Checks the header: magic, version, lengths, header checksum. Constant time.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Stale> {
        if bytes.len() < HEADER_BYTES || bytes[..4] != MAGIC {
            return Err(Stale::Damaged);
        }
        let found = u16::from_le_bytes([bytes[AT_VERSION], bytes[AT_VERSION + 1]]);
        if found != FORMAT_VERSION {
            return Err(Stale::Version { found });
        }
        if xxh3_64(&bytes[..AT_HEADER_HASH]) != u64_at(bytes, AT_HEADER_HASH) {
            return Err(Stale::Checksum);
        }
        if u64_at(bytes, AT_BODY_LEN) != (bytes.len() - HEADER_BYTES) as u64 {
            return Err(Stale::Damaged);
        }
        let kind = Kind::from_code(u16::from_le_bytes([bytes[AT_KIND], bytes[AT_KIND + 1]])).ok_or(Stale::Damaged)?;
        Ok(Self { bytes, kind })
    }

    /// Checks the body against its checksum. Reads every byte once.
    pub fn verify(self) -> Result<Self, Stale> {
        match xxh3_64(&self.bytes[HEADER_BYTES..]) == u64_at(self.bytes, AT_BODY_HASH) {
            true => Ok(self),
            false => Err(Stale::Checksum),
        }
    }

    /// Checks that the artifact was built from an original of this length and [`super::source_hash`].
    pub fn made_from(self, source_len: u64, source_hash: u128) -> Result<Self, Stale> {
        let (len, hash) = self.source();
        match len == source_len && hash == source_hash {
            true => Ok(self),
            false => Err(Stale::Source),
        }
    }

    /// Length and hash of the original.
    pub fn source(&self) -> (u64, u128) {
        let hash = self.bytes[AT_SOURCE_HASH..AT_SOURCE_HASH + 16].try_into().expect("sixteen bytes of the header");
        (u64_at(self.bytes, AT_SOURCE_LEN), u128::from_le_bytes(hash))
    }

    /// The layout of the sections.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The debug id of the original, if it has one.
    pub fn id(&self) -> Option<DebugId> {
        let len = usize::from(self.bytes[AT_ID_LEN]).min(64);
        DebugId::parse(std::str::from_utf8(&self.bytes[AT_ID..AT_ID + len]).ok()?)
    }

    /// The architecture of native code.
    pub fn arch(&self) -> Arch {
        Arch::from_code(u32_at(&self.bytes[AT_ARCH..], 0))
    }

    /// Length of the artifact in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Always false: an artifact has a header.
    pub fn is_empty(&self) -> bool {
        false
    }

    pub(crate) fn flags(&self) -> u32 {
        u32_at(&self.bytes[AT_FLAGS..], 0)
    }

    /// Base address of the ranges of a native artifact: `__TEXT` of Mach-O, 0 of ELF.
    pub fn base(&self) -> u64 {
        u64_at(self.bytes, AT_BASE)
    }

    /// The bytes of a section; empty if it is absent or outside of the file.
    pub(crate) fn section(&self, number: usize) -> &'a [u8] {
        debug_assert!(number < SECTIONS_MAX);
        let entry = &self.bytes[AT_SECTIONS + number * 8..];
        let (offset, len) = (u32_at(entry, 0) as usize, u32_at(entry, 1) as usize);
        self.bytes.get(offset..offset.saturating_add(len)).unwrap_or_default()
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes of the header"))
}

/// The number at `index` of a section of numbers; 0 past its end. Artifacts are checked, but not trusted.
#[inline]
pub(crate) fn u32_at(numbers: &[u8], index: usize) -> u32 {
    match numbers.get(index * 4..index * 4 + 4) {
        Some(four) => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
        None => 0,
    }
}

/// The string at an offset of a string section; empty if it is invalid.
#[inline]
pub(crate) fn text_at(strings: &[u8], offset: u32) -> &str {
    let text = || {
        let strings = strings.get(offset as usize..)?;
        let (length, start) = usize::decode_var(strings)?;
        simdutf8::basic::from_utf8(strings.get(start..start.checked_add(length)?)?).ok()
    };
    text().unwrap_or("")
}
