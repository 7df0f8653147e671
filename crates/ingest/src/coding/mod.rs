//! Content encodings: which ones are supported, and how a body is inflated without exceeding the limit in memory.
//!
//! gzip is inflated by libdeflate in one call when the trailer's size is plausible, else by a stream decoder that reads
//! any number of members. Every path counts the bytes it produces: a decompression bomb costs at most the limit.

use std::io::Read;

use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use bytes::Bytes;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use libdeflater::Decompressor;

/// A content encoding: gzip, deflate, zstd and nothing else. DECISIONS 19.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coding {
    /// Not compressed.
    Identity,
    /// gzip, with any number of members.
    Gzip,
    /// zlib as in RFC 9110, or the raw deflate that some clients send under this name.
    Deflate,
    /// Zstandard, with a window of at most 16 MB.
    Zstd,
}

/// Reasons for which a body could not be inflated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InflateError {
    /// The body inflates to more bytes than allowed.
    TooLarge,
    /// The body does not match its encoding, or is truncated.
    Bad,
}

/// A buffer of the size of the largest body so far, and libdeflate's tables.
pub struct Inflater {
    buffer: Vec<u8>,
    gzip: Decompressor,
}

/// Maximum compression ratio of deflate; a trailer that claims more is wrong.
const DEFLATE_RATIO_MAX: usize = 1032;
/// zstd: the largest window that is accepted, as a power of two (16 MB).
const ZSTD_WINDOW_LOG_MAX: u32 = 24;
/// Assumed compression ratio of streams that do not state their size.
const RATIO_GUESS: usize = 8;
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const GZIP_TRAILER_BYTES: usize = 8;
const GZIP_MEMBER_BYTES_MIN: usize = 18;

impl Default for Inflater {
    fn default() -> Inflater {
        Inflater { buffer: Vec::new(), gzip: Decompressor::new() }
    }
}

impl Inflater {
    /// The inflated body: `body` itself when it is not compressed, else a view of this inflater's buffer.
    pub fn inflate<'a>(
        &'a mut self,
        coding: Coding,
        body: &'a [u8],
        bytes_max: usize,
    ) -> Result<&'a [u8], InflateError> {
        match coding {
            Coding::Identity if body.len() > bytes_max => Err(InflateError::TooLarge),
            Coding::Identity => Ok(body),
            Coding::Gzip => match self.gzip_in_one_shot(body, bytes_max) {
                Some(length) => Ok(&self.buffer[..length]),
                None => self.read(MultiGzDecoder::new(body), body.len(), bytes_max),
            },
            Coding::Deflate if has_zlib_header(body) => {
                match self.read(ZlibDecoder::new(body), body.len(), bytes_max) {
                    // Two bytes that look like a zlib header can also begin a raw stream.
                    Err(InflateError::Bad) => self.read(DeflateDecoder::new(body), body.len(), bytes_max),
                    // The borrow checker rejects returning the first result, so it is taken from the buffer again.
                    Ok(inflated) => {
                        let length = inflated.len();
                        Ok(&self.buffer[..length])
                    }
                    Err(error) => Err(error),
                }
            }
            Coding::Deflate => self.read(DeflateDecoder::new(body), body.len(), bytes_max),
            Coding::Zstd => {
                let mut stream = zstd::stream::read::Decoder::with_buffer(body).map_err(|_| InflateError::Bad)?;
                stream.window_log_max(ZSTD_WINDOW_LOG_MAX).map_err(|_| InflateError::Bad)?;
                self.read(stream, body.len(), bytes_max)
            }
        }
    }

    /// Frees the buffer if it has more than `bytes`.
    pub fn free_above(&mut self, bytes: usize) {
        if self.buffer.len() > bytes {
            self.buffer = Vec::new();
        }
    }

    /// Size of the buffer, bytes.
    #[cfg(test)]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Length of the inflated body in the buffer. `None` when the stream decoder must read it: several members, a wrong
    /// size in the trailer, over the limit, or damaged.
    fn gzip_in_one_shot(&mut self, body: &[u8], bytes_max: usize) -> Option<usize> {
        if body.len() < GZIP_MEMBER_BYTES_MIN || holds_another_member(body) {
            return None;
        }
        let size = body[body.len() - GZIP_TRAILER_BYTES / 2..].try_into().ok()?;
        let size = u32::from_le_bytes(size) as usize;
        if size > bytes_max.min(body.len().saturating_mul(DEFLATE_RATIO_MAX)) {
            return None;
        }
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        let made = self.gzip.gzip_decompress(body, &mut self.buffer[..size]).ok()?;
        (made == size).then_some(size)
    }

    fn read(&mut self, mut stream: impl Read, body_bytes: usize, bytes_max: usize) -> Result<&[u8], InflateError> {
        let guess = body_bytes.saturating_mul(RATIO_GUESS).clamp(1024, bytes_max.max(1024));
        if self.buffer.len() < guess {
            self.buffer.resize(guess, 0);
        }
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                // One byte past the limit is enough to detect an excess.
                let larger = (length * 2).min(bytes_max.saturating_add(1)).max(length + 1);
                self.buffer.resize(larger, 0);
            }
            match stream.read(&mut self.buffer[length..]) {
                Ok(0) => break,
                Ok(bytes) => length += bytes,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(InflateError::Bad),
            }
            if length > bytes_max {
                return Err(InflateError::TooLarge);
            }
        }
        Ok(&self.buffer[..length])
    }
}

/// Whether a second gzip member may begin inside. A false positive is rare and only costs time.
fn holds_another_member(body: &[u8]) -> bool {
    let rest = &body[GZIP_MEMBER_BYTES_MIN..];
    // Reserved flag bits are zero in every member's fourth byte.
    memchr::memmem::find_iter(rest, &GZIP_MAGIC).any(|at| rest.get(at + 3).is_some_and(|flags| flags & 0xe0 == 0))
}

fn has_zlib_header(body: &[u8]) -> bool {
    matches!(body, [method, flags, ..] if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31))
}

/// The body's content coding. The error names the unsupported one. Several codings on one body are not supported.
pub fn of(headers: &HeaderMap) -> Result<Coding, String> {
    let mut found = Coding::Identity;
    for value in headers.get_all(CONTENT_ENCODING) {
        let value = value.to_str().map_err(|_| "with bytes that are no text".to_owned())?;
        for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let coding = match name.to_ascii_lowercase().as_str() {
                "identity" => continue,
                "gzip" | "x-gzip" => Coding::Gzip,
                "deflate" => Coding::Deflate,
                "zstd" => Coding::Zstd,
                _ => return Err(name.to_owned()),
            };
            if found != Coding::Identity {
                return Err(format!("{value} (more than one)"));
            }
            found = coding;
        }
    }
    Ok(found)
}

/// The error message for an unsupported content encoding.
pub fn unknown(name: &str) -> String {
    format!("content encoding {name} is not one of gzip, deflate, zstd")
}

/// Inflates a body into memory of its own. Blocks.
pub fn inflate_whole(coding: Coding, body: &[u8], bytes_max: usize) -> Result<Bytes, InflateError> {
    let mut inflater = Inflater::default();
    let length = inflater.inflate(coding, body, bytes_max)?.len();
    if coding == Coding::Identity {
        return Ok(Bytes::copy_from_slice(body));
    }
    inflater.buffer.truncate(length);
    Ok(Bytes::from(inflater.buffer))
}

#[cfg(test)]
mod tests;
