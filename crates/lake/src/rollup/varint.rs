//! Variable-length integers, and a bounds-checked reader.

use integer_encoding::{VarInt, VarIntWriter};

/// Appends a number: seven bits per byte, least significant first.
pub fn put(into: &mut Vec<u8>, value: u64) {
    into.write_varint(value).expect("a vector takes all bytes");
}

/// Appends a zigzag-encoded number: small numbers of either sign are short.
pub fn put_signed(into: &mut Vec<u8>, value: i64) {
    into.write_varint(value).expect("a vector takes all bytes");
}

/// Reads numbers. Methods return `None` when the bytes end or are malformed.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    /// The unread bytes.
    pub bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A number written by [`put`].
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let (&first, rest) = self.bytes.split_first()?;
        if first < 0x80 {
            self.bytes = rest;
            return Some(u64::from(first));
        }
        self.long()
    }

    fn long(&mut self) -> Option<u64> {
        let (value, length) = u64::decode_var(self.bytes)?;
        self.bytes = &self.bytes[length..];
        Some(value)
    }

    /// A number written by [`put_signed`].
    #[inline]
    pub fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A little-endian double.
    pub fn double(&mut self) -> Option<f64> {
        let bytes = self.take(8)?;
        Some(f64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// A number of items of at least one byte each: at most the number of remaining bytes.
    pub fn count(&mut self) -> Option<usize> {
        let count = self.number()?;
        usize::try_from(count).ok().filter(|count| *count <= self.bytes.len())
    }

    /// A number of at most `most`.
    pub fn count_below(&mut self, most: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_numbers_are_read_back() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let signed = [0, -1, 1, 63, -64, 64, i64::MIN, i64::MAX];
        numbers.iter().for_each(|number| put(&mut bytes, *number));
        signed.iter().for_each(|number| put_signed(&mut bytes, *number));
        let mut reader = Reader { bytes: &bytes };
        assert!(numbers.iter().all(|number| reader.number() == Some(*number)));
        assert!(signed.iter().all(|number| reader.signed() == Some(*number)));
        assert_eq!((reader.number(), reader.double(), reader.take(1)), (None, None, None));
        for length in 0..bytes.len() {
            let mut reader = Reader { bytes: &bytes[..length] };
            while reader.number().is_some() {}
        }
        assert_eq!(Reader { bytes: &[0xFF; 20] }.number(), None);
    }
}
