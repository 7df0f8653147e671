//! Bit streams: numbers of fixed width, and Rice codes for numbers that are mostly small.

/// Writes bits, the lowest of a byte first.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    /// Bits of the last, incomplete byte.
    open: u64,
    count: u32,
}

impl Writer {
    /// Writes a number in `width` bits, at most 32.
    pub fn bits(&mut self, value: u64, width: u32) {
        debug_assert!(width <= 32 && value >> width == 0);
        self.open |= value << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.open as u8);
            self.open >>= 8;
            self.count -= 8;
        }
    }

    /// Writes a Rice code: `value >> low` ones, a zero, then the low `low` bits.
    pub fn rice(&mut self, value: u64, low: u32) {
        let mut ones = value >> low;
        while ones >= 16 {
            self.bits(0xFFFF, 16);
            ones -= 16;
        }
        self.bits((1 << ones) - 1, ones as u32 + 1);
        self.bits(value & ((1 << low) - 1), low);
    }

    /// The number of bits written.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64 * 8 + u64::from(self.count)
    }

    /// The bytes, with the last one padded with zeros.
    pub fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.open as u8);
        }
        self.bytes
    }
}

/// Reads bits. Methods return `None` past the end.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// A reader of the bits `from..to` of `bytes`.
    pub fn new(bytes: &'a [u8], from: u32, to: u32) -> Reader<'a> {
        Reader { bytes, at: from as usize, end: (to as usize).min(bytes.len() * 8) }
    }

    /// Whether all bits were read.
    pub fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// The next bits, at least 57 unless the bytes end before.
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or(&[]);
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        word >> (self.at % 8)
    }

    /// Reads a number of `width` bits, at most 32.
    pub fn bits(&mut self, width: u32) -> Option<u64> {
        let value = self.window() & ((1_u64 << width) - 1);
        self.at += width as usize;
        (self.at <= self.end).then_some(value)
    }

    /// Reads a Rice code with `low` low bits.
    pub fn rice(&mut self, low: u32) -> Option<u64> {
        let mut ones = 0;
        loop {
            let run = self.window().trailing_ones().min(32);
            ones += u64::from(run);
            self.at += run as usize;
            if self.at >= self.end {
                return None;
            }
            if run < 32 {
                break;
            }
        }
        self.at += 1;
        Some(ones << low | self.bits(low)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn written_bits_are_read_back(
            numbers in prop::collection::vec((0..5000_u64, any::<u32>(), 0..33_u32), 0..50), low in 0..9_u32,
        ) {
            let mut writer = Writer::default();
            for (small, wide, width) in &numbers {
                writer.rice(*small, low);
                writer.bits(u64::from(*wide) & ((1 << width) - 1), *width);
            }
            let bits = writer.len();
            let bytes = writer.finish();
            prop_assert_eq!(bytes.len() as u64, bits.div_ceil(8));
            let mut reader = Reader::new(&bytes, 0, bits as u32);
            for (small, wide, width) in &numbers {
                prop_assert_eq!(reader.rice(low), Some(*small));
                prop_assert_eq!(reader.bits(*width), Some(u64::from(*wide) & ((1 << width) - 1)));
            }
            prop_assert!(reader.is_empty());
            prop_assert_eq!(reader.rice(low), None);
        }

        #[test]
        fn arbitrary_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), from in 0..8_u32, low in 0..9_u32) {
            let mut reader = Reader::new(&bytes, from, bytes.len() as u32 * 8);
            while let (false, Some(_)) = (reader.is_empty(), reader.rice(low)) {}
        }
    }
}
