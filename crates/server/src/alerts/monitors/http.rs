//! Checks of HTTP responses. Each redirect is a request of its own: resolved, checked and connected to anew.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, USER_AGENT,
};
use hyper::{Method, StatusCode};
use tidewatch_alerts::monitors::config::{Auth, AuthKind, HttpConfig};
use tidewatch_alerts::monitors::verdict::{self, HttpSeen};
use tidewatch_limits as limits;
use tokio::io::{AsyncRead, AsyncWrite};
use url::Url;

use super::connection::{Observed, Probe, add, connect, handshake};
use crate::http_client::{self, Answer, Hop};

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
        let next = if config.follow_redirects { next_hop(&hop, answer.status(), answer.headers())? } else { None };
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
fn next_hop(hop: &Hop, status: StatusCode, received: &HeaderMap) -> Result<Option<Hop>, String> {
    let follows = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = received.get(LOCATION).filter(|_| follows) else { return Ok(None) };
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
    let answer = http_client::exchange(stream, hop).await?;
    add(&mut observed.timings.wait_ns, start);
    Ok(answer)
}
