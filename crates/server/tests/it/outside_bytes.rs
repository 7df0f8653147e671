//! Arbitrary bytes in the HTTP-facing parsers: none panics, and each keeps its guarantees. `fuzz/` runs the same
//! functions.

use std::path::{Component, Path};

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue};
use clap::Args;
use tidewatch_ingest::{coding, origins};
use tidewatch_server::backup::manifest::Manifest;
use tidewatch_server::backup::socket::Request;
use tidewatch_server::config::{Config, file};
use tidewatch_server::http::gate::multipart::{Event, Multipart};
use tidewatch_server::http::gate::session_cookie::{Cookie, CookieJar, Page, page};
use tidewatch_server::http::ingest::grpc::frame::{self, Frame};
use tidewatch_server::listen::ListenAddress;
use tidewatch_server::listen::client_ip::Trust;

/// The first line holds the settings, each further line a header of a proxy.
pub fn forwarded(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let settings = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut headers = HeaderMap::new();
    for (number, line) in lines.enumerate().take(20) {
        let name = ["x-forwarded-for", "x-real-ip", "cf-connecting-ip"][number % 3];
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(name, value);
        }
    }
    let peer = std::net::IpAddr::from([203, 0, 113, 7]);
    assert_eq!(Trust::default().client(peer, &headers).address, peer, "an untrusted peer speaks for itself");
    let trusts = [Trust::new(Some(&settings), None), Trust::new(None, Some(&settings)), Trust::new(Some("*"), None)];
    for trust in trusts.into_iter().flatten() {
        trust.client(peer, &headers);
    }
}

/// The first line is the server's base URL, the others are headers about cookies and pages. An added session is found
/// unless another precedes it; a page of another site is never an own page.
pub fn session_cookie(bytes: &[u8]) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let base = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut headers = HeaderMap::new();
    for (number, line) in lines.enumerate().take(20) {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(["cookie", "origin", "host"][number % 3], value);
        }
    }
    let jar = CookieJar::new(true);
    let known = jar.read(Cookie::Session, &headers).map(str::to_owned);
    jar.read(Cookie::Device, &headers);
    page(&headers, &base);
    headers.append("cookie", HeaderValue::from_static("a=1; __Host-tidewatch_session=twc_1"));
    assert_eq!(jar.read(Cookie::Session, &headers), Some(known.as_deref().unwrap_or("twc_1")));
    headers.insert("sec-fetch-site", HeaderValue::from_static("same-site"));
    assert_eq!(page(&headers, &base), Page::Foreign);
}

/// The first byte is the size of the pieces of the body; the result does not depend on it.
pub fn multipart(bytes: &[u8]) {
    let Some((cut, body)) = bytes.split_first() else { return };
    let read = |piece: usize| {
        let mut parser = Multipart::new("multipart/form-data; boundary=XX").ok()?;
        let (mut parts, mut data) = (Vec::new(), Vec::new());
        for piece in body.chunks(piece.max(1)) {
            parser.push(piece);
            while let Some(event) = parser.event().ok()? {
                match event {
                    Event::Part(head) => parts.push(head),
                    Event::Data(more) => data.extend_from_slice(&more),
                    Event::PartEnd | Event::End => data.push(0),
                }
            }
        }
        parser.finish().ok().map(|()| (parts, data))
    };
    assert_eq!(read(usize::from(*cut)), read(body.len()));
    let _ = Multipart::new(&String::from_utf8_lossy(body));
}

/// A body of a gRPC call, a HealthCheckRequest and text for `grpc-message`: a message is the whole body but its prefix.
pub fn grpc_frame(bytes: &[u8]) {
    if let Ok(Frame { is_compressed, message }) = frame::only(Bytes::copy_from_slice(bytes)) {
        assert_eq!(bytes[frame::PREFIX_BYTES..], message);
        let mut again = frame::encode(&message);
        again[0] = is_compressed.into();
        assert_eq!(again, bytes);
    }
    if let Some(service) = frame::health_service(bytes) {
        assert!(service.len() < 0x80);
    }
    let encoded = frame::percent_encoded(&String::from_utf8_lossy(bytes));
    assert!(encoded.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{encoded:?}");
}

/// The first line is the header, the rest the body: the output never exceeds the limit.
pub fn content_encodings(bytes: &[u8]) {
    let at = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (header, body) = (&bytes[..at], &bytes[(at + 1).min(bytes.len())..]);
    let mut headers = HeaderMap::new();
    for value in header.split(|byte| *byte == b';').filter_map(|value| HeaderValue::from_bytes(value).ok()) {
        headers.append("content-encoding", value);
    }
    let most = 100_000;
    if let Ok(coding) = coding::of(&headers)
        && let Ok(inflated) = coding::inflate_whole(coding, body, most)
    {
        assert!(inflated.len() <= most);
    }
}

/// Parses a configuration file, a list of proxies and an address.
pub fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let command = Config::augment_args(clap::Command::new("serve"));
    let _ = file::parse(&text, &command);
    let _ = Trust::new(Some(&text), Some(&text));
    if let Ok(address) = text.parse::<ListenAddress>() {
        assert_eq!(address.to_string().parse(), Ok(address));
    }
}

/// Origins of web pages: a project's setting before the first line feed, a browser's header after it.
pub fn origins(bytes: &[u8]) {
    let at = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (setting, origin) = (String::from_utf8_lossy(&bytes[..at]), &bytes[(at + 1).min(bytes.len())..]);
    let allowed: Vec<String> = setting.split(';').filter_map(origins::canonical).collect();
    for origin in &allowed {
        assert_eq!(origins::canonical(origin).as_ref(), Some(origin), "it is as it is compared");
    }
    let _ = origins::allows(&allowed, origin);
}

/// Arbitrary bytes as the manifest of a backup: all listed files are below the restored directory.
pub fn backup_manifest(bytes: &[u8]) {
    let Ok(manifest) = Manifest::parse(bytes) else { return };
    let root = Path::new("/data");
    for entry in &manifest.files {
        let place = entry.place(root);
        let below = place.strip_prefix(root).expect("it lies below");
        assert!(below.components().count() > 0, "{:?}", entry.path);
        assert!(below.components().all(|part| matches!(part, Component::Normal(_))), "{:?}", entry.path);
    }
    let again = serde_json::to_vec(&manifest).expect("a manifest has a text");
    assert_eq!(Manifest::parse(&again).expect("as it was written"), manifest);
}

/// Arbitrary bytes as a request on `admin.sock`: a backup has an absolute target.
pub fn admin_request(bytes: &[u8]) {
    let Ok(request) = Request::parse(bytes) else { return };
    assert!(request.target.is_absolute());
    let again = serde_json::to_vec(&request).expect("a path that was text has a text");
    assert_eq!(Request::parse(&again).expect("as it was written"), request);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{Manifest, Request};

    const WORDS: &[&str] = &[
        "--XX",
        "\r\n",
        "--",
        "Content-Disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\n",
        "\"",
        "\\",
        "\n",
        ",",
        ";",
        " ",
        "127.0.0.1",
        "10.0.0.0/8",
        "[::1]:80",
        "*",
        "gzip",
        "zstd",
        "deflate",
        "identity",
        "\x1f",
        "retention_days",
        "=",
        "7",
        "[",
        "]",
        "unix:",
        "__Host-tidewatch_session=",
        "; ",
        "https://",
        "::ffff:1.2.3.4",
        "/129",
        "https://",
        "*.",
        "shop.example",
        ":443",
        "capacitor://localhost",
        "\0\0\0\0\x01",
        "\x01\0\0\0\0",
    ];

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            4 => prop::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..8),
        ];
        prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn no_parser_panics(bytes in bytes()) {
            super::forwarded(&bytes);
            super::session_cookie(&bytes);
            super::multipart(&bytes);
            super::content_encodings(&bytes);
            super::grpc_frame(&bytes);
            super::settings(&bytes);
            super::origins(&bytes);
            super::backup_manifest(&bytes);
            super::admin_request(&bytes);
        }

        /// For every listed path, nothing is written outside the data directory.
        #[test]
        fn any_manifest_is_refused_or_stays_below(path in "[./a-z]{0,12}", with_secrets in any::<bool>()) {
            let entry = json!({"path": path, "bytes": 1, "xxh3": ""});
            let manifest = json!({
                "version": 1, "program": "0", "madeNs": 0, "withSecrets": with_secrets, "controlDatabase": "sqlite",
                "files": [entry],
            });
            super::backup_manifest(manifest.to_string().as_bytes());
            super::admin_request(json!({"target": path, "withSecrets": with_secrets}).to_string().as_bytes());
        }
    }

    /// The two functions above accept valid input.
    #[test]
    fn good_manifests_and_requests_are_read() {
        let manifest = json!({
            "version": 1, "program": "0", "madeNs": 0, "withSecrets": false, "controlDatabase": "sqlite",
            "files": [{"path": "a/b", "bytes": 1, "xxh3": ""}],
        });
        assert!(Manifest::parse(manifest.to_string().as_bytes()).is_ok());
        assert!(Request::parse(br#"{"target": "/backups/1", "withSecrets": true}"#).is_ok());
        for refused in [r#"{"target": "backups/1", "withSecrets": true}"#, r#"{"target": "/b"}"#, "{}", ""] {
            assert!(Request::parse(refused.as_bytes()).is_err(), "{refused}");
        }
    }

    #[test]
    fn content_that_inflates() {
        let body = vec![7; 200_000];
        for (name, made) in [
            ("gzip", crate::otlp::gzip(&body)),
            ("zstd", crate::otlp::zstd(&body)),
            ("deflate", crate::otlp::zlib(&body)),
        ] {
            super::content_encodings(&[name.as_bytes(), b"\n", &made].concat());
        }
    }
}
