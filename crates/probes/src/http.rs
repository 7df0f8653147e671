//! Checks of HTTP responses. Each redirect is a request of its own: resolved, checked and connected to anew.

use std::time::Instant;

use bytes::Bytes;
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Method, StatusCode};
use tidewatch_limits as limits;
use tidewatch_runtime::outbound::policy::OutboundPolicy;
use tokio::io::{AsyncRead, AsyncWrite};
use url::Url;

use crate::connection::{Observed, add, connect, handshake};
use crate::http_client::{self, Answer, Hop};

/// A request to make.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// The address, `http` or `https`.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// Header fields, which replace the probe's own.
    pub headers: HeaderMap,
    /// The body; may be empty.
    pub body: Bytes,
    /// Whether redirects are followed.
    pub follows_redirects: bool,
    /// Whether issuer and name of certificates are verified.
    pub verifies: bool,
}

/// The response at the end of all redirects.
#[derive(Debug)]
pub struct HttpAnswer {
    /// Its status.
    pub status: u16,
    /// The start of its body.
    pub body: Vec<u8>,
    /// Whether the body goes on.
    pub is_body_cut: bool,
    /// The duration of the whole check, nanoseconds.
    pub total_ns: i64,
}

/// Sends the request, follows redirects if it should, and returns the response.
pub async fn check(
    policy: OutboundPolicy,
    request: HttpRequest,
    observed: &mut Observed,
    start: Instant,
) -> Result<HttpAnswer, String> {
    let trace = fastrand::u128(1..);
    observed.trace_id = format!("{trace:032x}");
    let (follows_redirects, verifies) = (request.follows_redirects, request.verifies);
    let mut hop = first_hop(request);
    let mut redirects = 0;
    let answer = loop {
        let span = fastrand::u64(1..);
        let parent = HeaderValue::from_str(&format!("00-{trace:032x}-{span:016x}-01"));
        hop.headers.insert("traceparent", parent.map_err(|error| error.to_string())?);
        let answer = send(policy, &hop, verifies, observed).await?;
        observed.status_code = Some(answer.status().as_u16().into());
        let next = if follows_redirects { next_hop(&hop, answer.status(), answer.headers())? } else { None };
        let Some(next) = next else { break answer };
        if redirects == limits::MONITOR_REDIRECTS_MAX {
            return Err(format!("more than {redirects} redirects"));
        }
        redirects += 1;
        // The certificate is that of the page in the end.
        observed.tls_expires_ns = None;
        hop = next;
    };
    let status = answer.status().as_u16();
    let (body, is_body_cut) = answer.read(limits::MONITOR_RESPONSE_BYTES_MAX).await?;
    let total_ns = observed.answered(start);
    Ok(HttpAnswer { status, body, is_body_cut, total_ns })
}

fn first_hop(request: HttpRequest) -> Hop {
    let mut headers = own_headers();
    headers.extend(request.headers);
    Hop { url: request.url, method: request.method, headers, body: request.body }
}

/// Header fields of every request.
fn own_headers() -> HeaderMap {
    HeaderMap::from_iter([
        (USER_AGENT, HeaderValue::from_static("Tidewatch-Monitor")),
        (ACCEPT_ENCODING, HeaderValue::from_static("identity")),
    ])
}

/// The request that a redirect asks for; `None` for other responses. Headers of the user go to the same origin only.
fn next_hop(hop: &Hop, status: StatusCode, received: &HeaderMap) -> Result<Option<Hop>, String> {
    let follows = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = received.get(LOCATION).filter(|_| follows) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    let url = hop.url.join(&location).map_err(|_| "the redirect has no valid address".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the redirect leads to {}:", url.scheme()));
    }
    let is_same_origin = url.origin() == hop.url.origin();
    let mut headers = if is_same_origin { hop.headers.clone() } else { own_headers() };
    // RFC 9110, 15.4: 307 and 308 keep method and body.
    let keeps = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let is_safe = matches!(hop.method, Method::GET | Method::HEAD);
    if keeps || is_safe {
        return Ok(Some(Hop { url, method: hop.method.clone(), headers, body: hop.body.clone() }));
    }
    headers.remove(CONTENT_TYPE);
    Ok(Some(Hop { url, method: Method::GET, headers, body: Bytes::new() }))
}

async fn send(policy: OutboundPolicy, hop: &Hop, verifies: bool, observed: &mut Observed) -> Result<Answer, String> {
    let host = hop.url.host_str().ok_or("the address has no host")?;
    let port = hop.url.port_or_known_default().ok_or("the address has no port")?;
    let stream = connect(policy, host, port, &mut observed.timings).await?;
    match hop.url.scheme() {
        "https" => {
            let stream = handshake(stream, host, verifies, observed).await?;
            exchange(stream, hop, observed).await
        }
        _ => exchange(stream, hop, observed).await,
    }
}

/// Sends the request and waits for the head of the response.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    hop: &Hop,
    observed: &mut Observed,
) -> Result<Answer, String> {
    let start = Instant::now();
    let answer = http_client::exchange(stream, hop).await?;
    add(&mut observed.timings.wait_ns, start);
    Ok(answer)
}
