//! Slow clients: real sockets, and a paused clock that advances when all tasks are idle. Spec: limits, timeouts.

use std::net::SocketAddr;

use serde_json::json;
use tidewatch_limits as limits;
use tidewatch_limits::RouteLimits;
use tokio::time::{Duration, Instant, sleep};

use crate::client::{self, Answer, arrive};
use crate::harness::{Harness, Project};

/// A connection that lets written bytes arrive before the clock advances.
struct Connection(client::Connection);

impl Connection {
    async fn open(address: SocketAddr) -> Connection {
        let connection = Connection(client::Connection::open(address).await);
        arrive().await;
        connection
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes).await;
        arrive().await;
    }

    async fn try_write(&mut self, bytes: &[u8]) -> bool {
        let written = self.0.try_write(bytes).await;
        arrive().await;
        written
    }

    async fn read(&mut self) -> usize {
        self.0.read().await
    }

    async fn rest(self) -> Vec<u8> {
        self.0.rest().await
    }

    async fn answer(self) -> Answer {
        self.0.answer().await
    }
}

/// Seconds by which the clock may advance while the answer is on its way: to the next check of the connection.
const ON_ITS_WAY: u64 = 4;

fn head(path: &str, token: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n"
    )
}

/// One route of each class, with its token. None queries the database: a paused clock would advance while the
/// database's thread works.
fn routes(project: &Project) -> [(&'static str, String, RouteLimits); 5] {
    [
        ("/api/otel/v1/traces", project.token.clone(), limits::OTLP),
        ("/api/otel/v1/logs", project.token.clone(), limits::OTLP),
        ("/api/report", project.token.clone(), limits::REPORT),
        ("/test/anonymous", String::new(), limits::ANONYMOUS),
        ("/test/json", String::new(), limits::JSON),
    ]
}

/// Sends the head and the pieces: (seconds to wait before, bytes). Returns the answer and the elapsed seconds.
async fn send(
    address: SocketAddr,
    route: &(&str, String, RouteLimits),
    length: usize,
    pieces: &[(u64, usize)],
) -> (Answer, u64) {
    let start = Instant::now();
    let mut connection = Connection::open(address).await;
    connection.write(head(route.0, &route.1, length).as_bytes()).await;
    for (pause, bytes) in pieces {
        sleep(Duration::from_secs(*pause)).await;
        connection.write(&vec![b' '; *bytes]).await;
    }
    (connection.answer().await, start.elapsed().as_secs())
}

#[track_caller]
fn assert_too_slow(answer: &Answer, limits: &RouteLimits, path: &str) {
    match limits.slow_response {
        limits::SlowResponse::Timeout408 => {
            assert_eq!(answer.status, 408, "{path}");
            assert_eq!(answer.header("Retry-After"), None, "{path}");
            assert_eq!(answer.json(), json!({"error": "the request body came too slowly"}), "{path}");
        }
        limits::SlowResponse::Retry503 => {
            assert_eq!(answer.status, 503, "{path}");
            let seconds = answer.header("Retry-After").and_then(|text| text.parse::<u64>().ok());
            assert!(seconds.is_some_and(|seconds| seconds >= 1), "{path}: {seconds:?}");
        }
    }
}

#[tokio::test]
async fn too_slow_is_408_and_503_where_exporters_retry() {
    let (harness, project) = Harness::with_project().await;
    tokio::time::pause();
    for route in routes(&project) {
        let gap = route.2.body_gap_max.as_secs();
        for (what, pieces, expected) in [
            ("nothing at all", vec![], 20),
            ("a byte a second", vec![(1, 1); 19], 20),
            ("a gap", vec![(0, 50_000)], gap),
        ] {
            let (answer, seconds) = send(harness.address(), &route, 60_000, &pieces).await;
            assert_too_slow(&answer, &route.2, route.0);
            assert!((expected..=expected + ON_ITS_WAY).contains(&seconds), "{}: {what} after {seconds} s", route.0);
        }
    }
    assert_eq!(harness.app().ingest.bodies.held(), 0);
}

#[tokio::test]
async fn slow_bodies_within_their_time_are_accepted() {
    let (harness, project) = Harness::with_project().await;
    tokio::time::pause();
    for route in routes(&project) {
        for pieces in [vec![(19, 1)], vec![(6, 10), (6, 10), (7, 10)], vec![(0, 40_000), (19, 20)]] {
            let length: usize = pieces.iter().map(|(_, bytes)| bytes).sum();
            let mut connection = Connection::open(harness.address()).await;
            let head = head(route.0, &route.1, length).replace("Host: a", "Host: a\r\nConnection: close");
            connection.write(head.as_bytes()).await;
            for (pause, bytes) in &pieces {
                sleep(Duration::from_secs(*pause)).await;
                connection.write(&vec![b' '; *bytes]).await;
            }
            let answer = connection.answer().await;
            // Blanks are not JSON, but they were read.
            assert!(matches!(answer.status, 200 | 400), "{}: {} {pieces:?}", route.0, answer.status);
        }
    }
}

// "OTLP 2 min", "/api/report 10 min total", "10 min total": bodies that continue to arrive beyond the total time.
#[tokio::test]
async fn no_body_takes_longer_than_its_total() {
    let (harness, project) = Harness::with_project().await;
    tokio::time::pause();
    for route in [&routes(&project)[0], &routes(&project)[2], &routes(&project)[4]] {
        let total = route.2.body_total_max.as_secs();
        let pieces = vec![(5, 12_000); total as usize / 5 - 1];
        let length = 12_000 * pieces.len() + 12_000;
        let (answer, seconds) = send(harness.address(), route, length, &pieces).await;
        assert_too_slow(&answer, &route.2, route.0);
        assert!((total..=total + ON_ITS_WAY).contains(&seconds), "{}: after {seconds} s", route.0);
    }
}

// Spec: limits, row "Admission-gate wait": not counted against any timeout.
#[tokio::test]
async fn waiting_for_a_slot_counts_against_no_timeout() {
    let mut harness = Harness::start_with(|config| config.ingest_concurrent_max = 1).await;
    let project = harness.register().await;
    tokio::time::pause();
    let app = harness.app().clone();
    // All but one of the four slots, the minimum.
    let mut others = Vec::new();
    for _ in 1..limits::INGEST_CONCURRENT_MIN {
        others.push(app.ingest.admission.enter(7).await.unwrap_or_else(|_| panic!("a free slot")));
    }
    let slot = app.ingest.admission.enter(7).await.unwrap_or_else(|_| panic!("a free slot"));
    for whole in [true, false] {
        let mut connection = Connection::open(harness.address()).await;
        let head = head("/api/otel/v1/traces", &project.token, 2).replace("Host: a", "Host: a\r\nConnection: close");
        connection.write(head.as_bytes()).await;
        connection.write(if whole { b"{}" } else { b"{" }).await;
        if whole {
            sleep(Duration::from_secs(3600)).await;
            assert_eq!(app.ingest.admission.waiting(), 1);
            continue;
        }
    }
    drop(slot);
    let mut connection = Connection::open(harness.address()).await;
    let head = head("/api/otel/v1/traces", &project.token, 2).replace("Host: a", "Host: a\r\nConnection: close");
    connection.write(head.as_bytes()).await;
    connection.write(b"{").await;
    while app.ingest.bodies.held() == 0 {
        tokio::task::yield_now().await;
    }
    // A slow body holds no slot; when it is complete, the request waits for a slot without a timeout.
    let slot = app.ingest.admission.enter(7).await.unwrap_or_else(|_| panic!("a slow client holds no slot"));
    connection.write(b"}").await;
    while app.ingest.admission.waiting() == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    sleep(Duration::from_secs(3600)).await;
    drop(slot);
    assert_eq!(connection.answer().await.status, 200);
}

// Spec: limits, rows "Headers" and "Idle keep-alive".
#[tokio::test]
async fn heads_have_15_seconds_and_idle_connections_two_minutes() {
    let harness = Harness::start().await;
    tokio::time::pause();
    for (name, first, expected) in [
        ("silence", &b""[..], 15),
        ("half a head", b"GET /health HTTP/1.1\r\nHost: a\r\n", 15),
        ("idle", b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n", 120),
        ("half a preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\n", 15),
    ] {
        let start = Instant::now();
        let mut connection = Connection::open(harness.address()).await;
        connection.write(first).await;
        connection.rest().await;
        let seconds = start.elapsed().as_secs();
        assert!((expected..=expected + 3 + ON_ITS_WAY).contains(&seconds), "{name}: closed after {seconds} s");
    }
    let mut connection = Connection::open(harness.address()).await;
    connection.write(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_ne!(connection.read().await, 0);
    sleep(Duration::from_secs(100)).await;
    let start = Instant::now();
    connection.write(b"GET /hea").await;
    connection.rest().await;
    assert!(
        (15..=18 + ON_ITS_WAY).contains(&start.elapsed().as_secs()),
        "a second head: after {} s",
        start.elapsed().as_secs()
    );
    // An endless header: one byte per second does not keep the connection open.
    let start = Instant::now();
    let mut connection = Connection::open(harness.address()).await;
    connection.write(b"GET /health HTTP/1.1\r\nX: ").await;
    let mut sent = 0;
    while sent < 60 && connection.try_write(b"x").await {
        sent += 1;
        sleep(Duration::from_secs(1)).await;
    }
    assert!((15..=19 + ON_ITS_WAY).contains(&start.elapsed().as_secs()), "after {} s", start.elapsed().as_secs());
}

// "Streaming responses (live tail) are exempt from body totals", and do not count as idle.
#[tokio::test]
async fn a_live_tail_has_no_timeout() {
    let harness = Harness::start().await;
    tokio::time::pause();
    let start = Instant::now();
    let mut connection = Connection::open(harness.address()).await;
    connection.write(b"GET /test/tail HTTP/1.1\r\nHost: a\r\n\r\n").await;
    while start.elapsed() < Duration::from_secs(2 * 3600) {
        assert_ne!(connection.read().await, 0, "closed after {} s", start.elapsed().as_secs());
    }
}

// Spec: limits, row "Upload concurrency": excess uploads wait 30 s, then get 503.
#[tokio::test]
async fn an_upload_waits_30_seconds_for_a_slot() {
    let harness = Harness::start().await;
    tokio::time::pause();
    let app = harness.app().clone();
    let mut slots = Vec::new();
    for _ in 0..limits::UPLOAD_CONCURRENT {
        slots.push(app.ingest.uploads.enter(0).await.unwrap_or_else(|_| panic!("a free slot")));
    }
    let request = "POST /test/upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\
                   Content-Type: multipart/form-data; boundary=X\r\n\r\n--X--";
    let start = Instant::now();
    let mut refused = Connection::open(harness.address()).await;
    refused.write(request.as_bytes()).await;
    let answer = refused.answer().await;
    assert_eq!(answer.status, 503);
    assert!((30..=30 + ON_ITS_WAY).contains(&start.elapsed().as_secs()), "after {} s", start.elapsed().as_secs());
    assert!(answer.header("Retry-After").is_some());

    let mut waits = Connection::open(harness.address()).await;
    waits.write(request.as_bytes()).await;
    sleep(Duration::from_secs(29)).await;
    slots.pop();
    assert_eq!(waits.answer().await.status, 200);
}
