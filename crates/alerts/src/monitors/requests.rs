//! The requests of checks, from the configurations of monitors.

use super::config::{Auth, AuthKind, DnsConfig, HttpConfig, RecordType, TcpConfig, TlsConfig, server_address};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tidewatch_probes::dns::{self, DnsRequest};
use tidewatch_probes::http::HttpRequest;
use tidewatch_probes::tcp::{TcpRequest, TlsRequest};
use url::Url;

pub(super) fn http(config: &HttpConfig) -> Result<HttpRequest, String> {
    let url = Url::parse(&config.url).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    if !config.body_content_type.is_empty() {
        headers.insert(CONTENT_TYPE, value(&config.body_content_type)?);
    }
    for (name, given) in &config.headers {
        headers.insert(self::name(name)?, value(given)?);
    }
    authenticate(&config.auth, &mut headers)?;
    let method = Method::from_bytes(config.method.as_bytes()).map_err(|error| error.to_string())?;
    Ok(HttpRequest {
        url,
        method,
        headers,
        body: Bytes::from(config.body.clone()),
        follows_redirects: config.follow_redirects,
        verifies: !config.skip_tls_verify,
    })
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

pub(super) fn tcp(config: &TcpConfig) -> TcpRequest<'_> {
    TcpRequest {
        host: &config.host,
        port: config.port,
        use_tls: config.use_tls,
        payload: config.send_payload.as_bytes(),
        expected: &config.expect_contains,
    }
}

pub(super) fn tls(config: &TlsConfig) -> TlsRequest<'_> {
    let server_name = if config.server_name.is_empty() { &config.host } else { &config.server_name };
    TlsRequest { host: &config.host, port: config.port, server_name, verifies: !config.skip_tls_verify }
}

pub(super) fn dns(config: &DnsConfig) -> DnsRequest<'_> {
    let record_type = match config.record_type {
        RecordType::A => dns::RecordType::A,
        RecordType::Aaaa => dns::RecordType::Aaaa,
        RecordType::Cname => dns::RecordType::Cname,
        RecordType::Mx => dns::RecordType::Mx,
        RecordType::Ns => dns::RecordType::Ns,
        RecordType::Txt => dns::RecordType::Txt,
    };
    DnsRequest { name: &config.name, record_type, server: server_address(&config.server) }
}
