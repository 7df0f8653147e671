//! The configurations of monitors by type, with their limits. WIRE 6; `tls`, `dns` and `heartbeat` are our own.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use tidewatch_limits as limits;
use url::Url;

/// Reasons for which a configuration is refused. The message is for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A value has another type than it should, or is missing.
    #[error("{0}")]
    Malformed(String),
    /// A value is out of its bounds.
    #[error("{0}")]
    Unprocessable(String),
}

fn wrong(message: impl Into<String>) -> ConfigError {
    ConfigError::Unprocessable(message.into())
}

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

/// Maximum of `maxResponseTimeMs`: the longest check.
const RESPONSE_MS_MAX: i64 = 120_000;
/// Maximum of `tlsMinDaysRemaining`.
const TLS_DAYS_MAX: i64 = 3650;
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// Header fields that the server sets itself.
const OWN_HEADERS: [&str; 6] =
    ["connection", "content-length", "transfer-encoding", "traceparent", "upgrade", "accept-encoding"];

impl CheckConfig {
    /// Reads and checks the configuration of a type.
    pub fn read(check_type: &str, config: &Value) -> Result<CheckConfig, ConfigError> {
        let most = match check_type {
            "browser" => limits::BROWSER_CONFIG_BYTES_MAX,
            _ => limits::MONITOR_CONFIG_BYTES_MAX,
        };
        if config.to_string().len() > most {
            return Err(wrong(format!("config has more than {most} bytes")));
        }
        match check_type {
            "http" => http(parsed(config)?).map(|config| CheckConfig::Http(Box::new(config))),
            "tcp" => tcp(parsed(config)?).map(CheckConfig::Tcp),
            "tls" => tls(parsed(config)?).map(CheckConfig::Tls),
            "dns" => dns(parsed(config)?).map(CheckConfig::Dns),
            "heartbeat" => heartbeat(parsed(config)?).map(CheckConfig::Heartbeat),
            "browser" => browser(parsed(config)?).map(CheckConfig::Browser),
            _ => Err(ConfigError::Malformed("checkType is http, tcp, tls, dns, heartbeat or browser".to_owned())),
        }
    }

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

fn parsed<T: DeserializeOwned>(config: &Value) -> Result<T, ConfigError> {
    serde_json::from_value(config.clone()).map_err(|error| ConfigError::Malformed(format!("config: {error}")))
}

/// Compiles the regular expression of an assertion, whose memory is bounded.
pub fn body_regex(pattern: &str) -> Result<Regex, ConfigError> {
    let built = RegexBuilder::new(pattern)
        .size_limit(limits::MONITOR_REGEX_BYTES_MAX)
        .dfa_size_limit(limits::MONITOR_REGEX_BYTES_MAX)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => wrong("bodyRegex is too large"),
        _ => wrong("bodyRegex is no regular expression"),
    })
}

fn http(mut config: HttpConfig) -> Result<HttpConfig, ConfigError> {
    let url = Url::parse(&config.url).map_err(|_| wrong("url is no address"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("url begins with http:// or https:// and has a host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("url contains a user or password; use auth"));
    }
    config.method = config.method.to_ascii_uppercase();
    if !METHODS.contains(&config.method.as_str()) {
        return Err(wrong(format!("method is one of {}", METHODS.join(", "))));
    }
    if config.headers.len() > limits::MONITOR_HEADERS_MAX {
        return Err(wrong(format!("there are more than {} headers", limits::MONITOR_HEADERS_MAX)));
    }
    for (name, value) in &config.headers {
        header(name, value)?;
    }
    let auth = &config.auth;
    match auth.kind {
        AuthKind::None => {}
        AuthKind::Basic if auth.username.is_empty() || auth.username.contains(':') => {
            return Err(wrong("auth needs a username without a colon"));
        }
        AuthKind::Basic => {}
        AuthKind::Bearer if auth.token.is_empty() => return Err(wrong("auth needs a token")),
        AuthKind::Bearer => header("authorization", &auth.token)?,
        AuthKind::Header => header(&auth.header_name, &auth.header_value)?,
    }
    if !is_header_value(&config.body_content_type) {
        return Err(wrong("bodyContentType has characters that a header cannot have"));
    }
    let assertions = &config.assertions;
    if assertions.status_codes.len() > limits::MONITOR_HEADERS_MAX
        || assertions.status_codes.iter().any(|status| !(100..600).contains(status))
    {
        let most = limits::MONITOR_HEADERS_MAX;
        return Err(wrong(format!("statusCodes has at most {most} values from 100 to 599")));
    }
    if !assertions.body_regex.is_empty() {
        body_regex(&assertions.body_regex)?;
    }
    if assertions.max_response_time_ms.is_some_and(|most| !(1..=RESPONSE_MS_MAX).contains(&most)) {
        return Err(wrong(format!("maxResponseTimeMs is 1 to {RESPONSE_MS_MAX}")));
    }
    tls_days(assertions.tls_min_days_remaining)?;
    Ok(config)
}

fn tcp(config: TcpConfig) -> Result<TcpConfig, ConfigError> {
    host(&config.host)?;
    port(config.port)?;
    tls_days(config.tls_min_days_remaining)?;
    if config.tls_min_days_remaining.is_some() && !config.use_tls {
        return Err(wrong("tlsMinDaysRemaining needs useTls"));
    }
    Ok(config)
}

fn tls(config: TlsConfig) -> Result<TlsConfig, ConfigError> {
    host(&config.host)?;
    port(config.port)?;
    if !config.server_name.is_empty() {
        host(&config.server_name)?;
    }
    tls_days(Some(config.tls_min_days_remaining))?;
    Ok(config)
}

fn dns(config: DnsConfig) -> Result<DnsConfig, ConfigError> {
    host(&config.name)?;
    if config.server.is_empty() || server_address(&config.server).is_some() {
        return Ok(config);
    }
    Err(wrong("server is an IP address, with or without a port"))
}

/// The address of a DNS server; the port is 53 if it has none.
pub fn server_address(server: &str) -> Option<std::net::SocketAddr> {
    let address = || Some(std::net::SocketAddr::new(server.parse().ok()?, 53));
    server.parse().ok().or_else(address)
}

fn heartbeat(config: HeartbeatConfig) -> Result<HeartbeatConfig, ConfigError> {
    in_range("periodSeconds", config.period_seconds, limits::HEARTBEAT_PERIOD_SECONDS)?;
    in_range("graceSeconds", config.grace_seconds, limits::HEARTBEAT_GRACE_SECONDS)?;
    Ok(config)
}

fn browser(config: BrowserConfig) -> Result<BrowserConfig, ConfigError> {
    if config.script.trim().is_empty() {
        return Err(wrong("the script is empty"));
    }
    let most = limits::BROWSER_SCRIPT_BYTES_MAX;
    if config.script.len() > most {
        return Err(wrong(format!("the script has more than {most} bytes")));
    }
    if config.env.len() > limits::BROWSER_ENV_MAX {
        return Err(wrong(format!("env has more than {} variables", limits::BROWSER_ENV_MAX)));
    }
    let (name_bytes, value_bytes) = limits::BROWSER_ENV_BYTES_MAX;
    for (name, value) in &config.env {
        let is_name = name.len() <= name_bytes
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Err(wrong(format!("{name:?} is no name of a variable")));
        }
        if value.len() > value_bytes || value.contains('\0') {
            return Err(wrong(format!("the value of {name} has more than {value_bytes} bytes, or a NUL")));
        }
    }
    Ok(config)
}

/// Checks that a number is within its bounds.
pub fn in_range(name: &str, value: i64, range: std::ops::RangeInclusive<i64>) -> Result<(), ConfigError> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(wrong(format!("{name} is {} to {}", range.start(), range.end()))),
    }
}

fn tls_days(days: Option<i64>) -> Result<(), ConfigError> {
    days.map_or(Ok(()), |days| in_range("tlsMinDaysRemaining", days, 0..=TLS_DAYS_MAX))
}

fn port(port: u16) -> Result<(), ConfigError> {
    in_range("port", port.into(), 1..=65_535)
}

/// A name or an address, without scheme, port and path.
fn host(host: &str) -> Result<(), ConfigError> {
    let inner = host.trim_start_matches('[').trim_end_matches(']');
    let is_address = inner.parse::<std::net::IpAddr>().is_ok();
    let is_name = !host.is_empty()
        && host.len() <= 253
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    if is_address || is_name { Ok(()) } else { Err(wrong(format!("{host:?} is no host name or address"))) }
}

fn header(name: &str, value: &str) -> Result<(), ConfigError> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(wrong(format!("{name:?} is no name of a header")));
    }
    if OWN_HEADERS.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return Err(wrong(format!("the server sets the header {name} itself")));
    }
    if !is_header_value(value) {
        return Err(wrong(format!("the value of the header {name} has characters that a header cannot have")));
    }
    Ok(())
}

fn is_header_value(value: &str) -> bool {
    value.bytes().all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

#[cfg(test)]
mod tests;
