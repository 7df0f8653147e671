//! The embedded UI and the headers of every answer. Spec: limits, row "Frames"; UX 3.2.

use std::io::Read;

use crate::client;
use crate::harness::Harness;

const HTML: (&str, &str) = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8");

#[tokio::test]
async fn pages_assets_and_unknown_paths() {
    let harness = Harness::start().await;
    for (method, path, headers, expected, html) in [
        ("GET", "/", &[][..], 200, true),
        ("GET", "/index.html", &[], 200, true),
        ("GET", "/endpoints/some-page?project=1", &[HTML], 200, true),
        ("HEAD", "/", &[HTML], 200, true),
        ("GET", "/endpoints/some-page", &[("Accept", "application/json")], 404, false),
        ("GET", "/assets/gone-12345678.js", &[HTML], 404, false),
        ("GET", "/api/no-such-thing", &[HTML], 404, false),
        ("GET", "/api", &[HTML], 404, false),
        ("GET", "/v1/nothing", &[HTML], 404, false),
        ("POST", "/somewhere", &[HTML], 404, false),
        ("GET", "/../../etc/passwd", &[], 404, false),
        ("DELETE", "/api/login", &[], 405, false),
    ] {
        let answer = client::send(harness.address(), method, path, headers, b"").await;
        assert_eq!(answer.status, expected, "{method} {path}");
        let content_type = answer.header("Content-Type").unwrap_or_default();
        assert_eq!(content_type.starts_with("text/html"), html, "{method} {path}: {content_type}");
        if expected >= 400 {
            assert!(answer.json()["error"].is_string(), "{method} {path}");
        }
        // Spec: limits, row "Frames": every response.
        assert_eq!(answer.header("X-Frame-Options"), Some("DENY"), "{path}");
        let policy = answer.header("Content-Security-Policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{policy}");
        assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("Referrer-Policy"), Some("same-origin"), "{path}");
        assert!(answer.header("X-UI-Version").is_some(), "{path}");
    }
}

#[tokio::test]
async fn the_page_is_revalidated_each_time_and_sent_once() {
    let harness = Harness::start().await;
    let first = client::send(harness.address(), "GET", "/", &[HTML], b"").await.expect(200);
    assert_eq!(first.header("Cache-Control"), Some("no-cache"));
    assert_eq!(first.header("Vary"), Some("Accept-Encoding"));
    let tag = first.header("ETag").unwrap();
    let again = client::send(harness.address(), "GET", "/", &[HTML, ("If-None-Match", tag)], b"").await.expect(304);
    assert_eq!(again.body, b"");
    let other = client::send(harness.address(), "GET", "/", &[HTML, ("If-None-Match", "\"old\"")], b"").await;
    assert_eq!(other.expect(200).body, first.body);
}

/// Clients get the same page in every encoding.
#[tokio::test]
async fn the_page_is_the_same_in_every_encoding() {
    let harness = Harness::start().await;
    let get = async |codings: &'static str| {
        client::send(harness.address(), "GET", "/", &[HTML, ("Accept-Encoding", codings)], b"").await.expect(200)
    };
    let plain = get("identity").await;
    assert_eq!(plain.header("Content-Encoding"), None);
    assert!(plain.body.starts_with(b"<!doctype html>"), "{}", String::from_utf8_lossy(&plain.body));
    for coding in ["br", "gzip"] {
        let answer = get(coding).await;
        let mut body = Vec::new();
        match answer.header("Content-Encoding") {
            Some("br") => {
                brotli::BrotliDecompress(&mut &answer.body[..], &mut body).expect("brotli");
            }
            Some("gzip") => {
                flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut body).expect("gzip");
            }
            // A server without a built UI serves one short page.
            encoding => {
                assert_eq!(encoding, None);
                body.clone_from(&answer.body);
            }
        }
        assert_eq!(body, plain.body, "{coding}");
        assert_ne!(answer.header("Content-Encoding").is_some(), answer.header("ETag") == plain.header("ETag"));
    }
}
