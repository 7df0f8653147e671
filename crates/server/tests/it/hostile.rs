//! Malicious clients over raw TCP, bounded in number; the server continues to answer.

use tidewatch_limits as limits;

use crate::client::{self, Connection};
use crate::harness::Harness;
use crate::otlp::{PROTOBUF, span, traces};

#[tokio::test]
async fn heads_that_are_too_large_are_431() {
    let harness = Harness::start().await;
    let filler = "a".repeat(limits::HEADER_BYTES_MAX);
    let lines = "x: y\r\n".repeat(limits::HEADER_COUNT_MAX);
    for (name, head, expected) in [
        ("one long header", format!("GET /health HTTP/1.1\r\nHost: a\r\nx: {filler}\r\n\r\n"), 431),
        ("a long path", format!("GET /{filler} HTTP/1.1\r\nHost: a\r\n\r\n"), 431),
        ("too many headers", format!("GET /health HTTP/1.1\r\nHost: a\r\n{lines}\r\n"), 431),
        (
            "a good deal",
            format!("GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx: {}\r\n\r\n", &filler[..40_000]),
            200,
        ),
        ("not HTTP", "hello\r\n\r\n".to_owned(), 400),
    ] {
        let mut connection = Connection::open(harness.address()).await;
        connection.try_write(head.as_bytes()).await;
        let answer = connection.answer().await;
        assert_eq!(answer.status, expected, "{name}");
        // Spec: limits, row "Frames": on every answer, including those to malformed requests.
        assert_eq!(answer.header("X-Frame-Options"), Some("DENY"), "{name}");
        assert!(expected == 200 || answer.json()["error"].is_string(), "{name}");
    }
}

// A sender that is refused while it still sends reads the refusal, not a reset: a reset would make it send all again.
#[tokio::test]
async fn a_refusal_reaches_a_sender_that_is_still_sending() {
    let (harness, project) = Harness::with_project().await;
    let body = vec![0; 40 << 20];
    for (token, expected) in [(project.token.as_str(), 413), ("wrong", 401)] {
        let authorization = format!("Bearer {token}");
        let headers = [PROTOBUF, ("Authorization", authorization.as_str())];
        client::send(harness.address(), "POST", "/api/otel/v1/traces", &headers, &body).await.expect(expected);
        client::chunked(harness.address(), "/api/otel/v1/traces", &headers, &body).await.expect(expected);
    }
}

// Slow senders with a valid token hold no slots and little memory.
#[tokio::test]
async fn slow_senders_do_not_block_other_senders() {
    let (harness, project) = Harness::with_project().await;
    let head = format!(
        "POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/x-protobuf\r\nContent-Length: 10000000\r\n\r\n",
        project.token
    );
    let mut slow = Vec::new();
    for _ in 0..500 {
        let mut connection = Connection::open(harness.address()).await;
        connection.write(head.as_bytes()).await;
        connection.write(b"x").await;
        slow.push(connection);
    }
    while harness.app().ingest.bodies.held() < slow.len() {
        tokio::task::yield_now().await;
    }
    for number in 0..50 {
        harness.post_otlp("traces", &project.token, &[PROTOBUF], &traces(vec![span(number)])).await.expect(200);
        for connection in &mut slow {
            connection.write(b"x").await;
        }
    }
    assert!(
        harness.app().ingest.bodies.held() <= 100 * slow.len(),
        "{} bytes held",
        harness.app().ingest.bodies.held()
    );
    drop(slow);
    while harness.app().ingest.bodies.held() > 0 {
        tokio::task::yield_now().await;
    }
}
