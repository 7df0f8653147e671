//! Connections: keep-alive, HTTP/2 without TLS, and draining.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::Harness;

/// Reads until the bytes hold `text`.
async fn read_until(stream: &mut TcpStream, text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while !bytes.windows(text.len()).any(|window| window == text) {
        let count = stream.read(&mut piece).await.expect("the connection stays open");
        assert_ne!(count, 0, "closed after {}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..count]);
    }
    bytes
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let harness = Harness::start().await;
    let mut stream = TcpStream::connect(harness.address()).await.unwrap();
    for _ in 0..3 {
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        read_until(&mut stream, b"{\"status\":\"ok\"}").await;
    }
}

/// A frame header: length, type, flags, stream.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

// OTLP.md, row "Transport": h2c without an upgrade.
#[tokio::test]
async fn http2_without_tls() {
    let harness = Harness::start().await;
    let mut stream = TcpStream::connect(harness.address()).await.unwrap();
    // HPACK: indexed :method GET, :scheme http; :path and :authority as literals without indexing.
    let headers = [&[0x82, 0x86, 0x04, 7][..], b"/health", &[0x01, 1], b"a"].concat();
    let hello = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 0, 0, &[]), &frame(1, 0x5, 1, &headers)].concat();
    stream.write_all(&hello).await.unwrap();
    let bytes = read_until(&mut stream, b"{\"status\":\"ok\"}").await;
    let mut at = 0;
    let mut statuses = Vec::new();
    while at + 9 <= bytes.len() {
        let length = u32::from_be_bytes([0, bytes[at], bytes[at + 1], bytes[at + 2]]) as usize;
        if bytes[at + 3] == 1 {
            statuses.push(bytes[at + 9]);
        }
        at += 9 + length;
    }
    assert_eq!(statuses, [0x88], "HPACK for :status 200");
}

#[tokio::test]
async fn a_stop_lets_the_request_in_flight_finish() {
    let (mut harness, project) = Harness::with_project().await;
    let mut stream = TcpStream::connect(harness.address()).await.unwrap();
    let head = format!(
        "POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
        project.token
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    read_until(&mut stream, b"100 Continue").await;
    let stopped = harness.stop();
    let finish = async {
        stream.write_all(b"{}").await.unwrap();
        read_until(&mut stream, b"HTTP/1.1 200").await;
    };
    tokio::join!(stopped, finish);
}
