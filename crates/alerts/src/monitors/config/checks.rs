//! Reads configurations, and checks what the bounds of the fields do not say.

use regex::{Regex, RegexBuilder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tidewatch_limits as limits;
use url::Url;

use super::fields::{TYPES, fields, settings};
use super::{AuthKind, BrowserConfig, CheckConfig, DnsConfig, HttpConfig, TcpConfig, TlsConfig};
use crate::fields::{self as described, one_of};

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
        let config = CheckConfig::stored(check_type, config)?;
        described::check(&fields(check_type), &config.to_value()).map_err(wrong)?;
        Ok(config)
    }

    /// Reads a stored configuration. The bounds of its fields were checked when it was stored: a release with other
    /// bounds still makes the check.
    pub fn stored(check_type: &str, config: &Value) -> Result<CheckConfig, ConfigError> {
        match check_type {
            "http" => http(parsed(config)?).map(|config| CheckConfig::Http(Box::new(config))),
            "tcp" => tcp(parsed(config)?).map(CheckConfig::Tcp),
            "tls" => tls(parsed(config)?).map(CheckConfig::Tls),
            "dns" => dns(parsed(config)?).map(CheckConfig::Dns),
            "heartbeat" => parsed(config).map(CheckConfig::Heartbeat),
            "browser" => browser(parsed(config)?).map(CheckConfig::Browser),
            _ => Err(ConfigError::Malformed(format!("checkType is {}", one_of(&TYPES.map(|words| words.name))))),
        }
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
    if !config.assertions.body_regex.is_empty() {
        body_regex(&config.assertions.body_regex)?;
    }
    Ok(config)
}

fn tcp(config: TcpConfig) -> Result<TcpConfig, ConfigError> {
    host(&config.host)?;
    if config.tls_min_days_remaining.is_some() && !config.use_tls {
        return Err(wrong("tlsMinDaysRemaining needs useTls"));
    }
    Ok(config)
}

fn tls(config: TlsConfig) -> Result<TlsConfig, ConfigError> {
    host(&config.host)?;
    if !config.server_name.is_empty() {
        host(&config.server_name)?;
    }
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

fn browser(config: BrowserConfig) -> Result<BrowserConfig, ConfigError> {
    if config.script.trim().is_empty() {
        return Err(wrong("the script is empty"));
    }
    let most = limits::BROWSER_SCRIPT_BYTES_MAX;
    if config.script.len() > most {
        return Err(wrong(format!("the script has more than {most} bytes")));
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

/// Checks the settings of a monitor beside its configuration.
pub fn check_settings(check_type: &str, settings_of: &Value) -> Result<(), ConfigError> {
    described::check(&settings(check_type), settings_of).map_err(wrong)
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
