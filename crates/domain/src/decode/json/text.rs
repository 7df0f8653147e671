//! Reads JSON strings: borrowed from the body without escapes, else unescaped into the arena.

use bumpalo::collections::String as ArenaString;

use super::reader::Reader;
use crate::decode::fault::{Fault, fault};

impl<'a> Reader<'a> {
    /// A string. `what` names the field in the fault.
    #[inline]
    pub(super) fn string(&mut self, what: &str) -> Result<&'a str, Fault> {
        if !self.take(b'"') {
            return Err(self.wrong_type(what, "a string"));
        }
        self.string_content()
    }

    /// A string whose opening quote has been consumed.
    #[inline]
    pub(super) fn string_content(&mut self) -> Result<&'a str, Fault> {
        let start = self.at;
        let end = self.string_run()?;
        let run = &self.text[start..end];
        if self.text.as_bytes()[end] == b'"' {
            self.at = end + 1;
            return Ok(run);
        }
        self.unescape(run, end)
    }

    /// Skips a string and validates its escapes.
    pub(super) fn skip_string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            let end = self.string_run()?;
            self.at = end + 1;
            if self.text.as_bytes()[end] == b'"' {
                return Ok(());
            }
            self.escape()?;
        }
    }

    /// Offset of the next quote or backslash. Searches eight bytes at a time.
    #[inline]
    fn string_run(&self) -> Result<usize, Fault> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while let Some(chunk) = bytes[at..].first_chunk::<8>() {
            let found = ends(u64::from_le_bytes(*chunk));
            if found != 0 {
                return Ok(at + found.trailing_zeros() as usize / 8);
            }
            at += 8;
        }
        match bytes[at..].iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            Some(length) => Ok(at + length),
            None => Err(fault!("the JSON string before byte {} is not closed", bytes.len())),
        }
    }

    /// A string with escapes: `run` is the part before the first backslash, `at` the offset of that backslash.
    #[cold]
    fn unescape(&mut self, run: &str, mut at: usize) -> Result<&'a str, Fault> {
        let mut out = ArenaString::with_capacity_in(run.len() + 32, self.stacks.arena);
        out.push_str(run);
        while self.text.as_bytes()[at] == b'\\' {
            self.at = at + 1;
            out.push(self.escape()?);
            let start = self.at;
            at = self.string_run()?;
            out.push_str(&self.text[start..at]);
        }
        self.at = at + 1;
        Ok(out.into_bump_str())
    }

    /// The character of the escape after a backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        let letter = self.text.as_bytes().get(start).copied();
        self.at += usize::from(letter.is_some_and(|letter| letter.is_ascii()));
        match letter {
            Some(plain @ (b'"' | b'\\' | b'/')) => Ok(char::from(plain)),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode_escape(),
            _ => Err(fault!("JSON: no such escape at byte {start}")),
        }
    }

    /// The character of `\uXXXX` or of a surrogate pair. A lone surrogate reads as U+FFFD.
    fn unicode_escape(&mut self) -> Result<char, Fault> {
        let unit = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return Ok(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let after_high = self.at;
        if self.take_word("\\u") {
            let low = self.four_digits()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after_high;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_digits(&mut self) -> Result<u32, Fault> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4).unwrap_or_default();
        let mut unit = 0;
        for &digit in digits {
            let Some(value) = char::from(digit).to_digit(16) else { break };
            unit = unit << 4 | value;
            self.at += 1;
        }
        match digits {
            [_, _, _, last] if last.is_ascii_hexdigit() && digits.iter().all(u8::is_ascii_hexdigit) => Ok(unit),
            _ => Err(fault!("JSON: four hexadecimal digits are expected at byte {}", self.at)),
        }
    }
}

/// Sets the high bit of each byte that is a quote or a backslash. Bits above the lowest set one may be wrong.
#[inline]
fn ends(chunk: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    zero_bytes(chunk ^ (ONES * b'"' as u64)) | zero_bytes(chunk ^ (ONES * b'\\' as u64))
}
