//! Reads the HTTP attributes of a request, by old and new semantic conventions. DECISIONS 2, 3, 10.
//!
//! Only for spans that become Endpoints; [`super::span_facts`] reads what every span needs.

use super::span_facts::status_code;
use crate::model::{AnyValue, Attributes, KeyValue, is_blank};

/// The request of an Endpoint row. Absent strings are empty, absent numbers 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HttpRequest<'a> {
    /// `http.request.method`, else `http.method`.
    pub method: &'a str,
    /// `http.route` as sent; empty when it is blank.
    pub route: &'a str,
    /// `url.path`, else the path of `http.target`, `url.full` or `http.url`.
    pub path: &'a str,
    /// `http.response.status_code`, else `http.status_code`.
    pub status: i16,
    /// `client.address`, else `http.client_ip`, else `net.peer.ip`, else `net.sock.peer.addr`.
    pub client_address: &'a str,
    /// Size of the response body in bytes.
    pub body_size: i64,
    /// Whether the response is a stream. DECISIONS 10.
    pub is_stream: bool,
}

impl<'a> HttpRequest<'a> {
    /// Reads attributes in one pass. The last of duplicate keys wins, and the newer of two names.
    pub fn read(attributes: &[KeyValue<'a>]) -> Self {
        let mut found = Found::default();
        for attribute in attributes {
            found.take(attribute.key, attribute.value);
        }
        found.request()
    }
}

/// The attributes by name, before the preferred ones are chosen.
#[derive(Default)]
struct Found<'a> {
    method: &'a str,
    old_method: &'a str,
    route: &'a str,
    url_path: &'a str,
    target: &'a str,
    url_full: &'a str,
    old_url: &'a str,
    status: Option<i16>,
    old_status: Option<i16>,
    client_address: &'a str,
    client_ip: &'a str,
    peer_ip: &'a str,
    socket_peer: &'a str,
    body_size: Option<i64>,
    old_body_size: Option<i64>,
    scheme: &'a str,
    old_scheme: &'a str,
    event_stream: bool,
    websocket: bool,
    upgrade: bool,
    marked_as_stream: bool,
}

impl<'a> Found<'a> {
    fn take(&mut self, key: &str, value: AnyValue<'a>) {
        let text = value.as_str().unwrap_or("");
        match key {
            "http.request.method" => self.method = text,
            "http.method" => self.old_method = text,
            "http.route" => self.route = text,
            "url.path" => self.url_path = text,
            "http.target" => self.target = text,
            "url.full" => self.url_full = text,
            "http.url" => self.old_url = text,
            "http.response.status_code" => self.status = status_code(value),
            "http.status_code" => self.old_status = status_code(value),
            "client.address" => self.client_address = text,
            "http.client_ip" => self.client_ip = text,
            "net.peer.ip" => self.peer_ip = text,
            "net.sock.peer.addr" => self.socket_peer = text,
            "http.response.body.size" => self.body_size = value.as_int(),
            "http.response_content_length" => self.old_body_size = value.as_int(),
            "url.scheme" => self.scheme = text,
            "http.scheme" => self.old_scheme = text,
            "network.protocol.name" => self.websocket = text.eq_ignore_ascii_case("websocket"),
            "http.request.header.upgrade" => self.upgrade = is_websocket(value),
            "http.response.header.content-type" | "http.response.header.content_type" => {
                self.event_stream = is_event_stream(value);
            }
            "traceway.is_stream" => {
                self.marked_as_stream = value == AnyValue::Bool(true) || text.eq_ignore_ascii_case("true");
            }
            _ => {}
        }
    }

    fn request(self) -> HttpRequest<'a> {
        let status = self.status.or(self.old_status).unwrap_or(0);
        let web_socket_scheme = [scheme_of(self.url_full), scheme_of(self.old_url), self.scheme, self.old_scheme]
            .iter()
            .any(|scheme| scheme.eq_ignore_ascii_case("ws") || scheme.eq_ignore_ascii_case("wss"));
        HttpRequest {
            method: first_text([self.method, self.old_method]),
            route: first_text([self.route]),
            path: match self.url_path {
                path if !is_blank(path) => path,
                _ => first_text([path_of_target(self.target), path_of_url(self.url_full), path_of_url(self.old_url)]),
            },
            status,
            client_address: first_text([self.client_address, self.client_ip, self.peer_ip, self.socket_peer]),
            body_size: self.body_size.or(self.old_body_size).unwrap_or(0).max(0),
            is_stream: status == 101
                || self.event_stream
                || self.websocket
                || self.upgrade
                || self.marked_as_stream
                || web_socket_scheme,
        }
    }
}

/// The first candidate that is not blank, as sent.
fn first_text<const N: usize>(candidates: [&str; N]) -> &str {
    candidates.into_iter().find(|text| !is_blank(text)).unwrap_or("")
}

/// Whether the value of an `Upgrade` header is `websocket`.
fn is_websocket(value: AnyValue<'_>) -> bool {
    match value {
        AnyValue::Str(text) => text.trim().eq_ignore_ascii_case("websocket"),
        AnyValue::Array(values) => values.iter().any(|one| is_websocket(*one)),
        _ => false,
    }
}

/// Whether an event of a gRPC call says that more than one message was sent or received in a direction: `message` with
/// `message.id` (`rpc.message.id`) of 2 and above. A unary call has one of each.
pub fn is_message_of_a_stream(name: &str, attributes: Attributes<'_, '_>) -> bool {
    let id = || ["rpc.message.id", "message.id"].iter().find_map(|key| attributes.get(key)?.as_int());
    (name == "message" || name == "rpc.message") && id().is_some_and(|id| id >= 2)
}

/// Whether a content type is `text/event-stream`. Header attributes are lists of strings; some SDKs send a string.
fn is_event_stream(value: AnyValue<'_>) -> bool {
    const EVENT_STREAM: &str = "text/event-stream";
    match value {
        AnyValue::Str(text) => {
            text.trim_start().get(..EVENT_STREAM.len()).is_some_and(|start| start.eq_ignore_ascii_case(EVENT_STREAM))
        }
        AnyValue::Array(items) => items.iter().any(|item| matches!(item, AnyValue::Str(_)) && is_event_stream(*item)),
        _ => false,
    }
}

/// Splits into the scheme and the rest after `://`. `None` without a scheme before the first slash.
fn split_scheme(url: &str) -> Option<(&str, &str)> {
    if url.is_empty() {
        return None;
    }
    let (scheme, rest) = url.split_once(':')?;
    Some((scheme, rest.strip_prefix("//").filter(|_| !scheme.contains(['/', '?', '#']))?))
}

fn scheme_of(url: &str) -> &str {
    split_scheme(url).map_or("", |(scheme, _)| scheme)
}

/// `/search?q=1` gives `/search`. A target may also be an absolute URL (proxies) or `*`.
fn path_of_target(target: &str) -> &str {
    if split_scheme(target).is_some() { path_of_url(target) } else { without_query(target) }
}

/// The path of an absolute URL, or `/`. A URL without a scheme is taken as a path.
fn path_of_url(url: &str) -> &str {
    let Some((_, rest)) = split_scheme(url) else { return without_query(url) };
    let rest = without_query(rest);
    match rest.find('/') {
        Some(slash) => &rest[slash..],
        None if rest.is_empty() => "",
        None => "/",
    }
}

fn without_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&'static str, AnyValue<'static>)]) -> HttpRequest<'static> {
        let attributes: Vec<_> = pairs.iter().map(|(key, value)| KeyValue { key, value: *value }).collect();
        HttpRequest::read(&attributes)
    }

    fn text(pairs: &[(&'static str, &'static str)]) -> HttpRequest<'static> {
        read(&pairs.iter().map(|(key, value)| (*key, AnyValue::Str(value))).collect::<Vec<_>>())
    }

    // DECISIONS 3: url.path, else the path of http.target, url.full or http.url.
    #[test]
    fn path_table() {
        for (attributes, expected) in [
            (vec![("url.path", "/a")], "/a"),
            (vec![("http.target", "/search?q=1")], "/search"),
            (vec![("http.target", "/a#b")], "/a"),
            (vec![("http.target", "http://h/p?x")], "/p"),
            (vec![("http.target", "/go?to=http://h/p")], "/go"),
            (vec![("url.full", "https://h:8443/x/y?z=1#f")], "/x/y"),
            (vec![("http.url", "http://h")], "/"),
            (vec![("http.url", "http://h?x=1")], "/"),
            (vec![("http.url", "://")], ""),
            (vec![("http.url", "/only/path?x")], "/only/path"),
            (vec![("url.path", " "), ("http.target", "/t"), ("http.url", "http://h/u")], "/t"),
            (vec![("http.url", "http://h/old"), ("url.full", "http://h/new")], "/new"),
            (vec![], ""),
        ] {
            assert_eq!(text(&attributes).path, expected, "{attributes:?}");
        }
    }

    #[test]
    fn the_newer_name_wins() {
        let both = read(&[
            ("http.request.method", AnyValue::Str("PUT")),
            ("http.method", AnyValue::Str("GET")),
            ("client.address", AnyValue::Str("203.0.113.9")),
            ("net.peer.ip", AnyValue::Str("10.0.0.1")),
            ("http.response.body.size", AnyValue::Int(5)),
            ("http.response_content_length", AnyValue::Int(6)),
        ]);
        assert_eq!((both.method, both.client_address, both.body_size), ("PUT", "203.0.113.9", 5));
        let old = read(&[
            ("http.method", AnyValue::Str("GET")),
            ("net.peer.ip", AnyValue::Str("10.0.0.1")),
            ("http.response_content_length", AnyValue::Str("6")),
        ]);
        assert_eq!((old.method, old.client_address, old.body_size), ("GET", "10.0.0.1", 6));
    }

    // DECISIONS 10.
    #[test]
    fn streaming_table() {
        let header = "http.response.header.content-type";
        let list = [AnyValue::Str("text/event-stream; charset=utf-8")];
        let list: &'static [AnyValue<'static>] = Box::leak(Box::new(list));
        for (attributes, expected) in [
            (vec![(header, AnyValue::Array(list))], true),
            (vec![(header, AnyValue::Str("text/event-stream"))], true),
            (vec![("http.response.header.content_type", AnyValue::Array(list))], true),
            (vec![(header, AnyValue::Str("text/html"))], false),
            (vec![(header, AnyValue::Str("é"))], false),
            (vec![("http.response.status_code", AnyValue::Int(101))], true),
            (vec![("http.status_code", AnyValue::Str("101"))], true),
            (vec![("url.scheme", AnyValue::Str("wss"))], true),
            (vec![("http.scheme", AnyValue::Str("ws"))], true),
            (vec![("url.full", AnyValue::Str("wss://h/x"))], true),
            (vec![("url.scheme", AnyValue::Str("https"))], false),
            (vec![("network.protocol.name", AnyValue::Str("websocket"))], true),
            (vec![("network.protocol.name", AnyValue::Str("http"))], false),
            (vec![("http.request.header.upgrade", AnyValue::Str("WebSocket"))], true),
            (vec![("http.request.header.upgrade", AnyValue::Str("h2c"))], false),
            (vec![("traceway.is_stream", AnyValue::Bool(true))], true),
            (vec![("traceway.is_stream", AnyValue::Str("true"))], true),
            (vec![("traceway.is_stream", AnyValue::Bool(false))], false),
            (vec![], false),
        ] {
            assert_eq!(read(&attributes).is_stream, expected, "{attributes:?}");
        }
    }

    #[test]
    fn calls_with_several_messages_in_a_direction_are_streams() {
        let id = |key, id| [KeyValue { key, value: AnyValue::Int(id) }];
        for (name, attributes, expected) in [
            ("message", id("message.id", 1), false),
            ("message", id("message.id", 2), true),
            ("message", id("rpc.message.id", 3), true),
            ("rpc.message", id("rpc.message.id", 2), true),
            ("exception", id("message.id", 2), false),
            ("message", id("other", 2), false),
        ] {
            assert_eq!(is_message_of_a_stream(name, Attributes(&attributes)), expected, "{name} {attributes:?}");
        }
    }
}
