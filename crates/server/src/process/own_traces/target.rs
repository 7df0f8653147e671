//! The destination of own spans: an OTLP/HTTP endpoint with its headers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::{Context, ensure};
use axum::http::{HeaderName, HeaderValue};

use crate::listen::ListenAddress;

/// The value of `traces_endpoint` for this server itself.
pub const SELF: &str = "self";

/// The destination of own spans.
#[derive(Clone)]
pub struct Target {
    /// URL of the endpoint, with `/v1/traces`.
    pub url: String,
    /// Headers of each export. They are secret.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Fraction of the traces that begin here to sample, 0 to 1.
    pub ratio: f64,
}

impl Target {
    /// Parses the settings. `listen`: the addresses of this server, for [`SELF`]. An error if a setting is malformed.
    pub fn new(endpoint: &str, headers: &str, ratio: f64, listen: &[ListenAddress]) -> anyhow::Result<Target> {
        let base = if endpoint == SELF { own(listen)? } else { endpoint.trim_end_matches('/').to_owned() };
        let host = base.strip_prefix("http://").or_else(|| base.strip_prefix("https://")).unwrap_or_default();
        ensure!(
            !host.is_empty() && !host.starts_with('/'),
            "traces_endpoint must be `{SELF}` or begin with `http://` or `https://`"
        );
        ensure!((0.0..=1.0).contains(&ratio), "traces_ratio must be between 0 and 1");
        Ok(Target { url: format!("{base}/v1/traces"), headers: read_headers(headers)?, ratio })
    }
}

fn own(listen: &[ListenAddress]) -> anyhow::Result<String> {
    let tcp = listen.iter().find_map(|address| match address {
        ListenAddress::Tcp(address) => Some(*address),
        _ => None,
    });
    let mut address = tcp.with_context(|| format!("traces_endpoint {SELF} needs an address without TLS in listen"))?;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    Ok(format!("http://{address}/api/otel"))
}

/// Parses `name=value,name=value` with percent-encoded values, as in `OTEL_EXPORTER_OTLP_HEADERS`.
fn read_headers(text: &str) -> anyhow::Result<Vec<(HeaderName, HeaderValue)>> {
    let mut headers = Vec::new();
    for (number, pair) in text.split([',', '\n']).map(str::trim).filter(|pair| !pair.is_empty()).enumerate() {
        // The value is secret: errors state only the position.
        let wrong = || format!("header {} of traces_headers is not name=value", number + 1);
        let (name, value) = pair.split_once('=').with_context(wrong)?;
        let mut value = HeaderValue::from_bytes(&decoded(value.trim())).with_context(wrong)?;
        value.set_sensitive(true);
        headers.push((name.trim().parse().with_context(wrong)?, value));
    }
    Ok(headers)
}

/// Percent-decodes a string. `%` without two hex digits after it stays.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints() {
        let listen = |text: &str| text.parse::<ListenAddress>().expect("an address");
        let plain = [listen("tls:[::]:8443"), listen("0.0.0.0:8080")];
        for (endpoint, listen, expected) in [
            ("self", &plain[..], Some("http://127.0.0.1:8080/api/otel/v1/traces")),
            ("self", &[listen("[::]:1")], Some("http://[::1]:1/api/otel/v1/traces")),
            ("self", &plain[..1], None),
            ("http://collector:4318/", &[], Some("http://collector:4318/v1/traces")),
            ("https://collector:4318", &[], Some("https://collector:4318/v1/traces")),
            ("https:///a", &[], None),
            ("http://", &[], None),
            ("collector:4318", &[], None),
        ] {
            let found = Target::new(endpoint, "", 1.0, listen).ok().map(|target| target.url);
            assert_eq!(found.as_deref(), expected, "{endpoint}");
        }
        for (ratio, fits) in [(0.0, true), (0.1, true), (1.1, false), (-0.1, false), (f64::NAN, false)] {
            assert_eq!(Target::new("http://a", "", ratio, &[]).is_ok(), fits, "{ratio}");
        }
    }

    #[test]
    fn headers() {
        for (text, expected) in [
            ("", Some(vec![])),
            ("Authorization=Bearer%20a", Some(vec![("authorization", "Bearer a")])),
            ("Authorization=Bearer a, x=1=2\n", Some(vec![("authorization", "Bearer a"), ("x", "1=2")])),
            ("x=100%,y=%zz%4", Some(vec![("x", "100%"), ("y", "%zz%4")])),
            ("x", None),
            ("=x", None),
            ("x=%0a", None),
        ] {
            let found = read_headers(text).ok();
            let found: Option<Vec<_>> = found
                .as_ref()
                .map(|headers| headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect());
            assert_eq!(found, expected, "{text}");
        }
    }
}
