//! A blocking HTTP/1.1 client over one kept-alive connection. Plain `http://` only, because TLS would add CPU time of
//! the client.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, bail};

/// Timeout of connects, reads and writes.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The destination of requests, parsed from a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `host:port`
    pub authority: String,
    /// Path with its leading slash and query; empty when the URL has none.
    pub path: String,
}

impl Target {
    /// Parses an `http://` URL. An error for other schemes and without a host.
    pub fn parse(url: &str) -> anyhow::Result<Target> {
        let Some(rest) = url.strip_prefix("http://") else {
            bail!("{url} is not an http:// URL (there is no TLS here)")
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if host.is_empty() {
            bail!("{url} names no host");
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let authority = if has_port { host.to_owned() } else { format!("{host}:80") };
        Ok(Target { authority, path: path.trim_end_matches('/').to_owned() })
    }
}

/// A request: its head without the length, and its body.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Request line and headers, each line with its end; no `Content-Length`.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

/// The head of a request with these headers (`Name: value`).
pub fn head(method: &str, target: &Target, path: &str, headers: &[String]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", target.authority);
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head
}

/// A keep-alive connection. It is opened again for the next request when it cannot be reused.
pub struct Connection {
    target: Target,
    stream: Option<BufReader<TcpStream>>,
    /// Body of the last response.
    pub answer: Vec<u8>,
    out: Vec<u8>,
}

impl Connection {
    /// A connection that is opened by the first request.
    pub fn new(target: Target) -> Connection {
        Connection { target, stream: None, answer: Vec::new(), out: Vec::new() }
    }

    /// Opens the connection now.
    pub fn connect(&mut self) -> anyhow::Result<()> {
        self.stream = Some(connect(&self.target)?);
        Ok(())
    }

    /// Sends a request, reads the whole response, and returns its status.
    pub fn send(&mut self, request: &Request) -> anyhow::Result<u16> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => connect(&self.target)?,
        };
        self.out.clear();
        self.out.extend_from_slice(request.head.as_bytes());
        write!(self.out, "Content-Length: {}\r\n\r\n", request.body.len())?;
        self.out.extend_from_slice(&request.body);
        let sent = stream.get_mut().write_all(&self.out);
        let answer = read_answer(&mut stream, &mut self.answer);
        // A server may refuse a request before it has read the body, and close. Its response is more specific than the
        // write error.
        let (status, keep) = match (sent, answer) {
            (Ok(()), answer) => answer.context("cannot read the answer")?,
            (Err(_), Ok((status, _))) => (status, false),
            (Err(error), Err(_)) => return Err(error).context("cannot send"),
        };
        if keep {
            self.stream = Some(stream);
        }
        Ok(status)
    }
}

fn connect(target: &Target) -> anyhow::Result<BufReader<TcpStream>> {
    let stream =
        TcpStream::connect(&target.authority).with_context(|| format!("cannot connect to {}", target.authority))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(BufReader::with_capacity(64 * 1024, stream))
}

/// Reads a response into `body`. Returns the status, and whether the connection can be reused.
fn read_answer(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<(u16, bool)> {
    let bad = |what: &'static str| io::Error::new(io::ErrorKind::InvalidData, what);
    body.clear();
    let mut line = String::new();
    let mut status;
    let (mut length, mut chunked, mut keep);
    loop {
        next_line(reader, &mut line)?;
        status = line.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or_else(|| bad("no status line"))?;
        (length, chunked, keep) = (None, false, !line.starts_with("HTTP/1.0"));
        loop {
            next_line(reader, &mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    length = Some(value.parse::<u64>().map_err(|_| bad("content-length is no number"))?)
                }
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                "connection" => keep = !value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        // 1xx: the final response follows.
        if status >= 200 {
            break;
        }
    }
    match (chunked, length) {
        (true, _) => loop {
            next_line(reader, &mut line)?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(size, 16).map_err(|_| bad("a chunk has no size"))?;
            if reader.by_ref().take(size).read_to_end(body)? as u64 != size {
                return Err(bad("the answer is cut off"));
            }
            next_line(reader, &mut line)?;
            if size == 0 {
                // Trailers end with an empty line.
                while !line.is_empty() {
                    next_line(reader, &mut line)?;
                }
                break;
            }
        },
        (false, Some(length)) => {
            if reader.by_ref().take(length).read_to_end(body)? as u64 != length {
                return Err(bad("the answer is cut off"));
            }
        }
        (false, None) if matches!(status, 204 | 304) => {}
        (false, None) => {
            reader.read_to_end(body)?;
            keep = false;
        }
    }
    Ok((status, keep))
}

/// Reads a line without its line ending.
fn next_line(reader: &mut impl BufRead, line: &mut String) -> io::Result<()> {
    line.clear();
    if reader.read_line(line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end().len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed() {
        for (url, authority, path) in [
            ("http://localhost:4318", "localhost:4318", ""),
            ("http://host/api/otel/", "host:80", "/api/otel"),
            ("http://[::1]:80/v1/traces?x=1", "[::1]:80", "/v1/traces?x=1"),
        ] {
            let target = Target::parse(url).expect("a URL");
            assert_eq!((target.authority.as_str(), target.path.as_str()), (authority, path));
        }
        assert!(Target::parse("https://host").is_err() && Target::parse("http:///x").is_err());
    }

    #[test]
    fn responses_of_every_framing_are_read() {
        for (answer, status, body, keep) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", true),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;x\r\n you\r\n0\r\n\r\n",
                200,
                "hi yo",
                true,
            ),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 204, "", true),
            ("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 503, "", false),
            ("HTTP/1.0 200 OK\r\n\r\nall of it", 200, "all of it", false),
        ] {
            let answer = answer.replace("3;x\r\n you", "3;x\r\n yo");
            let mut read = Vec::new();
            let found = read_answer(&mut answer.as_bytes(), &mut read).expect("an answer");
            assert_eq!((found, String::from_utf8_lossy(&read).as_ref()), ((status, keep), body), "{answer}");
        }
        let mut read = Vec::new();
        assert!(read_answer(&mut "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi".as_bytes(), &mut read).is_err());
    }
}
