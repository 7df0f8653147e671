//! The configurations of monitors by type, with their limits. WIRE 6; `tls`, `dns` and `heartbeat` are our own.

mod checks;
mod fields;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use checks::{ConfigError, body_regex, check_settings, server_address};
pub use fields::{INTERVAL_SECONDS, MonitorWords, TIMEOUT_SECONDS, TYPES, failure_threshold, fields, settings};

/// Check of a monitor.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckConfig {
    /// The response to an HTTP request.
    Http(Box<HttpConfig>),
    /// A TCP connection.
    Tcp(TcpConfig),
    /// The validity of a TLS certificate.
    Tls(TlsConfig),
    /// The records of a name.
    Dns(DnsConfig),
    /// Reports of a job in time.
    Heartbeat(HeartbeatConfig),
    /// Script in a browser.
    Browser(BrowserConfig),
}

/// Configuration of `http`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpConfig {
    /// `http://` or `https://`.
    pub url: String,
    /// In capitals.
    #[serde(default = "get")]
    pub method: String,
    /// Header fields by name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Authentication of the request.
    #[serde(default)]
    pub auth: Auth,
    /// The body; may be empty.
    #[serde(default)]
    pub body: String,
    /// Its `Content-Type`; may be empty.
    #[serde(default)]
    pub body_content_type: String,
    /// Whether redirects are followed.
    #[serde(default = "yes")]
    pub follow_redirects: bool,
    /// Whether any certificate is accepted.
    #[serde(default)]
    pub skip_tls_verify: bool,
    /// Conditions on the response.
    #[serde(default)]
    pub assertions: Assertions,
}

/// Authentication of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Auth {
    /// Which of the other values count.
    #[serde(rename = "type")]
    pub kind: AuthKind,
    /// Of `basic`.
    pub username: String,
    /// Of `basic`.
    pub password: String,
    /// Of `bearer`.
    pub token: String,
    /// Of `header`.
    pub header_name: String,
    /// Of `header`.
    pub header_value: String,
}

/// A kind of authentication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthKind {
    /// None.
    #[default]
    None,
    /// `Authorization: Basic`.
    Basic,
    /// `Authorization: Bearer`.
    Bearer,
    /// A header field.
    Header,
}

/// Conditions on a response; absent ones are not checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Assertions {
    /// Accepted statuses; empty: those below 400.
    pub status_codes: Vec<u16>,
    /// The body contains it.
    pub body_contains: String,
    /// The body matches it.
    pub body_regex: String,
    /// Longest duration, milliseconds.
    pub max_response_time_ms: Option<i64>,
    /// The certificate is valid for at least these days.
    pub tls_min_days_remaining: Option<i64>,
}

/// Configuration of `tcp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TcpConfig {
    /// Name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether a TLS handshake follows the connection.
    #[serde(default)]
    pub use_tls: bool,
    /// Payload that is sent; may be empty.
    #[serde(default)]
    pub send_payload: String,
    /// String that the answer contains; may be empty.
    #[serde(default)]
    pub expect_contains: String,
    /// The certificate is valid for at least these days.
    #[serde(default)]
    pub tls_min_days_remaining: Option<i64>,
}

/// Configuration of `tls`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TlsConfig {
    /// Name or address.
    pub host: String,
    /// The port.
    #[serde(default = "https_port")]
    pub port: u16,
    /// Name in the certificate; that of the host if empty.
    #[serde(default)]
    pub server_name: String,
    /// Whether any issuer is accepted: only the end of the validity is checked.
    #[serde(default)]
    pub skip_tls_verify: bool,
    /// The certificate is valid for at least these days.
    #[serde(default = "two_weeks")]
    pub tls_min_days_remaining: i64,
}

/// Configuration of `dns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DnsConfig {
    /// The name.
    pub name: String,
    /// The type of its records.
    #[serde(default)]
    pub record_type: RecordType,
    /// A record has this value; empty: there is a record.
    #[serde(default)]
    pub expected_value: String,
    /// Address of the DNS server, with or without a port; that of the machine if empty.
    #[serde(default)]
    pub server: String,
}

/// A type of DNS records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RecordType {
    /// IPv4 address.
    #[default]
    A,
    /// IPv6 address.
    Aaaa,
    /// Another name.
    Cname,
    /// Mail servers.
    Mx,
    /// Name servers.
    Ns,
    /// Strings.
    Txt,
}

/// Configuration of `heartbeat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatConfig {
    /// Seconds between two reports.
    pub period_seconds: i64,
    /// Seconds that a report may be late.
    #[serde(default = "minute")]
    pub grace_seconds: i64,
}

/// Configuration of `browser`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserConfig {
    /// The body of an asynchronous function, or tests of Playwright's runner.
    pub script: String,
    /// Its variables by name.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

fn get() -> String {
    "GET".to_owned()
}

fn yes() -> bool {
    true
}

fn https_port() -> u16 {
    443
}

fn two_weeks() -> i64 {
    14
}

fn minute() -> i64 {
    60
}

impl CheckConfig {
    /// The configuration as it is stored, with the defaults.
    pub fn to_value(&self) -> Value {
        let value = match self {
            CheckConfig::Http(config) => serde_json::to_value(config),
            CheckConfig::Tcp(config) => serde_json::to_value(config),
            CheckConfig::Tls(config) => serde_json::to_value(config),
            CheckConfig::Dns(config) => serde_json::to_value(config),
            CheckConfig::Heartbeat(config) => serde_json::to_value(config),
            CheckConfig::Browser(config) => serde_json::to_value(config),
        };
        value.expect("configurations are maps with strings as keys")
    }
}

#[cfg(test)]
mod tests;
