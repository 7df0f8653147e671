//! Listen addresses, the certificate for TLS ([`tls`]), and the addresses of clients behind proxies ([`client_ip`]).
//!
//! Nothing here depends on HTTP.

pub mod client_ip;
pub mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// An address to listen on: `127.0.0.1:8080`, `[::]:8080`, `tls:[::]:8443` or `unix:/run/tidewatch.sock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// HTTP over TCP.
    Tcp(SocketAddr),
    /// HTTPS over TCP.
    Tls(SocketAddr),
    /// HTTP over a Unix socket at this path.
    Unix(PathBuf),
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ListenAddress, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err("unix: is followed by the socket's path".to_owned()),
                path => Ok(ListenAddress::Unix(path.into())),
            };
        }
        let (kind, address) = match text.strip_prefix("tls:") {
            Some(address) => (ListenAddress::Tls as fn(SocketAddr) -> ListenAddress, address),
            None => (ListenAddress::Tcp as fn(SocketAddr) -> ListenAddress, text),
        };
        address.parse().map(kind).map_err(|_| {
            format!("{text:?} is no address with a port, such as 127.0.0.1:8080 or tls:0.0.0.0:8443, and no unix:/path")
        })
    }
}

impl std::fmt::Display for ListenAddress {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ListenAddress::Tcp(address) => address.fmt(out),
            ListenAddress::Tls(address) => write!(out, "tls:{address}"),
            ListenAddress::Unix(path) => write!(out, "unix:{}", path.display()),
        }
    }
}

impl ListenAddress {
    /// The URL for clients on this machine.
    pub fn url(&self) -> String {
        match self {
            ListenAddress::Tcp(address) => format!("http://{address}"),
            ListenAddress::Tls(address) => format!("https://{address}"),
            ListenAddress::Unix(path) => format!("unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("[::]:80", Some("[::]:80")),
            ("unix:/run/a.sock", Some("unix:/run/a.sock")),
            ("tls:0.0.0.0:8443", Some("tls:0.0.0.0:8443")),
            ("tls:here", None),
            ("unix:", None),
            ("8080", None),
            ("localhost:8080", None),
        ] {
            let read = text.parse::<ListenAddress>().ok().map(|address| address.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        }
    }
}
