//! Connections over the limit: idle ones are closed first, probes are always answered, one address has a share.

use serde_json::Value;

use crate::client::{self, Connection};
use crate::harness::Harness;

const PLACES: usize = 20;

/// A request whose body lacks its last byte: its connection is busy.
fn unfinished(token: &str) -> Vec<u8> {
    let head = "POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2";
    format!("{head}\r\nAuthorization: Bearer {token}\r\n\r\n{{").into_bytes()
}

/// Opens `busy` connections with a request in flight each.
async fn open(harness: &Harness, token: &str, busy: usize) -> Vec<Connection> {
    let mut connections = Vec::new();
    for _ in 0..busy {
        let mut connection = Connection::open(harness.address()).await;
        connection.write(&unfinished(token)).await;
        connections.push(connection);
    }
    // The server has begun to read all of them.
    while harness.app().ingest.bodies.held() < busy {
        client::arrive().await;
    }
    connections
}

#[tokio::test]
async fn idle_connections_are_closed_for_new_ones() {
    let harness = Harness::start_with(|config| config.connections_max = PLACES).await;
    let mut idle = Vec::new();
    for _ in 0..3 * PLACES {
        let mut connection = Connection::open(harness.address()).await;
        connection.write(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await;
        assert_ne!(connection.read().await, 0, "a new visitor is answered");
        idle.push(connection);
    }
    harness.api("GET", "/health", &Value::Null).await.expect(200);
    harness.api("GET", "/api/has-organizations", &Value::Null).await.expect(200);
    // The oldest connections were closed: reads return 0 bytes.
    let oldest = idle.swap_remove(0);
    assert!(oldest.rest().await.is_empty());
}

#[tokio::test]
async fn probes_are_answered_while_all_places_are_busy() {
    let mut harness = Harness::start_with(|config| config.connections_max = PLACES).await;
    let project = harness.register().await;
    let busy = open(&harness, &project.token, PLACES).await;
    for path in ["/health", "/livez", "/readyz"] {
        harness.api("GET", path, &Value::Null).await.expect(200);
    }
    let refused = harness.api("GET", "/api/has-organizations", &Value::Null).await.expect(503);
    assert!(refused.header("Retry-After").is_some());
    drop(busy);
    while harness.api("GET", "/api/has-organizations", &Value::Null).await.status != 200 {
        client::arrive().await;
    }
}

#[tokio::test]
async fn one_address_has_a_limited_share_of_connections() {
    // Loopback is not a trusted proxy here, so its connections have the share of one client: two.
    let mut harness = Harness::start_with(|config| {
        config.connections_max = PLACES;
        config.trusted_proxies = Some("192.0.2.1".to_owned());
    })
    .await;
    let project = harness.register().await;
    let mut busy = open(&harness, &project.token, 2).await;
    // A connection over the share is closed without being read.
    let mut third = Connection::open(harness.address()).await;
    let _ = third.try_write(b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(third.rest().await.is_empty(), "the share of this address is in use");
    let mut first = busy.remove(0);
    first.write(b"}").await;
    assert_ne!(first.read().await, 0);
    // The first connection is idle now and is closed for the next one.
    harness.api("GET", "/livez", &Value::Null).await.expect(200);
}

/// RFC 9112, section 9.6: a client must not send another request on a connection that the server closes.
#[tokio::test]
async fn an_answer_before_a_large_body_is_read_has_connection_close() {
    let harness = Harness::start().await;
    let request = |body: &[u8]| {
        let head = "POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nContent-Type: application/json";
        let head = format!("{head}\r\nAuthorization: Bearer unknown\r\nContent-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };

    let large = client::raw(harness.address(), &request(&[b' '; 70_000])).await.expect(401);
    assert_eq!(large.header("connection"), Some("close"));

    // The server reads a small body and discards it: the connection continues with the next request.
    let mut connection = Connection::open(harness.address()).await;
    connection.write(&request(b"{}")).await;
    connection.write(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    let answers = String::from_utf8_lossy(&connection.rest().await).into_owned();
    assert!(answers.starts_with("HTTP/1.1 401") && answers.contains("HTTP/1.1 200"), "{answers}");
}
