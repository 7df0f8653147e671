//! A closed-loop client on plain sockets: one request at a time per connection, each with fresh ids.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tidewatch_domain::model::Signal;

use super::support::Payload;

/// A body whose ids can be made fresh, and how to send it.
pub struct Request {
    path: String,
    token: String,
    protobuf: Vec<u8>,
    /// Where 8 or 16 id bytes lie.
    ids: Vec<(usize, usize)>,
    gzip: bool,
}

pub struct Outcome {
    pub requests: usize,
    /// Answers other than 200.
    pub refused: usize,
    latencies_ns: Vec<u64>,
}

impl Outcome {
    /// Requests answered with 200; at least 1, so that a round of refusals still divides.
    pub fn accepted(&self) -> usize {
        (self.requests - self.refused).max(1)
    }

    pub fn quantile_ms(&self, quantile: f64) -> f64 {
        let last = self.latencies_ns.len().saturating_sub(1);
        self.latencies_ns.get((quantile * last as f64) as usize).map_or(f64::NAN, |ns| *ns as f64 / 1e6)
    }
}

static NONCE: AtomicU64 = AtomicU64::new(1);

impl Request {
    pub fn new(payload: &Payload, gzip: bool, token: &str) -> Self {
        let ids = match payload.signal {
            Signal::Traces => id_ranges(&payload.protobuf),
            Signal::Logs | Signal::Metrics => Vec::new(),
        };
        Request {
            path: format!("/api/otel/v1/{}", payload.signal.as_str()),
            token: token.to_owned(),
            protobuf: payload.protobuf.clone(),
            ids,
            gzip,
        }
    }

    /// The next body: every id is changed by the same mask, so that traces stay whole and nothing is a duplicate.
    /// Logs and metrics get an unknown field instead, which makes the request's content new.
    fn next_body(&self, deflater: &mut libdeflater::Compressor) -> Vec<u8> {
        let nonce = NONCE.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let mut body = self.protobuf.clone();
        for (start, end) in &self.ids {
            for (byte, mask) in body[*start..*end].iter_mut().zip(nonce.iter().cycle()) {
                *byte ^= mask;
            }
        }
        if self.ids.is_empty() {
            // Field 1000, wire type 1: fixed64.
            body.extend([0xc1, 0x3e]);
            body.extend(nonce);
        }
        if !self.gzip {
            return body;
        }
        let mut out = vec![0; deflater.gzip_compress_bound(body.len())];
        let length = deflater.gzip_compress(&body, &mut out).expect("the bound is large enough");
        out.truncate(length);
        out
    }
}

/// Sends for `round` over `connections` sockets.
pub fn drive(address: &str, request: &Request, connections: usize, round: Duration) -> Outcome {
    let end = Instant::now() + round;
    let parts: Vec<Outcome> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..connections).map(|_| scope.spawn(move || one_connection(address, request, end))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a client thread")).collect()
    });
    let mut all = Outcome { requests: 0, refused: 0, latencies_ns: Vec::new() };
    for part in parts {
        all.requests += part.requests;
        all.refused += part.refused;
        all.latencies_ns.extend(part.latencies_ns);
    }
    all.latencies_ns.sort_unstable();
    all
}

fn one_connection(address: &str, request: &Request, end: Instant) -> Outcome {
    let mut deflater = libdeflater::Compressor::new(libdeflater::CompressionLvl::fastest());
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).ok();
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut writer = stream;
    let mut outcome = Outcome { requests: 0, refused: 0, latencies_ns: Vec::new() };
    while Instant::now() < end {
        let body = request.next_body(&mut deflater);
        let encoding = if request.gzip { "Content-Encoding: gzip\r\n" } else { "" };
        let head = format!(
            "POST {} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\nContent-Type: application/x-protobuf\r\n{encoding}Content-Length: {}\r\n\r\n",
            request.path,
            request.token,
            body.len()
        );
        let start = Instant::now();
        writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(&body)).expect("the server reads");
        let status = read_response(&mut reader);
        outcome.latencies_ns.push(start.elapsed().as_nanos() as u64);
        outcome.requests += 1;
        outcome.refused += usize::from(status != 200);
    }
    outcome
}

fn read_response(reader: &mut impl BufRead) -> u16 {
    let mut line = String::new();
    reader.read_line(&mut line).expect("the server answers");
    let status = line.split(' ').nth(1).and_then(|text| text.parse().ok()).expect("a status line");
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).expect("headers");
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink()).expect("the answer's body");
    status
}

/// Where trace, span, parent and link ids lie in an export request.
fn id_ranges(body: &[u8]) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    // ResourceSpans 1, ScopeSpans 2, Span 2; in a span: trace 1, span 2, parent 4, links 13 with trace 1, span 2.
    for_each_field(body, 0, body.len(), &mut |field, start, end| {
        if field != 1 {
            return;
        }
        for_each_field(body, start, end, &mut |field, start, end| {
            if field != 2 {
                return;
            }
            for_each_field(body, start, end, &mut |field, start, end| {
                if field == 2 {
                    for_each_field(body, start, end, &mut |field, start, end| {
                        if matches!(field, 1 | 2 | 4) && matches!(end - start, 8 | 16) {
                            ranges.push((start, end));
                        }
                    });
                }
            });
        });
    });
    ranges
}

/// Calls with the number and content of each length-delimited field.
fn for_each_field(body: &[u8], mut at: usize, end: usize, visit: &mut dyn FnMut(u64, usize, usize)) {
    let varint = |at: &mut usize| {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = body[*at];
            *at += 1;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
        }
        value
    };
    while at < end {
        let key = varint(&mut at);
        match key & 7 {
            0 => drop(varint(&mut at)),
            1 => at += 8,
            5 => at += 4,
            _ => {
                let length = varint(&mut at) as usize;
                visit(key >> 3, at, at + length);
                at += length;
            }
        }
    }
}

/// A loopback address that was free a moment ago.
pub fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("a bound socket").to_string()
}

pub fn wait_ready(address: &str) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "{address} does not listen");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Makes the first account and gives its project's token.
pub fn register(address: &str) -> String {
    let body = serde_json::json!({
        "email": "bench@example.com", "password": "bench-password", "name": "Bench",
        "organizationName": "Bench", "timezone": "UTC", "projectName": "Bench", "framework": "opentelemetry",
    });
    let mut answer = ureq::post(format!("http://{address}/api/register")).send_json(&body).expect("registration works");
    let bundle: serde_json::Value = answer.body_mut().read_json().expect("JSON");
    bundle["projects"][0]["token"].as_str().expect("a project token").to_owned()
}
