//! An incremental parser of `multipart/form-data`: RFC 7578, and the subset of RFC 2046 that clients use.
//!
//! It buffers at most the bytes of one push, a boundary and the headers of one part.
//!
//! multer (3.1) is not used: it reads all available data, and the size of its part headers has no limit (100 MiB of
//! headers take 107 MB; this parser refuses after 8 KiB). It finds a `filename` inside the quoted name of a field, and
//! keeps a backslash in a file name.

use bytes::{Bytes, BytesMut};
use memchr::memmem::{self, Finder};

use tidewatch_limits as limits;

/// Why a body cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MultipartError {
    /// The content type is not multipart, or its boundary is missing, empty or too long.
    #[error("the content type must be multipart/form-data with a boundary")]
    NoBoundary,
    /// The headers of a part exceed [`limits::PART_HEADER_BYTES_MAX`].
    #[error("the headers of a part are too long")]
    LongHeaders,
    /// A part has no `Content-Disposition` with a name.
    #[error("a part has no content disposition with a name")]
    NoName,
    /// Unexpected bytes follow a boundary.
    #[error("a boundary is followed by neither a part nor the end")]
    BadBoundary,
    /// The body ends before the final boundary.
    #[error("the last boundary is missing")]
    Unfinished,
}

/// The headers of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartHead {
    /// The name of the form field.
    pub name: String,
    /// The file name. `None` if the part is not a file.
    pub file_name: Option<String>,
}

/// An event of the parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A part begins.
    Part(PartHead),
    /// Data of the current part. Never empty.
    Data(Bytes),
    /// The current part is complete.
    PartEnd,
    /// The final boundary. Bytes after it are ignored.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Preamble,
    /// Directly after a boundary.
    Boundary,
    Head,
    Data,
    End,
}

/// The parser of one body.
pub struct Multipart {
    /// CR LF, two dashes and the boundary.
    delimiter: Finder<'static>,
    buffer: BytesMut,
    state: State,
}

const LINE_END: &[u8] = b"\r\n";
const HEAD_END: &[u8] = b"\r\n\r\n";
const DASHES: &[u8] = b"--";

impl Multipart {
    /// A parser for a request with this `Content-Type`. Fails without a valid boundary.
    pub fn new(content_type: &str) -> Result<Multipart, MultipartError> {
        let boundary = boundary(content_type).ok_or(MultipartError::NoBoundary)?;
        let delimiter = Finder::new(&[LINE_END, DASHES, boundary.as_bytes()].concat()).into_owned();
        // The first boundary may begin the body, without a preceding line end.
        Ok(Multipart { delimiter, buffer: BytesMut::from(LINE_END), state: State::Preamble })
    }

    /// Appends bytes of the body. Call [`Multipart::event`] until it returns `None` before the next push.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event in the bytes pushed so far. `None` if more bytes are needed.
    pub fn event(&mut self) -> Result<Option<Event>, MultipartError> {
        loop {
            match self.state {
                State::Preamble => match self.until_delimiter() {
                    (_, true) => self.state = State::Boundary,
                    (_, false) => return Ok(None),
                },
                State::Boundary => match self.after_boundary()? {
                    Some(State::End) => {
                        self.state = State::End;
                        return Ok(Some(Event::End));
                    }
                    Some(state) => self.state = state,
                    None => return Ok(None),
                },
                State::Head => {
                    let Some(head) = self.head()? else { return Ok(None) };
                    self.state = State::Data;
                    return Ok(Some(Event::Part(head)));
                }
                State::Data => {
                    let (data, ended) = self.until_delimiter();
                    if !data.is_empty() {
                        if ended {
                            // The next call consumes the delimiter again, without preceding data.
                            self.unread_delimiter();
                        }
                        return Ok(Some(Event::Data(data)));
                    }
                    if !ended {
                        return Ok(None);
                    }
                    self.state = State::Boundary;
                    return Ok(Some(Event::PartEnd));
                }
                State::End => {
                    self.buffer.clear();
                    return Ok(None);
                }
            }
        }
    }

    /// Fails if the body has ended before the final boundary.
    pub fn finish(&self) -> Result<(), MultipartError> {
        if self.state == State::End { Ok(()) } else { Err(MultipartError::Unfinished) }
    }

    /// Consumes the data before the next delimiter, and the delimiter if it is complete. Returns the data, and whether
    /// the delimiter was consumed.
    fn until_delimiter(&mut self) -> (Bytes, bool) {
        if let Some(at) = self.delimiter.find(&self.buffer) {
            let data = self.buffer.split_to(at).freeze();
            let _ = self.buffer.split_to(self.delimiter.needle().len());
            return (data, true);
        }
        // The last bytes may be the beginning of a delimiter.
        let safe = (self.buffer.len() + 1).saturating_sub(self.delimiter.needle().len());
        (self.buffer.split_to(safe).freeze(), false)
    }

    fn unread_delimiter(&mut self) {
        let mut buffer = BytesMut::from(self.delimiter.needle());
        buffer.extend_from_slice(&self.buffer);
        self.buffer = buffer;
    }

    /// The state after a boundary; `None` if more bytes are needed. Blanks after a boundary are ignored.
    fn after_boundary(&mut self) -> Result<Option<State>, MultipartError> {
        if self.buffer.starts_with(DASHES) {
            return Ok(Some(State::End));
        }
        let blanks = self.buffer.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = &self.buffer[blanks..];
        if rest.starts_with(LINE_END) {
            // The line end stays in the buffer: it may be the beginning of the end of an empty head.
            let _ = self.buffer.split_to(blanks);
            return Ok(Some(State::Head));
        }
        let may_follow = LINE_END.starts_with(rest) || (blanks == 0 && DASHES.starts_with(rest));
        if may_follow && blanks <= limits::PART_HEADER_BYTES_MAX { Ok(None) } else { Err(MultipartError::BadBoundary) }
    }

    fn head(&mut self) -> Result<Option<PartHead>, MultipartError> {
        let searched = &self.buffer[..self.buffer.len().min(limits::PART_HEADER_BYTES_MAX)];
        let Some(at) = memmem::find(searched, HEAD_END) else {
            let is_long = searched.len() == limits::PART_HEADER_BYTES_MAX;
            return if is_long { Err(MultipartError::LongHeaders) } else { Ok(None) };
        };
        let head = self.buffer.split_to(at + HEAD_END.len());
        part_head(&String::from_utf8_lossy(&head)).map(Some).ok_or(MultipartError::NoName)
    }
}

/// The boundary parameter of a `multipart/form-data` content type. `None` if it is missing or invalid.
fn boundary(content_type: &str) -> Option<String> {
    let (essence, parameters) = content_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameter(parameters, "boundary")?;
    (!boundary.is_empty() && boundary.len() <= limits::BOUNDARY_BYTES_MAX).then_some(boundary)
}

fn part_head(head: &str) -> Option<PartHead> {
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-disposition").then_some(value)
    })?;
    let (_, parameters) = disposition.split_once(';')?;
    Some(PartHead { name: parameter(parameters, "name")?, file_name: parameter(parameters, "filename") })
}

/// The value of a parameter in `a=b; c="d"`. Quoted values may escape quotes and backslashes.
fn parameter(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        let (key, after) = rest.split_once('=')?;
        let (value, left) = value(after);
        if key.trim().eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = left;
    }
}

/// A value, quoted or not, and the rest of the input.
fn value(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + character.len_utf8()..]),
            '\\' => match characters.next() {
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                // A Windows path, in which backslashes are not escaped.
                Some((_, other)) => value.extend(['\\', other]),
                None => break,
            },
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests;
