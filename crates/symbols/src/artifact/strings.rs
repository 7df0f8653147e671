//! The string section: every distinct string once, as a LEB128 length and UTF-8 bytes. Offset 0 is the empty string.

use hashbrown::HashTable;
use integer_encoding::VarIntWriter;
use xxhash_rust::xxh3::xxh3_64;

use super::read::text_at;

/// Interns strings while an artifact is built.
pub(crate) struct Strings {
    bytes: Vec<u8>,
    offsets: HashTable<u32>,
}

impl Default for Strings {
    fn default() -> Self {
        Self::new()
    }
}

impl Strings {
    pub(crate) fn new() -> Self {
        let mut strings = Self { bytes: Vec::new(), offsets: HashTable::new() };
        strings.intern("");
        strings
    }

    /// The offset of `text`; equal strings have equal offsets. Strings past 4 GB become empty.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        let hash = xxh3_64(text.as_bytes());
        if let Some(&offset) = self.offsets.find(hash, |&offset| text_at(&self.bytes, offset) == text) {
            return offset;
        }
        let Ok(offset) = u32::try_from(self.bytes.len()) else { return 0 };
        self.bytes.write_varint(text.len()).expect("a vector takes all bytes");
        self.bytes.extend_from_slice(text.as_bytes());
        let bytes = &self.bytes;
        self.offsets.insert_unique(hash, offset, |&offset| xxh3_64(text_at(bytes, offset).as_bytes()));
        offset
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_are_stored_once() {
        let mut strings = Strings::new();
        let long = "ü".repeat(100);
        let (a, b) = (strings.intern("main"), strings.intern(&long));
        assert_eq!(strings.intern("main"), a);
        assert_eq!(strings.intern(""), 0);
        assert_eq!(text_at(strings.bytes(), b), long);
        assert_eq!(text_at(strings.bytes(), u32::MAX), "");
    }
}
