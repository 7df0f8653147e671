//! The position in an HTTP/1 request stream: in a head, in a body, or between requests.
//!
//! hyper does not expose bytes that it has buffered behind a request: without this parser, a partial head in the same
//! packet as the previous request would look like an idle connection. Only lengths are parsed; hyper validates
//! requests.
//!
//! A request head has 15 s, an idle connection 2 minutes. hyper (1.12) has one timer for both, `header_read_timeout`,
//! which starts when the connection becomes idle.

/// An incremental parser of request lengths. Input may be split at any byte.
#[derive(Debug, Default)]
pub struct Framing {
    at: At,
    line: Line,
    body: Body,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before a request, or in its head.
    #[default]
    Head,
    /// The number of bytes left of a body.
    Sized(u64),
    /// In the line with a chunk's length.
    ChunkLength,
    /// The number of bytes left of a chunk.
    Chunk(u64),
    /// In the line end after a chunk.
    ChunkEnd,
    Trailers,
    /// The input is not HTTP/1.
    Lost,
}

/// The body's framing, according to the head.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// No line of the head was read.
    #[default]
    Unread,
    Sized(u64),
    Chunked,
}

/// The current line, truncated to [`Line::BYTES_MAX`].
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Framing {
    /// Parses the next bytes of the stream.
    pub fn advance(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.at {
                At::Sized(left) => self.skip(bytes, left, At::Sized, At::Head),
                At::Chunk(left) => self.skip(bytes, left, At::Chunk, At::ChunkEnd),
                At::Head | At::ChunkLength | At::ChunkEnd | At::Trailers => self.line(bytes),
                At::Lost => return,
            };
        }
    }

    /// Whether a head has begun and has not ended.
    pub fn is_in_head(&self) -> bool {
        self.at == At::Head && (self.body != Body::Unread || !self.line.bytes.is_empty())
    }

    fn skip<'a>(&mut self, bytes: &'a [u8], left: u64, within: fn(u64) -> At, then: At) -> &'a [u8] {
        let skipped = left.min(bytes.len() as u64);
        self.at = if skipped == left { then } else { within(left - skipped) };
        &bytes[skipped as usize..]
    }

    fn line<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.line.add(bytes);
            return &[];
        };
        self.line.add(&bytes[..end]);
        let line = std::mem::take(&mut self.line);
        self.at = self.after(line.bytes.trim_ascii(), line.is_cut);
        // The buffer is reused for the next line.
        self.line.bytes = line.bytes;
        self.line.bytes.clear();
        &bytes[end + 1..]
    }

    fn after(&mut self, line: &[u8], is_cut: bool) -> At {
        match self.at {
            // Empty lines may precede a request.
            At::Head if line.is_empty() && self.body == Body::Unread => At::Head,
            At::Head if line.is_empty() => match std::mem::take(&mut self.body) {
                Body::Chunked => At::ChunkLength,
                Body::Sized(length) if length > 0 => At::Sized(length),
                Body::Sized(_) | Body::Unread => At::Head,
            },
            At::Head => match self.body {
                // The request line.
                Body::Unread => {
                    self.body = Body::Sized(0);
                    At::Head
                }
                known => match known.with(line, is_cut) {
                    Some(body) => {
                        self.body = body;
                        At::Head
                    }
                    None => At::Lost,
                },
            },
            At::ChunkLength => match chunk_length(line) {
                Some(0) => At::Trailers,
                Some(length) => At::Chunk(length),
                None => At::Lost,
            },
            At::ChunkEnd if line.is_empty() => At::ChunkLength,
            At::Trailers if line.is_empty() => At::Head,
            At::Trailers => At::Trailers,
            At::ChunkEnd | At::Sized(_) | At::Chunk(_) | At::Lost => At::Lost,
        }
    }
}

impl Body {
    /// The framing after a header line; `None` if the line is an invalid or truncated length.
    fn with(self, line: &[u8], is_cut: bool) -> Option<Body> {
        let Some(colon) = memchr::memchr(b':', line) else { return Some(self) };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return (!is_cut).then_some(Body::Chunked);
        }
        if name.eq_ignore_ascii_case(b"content-length") && self != Body::Chunked {
            let length = std::str::from_utf8(value).ok()?.parse().ok()?;
            return (!is_cut).then_some(Body::Sized(length));
        }
        Some(self)
    }
}

/// The length of a chunk: hexadecimal digits before any extension. `None` if they are invalid.
fn chunk_length(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

impl Line {
    /// Longer than every line that determines the body's framing.
    const BYTES_MAX: usize = 256;

    fn add(&mut self, bytes: &[u8]) {
        let capacity = Line::BYTES_MAX - self.bytes.len();
        self.is_cut |= bytes.len() > capacity;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(capacity)]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Heads and bodies of requests.
    const PIECES: &[(&str, &str)] = &[
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ""),
        ("\r\nGET / HTTP/1.1\nHost: a\n\n", ""),
        ("POST / HTTP/1.1\r\nCONTENT-length:  5 \r\n\r\n", "12\r\n3"),
        ("POST / HTTP/1.1\r\nContent-Length: 0\r\nx: content-length: 9\r\n\r\n", ""),
        (
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            "5;name=value\r\n12\r\n3\r\nA\r\n0123456789\r\n0\r\nDigest: none\r\n\r\n",
        ),
        ("PUT / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "0\r\n\r\n"),
    ];

    proptest! {
        /// Spec: limits, row "Headers": an incomplete head is found however requests are split into packets.
        #[test]
        fn incomplete_heads_are_found(
            pieces in proptest::collection::vec(0..PIECES.len(), 1..6),
            cuts in proptest::collection::vec(1_usize..40, 1..50),
            long in 0_usize..1000,
        ) {
            let mut stream = Vec::new();
            let mut is_head = Vec::new();
            for (head, body) in pieces.into_iter().map(|piece| PIECES[piece]) {
                let head = head.replace("Host: a", &format!("Host: {}", "a".repeat(long)));
                let blank = head.len() - head.trim_start().len();
                // No head is incomplete after the empty line before a request, nor after the one that ends its head.
                is_head.extend((1..=head.len()).map(|at| at != blank && at < head.len()));
                is_head.extend(body.bytes().map(|_| false));
                stream.extend_from_slice(head.as_bytes());
                stream.extend_from_slice(body.as_bytes());
            }
            let mut framing = Framing::default();
            let (mut at, mut cuts) = (0, cuts.into_iter().cycle());
            while at < stream.len() {
                let end = stream.len().min(at + cuts.next().expect("an endless iterator"));
                framing.advance(&stream[at..end]);
                prop_assert_eq!(framing.is_in_head(), is_head[end - 1], "{:?}", String::from_utf8_lossy(&stream[..end]));
                at = end;
            }
        }

        #[test]
        fn any_bytes_are_parsed_in_bounded_memory(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let mut framing = Framing::default();
            framing.advance(&bytes);
            prop_assert!(framing.line.bytes.len() <= Line::BYTES_MAX);
        }
    }

    #[test]
    fn invalid_framing_is_never_an_incomplete_head() {
        for text in [
            "POST / HTTP/1.1\r\nContent-Length: x\r\nHost:",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nGET /",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\nGET /",
        ] {
            let mut framing = Framing::default();
            framing.advance(text.as_bytes());
            assert!(!framing.is_in_head(), "{text:?}");
        }
    }
}
