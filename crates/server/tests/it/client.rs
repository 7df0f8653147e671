//! A small HTTP/1.1 client that sends exactly the given bytes: one request per connection.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A parsed response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header; the name is case-insensitive.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Returns the answer if it has this status, and panics with the body otherwise.
    #[track_caller]
    pub fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    fn parse(bytes: &[u8]) -> Answer {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
        let head = std::str::from_utf8(&bytes[..end]).expect("a head of text");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let mut answer = Answer { status: status.expect("a status line"), headers, body: bytes[end + 4..].to_vec() };
        if answer.header("Transfer-Encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            answer.body = unchunked(&answer.body);
        }
        answer
    }
}

/// Decodes a chunked body. RFC 9112, 7.1.
fn unchunked(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = chunks.windows(2).position(|two| two == b"\r\n").expect("a chunk's size");
        let size = std::str::from_utf8(&chunks[..line]).expect("a size of text");
        let size = usize::from_str_radix(size.trim(), 16).expect("a size in hexadecimal digits");
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&chunks[line + 2..line + 2 + size]);
        chunks = &chunks[line + 2 + size + 2..];
    }
}

/// Sends one request; `Content-Length` is added, everything else is sent as given.
pub async fn send(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\n\r\n", body.len());
    raw(address, &[head.as_bytes(), body].concat()).await
}

/// Sends raw bytes and returns the answer; the server closes the connection.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    // The server refuses a body before it has read all of it, so writing may fail half-way.
    let (mut read, mut write) = stream.split();
    let mut answer = Vec::new();
    let (_, received) = tokio::join!(write.write_all(bytes), read.read_to_end(&mut answer));
    // A reset after the answer is no failure either.
    if answer.is_empty() {
        received.expect("an answer");
    }
    Answer::parse(&answer)
}

/// Sends one request with a chunked body.
pub async fn chunked(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    let mut request = format!("POST {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n").into_bytes();
    for (name, value) in headers {
        request.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    request.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
    for chunk in body.chunks(1 << 20) {
        request.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        request.extend_from_slice(chunk);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    raw(address, &request).await
}

/// Waits until sent bytes have arrived. A paused clock does not advance meanwhile; otherwise it would run ahead of the
/// system's network.
pub async fn arrive() {
    let wait = || std::thread::park_timeout(std::time::Duration::from_millis(5));
    tokio::task::spawn_blocking(wait).await.expect("no panic");
}

/// A connection whose writes and reads the test controls.
pub struct Connection {
    stream: TcpStream,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Connection {
        Connection { stream: TcpStream::connect(address).await.expect("the server listens") }
    }

    pub async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the server reads");
    }

    /// Returns false if the server has closed the connection.
    pub async fn try_write(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Reads until the server closes the connection.
    pub async fn rest(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.stream.read_to_end(&mut bytes).await;
        bytes
    }

    /// The only answer; the server closes the connection after it.
    pub async fn answer(self) -> Answer {
        Answer::parse(&self.rest().await)
    }

    /// Reads once and returns the number of bytes; 0 at the end.
    pub async fn read(&mut self) -> usize {
        let mut piece = [0; 4096];
        self.stream.read(&mut piece).await.unwrap_or(0)
    }
}
