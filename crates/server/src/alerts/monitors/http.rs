//! Checks of HTTP responses. Each redirect is a request of its own: resolved, checked and connected to anew.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tidewatch_alerts::monitors::config::{Auth, AuthKind, HttpConfig};
use tidewatch_alerts::monitors::verdict::{self, HttpSeen};
use tidewatch_alerts::outbound::OutboundPolicy;
use tidewatch_limits as limits;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use url::Url;

use super::connection::{Observed, Probe, add, connect, handshake};

/// One request.
pub(crate) struct Hop {
    pub(crate) url: Url,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// A response, and the task that drives its connection while it is read.
pub(crate) struct Answer {
    response: Response<Incoming>,
    _connection: Connection,
}

impl Answer {
    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }
}

/// Ends a connection when it is dropped.
struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends the request, follows redirects if it should, and checks the response.
pub(super) async fn check(
    probe: &Probe,
    config: &HttpConfig,
    observed: &mut Observed,
    start: Instant,
) -> Result<(), String> {
    let trace = fastrand::u128(1..);
    observed.trace_id = format!("{trace:032x}");
    let mut hop = first_hop(config)?;
    let mut redirects = 0;
    let answer = loop {
        let span = fastrand::u64(1..);
        let parent = HeaderValue::from_str(&format!("00-{trace:032x}-{span:016x}-01"));
        hop.headers.insert("traceparent", parent.map_err(|error| error.to_string())?);
        let answer = send(probe, &hop, !config.skip_tls_verify, observed).await?;
        observed.status_code = Some(answer.status().as_u16().into());
        let next = if config.follow_redirects { next_hop(&hop, &answer.response)? } else { None };
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
    let (body, is_body_cut) = read(answer).await?;
    let total_ns = observed.answered(start);
    let (tls_expires_ns, now_ns) = (observed.tls_expires_ns, probe.now_ns);
    let seen = HttpSeen { status, body: &body, is_body_cut, total_ns, tls_expires_ns, now_ns };
    verdict::http(&config.assertions, &seen)
}

fn first_hop(config: &HttpConfig) -> Result<Hop, String> {
    let url = Url::parse(&config.url).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static("Tidewatch-Monitor"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if !config.body_content_type.is_empty() {
        headers.insert(CONTENT_TYPE, value(&config.body_content_type)?);
    }
    for (name, given) in &config.headers {
        headers.insert(self::name(name)?, value(given)?);
    }
    authenticate(&config.auth, &mut headers)?;
    let method = Method::from_bytes(config.method.as_bytes()).map_err(|error| error.to_string())?;
    Ok(Hop { url, method, headers, body: Bytes::from(config.body.clone()) })
}

fn authenticate(auth: &Auth, headers: &mut HeaderMap) -> Result<(), String> {
    let (name, given) = match auth.kind {
        AuthKind::None => return Ok(()),
        AuthKind::Basic => {
            let pair = STANDARD.encode(format!("{}:{}", auth.username, auth.password));
            (AUTHORIZATION, format!("Basic {pair}"))
        }
        AuthKind::Bearer => (AUTHORIZATION, format!("Bearer {}", auth.token)),
        AuthKind::Header => (self::name(&auth.header_name)?, auth.header_value.clone()),
    };
    let mut secret = value(&given)?;
    secret.set_sensitive(true);
    headers.insert(name, secret);
    Ok(())
}

fn name(name: &str) -> Result<HeaderName, String> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header"))
}

fn value(value: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_bytes(value.as_bytes()).map_err(|_| "a header has characters that it cannot have".to_owned())
}

/// The request that a redirect asks for; `None` for other responses. Headers of the user go to the same origin only.
fn next_hop(hop: &Hop, response: &Response<Incoming>) -> Result<Option<Hop>, String> {
    let status = response.status();
    let follows = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = response.headers().get(LOCATION).filter(|_| follows) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    let url = hop.url.join(&location).map_err(|_| "the redirect has no valid address".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the redirect leads to {}:", url.scheme()));
    }
    let is_same_origin = url.origin() == hop.url.origin();
    let mut headers = if is_same_origin { hop.headers.clone() } else { HeaderMap::new() };
    if !is_same_origin {
        headers.insert(USER_AGENT, HeaderValue::from_static("Tidewatch-Monitor"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    // RFC 9110, 15.4: 307 and 308 keep method and body.
    let keeps = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let is_safe = matches!(hop.method, Method::GET | Method::HEAD);
    if keeps || is_safe {
        return Ok(Some(Hop { url, method: hop.method.clone(), headers, body: hop.body.clone() }));
    }
    headers.remove(CONTENT_TYPE);
    Ok(Some(Hop { url, method: Method::GET, headers, body: Bytes::new() }))
}

/// Sends a request to a server that the operator has configured, wherever it is. When the future or the answer is
/// dropped, the connection ends.
pub(crate) async fn request(hop: &Hop) -> Result<Answer, String> {
    let probe = Probe { policy: OutboundPolicy { allows_private: true }, now_ns: 0 };
    send(&probe, hop, true, &mut Observed::default()).await
}

async fn send(probe: &Probe, hop: &Hop, verifies: bool, observed: &mut Observed) -> Result<Answer, String> {
    let host = hop.url.host_str().ok_or("the address has no host")?;
    let port = hop.url.port_or_known_default().ok_or("the address has no port")?;
    let stream = connect(probe, host, port, &mut observed.timings).await?;
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
    let failed = |error: hyper::Error| format!("no HTTP response: {}", cause(&error));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // Its end is seen by the response.
    let connection = Connection(tokio::spawn(async move { drop(connection.await) }));
    let target = &hop.url[url::Position::BeforePath..url::Position::AfterQuery];
    let mut request = Request::builder().method(&hop.method).uri(target);
    if !hop.headers.contains_key(HOST) {
        request = request.header(HOST, &hop.url[url::Position::BeforeHost..url::Position::AfterPort]);
    }
    let mut request = request.body(Full::new(hop.body.clone())).map_err(|error| error.to_string())?;
    for (name, value) in &hop.headers {
        request.headers_mut().insert(name, value.clone());
    }
    let response = sender.send_request(request).await.map_err(failed)?;
    add(&mut observed.timings.wait_ns, start);
    Ok(Answer { response, _connection: connection })
}

/// The innermost cause, which names what happened.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Reads the start of the body. Returns whether it goes on.
pub(crate) async fn read(answer: Answer) -> Result<(Vec<u8>, bool), String> {
    let mut body = answer.response.into_body();
    let mut read = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| format!("the body ends early: {}", cause(&error)))?;
        let Ok(data) = frame.into_data() else { continue };
        let left = limits::MONITOR_RESPONSE_BYTES_MAX - read.len();
        read.extend_from_slice(&data[..data.len().min(left)]);
        if data.len() > left {
            return Ok((read, true));
        }
    }
    Ok((read, false))
}
