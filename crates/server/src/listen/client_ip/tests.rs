//! Spec: authentication, rules 3 to 5.

use super::*;
use proptest::prelude::*;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, value.parse().expect("a header value"));
    }
    headers
}

#[track_caller]
fn check(settings: (&str, &str), peer: &str, pairs: &[(&'static str, &str)], expected: &str, warned: bool) {
    let trust = Trust::new(Some(settings.0), Some(settings.1)).expect("good settings");
    let client = trust.client(peer.parse().expect("an address"), &headers(pairs));
    let found = (client.address.to_string(), client.is_untrusted_proxy);
    assert_eq!(found, (expected.to_owned(), warned), "{settings:?} {peer} {pairs:?}");
}

const XFF: &str = "x-forwarded-for";
const REAL: &str = "x-real-ip";

#[test]
fn by_default_loopback_alone_is_trusted() {
    let default = ("", "");
    check(default, "203.0.113.7", &[], "203.0.113.7", false);
    check(default, "127.0.0.1", &[], "127.0.0.1", false);
    check(default, "127.0.0.1", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(default, "127.8.9.1", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(default, "::1", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(default, "::ffff:127.0.0.1", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(default, "127.0.0.1", &[(REAL, "198.51.100.1")], "198.51.100.1", false);
    check(default, "127.0.0.1", &[(REAL, "198.51.100.1"), (XFF, "198.51.100.2")], "198.51.100.2", false);
    // "Private networks are not trusted by default."
    for peer in ["10.0.0.1", "192.168.1.1", "172.16.0.1", "fd00::1", "203.0.113.7"] {
        check(default, peer, &[(XFF, "198.51.100.1")], peer, true);
        check(default, peer, &[(REAL, "198.51.100.1")], peer, true);
    }
}

#[test]
fn trusted_proxies_replaces_the_list() {
    let own = ("10.0.0.0/8, 192.0.2.1,2001:db8::/32", "");
    check(own, "10.1.2.3", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(own, "192.0.2.1", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(own, "::ffff:10.1.2.3", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(own, "2001:db8::9", &[(XFF, "198.51.100.1")], "198.51.100.1", false);
    check(own, "192.0.2.2", &[(XFF, "198.51.100.1")], "192.0.2.2", true);
    check(own, "127.0.0.1", &[(XFF, "198.51.100.1")], "127.0.0.1", true);
    check(own, "11.0.0.1", &[(XFF, "198.51.100.1")], "11.0.0.1", true);
    check(("0.0.0.0/0", ""), "11.0.0.1", &[(XFF, "::5")], "::5", false);
    check(("0.0.0.0/0", ""), "::7", &[(XFF, "::5")], "::7", true);
}

#[test]
fn the_right_most_untrusted_address_is_the_client() {
    let own = ("10.0.0.0/8", "");
    for (chain, expected) in [
        ("198.51.100.1", "198.51.100.1"),
        ("1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("1.1.1.1, 198.51.100.1, 10.0.0.9", "198.51.100.1"),
        ("1.1.1.1,198.51.100.1,10.0.0.9,10.0.0.8", "198.51.100.1"),
        ("10.0.0.7, 10.0.0.9", "10.0.0.7"),
        ("198.51.100.1:4711", "198.51.100.1"),
        ("\"[2001:db8::1]:4711\"", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("::ffff:198.51.100.1", "198.51.100.1"),
        ("1.1.1.1, nonsense, 10.0.0.9", "10.0.0.9"),
        ("nonsense", "10.0.0.1"),
        ("unknown, ", "10.0.0.1"),
        ("", "10.0.0.1"),
    ] {
        check(own, "10.0.0.1", &[(XFF, chain)], expected, false);
    }
    check(own, "10.0.0.1", &[(XFF, "1.1.1.1"), (XFF, "2.2.2.2, 10.0.0.2")], "2.2.2.2", false);
    check(own, "10.0.0.1", &[(XFF, "1.1.1.1"), (XFF, "10.0.0.2")], "1.1.1.1", false);
}

#[test]
fn a_star_trusts_every_peer() {
    // A client can write anything to the left of what the proxy adds.
    check(("*", ""), "203.0.113.7", &[(XFF, "1.1.1.1, 2.2.2.2")], "2.2.2.2", false);
    check(("*", ""), "203.0.113.7", &[(XFF, "1.1.1.1"), (XFF, "2.2.2.2")], "2.2.2.2", false);
    check(("10.0.0.1, *", ""), "203.0.113.7", &[(REAL, "1.1.1.1")], "1.1.1.1", false);
    check(("*", ""), "203.0.113.7", &[], "203.0.113.7", false);
}

#[test]
fn the_named_header_takes_precedence_over_the_list() {
    for proxies in ["", "203.0.113.0/24", "*"] {
        let own = (proxies, "CF-Connecting-IP");
        check(own, "203.0.113.7", &[("cf-connecting-ip", "1.1.1.1"), (XFF, "2.2.2.2")], "1.1.1.1", false);
    }
    // Where proxies are listed, other peers cannot choose an address with it.
    let named = ("10.0.0.0/8", "CF-Connecting-IP");
    check(named, "203.0.113.7", &[("cf-connecting-ip", "1.1.1.1")], "203.0.113.7", false);
    check(named, "203.0.113.7", &[("cf-connecting-ip", "1.1.1.1"), (XFF, "2.2.2.2")], "203.0.113.7", true);
    check(named, "10.1.1.1", &[("cf-connecting-ip", "1.1.1.1"), (XFF, "2.2.2.2")], "1.1.1.1", false);
    // Without the header the list applies.
    check(("", "X-Real-IP"), "203.0.113.7", &[(REAL, "1.1.1.1")], "1.1.1.1", false);
    check(("", "X-Real-IP"), "203.0.113.7", &[(XFF, "1.1.1.1")], "203.0.113.7", true);
    check(("", "X-Real-IP"), "127.0.0.1", &[(XFF, "1.1.1.1")], "1.1.1.1", false);
    check(("", "X-Real-IP"), "203.0.113.7", &[(REAL, "nonsense")], "203.0.113.7", true);
    check(("", "X-Forwarded-For"), "203.0.113.7", &[(XFF, "1.1.1.1, 2.2.2.2")], "2.2.2.2", false);
}

#[test]
fn malformed_settings_are_errors() {
    for (proxies, header, expected) in [
        ("10.0.0.0/33", "", "TRUSTED_PROXIES: \"10.0.0.0/33\" is no address, no CIDR range and not *"),
        ("::/129", "", "TRUSTED_PROXIES: \"::/129\" is no address, no CIDR range and not *"),
        ("10.0.0.0/8,proxy", "", "TRUSTED_PROXIES: \"proxy\" is no address, no CIDR range and not *"),
        ("", "X Real", "TRUSTED_PROXY_HEADER: \"X Real\" is no header name"),
    ] {
        let error = Trust::new(Some(proxies), Some(header)).expect_err(proxies);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn the_warning_begins_as_the_specification_words_it() {
    let line = untrusted_proxy_line("::ffff:203.0.113.7".parse().expect("an address"));
    let start = "X-Forwarded-For or X-Real-IP received from 203.0.113.7, which is not in TRUSTED_PROXIES";
    assert!(line.starts_with(start), "{line}");
}

proptest! {
    // For any chain, the client of an untrusted peer is the peer itself, and nothing panics.
    #[test]
    fn untrusted_peers_cannot_choose_an_address(chain: String, real: String, peer: std::net::Ipv4Addr, list: String) {
        let mut headers = HeaderMap::new();
        for (name, value) in [(XFF, &chain), (REAL, &real)] {
            if let Ok(value) = value.parse() {
                headers.append(name, value);
            }
        }
        let client = Trust::default().client(peer.into(), &headers);
        if !peer.is_loopback() {
            prop_assert_eq!(client.address, IpAddr::V4(peer));
        }
        let _ = Trust::new(Some(&list), Some(&real));
    }
}
