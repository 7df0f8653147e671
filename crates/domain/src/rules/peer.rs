//! The peer of a span: the database, the messaging destination or the host at the other end of a call, by old and new
//! semantic conventions. docs/use/services.md.

use bumpalo::Bump;

use crate::model::{AnyValue, KeyValue, SpanKind, is_blank};

/// Longest stored name of a peer, bytes; longer names are cut.
pub const PEER_BYTES_MAX: usize = 255;

/// What a span says about the other end of its call. Values of the column `peer_kind`; they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PeerKind {
    /// The span queries a database.
    Database = 1,
    /// The span sends messages to a destination.
    SentTo = 2,
    /// The span calls a host.
    Host = 3,
    /// The span serves a call; its name is the address that the caller used, empty when the caller is unknown.
    Caller = 4,
    /// The span receives messages from a destination.
    ReceivedFrom = 5,
}

impl PeerKind {
    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<PeerKind> {
        [PeerKind::Database, PeerKind::SentTo, PeerKind::Host, PeerKind::Caller, PeerKind::ReceivedFrom]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

/// The other end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer<'a> {
    /// System and namespace, system and destination, or host and port; empty for a caller.
    pub name: &'a str,
    /// Database, destination, host or caller.
    pub kind: PeerKind,
}

/// The peer of a span: the caller of a SERVER span, without a name; `None` for an INTERNAL span, and for a CLIENT or
/// PRODUCER span when no attribute names one.
/// The last of duplicate keys wins, and the newer of two names. `arena` holds names that are joined of two attributes.
pub fn peer<'a>(kind: SpanKind, attributes: &[KeyValue<'a>], arena: &'a Bump) -> Option<Peer<'a>> {
    match kind {
        SpanKind::Client | SpanKind::Producer | SpanKind::Consumer => {}
        SpanKind::Server => return Some(CALLER),
        SpanKind::Internal | SpanKind::Unspecified => return None,
    }
    let mut found = Found::default();
    for attribute in attributes {
        found.take(attribute.key, attribute.value);
    }
    found.peer(kind, arena).map(|peer| Peer { name: cut(peer.name), ..peer })
}

/// A caller whose service is unknown so far.
const CALLER: Peer<'_> = Peer { name: "", kind: PeerKind::Caller };

/// The attributes by name, before the preferred ones are chosen.
#[derive(Default)]
struct Found<'a> {
    db_system: [&'a str; 2],
    db_namespace: [&'a str; 2],
    messaging_system: &'a str,
    destination: [&'a str; 2],
    /// `messaging.operation.type`, `messaging.operation`.
    operation: [&'a str; 2],
    /// `server.address`, `net.peer.name`, `peer.service`.
    address: [&'a str; 3],
    port: Option<i64>,
    old_port: Option<i64>,
    /// `url.full`, `http.url`.
    url: [&'a str; 2],
    old_host: &'a str,
    scheme: [&'a str; 2],
    /// `gen_ai.provider.name`, `gen_ai.system`.
    provider: [&'a str; 2],
    /// `net.peer.ip`, `net.sock.peer.addr`, `network.peer.address`.
    ip: [&'a str; 3],
}

impl<'a> Found<'a> {
    fn take(&mut self, key: &str, value: AnyValue<'a>) {
        let text = value.as_str().unwrap_or("");
        match key {
            "db.system.name" => self.db_system[0] = text,
            "db.system" => self.db_system[1] = text,
            "db.namespace" => self.db_namespace[0] = text,
            "db.name" => self.db_namespace[1] = text,
            "messaging.system" => self.messaging_system = text,
            "messaging.destination.name" => self.destination[0] = text,
            "messaging.destination" => self.destination[1] = text,
            "messaging.operation.type" => self.operation[0] = text,
            "messaging.operation" => self.operation[1] = text,
            "server.address" => self.address[0] = text,
            "net.peer.name" => self.address[1] = text,
            "peer.service" => self.address[2] = text,
            "server.port" => self.port = value.as_int(),
            "net.peer.port" => self.old_port = value.as_int(),
            "url.full" => self.url[0] = text,
            "http.url" => self.url[1] = text,
            "http.host" => self.old_host = text,
            "url.scheme" => self.scheme[0] = text,
            "http.scheme" => self.scheme[1] = text,
            "gen_ai.provider.name" => self.provider[0] = text,
            "gen_ai.system" => self.provider[1] = text,
            "net.peer.ip" => self.ip[0] = text,
            "net.sock.peer.addr" => self.ip[1] = text,
            "network.peer.address" => self.ip[2] = text,
            _ => {}
        }
    }

    fn peer(&self, kind: SpanKind, arena: &'a Bump) -> Option<Peer<'a>> {
        if let Some(system) = first(self.db_system) {
            let namespace = first(self.db_namespace).or_else(|| self.host(arena));
            return Some(Peer { name: joined(system, namespace, arena), kind: PeerKind::Database });
        }
        let messaging = first([self.messaging_system]);
        if let Some(system) = messaging.or_else(|| first(self.destination).map(|_| "messaging")) {
            let destination = first(self.destination).or_else(|| self.host(arena));
            let kind = if self.receives(kind) { PeerKind::ReceivedFrom } else { PeerKind::SentTo };
            return Some(Peer { name: joined(system, destination, arena), kind });
        }
        let name = match kind {
            // The address of a CONSUMER span is that of a broker only when it names its messaging system.
            SpanKind::Consumer => return Some(CALLER),
            _ => self.host(arena).or_else(|| first(self.provider))?,
        };
        Some(Peer { name, kind: PeerKind::Host })
    }

    /// Whether a messaging span receives messages: a CONSUMER, or a CLIENT that polls.
    fn receives(&self, kind: SpanKind) -> bool {
        let operation = first(self.operation).unwrap_or("");
        kind == SpanKind::Consumer
            || (kind == SpanKind::Client && matches!(operation, "receive" | "process" | "settle" | "deliver"))
    }

    /// Host, with the port when it is not the default one of its scheme.
    fn host(&self, arena: &'a Bump) -> Option<&'a str> {
        if let Some(address) = first(self.address) {
            let scheme = first(self.scheme).or_else(|| first(self.url).and_then(scheme_of)).unwrap_or("");
            let is_service = first([self.address[0], self.address[1]]).is_none();
            let port = self.port.or(self.old_port).filter(|_| !is_service && !has_port(address));
            return Some(match port.filter(|port| (1..=65_535).contains(port) && !is_default_port(*port, scheme)) {
                Some(port) if address.contains(':') => {
                    bumpalo::format!(in arena, "[{}]:{}", address, port).into_bump_str()
                }
                Some(port) => bumpalo::format!(in arena, "{}:{}", address, port).into_bump_str(),
                None => address,
            });
        }
        let url = first(self.url).and_then(host_of_url);
        url.or_else(|| first([self.old_host])).or_else(|| first(self.ip))
    }
}

/// The first candidate that is not blank.
fn first<const N: usize>(candidates: [&str; N]) -> Option<&str> {
    candidates.into_iter().find(|text| !is_blank(text))
}

fn joined<'a>(system: &'a str, name: Option<&'a str>, arena: &'a Bump) -> &'a str {
    match name {
        Some(name) => bumpalo::format!(in arena, "{} {}", system, name).into_bump_str(),
        None => system,
    }
}

/// Whether an address ends with a port. An IPv6 address without brackets has none.
fn has_port(address: &str) -> bool {
    address.rsplit_once(':').is_some_and(|(host, port)| {
        (!host.contains(':') || host.ends_with(']'))
            && !port.is_empty()
            && port.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_default_port(port: i64, scheme: &str) -> bool {
    match scheme {
        scheme if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("ws") => port == 80,
        scheme if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("wss") => port == 443,
        _ => port == 80 || port == 443,
    }
}

fn scheme_of(url: &str) -> Option<&str> {
    url.split_once("://").map(|(scheme, _)| scheme)
}

/// Host and port of an absolute URL, without user information and without the default port of its scheme.
fn host_of_url(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((name, port)) if has_port(host) && port.parse().is_ok_and(|port| is_default_port(port, scheme)) => name,
        _ => host,
    };
    (!is_blank(host)).then_some(host)
}

/// The name, cut to [`PEER_BYTES_MAX`] at the boundary of a character.
fn cut(name: &str) -> &str {
    let end = (0..=PEER_BYTES_MAX.min(name.len())).rev().find(|at| name.is_char_boundary(*at));
    &name[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<'a>(kind: SpanKind, pairs: &[(&'a str, AnyValue<'a>)], arena: &'a Bump) -> Option<(PeerKind, &'a str)> {
        let attributes: Vec<_> = pairs.iter().map(|(key, value)| KeyValue { key, value: *value }).collect();
        peer(kind, &attributes, arena).map(|peer| (peer.kind, peer.name))
    }

    // docs/use/services.md, "What a span says about its peer".
    #[test]
    fn peer_table() {
        use AnyValue::{Int, Str};
        use PeerKind::{Caller, Database, Host, ReceivedFrom, SentTo};
        use SpanKind::{Client, Consumer, Internal, Producer, Server};
        for (kind, attributes, expected) in [
            (
                Client,
                vec![("db.system.name", Str("postgresql")), ("db.namespace", Str("shop"))],
                Some((Database, "postgresql shop")),
            ),
            (Client, vec![("db.system", Str("mysql")), ("db.name", Str("shop"))], Some((Database, "mysql shop"))),
            (Client, vec![("db.system", Str("old")), ("db.system.name", Str("new"))], Some((Database, "new"))),
            (
                Client,
                vec![("db.system", Str("redis")), ("server.address", Str("cache"))],
                Some((Database, "redis cache")),
            ),
            (
                Client,
                vec![("db.system", Str("redis")), ("net.peer.name", Str("cache")), ("net.peer.port", Int(6379))],
                Some((Database, "redis cache:6379")),
            ),
            (Client, vec![("db.system", Str("sqlite"))], Some((Database, "sqlite"))),
            (
                Producer,
                vec![("messaging.system", Str("kafka")), ("messaging.destination.name", Str("orders"))],
                Some((SentTo, "kafka orders")),
            ),
            (
                Consumer,
                vec![("messaging.system", Str("kafka")), ("messaging.destination.name", Str("orders"))],
                Some((ReceivedFrom, "kafka orders")),
            ),
            (
                Client,
                vec![
                    ("messaging.system", Str("sqs")),
                    ("messaging.destination.name", Str("q")),
                    ("messaging.operation.type", Str("receive")),
                ],
                Some((ReceivedFrom, "sqs q")),
            ),
            (
                Client,
                vec![
                    ("messaging.system", Str("sqs")),
                    ("messaging.destination.name", Str("q")),
                    ("messaging.operation.type", Str("send")),
                ],
                Some((SentTo, "sqs q")),
            ),
            (Producer, vec![("messaging.destination", Str("jobs"))], Some((SentTo, "messaging jobs"))),
            (
                Producer,
                vec![("messaging.system", Str("rabbitmq")), ("server.address", Str("mq"))],
                Some((SentTo, "rabbitmq mq")),
            ),
            (
                Client,
                vec![("server.address", Str("api.example.com")), ("server.port", Int(443))],
                Some((Host, "api.example.com")),
            ),
            (Client, vec![("server.address", Str("api")), ("server.port", Int(8080))], Some((Host, "api:8080"))),
            (Client, vec![("server.address", Str("api")), ("server.port", Str("8080"))], Some((Host, "api:8080"))),
            (
                Client,
                vec![("server.address", Str("api")), ("server.port", Int(443)), ("url.scheme", Str("http"))],
                Some((Host, "api:443")),
            ),
            (Client, vec![("server.address", Str("api:8080")), ("server.port", Int(8080))], Some((Host, "api:8080"))),
            (Client, vec![("server.address", Str("::1")), ("server.port", Int(8080))], Some((Host, "[::1]:8080"))),
            (Client, vec![("server.address", Str("api")), ("server.port", Int(70_000))], Some((Host, "api"))),
            (Client, vec![("net.peer.name", Str("old")), ("server.address", Str("new"))], Some((Host, "new"))),
            (Client, vec![("peer.service", Str("billing")), ("net.peer.port", Int(9000))], Some((Host, "billing"))),
            (
                Client,
                vec![("url.full", Str("https://u:p@api.example.com:443/v1?q=1"))],
                Some((Host, "api.example.com")),
            ),
            (Client, vec![("http.url", Str("http://api:8080"))], Some((Host, "api:8080"))),
            (Client, vec![("http.url", Str("http://[::1]/x"))], Some((Host, "[::1]"))),
            (Client, vec![("http.url", Str("/only/path"))], None),
            (Client, vec![("http.host", Str("api:3000"))], Some((Host, "api:3000"))),
            (Client, vec![("net.peer.ip", Str("10.0.0.7"))], Some((Host, "10.0.0.7"))),
            (Client, vec![("gen_ai.provider.name", Str("openai"))], Some((Host, "openai"))),
            (
                Client,
                vec![("gen_ai.system", Str("openai")), ("server.address", Str("api.openai.com"))],
                Some((Host, "api.openai.com")),
            ),
            (
                Client,
                vec![("rpc.system", Str("grpc")), ("server.address", Str("cart")), ("server.port", Int(50051))],
                Some((Host, "cart:50051")),
            ),
            (Client, vec![("server.address", Str(" "))], None),
            (Client, vec![], None),
            (Consumer, vec![("server.address", Str("broker"))], Some((Caller, ""))),
            (Server, vec![("server.address", Str("self"))], Some((Caller, ""))),
            (Internal, vec![("db.system", Str("sqlite"))], None),
        ] {
            let arena = Bump::new();
            assert_eq!(read(kind, &attributes, &arena), expected, "{kind:?} {attributes:?}");
        }
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let (arena, long) = (Bump::new(), "ä".repeat(200));
        let (_, name) = read(SpanKind::Client, &[("server.address", AnyValue::Str(&long))], &arena).unwrap();
        assert_eq!(name, "ä".repeat(127));
    }

    #[test]
    fn numbers_are_kinds() {
        for number in 0..=u8::MAX {
            assert!(PeerKind::from_number(number).is_none_or(|kind| kind as u8 == number));
        }
        assert_eq!(PeerKind::from_number(4), Some(PeerKind::Caller));
    }

    proptest! {
        #[test]
        fn any_attributes_are_read_without_a_panic(
            values in prop::collection::vec((0..11_usize, any::<String>()), 0..9),
            kind in 0..6_i64,
        ) {
            const KEYS: [&str; 11] = [
                "db.system", "db.name", "messaging.system", "messaging.destination.name", "server.address", "server.port",
                "url.full", "http.url", "http.host", "url.scheme", "gen_ai.system",
            ];
            let arena = Bump::new();
            let pairs: Vec<_> = values.iter().map(|(key, text)| (KEYS[*key], AnyValue::Str(text))).collect();
            if let Some((kind, name)) = read(SpanKind::from_number(kind), &pairs, &arena) {
                prop_assert!(name.len() <= PEER_BYTES_MAX && name.is_empty() == (kind == PeerKind::Caller));
            }
        }
    }
}
