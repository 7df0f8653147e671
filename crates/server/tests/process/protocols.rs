//! Every way in which telemetry enters the server, with one answer for all: accepted, refused for now, or no answer.

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::server::{Account, agent};

/// A protocol of the server, and what of it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// OTLP/HTTP with JSON, a path below `/api/otel`.
    Otlp(&'static str),
    /// OTLP/gRPC with protobuf, the name of a service below `opentelemetry.proto.collector`.
    Grpc(&'static str),
    /// A native report.
    Report,
    /// A profile in the format of pprof, of this service.
    Pprof(&'static str),
}

/// The result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Accepted,
    /// Back-pressure: the same request is sent again.
    Later,
    /// The server was killed before the answer.
    Nothing,
}

impl Protocol {
    /// Sends a request. Panics when it is refused for good.
    pub fn send(self, base: &str, account: &Account, body: &[u8]) -> Outcome {
        let (path, content_type) = match self {
            Protocol::Otlp(path) => (format!("otel/{path}"), "application/json"),
            Protocol::Report => ("report".to_owned(), "application/json"),
            Protocol::Pprof(service) => (format!("profiles/ingest?service={service}"), "application/octet-stream"),
            Protocol::Grpc(service) => return grpc(base, service, &account.project_token, body),
        };
        let answer = agent()
            .post(format!("{base}/api/{path}"))
            .header("Authorization", format!("Bearer {}", account.project_token))
            .header("Content-Type", content_type)
            .send(body);
        match answer.map(|response| response.status().as_u16()) {
            Ok(200) => Outcome::Accepted,
            Ok(503) => Outcome::Later,
            Ok(status) => panic!("{self:?}: {status}; only back-pressure may refuse a valid request"),
            Err(_) => Outcome::Nothing,
        }
    }
}

/// One call on a connection of its own.
fn grpc(base: &str, service: &str, token: &str, message: &[u8]) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let length = u32::try_from(message.len()).expect("a small message");
    let body = [&[0][..], &length.to_be_bytes(), message].concat();
    let request = Request::post(format!("{base}/opentelemetry.proto.collector.{service}/Export"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .header("authorization", format!("Bearer {token}"))
        .body(Full::new(Bytes::from(body)))
        .expect("a request");
    let authority = base.trim_start_matches("http://").to_owned();
    let status = runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(authority).await.ok()?;
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.ok()?;
        tokio::spawn(connection);
        let response = sender.send_request(request).await.ok()?;
        let early = response.headers().get("grpc-status").cloned();
        let collected = response.into_body().collect().await.ok()?;
        early.or_else(|| collected.trailers()?.get("grpc-status").cloned())
    });
    match status.as_ref().map(|status| status.as_bytes()) {
        Some(b"0") => Outcome::Accepted,
        // UNAVAILABLE.
        Some(b"14") => Outcome::Later,
        Some(other) => panic!("{service}: status {}", String::from_utf8_lossy(other)),
        None => Outcome::Nothing,
    }
}
