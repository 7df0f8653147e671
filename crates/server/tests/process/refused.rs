//! A real SDK handles refusals: it retries after 503, and its batch is stored once; it drops the batch on 413 and 400.
//!
//! Spec: errors, "Client behaviour stated". The server runs in this process, so that the test can take its slots.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use tidewatch_store::TelemetryStore;

use tidewatch_limits as limits;
use tidewatch_server::app::{App, Environment};
use tidewatch_server::config::Config;
use tidewatch_server::listen::ListenAddress;
use tidewatch_server::serve;
use tidewatch_store::tables::Table;
use tokio::sync::oneshot;

use super::sdk::python_app;

/// A server in this process and its project's token.
struct Here {
    address: SocketAddr,
    app: Arc<App>,
    token: String,
    _stop: oneshot::Sender<()>,
    _data: tempfile::TempDir,
}

async fn server(change: fn(&mut Config)) -> Here {
    let data = tempfile::tempdir().expect("a temporary folder");
    let mut config = Config::new(([127, 0, 0, 1], 0).into(), data.path());
    config.setup_code = Some("off".to_owned());
    change(&mut config);
    let (stop, stopped) = oneshot::channel::<()>();
    let (ready, is_ready) = oneshot::channel();
    let on_ready = |address: &ListenAddress, app: &Arc<App>| {
        let _ = ready.send((address.clone(), app.clone()));
    };
    tokio::spawn(serve::serve(config, Environment::real(), on_ready, async {
        let _ = stopped.await;
    }));
    let (address, app) = is_ready.await.expect("the server starts");
    let ListenAddress::Tcp(address) = address else { panic!("{address} is no TCP address") };
    let body = "{\"email\":\"a@b.cd\",\"name\":\"A\",\"password\":\"12345678\",\"organizationName\":\"O\",\"projectName\":\"p\"}";
    let request = format!(
        "POST /api/register HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = tokio::task::spawn_blocking(move || exchange(address, request.as_bytes())).await.expect("an answer");
    let answer = String::from_utf8(answer).expect("text");
    let json: serde_json::Value = serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    let token = json["project"]["token"].as_str().expect("a token").to_owned();
    Here { address, app, token, _stop: stop, _data: data }
}

impl Here {
    /// Runs the SDK and returns the result that it prints.
    async fn export(&self, to: SocketAddr, more_headers: &str) -> String {
        let token = self.token.clone();
        let headers = format!("Authorization=Bearer%20{token}{more_headers}");
        let run = move || {
            let output = Command::new("venv/bin/python")
                .arg("refused.py")
                .current_dir(python_app())
                .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{to}/api/otel"))
                .env("OTEL_EXPORTER_OTLP_HEADERS", headers)
                .output()
                .expect("python runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        tokio::task::spawn_blocking(run).await.expect("no panic")
    }

    /// The number of stored rows by table.
    async fn rows(&self) -> BTreeMap<&'static str, u64> {
        let app = self.app.clone();
        tokio::task::spawn_blocking(move || {
            app.lake.flush().expect("it can flush");
            let stats = app.lake.stats();
            let rows = |table| stats.tables.iter().find(|stats| stats.table == table).map_or(0, |stats| stats.rows);
            BTreeMap::from([("spans", rows(Table::Spans)), ("endpoints", rows(Table::Endpoints))])
        })
        .await
        .expect("no panic")
    }
}

fn exchange(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.write_all(request).expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    answer
}

/// Reads one request from a connection, and adds `Connection: close` to its head.
fn request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 65536];
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if bytes.len() >= end + 4 + length.unwrap_or(0) {
            let head: String = head
                .lines()
                .filter(|line| !line.starts_with("Connection:"))
                .map(|line| format!("{line}\r\n"))
                .collect();
            return Some([head.as_bytes(), b"Connection: close\r\n\r\n", &bytes[end + 4..]].concat());
        }
    }
}

/// Starts a proxy that loses the first answer: the server has stored the batch, but its sender gets 503.
fn losing_the_first_answer(server: SocketAddr) -> (SocketAddr, Arc<std::sync::atomic::AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            while let Some(request) = request(&mut stream) {
                let answer = exchange(server, &request);
                assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
                let is_first = counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
                let lost = &b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"[..];
                let _ = stream.write_all(if is_first { lost } else { &answer });
                if !is_first {
                    break;
                }
            }
        }
    });
    (address, count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_503_is_retried() {
    let here = server(|config| config.ingest_concurrent_max = 1).await;
    let gate = here.app.ingest.admission.clone();
    let mut slots = Vec::new();
    for _ in 0..limits::INGEST_CONCURRENT_MIN {
        slots.push(gate.enter(u32::MAX).await.unwrap_or_else(|_| panic!("a free slot")));
    }
    // Each waiting request is of another project, so that fairness refuses none of them.
    let waiting: Vec<_> = (0..limits::INGEST_WAITING_MIN as u32)
        .map(|project| {
            let gate = gate.clone();
            tokio::spawn(async move { drop(gate.enter(1_000_000 + project).await) })
        })
        .collect();
    while gate.waiting() < limits::INGEST_WAITING_MIN {
        tokio::task::yield_now().await;
    }
    let refused_before = here.app.ingest.refusals();
    let free = async {
        while here.app.ingest.refusals() == refused_before {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        drop(slots);
    };
    let (said, ()) = tokio::join!(here.export(here.address, ""), free);
    assert_eq!(said, "SUCCESS");
    for wait in waiting {
        wait.await.expect("no panic");
    }
    assert_eq!(here.rows().await, BTreeMap::from([("spans", 1), ("endpoints", 1)]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_whose_answer_was_lost_is_stored_once() {
    let here = server(|_| ()).await;
    let (proxy, count) = losing_the_first_answer(here.address);
    assert_eq!(here.export(proxy, "").await, "SUCCESS");
    assert_eq!(count.load(std::sync::atomic::Ordering::SeqCst), 2, "it was sent twice");
    assert_eq!(here.rows().await, BTreeMap::from([("spans", 1), ("endpoints", 1)]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_413_or_400_drops_the_batch() {
    let small = server(|config| config.otlp_body_bytes_max = 100).await;
    assert_eq!(small.export(small.address, "").await, "FAILURE");
    assert_eq!(small.app.ingest.refusals(), 1, "413: sent once");
    let here = server(|_| ()).await;
    // A body that does not match its encoding.
    assert_eq!(here.export(here.address, ",content-encoding=gzip").await, "FAILURE");
    assert_eq!(here.app.ingest.refusals(), 1, "400: sent once");
    for server in [small, here] {
        assert_eq!(server.rows().await, BTreeMap::from([("spans", 0), ("endpoints", 0)]));
    }
}
