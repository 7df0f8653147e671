//! Which addresses the server may contact on behalf of a user: the targets of channels and monitors.
//!
//! An address is checked after name resolution, and the connection goes to that address, so that a name whose answer
//! changes between both (DNS rebinding) reaches nothing else. Redirects are requests of their own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Reasons for which a target is not contacted. The message is for the user.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The name has no address.
    #[error("{0} cannot be resolved")]
    Unresolved(String),
    /// An address is of a private network.
    #[error("{0} is an address of a private network, which this server does not contact")]
    Private(IpAddr),
}

/// Which addresses may be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutboundPolicy {
    /// Whether private networks may be contacted.
    pub allows_private: bool,
}

impl OutboundPolicy {
    /// Checks one address.
    pub fn check(&self, address: IpAddr) -> Result<(), OutboundError> {
        if self.allows_private || is_public(address) { Ok(()) } else { Err(OutboundError::Private(address)) }
    }

    /// Resolves `host`, which is a name or an address, with or without the brackets of IPv6. Returns at least one
    /// address. An error if any of them is refused: a name with a public and a private address is an attempt.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, OutboundError> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let unresolved = || OutboundError::Unresolved(host.to_owned());
        let found: Vec<SocketAddr> = match host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => tokio::net::lookup_host((host, port)).await.map_err(|_| unresolved())?.collect(),
        };
        if found.is_empty() {
            return Err(unresolved());
        }
        for address in &found {
            self.check(address.ip())?;
        }
        Ok(found)
    }
}

/// Whether an address is of the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0 // this network
        || address.is_private()
        || a == 100 && b & 0xC0 == 64 // shared address space of carriers
        || address.is_loopback()
        || address.is_link_local() // also the metadata services of clouds
        || a == 192 && b == 0 && (c == 0 || c == 2) // protocol assignments, documentation
        || a == 192 && b == 88 && c == 99 // relays of 6to4
        || a == 198 && b & 0xFE == 18 // benchmarks
        || a == 198 && b == 51 && c == 100
        || a == 203 && b == 0 && c == 113
        || a >= 224) // multicast, reserved, broadcast
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // Addresses that contain an IPv4 address, which is what is reached.
    let low = || Ipv4Addr::from((u32::from(segments[6]) << 16) | u32::from(segments[7]));
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    if segments[..6] == [0x64, 0xFF9B, 0, 0, 0, 0] {
        return is_public_v4(low());
    }
    if segments[0] == 0x2002 {
        return is_public_v4(Ipv4Addr::from((u32::from(segments[1]) << 16) | u32::from(segments[2])));
    }
    // 2000::/3 is the only allocated range; documentation, Teredo and other protocol assignments are in it.
    segments[0] & 0xE000 == 0x2000
        && !(segments[0] == 0x2001 && (segments[1] < 0x200 || segments[1] == 0xDB8))
        && !(segments[0] == 0x3FFF && segments[1] < 0x1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: SSRF attempts (loopback, link-local, metadata addresses, IPv6-mapped) are refused.
    #[test]
    fn only_public_addresses_are_contacted() {
        let table: &[(&str, bool)] = &[
            ("93.184.216.34", true),
            ("8.8.8.8", true),
            ("2606:2800:220:1:248:1893:25c8:1946", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.1.2.3", false),
            ("100.64.0.1", false),
            ("100.128.0.1", true),
            ("127.0.0.1", false),
            ("127.8.8.8", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.32.0.1", true),
            ("192.0.0.1", false),
            ("192.0.2.1", false),
            ("192.168.0.1", false),
            ("198.18.0.1", false),
            ("203.0.113.9", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("::7f00:1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::808:808", true),
            ("2002:7f00:1::", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("ff02::1", false),
        ];
        let policy = OutboundPolicy { allows_private: false };
        for (address, is_allowed) in table {
            let parsed: IpAddr = address.parse().expect("an address");
            assert_eq!(policy.check(parsed).is_ok(), *is_allowed, "{address}");
            assert!(OutboundPolicy { allows_private: true }.check(parsed).is_ok());
        }
    }

    #[tokio::test]
    async fn names_and_brackets_are_resolved_before_the_check() {
        let policy = OutboundPolicy { allows_private: false };
        for host in ["localhost", "[::1]", "127.0.0.1"] {
            assert!(matches!(policy.resolve(host, 80).await, Err(OutboundError::Private(_))), "{host}");
        }
        assert!(matches!(policy.resolve("no-such-name.invalid", 80).await, Err(OutboundError::Unresolved(_))));
    }
}
