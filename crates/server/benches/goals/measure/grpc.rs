//! G11: spans per CPU-second until the durable ack over OTLP/gRPC, beside the same over OTLP/HTTP, in alternating rounds.
//!
//! CPU time of flush and merge threads is excluded, as in `ack`. The load tool speaks HTTP/1.1 only, so this file has a
//! gRPC client: hyper, with one call at a time on each connection.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tidewatch_bench::load::{Pace, Plan};
use tidewatch_bench::payload::Payload;
use tidewatch_bench::process;
use tidewatch_domain::model::Signal;
use tidewatch_limits::clock::Clock;

use super::ack::{BACKGROUND, RATE};
use super::{CONNECTIONS, closed, exports, fixture, median};
use crate::goals::Measured;
use crate::server::{Scratch, Server};
use crate::settings::Settings;

pub fn measure(settings: &Settings) -> Measured {
    let folder = Scratch::new(&settings.folder, "grpc");
    let server = Server::tidewatch(&settings.tidewatch, &folder.0, &[]);
    let (_, token) = server.sign_in();
    let payload = fixture("traces512", Signal::Traces);
    let exports = exports(&server, &token, vec![payload.clone()], false);
    let pid = server.pid();
    let used = || process::cpu_seconds(pid).unwrap_or(f64::NAN) - process::thread_cpu_seconds(pid, BACKGROUND);
    let (mut http, mut grpc, mut refused) = (Vec::new(), Vec::new(), 0);
    for _ in 0..settings.rounds() {
        let plan = Plan { pace: Pace::PerSecond(RATE), warm_up: Duration::ZERO, ..closed(&exports, settings.round()) };
        let before = used();
        let report = exports.send(&plan, None, false).expect("the server runs");
        http.push(report.units / (used() - before));

        let before = used();
        let calls = send(&exports.target.authority, &token, &payload, settings.round());
        grpc.push(calls.accepted as f64 * payload.units as f64 / (used() - before));
        refused += calls.refused;
    }
    let (http, grpc) = (median(http), median(grpc));
    let note = format!("{:.0} ns a span, OTLP/HTTP {:.0}; {refused} calls refused", 1e9 / grpc, 1e9 / http);
    Measured::new("G11", grpc / http, note)
}

#[derive(Default)]
struct Calls {
    accepted: u64,
    refused: u64,
}

/// Sends calls at [`RATE`] over all connections.
fn send(authority: &str, token: &str, payload: &Payload, duration: Duration) -> Calls {
    let next = AtomicU64::new(0);
    let start = Instant::now();
    let mut total = Calls::default();
    std::thread::scope(|scope| {
        let connection = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            let mut sender = runtime.block_on(connect(authority));
            let mut calls = Calls::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let moment = Duration::from_secs_f64(number as f64 / RATE);
                if moment >= duration {
                    return calls;
                }
                process::pause(moment.saturating_sub(start.elapsed()));
                match runtime.block_on(call(&mut sender, authority, token, message(payload, number))) {
                    true => calls.accepted += 1,
                    false => calls.refused += 1,
                }
            }
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(connection)).collect();
        for thread in threads {
            let calls = thread.join().expect("a connection's thread does not panic");
            total.accepted += calls.accepted;
            total.refused += calls.refused;
        }
    });
    total
}

async fn connect(authority: &str) -> SendRequest<Full<Bytes>> {
    let stream = tokio::net::TcpStream::connect(authority).await.expect("the server listens");
    stream.set_nodelay(true).expect("a TCP socket");
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2 without an upgrade");
    tokio::spawn(connection);
    sender
}

/// A message with new ids and times, behind its prefix.
fn message(payload: &Payload, number: u64) -> Bytes {
    let now = Clock::system().now_ns() as u64;
    let mut message = Vec::new();
    payload.fresh(now.wrapping_add(number), now, &mut message);
    let length = u32::try_from(message.len()).expect("a message of a few hundred kilobytes");
    [&[0][..], &length.to_be_bytes(), &message].concat().into()
}

/// Whether the status of the call is OK.
async fn call(sender: &mut SendRequest<Full<Bytes>>, authority: &str, token: &str, body: Bytes) -> bool {
    let path = "opentelemetry.proto.collector.trace.v1.TraceService/Export";
    let request = Request::post(format!("http://{authority}/{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("authorization", format!("Bearer {token}"))
        .body(Full::new(body))
        .expect("a request");
    let Ok(response) = sender.send_request(request).await else { return false };
    let collected = response.into_body().collect().await;
    collected.is_ok_and(|body| body.trailers().is_some_and(|trailers| trailers["grpc-status"] == "0"))
}
