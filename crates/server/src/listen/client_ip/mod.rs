//! The client address of a request: a pure function of the peer, the headers and the settings. Spec: authentication,
//! rules 3 to 5.
//!
//! `TRUSTED_PROXY_HEADER` takes precedence, from every peer, or from trusted ones where `TRUSTED_PROXIES` names them
//! (docs/spec/decisions.md); then, from a trusted peer, `X-Forwarded-For` (the right-most address that is not a trusted
//! proxy; where all peers are trusted, the right-most) and `X-Real-IP`; else the peer itself.

use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;
use tidewatch_limits::admission::per_ip::mask;

use axum::http::{HeaderMap, HeaderName};

/// The peers that may state the address of their clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    proxies: Proxies,
    header: Option<HeaderName>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Proxies {
    /// Not set: only loopback.
    Loopback,
    /// `*`: every peer.
    All,
    These(Vec<Network>),
}

/// An address or a CIDR range. IPv4-mapped IPv6 addresses are IPv4 addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    /// Left-aligned bits of the address.
    bits: u128,
    prefix: u32,
    is_ipv4: bool,
}

/// Why `TRUSTED_PROXIES` or `TRUSTED_PROXY_HEADER` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// `TRUSTED_PROXIES` has a word that is neither an address nor a CIDR range nor `*`.
    #[error("TRUSTED_PROXIES: {0:?} is no address, no CIDR range and not *")]
    Network(String),
    /// `TRUSTED_PROXY_HEADER` is not a header name.
    #[error("TRUSTED_PROXY_HEADER: {0:?} is no header name")]
    Header(String),
}

/// The client of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Address of the client.
    pub address: IpAddr,
    /// An untrusted peer sent a forwarding header, which is ignored. The operator is warned.
    pub is_untrusted_proxy: bool,
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

impl Default for Trust {
    fn default() -> Trust {
        Trust { proxies: Proxies::Loopback, header: None }
    }
}

impl Trust {
    /// Parses the two settings; an empty one counts as not set.
    pub fn new(proxies: Option<&str>, header: Option<&str>) -> Result<Trust, TrustError> {
        let set = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let proxies = match set(proxies) {
            None => Proxies::Loopback,
            Some(list) => Proxies::read(&list)?,
        };
        let header = match set(header) {
            None => None,
            Some(name) => Some(HeaderName::from_str(&name).map_err(|_| TrustError::Header(name))?),
        };
        Ok(Trust { proxies, header })
    }

    /// Whether this peer may state the address of its clients.
    pub fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        match &self.proxies {
            Proxies::Loopback => address.is_loopback(),
            Proxies::All => true,
            Proxies::These(networks) => networks.iter().any(|network| network.holds(address)),
        }
    }

    /// The client of a request from `peer` with these headers.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let peer = peer.to_canonical();
        let client = |address| Client { address, is_untrusted_proxy: false };
        let header = self.header.as_ref().filter(|_| self.proxies == Proxies::Loopback || self.trusts(peer));
        if let Some(named) = header.and_then(|name| last_address(headers, name)) {
            return client(named);
        }
        let forwarded = headers.contains_key(&FORWARDED_FOR);
        if !forwarded && !headers.contains_key(&REAL_IP) {
            return client(peer);
        }
        if !self.trusts(peer) {
            return Client { address: peer, is_untrusted_proxy: true };
        }
        if forwarded {
            client(self.right_most(peer, headers))
        } else {
            client(last_address(headers, &REAL_IP).unwrap_or(peer))
        }
    }

    /// Walks the chain of addresses from its right end: each trusted proxy vouches for the address to its left. A word
    /// that is no address ends the walk.
    fn right_most(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut nearest = peer;
        for value in headers.get_all(FORWARDED_FOR).iter().rev() {
            let Ok(value) = value.to_str() else { return nearest };
            for word in value.rsplit(',') {
                let Some(address) = address(word) else { return nearest };
                nearest = address;
                // With `*` only the peer is known to be a proxy: clients can write anything further left.
                if self.proxies == Proxies::All || !self.trusts(address) {
                    return address;
                }
            }
        }
        nearest
    }
}

impl Proxies {
    fn read(list: &str) -> Result<Proxies, TrustError> {
        let mut networks = Vec::new();
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if word == "*" {
                return Ok(Proxies::All);
            }
            networks.push(Network::read(word).ok_or_else(|| TrustError::Network(word.to_owned()))?);
        }
        Ok(Proxies::These(networks))
    }
}

impl Network {
    fn read(word: &str) -> Option<Network> {
        let (address, prefix) = match word.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix.parse::<u32>().ok()?)),
            None => (word, None),
        };
        let address: IpAddr = address.trim().parse().ok()?;
        let (bits, width) = left_aligned(address);
        let prefix = prefix.unwrap_or(width);
        if prefix > width {
            return None;
        }
        Some(Network { bits: bits & mask(prefix), prefix, is_ipv4: address.is_ipv4() })
    }

    fn holds(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.is_ipv4 && left_aligned(address).0 & mask(self.prefix) == self.bits
    }
}

/// The left-aligned bits of an address, and their number.
fn left_aligned(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << (u128::BITS - Ipv4Addr::BITS), Ipv4Addr::BITS),
        IpAddr::V6(address) => (u128::from(address), u128::BITS),
    }
}

/// The last address of a header; in a list, the one that the nearest proxy wrote.
fn last_address(headers: &HeaderMap, name: &HeaderName) -> Option<IpAddr> {
    let value = headers.get_all(name).iter().next_back()?.to_str().ok()?;
    address(value.rsplit(',').next()?)
}

/// Parses an address as proxies write it: bare, quoted, in brackets, with a port.
fn address(word: &str) -> Option<IpAddr> {
    let word = word.trim().trim_matches('"');
    let bare = match word.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next()?,
        None => word,
    };
    let parsed = bare
        .parse::<IpAddr>()
        .ok()
        .or_else(|| bare.parse::<std::net::SocketAddrV4>().ok().map(|v4| IpAddr::V4(*v4.ip())));
    parsed.map(|address| address.to_canonical())
}

/// The log line about an untrusted proxy. Spec: authentication, rule 5, which prescribes its beginning.
pub fn untrusted_proxy_line(peer: IpAddr) -> String {
    let peer = peer.to_canonical();
    format!(
        "X-Forwarded-For or X-Real-IP received from {peer}, which is not in TRUSTED_PROXIES: the header is ignored and \
         every client behind this address shares its limits; set TRUSTED_PROXIES if it is your proxy"
    )
}

#[cfg(test)]
mod tests;
