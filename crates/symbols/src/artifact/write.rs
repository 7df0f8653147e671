//! Builds the container: appends sections, then fills in the header.

use xxhash_rust::xxh3::xxh3_64;

use super::layout::{
    AT_ARCH, AT_BASE, AT_BASE_LEN, AT_BODY_HASH, AT_BODY_LEN, AT_FLAGS, AT_HEADER_HASH, AT_ID, AT_ID_LEN, AT_KIND,
    AT_SECTIONS, AT_SOURCE_HASH, AT_SOURCE_LEN, AT_VERSION, FORMAT_VERSION, HEADER_BYTES, Kind, MAGIC, SECTIONS_MAX,
};
use crate::{Arch, DebugId, SymbolError, error::Result};

/// Builds one artifact in memory.
pub(crate) struct Writer {
    bytes: Vec<u8>,
    sections: usize,
}

impl Writer {
    /// `body_hint`: expected length of all sections, to allocate once.
    pub(crate) fn new(kind: Kind, source: &[u8], body_hint: usize) -> Self {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + body_hint + SECTIONS_MAX * 8);
        bytes.resize(HEADER_BYTES, 0);
        let mut writer = Self { bytes, sections: 0 };
        writer.put(0, &MAGIC);
        writer.put(AT_VERSION, &FORMAT_VERSION.to_le_bytes());
        writer.put(AT_KIND, &(kind as u16).to_le_bytes());
        writer.put(AT_SOURCE_LEN, &(source.len() as u64).to_le_bytes());
        writer.put(AT_SOURCE_HASH, &super::source_hash(source).to_le_bytes());
        writer
    }

    fn put(&mut self, at: usize, field: &[u8]) {
        self.bytes[at..at + field.len()].copy_from_slice(field);
    }

    pub(crate) fn id(&mut self, id: DebugId, arch: Arch) {
        let (digits, len) = id.to_field();
        self.put(AT_ID, &digits);
        self.put(AT_ID_LEN, &[len]);
        self.put(AT_ARCH, &(arch as u32).to_le_bytes());
    }

    pub(crate) fn flags(&mut self, flags: u32) {
        self.put(AT_FLAGS, &flags.to_le_bytes());
    }

    pub(crate) fn base(&mut self, base: u64, len: u64) {
        self.put(AT_BASE, &base.to_le_bytes());
        self.put(AT_BASE_LEN, &len.to_le_bytes());
    }

    /// Appends a section. Sections are numbered from 0 in the order of their addition.
    pub(crate) fn section(&mut self, bytes: &[u8]) -> Result<()> {
        let start = self.begin()?;
        self.bytes.extend_from_slice(bytes);
        self.end(start)
    }

    /// Appends a section of numbers.
    pub(crate) fn numbers(&mut self, numbers: impl IntoIterator<Item = u32>) -> Result<()> {
        self.rows(numbers.into_iter().map(|number| [number]))
    }

    /// Appends a section of rows of numbers.
    pub(crate) fn rows<const N: usize>(&mut self, rows: impl IntoIterator<Item = [u32; N]>) -> Result<()> {
        let start = self.begin()?;
        for number in rows.into_iter().flatten() {
            self.bytes.extend_from_slice(&number.to_le_bytes());
        }
        self.end(start)
    }

    fn begin(&mut self) -> Result<usize> {
        let padded = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(padded, 0);
        Ok(padded)
    }

    fn end(&mut self, start: usize) -> Result<()> {
        assert!(self.sections < SECTIONS_MAX, "no layout has more sections");
        let too_large = || SymbolError::TooLarge { what: "the artifact in bytes", limit: u64::from(u32::MAX) };
        let offset = u32::try_from(start).map_err(|_| too_large())?;
        let len = u32::try_from(self.bytes.len() - start).map_err(|_| too_large())?;
        self.put(AT_SECTIONS + self.sections * 8, &offset.to_le_bytes());
        self.put(AT_SECTIONS + self.sections * 8 + 4, &len.to_le_bytes());
        self.sections += 1;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let body_len = (self.bytes.len() - HEADER_BYTES) as u64;
        let body_hash = xxh3_64(&self.bytes[HEADER_BYTES..]);
        self.put(AT_BODY_LEN, &body_len.to_le_bytes());
        self.put(AT_BODY_HASH, &body_hash.to_le_bytes());
        let header_hash = xxh3_64(&self.bytes[..AT_HEADER_HASH]);
        self.put(AT_HEADER_HASH, &header_hash.to_le_bytes());
        self.bytes
    }
}
