//! Attackers of several kinds, a few tasks each, which run until they are stopped.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};

use tidewatch_limits::INGEST_INLINE_BYTES_MAX;

use super::exporter::{try_post, try_send};
use super::otlp::{gzip, span, traces, zstd};

const SLOW: usize = 2000;
const ENDLESS_HEADS: usize = 100;
/// Far more than the slots and the queue hold.
const OVERLOADERS: usize = 50;
/// The number of shared bodies, and of spans in each: too many to be decoded on the thread that reads the body.
const OVERLOAD_BODIES: u64 = 20;
const OVERLOAD_SPANS: u64 = 4000;
/// The interval at which all of them send at once.
const OVERLOAD_EVERY: Duration = Duration::from_millis(300);
const BOMBERS: usize = 4;
const RESETTERS: usize = 4;
/// As many as may upload at once.
const UPLOADERS: usize = 4;
const PARTS: usize = 1_000_000;

/// Responses to the attackers.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// Statuses of the well-formed exports of the overload.
    pub overload: BTreeMap<u16, u64>,
    pub bombs: BTreeMap<u16, u64>,
    /// Statuses of uploads with a million parts.
    pub uploads: BTreeMap<u16, u64>,
    /// Connections the server closed on streams of resets and of headers.
    pub resets: u64,
    /// Connections the server closed on endless heads.
    pub heads: u64,
}

struct Shared {
    address: SocketAddr,
    token: String,
    upload_token: String,
    stopping: AtomicBool,
    overload: Mutex<BTreeMap<u16, u64>>,
    bombs: Mutex<BTreeMap<u16, u64>>,
    uploads: Mutex<BTreeMap<u16, u64>>,
    resets: AtomicU64,
    heads: AtomicU64,
}

pub struct Attack {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

impl Shared {
    fn is_running(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed)
    }

    async fn connect(&self) -> Option<TcpStream> {
        TcpStream::connect(self.address).await.ok()
    }
}

impl Attack {
    pub async fn stop(self) -> Seen {
        self.shared.stopping.store(true, Ordering::Relaxed);
        for task in self.tasks {
            // Some tasks still wait for an answer.
            let mut task = task;
            if tokio::time::timeout(Duration::from_secs(5), &mut task).await.is_err() {
                task.abort();
            }
        }
        Seen {
            overload: self.shared.overload.lock().await.clone(),
            bombs: self.shared.bombs.lock().await.clone(),
            uploads: self.shared.uploads.lock().await.clone(),
            resets: self.shared.resets.load(Ordering::Relaxed),
            heads: self.shared.heads.load(Ordering::Relaxed),
        }
    }
}

/// Starts the attackers; returns when the slow ones are connected.
pub async fn start(address: SocketAddr, token: String, upload_token: String) -> Attack {
    let shared = Arc::new(Shared {
        address,
        token,
        upload_token,
        stopping: AtomicBool::new(false),
        overload: Mutex::default(),
        bombs: Mutex::default(),
        uploads: Mutex::default(),
        resets: AtomicU64::new(0),
        heads: AtomicU64::new(0),
    });
    let zeros = vec![0; 100 << 20];
    let bombs = Arc::new([("gzip", gzip(&zeros)), ("zstd", zstd(&zeros))]);
    let bodies: Arc<[Vec<u8>]> = (0..OVERLOAD_BODIES).map(overload_body).collect();
    let mut slow = Vec::new();
    for _ in 0..SLOW {
        slow.push(shared.connect().await.expect("the server takes this many connections"));
    }
    let mut tasks = vec![tokio::spawn(a_byte_a_second(shared.clone(), slow))];
    tasks.extend((0..ENDLESS_HEADS).map(|_| tokio::spawn(endless_head(shared.clone()))));
    let begun = Instant::now();
    tasks.extend((0..OVERLOADERS).map(|first| tokio::spawn(overload(shared.clone(), bodies.clone(), first, begun))));
    tasks.extend((0..BOMBERS).map(|_| tokio::spawn(bomb(shared.clone(), bombs.clone()))));
    let parts = Arc::new(a_million_parts());
    tasks.extend((0..UPLOADERS).map(|_| tokio::spawn(upload(shared.clone(), parts.clone()))));
    tasks.extend((0..RESETTERS).map(|number| tokio::spawn(http2(shared.clone(), number % 2 == 0))));
    Attack { shared, tasks }
}

async fn a_byte_a_second(shared: Arc<Shared>, mut connections: Vec<TcpStream>) {
    let head = format!(
        "POST /api/otel/v1/traces HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/x-protobuf\r\nContent-Length: 10000000\r\n\r\n",
        shared.token
    );
    for connection in &mut connections {
        let _ = connection.write_all(head.as_bytes()).await;
    }
    while shared.is_running() {
        for connection in &mut connections {
            let _ = connection.try_write(b"x");
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn endless_head(shared: Arc<Shared>) {
    while shared.is_running() {
        let Some(mut connection) = shared.connect().await else { continue };
        let _ = connection.write_all(b"GET / HTTP/1.1\r\nx: ").await;
        while shared.is_running() && connection.write_all(&[b'y'; 1000]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        shared.heads.fetch_add(1, Ordering::Relaxed);
    }
}

/// Bodies are built before the attack, so that the measurement covers the server only.
fn overload_body(number: u64) -> Vec<u8> {
    let first = (number + 1) << 32;
    let body = traces((first..first + OVERLOAD_SPANS).map(span).collect());
    assert!(body.len() > INGEST_INLINE_BYTES_MAX, "{} bytes", body.len());
    body
}

async fn overload(shared: Arc<Shared>, bodies: Arc<[Vec<u8>]>, first: usize, begun: Instant) {
    let mut ticks = tokio::time::interval_at(begun, OVERLOAD_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while shared.is_running() {
        let Some(mut connection) = shared.connect().await else { continue };
        for body in bodies.iter().cycle().skip(first % bodies.len()) {
            ticks.tick().await;
            let Some(status) = try_post(&mut connection, &shared.token, "", body).await else {
                break;
            };
            *shared.overload.lock().await.entry(status).or_default() += 1;
            if !shared.is_running() {
                return;
            }
        }
    }
}

async fn bomb(shared: Arc<Shared>, bombs: Arc<[(&'static str, Vec<u8>); 2]>) {
    while shared.is_running() {
        for (coding, body) in bombs.iter() {
            let Some(mut connection) = shared.connect().await else { continue };
            let encoding = format!("Content-Encoding: {coding}\r\n");
            if let Some(status) = try_post(&mut connection, &shared.token, &encoding, body).await {
                *shared.bombs.lock().await.entry(status).or_default() += 1;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

fn a_million_parts() -> Vec<u8> {
    let part = b"--X\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\nx\r\n";
    [&part.repeat(PARTS)[..], b"--X--\r\n"].concat()
}

async fn upload(shared: Arc<Shared>, parts: Arc<Vec<u8>>) {
    let headers =
        format!("Authorization: Bearer {}\r\nContent-Type: multipart/form-data; boundary=X\r\n", shared.upload_token);
    while shared.is_running() {
        let Some(mut connection) = shared.connect().await else { continue };
        if let Some(status) = try_send(&mut connection, "/api/symbols/upload", &headers, &parts).await {
            *shared.uploads.lock().await.entry(status).or_default() += 1;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A frame header and its payload: length, type, flags, stream.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Streams that are reset as soon as they are opened, or headers that never end.
async fn http2(shared: Arc<Shared>, resets: bool) {
    // HPACK: indexed :method GET, :scheme http, :path /; :authority as a literal.
    let head = [0x82, 0x86, 0x84, 0x01, 1, b'a'];
    while shared.is_running() {
        let Some(mut connection) = shared.connect().await else { continue };
        let _ = connection.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 0, 0, &[])].concat()).await;
        let mut stream = 1;
        for _ in 0..100 {
            let mut bytes = Vec::new();
            if resets {
                for _ in 0..100 {
                    bytes.extend(frame(1, 0x5, stream, &head));
                    bytes.extend(frame(3, 0, stream, &8u32.to_be_bytes()));
                    stream += 2;
                }
            } else {
                if stream == 1 {
                    bytes.extend(frame(1, 0, 1, &head));
                    stream = 3;
                }
                // A literal header, repeatedly, without END_HEADERS.
                let field = [&[0x00, 1, b'x', 100][..], &[b'y'; 100]].concat();
                bytes.extend(frame(9, 0, 1, &field.repeat(20)));
            }
            if connection.write_all(&bytes).await.is_err() {
                break;
            }
        }
        let mut waste = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(1), connection.read_to_end(&mut waste)).await;
        shared.resets.fetch_add(1, Ordering::Relaxed);
    }
}
