//! The JSON grammar: objects, arrays, and skipping of unknown values.

use bumpalo::Bump;

use crate::decode::fault::{Fault, fault};
use crate::decode::values::Stacks;

/// Maximum nesting depth of unknown fields.
const SKIP_DEPTH_MAX: u32 = 128;

/// A cursor over the body.
pub(crate) struct Reader<'a> {
    pub(super) text: &'a str,
    /// The next byte to read. Always on a character boundary.
    pub(super) at: usize,
    pub(super) stacks: Stacks<'a>,
}

impl<'a> Reader<'a> {
    /// Skips a byte order mark at the start.
    pub(super) fn new(text: &'a str, arena: &'a Bump) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Reader { text, at, stacks: Stacks::new(arena) }
    }

    /// The next byte that is not white space, without consuming it.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Consumes `byte` if it is next.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(&format_args!("'{}'", char::from(byte)))) }
    }

    /// A fault at the next byte that names the expected token.
    #[cold]
    pub(super) fn unexpected(&mut self, wanted: &dyn std::fmt::Display) -> Fault {
        match self.peek() {
            None => fault!("the JSON body ends where {wanted} is expected (byte {})", self.at),
            Some(_) => fault!("JSON: {wanted} is expected at byte {}", self.at),
        }
    }

    /// A fault for a value of the wrong type, such as `span.name at byte 12 is not a string`.
    #[cold]
    pub(super) fn wrong_type(&mut self, what: &str, wanted: &str) -> Fault {
        self.peek();
        fault!("JSON: {what} at byte {} is not {wanted}", self.at)
    }

    /// Consumes `null` if it is next.
    #[inline]
    pub(super) fn take_null(&mut self) -> bool {
        self.peek() == Some(b'n') && self.take_word("null")
    }

    #[inline]
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    /// Calls `field` with each key whose value is not `null`. `field` must read or [`skip`](Self::skip) the value.
    #[inline]
    pub(super) fn object(
        &mut self,
        what: &str,
        mut field: impl FnMut(&mut Self, &'a str) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if !self.take(b'{') {
            return Err(self.wrong_type(what, "an object"));
        }
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            if !self.take_null() {
                field(self, key)?;
            }
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Reads a key and the colon after it.
    #[inline]
    pub(super) fn key(&mut self) -> Result<&'a str, Fault> {
        let key = self.string("a key")?;
        self.expect(b':')?;
        Ok(key)
    }

    /// Calls `element` for each element of an array, `null` included. `element` must read the value.
    #[inline]
    pub(super) fn list(
        &mut self,
        what: &str,
        mut element: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if !self.take(b'[') {
            return Err(self.wrong_type(what, "an array"));
        }
        if self.take(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Skips one value.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        self.skip_value(1)
    }

    fn skip_value(&mut self, depth: u32) -> Result<(), Fault> {
        if depth > SKIP_DEPTH_MAX {
            return Err(fault!("JSON nested deeper than {SKIP_DEPTH_MAX} levels at byte {}", self.at));
        }
        match self.peek() {
            Some(b'{') => self.object("value", |reader, _| reader.skip_value(depth + 1)),
            Some(b'[') => self.list("value", |reader| reader.skip_value(depth + 1)),
            Some(b'"') => self.skip_string(),
            Some(b'-' | b'0'..=b'9') => self.number_text("number").map(drop),
            _ if self.take_word("true") || self.take_word("false") || self.take_word("null") => Ok(()),
            _ => Err(self.unexpected(&"a value")),
        }
    }

    /// Refuses trailing characters after the request.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(fault!("JSON: unexpected characters after the request at byte {}", self.at)),
        }
    }
}
