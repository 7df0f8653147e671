//! Security headers on every answer of every route. Spec: limits, row "Frames"; UX 3.2; WIRE 1.1.

use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::client::{self, Answer};
use crate::harness::Harness;
use crate::otlp::PROTOBUF;

#[track_caller]
fn assert_security_headers(answer: &Answer, what: &str) {
    assert_eq!(answer.header("X-Frame-Options"), Some("DENY"), "{what}");
    let policy = answer.header("Content-Security-Policy").unwrap_or_else(|| panic!("{what}: no policy"));
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{what}: {policy}");
    assert!(policy.ends_with("frame-ancestors 'none'"), "{what}: {policy}");
    assert_eq!(answer.header("X-Content-Type-Options"), Some("nosniff"), "{what}");
    assert_eq!(answer.header("Referrer-Policy"), Some("same-origin"), "{what}");
    assert!(policy.contains("; require-trusted-types-for 'script'; trusted-types 'none';"), "{what}: {policy}");
    assert_eq!(answer.header("Cross-Origin-Opener-Policy"), Some("same-origin"), "{what}");
    assert_eq!(answer.header("Cross-Origin-Resource-Policy"), Some("same-origin"), "{what}");
    let permissions = answer.header("Permissions-Policy").unwrap_or_else(|| panic!("{what}: no permissions"));
    assert!(["camera=()", "geolocation=()", "microphone=()"].iter().all(|one| permissions.contains(one)), "{what}");
    assert!(answer.header("Cache-Control").is_some(), "{what}");
    assert!(answer.header("X-UI-Version").is_some(), "{what}");
    assert_eq!(answer.header("Strict-Transport-Security"), None, "{what}: plain HTTP");
}

/// Every path of the document, the other paths of `routes.rs`, and unknown paths.
async fn paths(harness: &Harness) -> Vec<String> {
    let document = harness.api("GET", "/api/openapi.json", &Value::Null).await.expect(200).json();
    let documented = document["paths"].as_object().expect("paths").keys().map(|path| path.replace(['{', '}'], ""));
    let others =
        ["/", "/api/openapi.json", "/v1/traces", "/v1/logs/", "/endpoints/GET%20%2F", "/assets/none.js", "/api/none"];
    documented.chain(others.map(str::to_owned)).chain(["/status".to_owned(), "/status/a/b".to_owned()]).collect()
}

#[tokio::test]
async fn every_route_and_every_method() {
    let (harness, project) = Harness::with_project().await;
    let authorization = format!("Bearer {}", harness.login);
    let paths = paths(&harness).await;
    assert!(paths.len() > 40, "{}", paths.len());
    for path in paths {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"] {
            for headers in [&[][..], &[("Authorization", authorization.as_str()), ("Origin", "https://evil.example")]] {
                let target = format!("{path}?projectId={}", project.id);
                let answer = client::send(harness.address(), method, &target, headers, b"").await;
                let what = format!("{method} {target}: {}", answer.status);
                assert_security_headers(&answer, &what);
                let is_ingest = path.contains("/v1/")
                    || ["/api/report", "/api/profiles/ingest", "/api/otel/v1development/profiles"].contains(&&*path);
                let allowed = answer.header("Access-Control-Allow-Origin");
                assert_eq!(allowed, is_ingest.then_some("*"), "CORS is for ingest alone: {what}");
                if path.starts_with("/api/") {
                    assert_eq!(answer.header("Cache-Control"), Some("no-store"), "{what}");
                }
                assert!(answer.status < 500, "{what}");
            }
        }
    }
}

// Refusals of the gates have the headers too.
#[tokio::test]
async fn refusals_have_the_security_headers() {
    let (harness, project) = Harness::with_project().await;
    for (path, token, body, expected) in [
        ("/api/otel/v1/traces", project.token.as_str(), vec![0; (10 << 20) + 1], 413),
        ("/api/otel/v1/traces", "wrong", vec![], 401),
        ("/api/report", "wrong", vec![], 401),
        ("/api/report", project.token.as_str(), vec![0xff], 400),
        ("/api/otel/v1/traces", project.token.as_str(), vec![0xff], 400),
        ("/test/anonymous", "", vec![0; 1 << 20], 413),
    ] {
        let authorization = format!("Bearer {token}");
        let headers = [PROTOBUF, ("Authorization", authorization.as_str())];
        let answer = client::send(harness.address(), "POST", path, &headers, &body).await.expect(expected);
        assert_security_headers(&answer, path);
    }
}

// "... except /status/<slug>"; a status page at the root of a custom domain is not exempt.
#[tokio::test]
async fn only_a_status_page_may_be_framed() {
    let harness = Harness::start().await;
    let page = client::send(harness.address(), "GET", "/status/acme", &[], b"").await.expect(404);
    assert_eq!(page.header("X-Frame-Options"), None);
    assert!(!page.header("Content-Security-Policy").expect("a policy").contains("frame-ancestors"));
    assert_eq!(page.header("X-Content-Type-Options"), Some("nosniff"));
    let root = client::send(harness.address(), "GET", "/", &[("Host", "status.acme.example")], b"").await;
    assert_security_headers(&root, "the root of a custom domain");
}

// The frame of recordings has a policy of its own: no network at all, and only pages of this server frame it. The file is
// part of the binary only if the UI is built.
#[tokio::test]
async fn the_replay_frame_reaches_nothing() {
    let harness = Harness::start().await;
    let get =
        async |path: &str| client::send(harness.address(), "GET", path, &[("Accept-Encoding", "identity")], b"").await;
    let frame = get("/replay-frame.html").await;
    assert_eq!(frame.header("X-Frame-Options"), Some("SAMEORIGIN"));
    assert_eq!(frame.header("X-Content-Type-Options"), Some("nosniff"));
    assert_eq!(frame.header("Cross-Origin-Resource-Policy"), Some("same-origin"));
    let policy = frame.header("Content-Security-Policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src '"), "{policy}");
    assert!(policy.ends_with("; frame-ancestors 'self'"), "{policy}");
    for source in ["http", "*", "blob:", "script-src 'self'", "unsafe-eval", "connect-src", "media-src"] {
        assert!(!policy.contains(source), "{source}: {policy}");
    }
    if frame.status == 200 {
        let page = String::from_utf8(frame.body.clone()).expect("UTF-8");
        let script =
            page.split_once("<script>").and_then(|(_, rest)| rest.split_once("</script>")).expect("a script").0;
        let hash = BASE64_STANDARD.encode(Sha256::digest(script));
        assert!(policy.contains(&format!("script-src 'sha256-{hash}';")), "{policy}");
        assert_eq!(page.matches("<script").count(), 1 + script.matches("<script").count(), "one script");
    } else {
        assert!(policy.contains("script-src 'none';"), "{policy}");
    }
    for path in ["/replay-frame.html/", "/p/replay-frame.html", "/replay-frame"] {
        assert_security_headers(&get(path).await, path);
    }
}

#[tokio::test]
async fn strict_transport_security_is_sent_behind_tls_only() {
    let secure = Harness::start_with(|config| config.base_url = Some("https://tidewatch.example".into())).await;
    let plain = Harness::start().await;
    let untrusted = Harness::start_with(|config| config.trusted_proxies = Some("10.0.0.1".into())).await;
    for (harness, scheme, expected) in
        [(&secure, "http", true), (&plain, "https", true), (&plain, "http", false), (&untrusted, "https", false)]
    {
        let headers = [("X-Forwarded-Proto", scheme)];
        let answer = client::send(harness.address(), "GET", "/health", &headers, b"").await.expect(200);
        let value = expected.then_some("max-age=31536000; includeSubDomains");
        assert_eq!(answer.header("Strict-Transport-Security"), value, "{scheme}");
    }
}

/// Answers in JSON are compressed as `Accept-Encoding` prefers; short ones and streams are not.
#[tokio::test]
async fn json_answers_are_compressed() {
    let harness = Harness::start().await;
    let get = async |path: &str, accept: &str| {
        client::send(harness.address(), "GET", path, &[("Accept-Encoding", accept)], b"").await.expect(200)
    };
    let plain = client::send(harness.address(), "GET", "/api/openapi.json", &[], b"").await.expect(200);
    assert_eq!(plain.header("Content-Encoding"), None);
    assert!(plain.header("Vary").is_some_and(|vary| vary.eq_ignore_ascii_case("accept-encoding")));
    for (accept, expected) in [
        ("zstd, br, gzip", Some("zstd")),
        ("gzip, deflate, br", Some("br")),
        ("gzip", Some("gzip")),
        ("gzip;q=0", None),
        ("br;q=0.5, gzip;q=0.9", Some("gzip")),
        ("identity", None),
    ] {
        let answer = get("/api/openapi.json", accept).await;
        assert_eq!(answer.header("Content-Encoding"), expected, "{accept}");
        let mut body = Vec::new();
        match expected {
            Some("zstd") => body = zstd::decode_all(&answer.body[..]).expect("zstd"),
            Some("br") => {
                brotli::BrotliDecompress(&mut &answer.body[..], &mut body).expect("brotli");
            }
            Some("gzip") => {
                flate2::read::GzDecoder::new(&answer.body[..]).read_to_end(&mut body).expect("gzip");
            }
            _ => body.clone_from(&answer.body),
        }
        let is_smaller = answer.body.len() * 4 < plain.body.len();
        assert_eq!(is_smaller, expected.is_some(), "{accept}: {} bytes", answer.body.len());
        let [expected, found] = [&plain.body, &body].map(|body| serde_json::from_slice::<Value>(body).expect("JSON"));
        assert_eq!(found, expected, "{accept}");
    }
    let short = get("/health", "zstd, br, gzip").await;
    assert_eq!(short.header("Content-Encoding"), None, "it would become longer");
}
