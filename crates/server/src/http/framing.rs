//! Where in an HTTP/1 connection's stream of requests its last byte was: in a head, in a body, or between requests.
//!
//! hyper keeps what came behind a request to itself: half a head that arrives in one packet with the request before it
//! would look like silence. Only lengths are read here; what a request means, and whether it is well-formed, hyper says.

/// Follows the bytes as they come, whatever they are cut into.
#[derive(Debug, Default)]
pub struct Framing {
    at: At,
    line: Line,
    body: Body,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before a request, or within its head.
    #[default]
    Head,
    /// So many bytes of a body are to come.
    Sized(u64),
    /// At the line with a chunk's length.
    ChunkLength,
    /// So many bytes of a chunk are to come.
    Chunk(u64),
    /// At the end of the line behind a chunk.
    ChunkEnd,
    Trailers,
    /// What came has no meaning as HTTP/1.
    Lost,
}

/// What a head said about the body.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Not a line of the head has come.
    #[default]
    Unread,
    Sized(u64),
    Chunked,
}

/// The line that is coming. Longer ones are cut: none that matter are so long.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Framing {
    pub fn follow(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.at {
                At::Sized(left) => self.skip(bytes, left, At::Sized, At::Head),
                At::Chunk(left) => self.skip(bytes, left, At::Chunk, At::ChunkEnd),
                At::Head | At::ChunkLength | At::ChunkEnd | At::Trailers => self.line(bytes),
                At::Lost => return,
            };
        }
    }

    /// A head has begun and has not ended.
    pub fn is_in_head(&self) -> bool {
        self.at == At::Head && (self.body != Body::Unread || !self.line.bytes.is_empty())
    }

    fn skip<'a>(&mut self, bytes: &'a [u8], left: u64, going_on: fn(u64) -> At, then: At) -> &'a [u8] {
        let skipped = left.min(bytes.len() as u64);
        self.at = if skipped == left { then } else { going_on(left - skipped) };
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
        // Its space serves the next line.
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
                // The request's own line.
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
    /// `None`: a line about the body that says nothing.
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

/// Hexadecimal, before any extension.
fn chunk_length(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

impl Line {
    /// Long enough for every line that says something about the body.
    const BYTES_MAX: usize = 256;

    fn add(&mut self, bytes: &[u8]) {
        let room = Line::BYTES_MAX - self.bytes.len();
        self.is_cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Requests, and what of them is a head.
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
        /// Spec: limits, row "Headers": whatever packets requests come in, a head that has begun is known as one.
        #[test]
        fn heads_bodies_and_nothing(
            pieces in proptest::collection::vec(0..PIECES.len(), 1..6),
            cuts in proptest::collection::vec(1_usize..40, 1..50),
            long in 0_usize..1000,
        ) {
            let mut stream = Vec::new();
            let mut is_head = Vec::new();
            for (head, body) in pieces.into_iter().map(|piece| PIECES[piece]) {
                let head = head.replace("Host: a", &format!("Host: {}", "a".repeat(long)));
                let blank = head.len() - head.trim_start().len();
                // After the last byte of an empty line before it, and of its own, no head is under way.
                is_head.extend((1..=head.len()).map(|at| at != blank && at < head.len()));
                is_head.extend(body.bytes().map(|_| false));
                stream.extend_from_slice(head.as_bytes());
                stream.extend_from_slice(body.as_bytes());
            }
            let mut framing = Framing::default();
            let (mut at, mut cuts) = (0, cuts.into_iter().cycle());
            while at < stream.len() {
                let end = stream.len().min(at + cuts.next().expect("they go round"));
                framing.follow(&stream[at..end]);
                prop_assert_eq!(framing.is_in_head(), is_head[end - 1], "{:?}", String::from_utf8_lossy(&stream[..end]));
                at = end;
            }
        }

        #[test]
        fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let mut framing = Framing::default();
            framing.follow(&bytes);
            prop_assert!(framing.line.bytes.len() <= Line::BYTES_MAX);
        }
    }

    #[test]
    fn what_makes_no_sense_is_not_waited_for() {
        for text in [
            "POST / HTTP/1.1\r\nContent-Length: x\r\nHost:",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nGET /",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\nGET /",
        ] {
            let mut framing = Framing::default();
            framing.follow(text.as_bytes());
            assert!(!framing.is_in_head(), "{text:?}");
        }
    }
}
