//! The embedded web UI. `build.rs` generates the table of files; nothing is read from disk.
//!
//! Files in `/assets/` have a hash in their names and are cached without limit; other files are revalidated (`ETag`).
//! Other paths return the UI's index page to browsers; unknown paths in `/assets/` return 404, so that a tab of an
//! older version detects that it is outdated.

use std::collections::HashMap;
use std::io::Read;
use std::sync::LazyLock;

use axum::body::Body;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use axum::response::IntoResponse;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

use super::ingest::grpc;
use crate::error::ApiError;

struct File {
    /// The URL path, with a leading slash.
    path: &'static str,
    /// The first half of the file's SHA-256, in hex.
    hash: &'static str,
    /// `None` if `gzip` is present.
    identity: Option<&'static [u8]>,
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/ui_files.rs"));

static BY_PATH: LazyLock<HashMap<&'static str, &'static File>> =
    LazyLock::new(|| FILES.iter().map(|file| (file.path, file)).collect());

/// The version of this build of the UI, with which an open tab detects a newer one. UX 3.2.
pub static VERSION: LazyLock<HeaderValue> = LazyLock::new(|| {
    let version = BY_PATH.get(INDEX).map_or("none", |file| file.hash);
    HeaderValue::from_static(version)
});

const INDEX: &str = "/index.html";
/// The document that plays recordings, with its script inside.
pub const REPLAY_FRAME: &str = "/replay-frame.html";

/// The policy of [`REPLAY_FRAME`]. It permits the script of that file by hash, inline styles, and `data:` images, fonts
/// and frames; no address of any server. The recording's own frames inherit it. docs/use/replay.md.
pub static REPLAY_POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let page = BY_PATH.get(REPLAY_FRAME).and_then(|file| file.plain().ok());
    let script = page.as_deref().and_then(inline_script).map(|script| BASE64_STANDARD.encode(Sha256::digest(script)));
    let script = script.map_or("'none'".to_owned(), |hash| format!("'sha256-{hash}'"));
    HeaderValue::try_from(format!(
        "default-src 'none'; script-src {script}; style-src 'unsafe-inline'; img-src data:; font-src data:; \
         frame-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ))
    .expect("a hash in Base64 makes a header")
});

/// The text between the only `<script>` and its end.
fn inline_script(page: &[u8]) -> Option<&[u8]> {
    let find = |text: &[u8], word: &[u8]| text.windows(word.len()).position(|window| window == word);
    let script = &page[find(page, b"<script>")? + b"<script>".len()..];
    Some(&script[..find(script, b"</script>")?])
}
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// Serves requests that no route matches: files of the UI, its index page, or 404.
pub async fn serve(method: Method, uri: Uri, headers: HeaderMap, body: Body) -> axum::response::Response {
    let path = uri.path();
    if grpc::is_grpc(&headers) {
        return grpc::unknown_method(body).await;
    }
    // Other sites may frame paths in /status/, but not the UI.
    let may_be_ui = !["/api/", "/v1/", "/status/"].iter().any(|taken| path.starts_with(taken)) && path != "/api";
    if !may_be_ui || (method != Method::GET && method != Method::HEAD) {
        return ApiError::not_found("no such path").into_response();
    }
    let found = match path {
        "/" => BY_PATH.get(INDEX),
        path => BY_PATH.get(path),
    };
    let page = found.or_else(|| {
        let is_page = !path.starts_with("/assets/") && accepts(&headers, ACCEPT.as_str(), "text/html");
        is_page.then(|| BY_PATH.get(INDEX)).flatten()
    });
    match page {
        Some(file) => file_response(file, &headers),
        None => ApiError::not_found("no such path").into_response(),
    }
}

fn file_response(file: &'static File, headers: &HeaderMap) -> axum::response::Response {
    let takes = |coding: &str| accepts(headers, ACCEPT_ENCODING.as_str(), coding);
    let encoded = match file {
        File { brotli: Some(bytes), .. } if takes("br") => Some(("br", *bytes)),
        File { gzip: Some(bytes), .. } if takes("gzip") => Some(("gzip", *bytes)),
        File { .. } => None,
    };
    let (coding, hash) = (encoded.map(|(coding, _)| coding), file.hash);
    // Each encoding is a representation of its own, with its own strong tag.
    let tag = format!("\"{hash}{}\"", coding.map(|coding| format!("-{coding}")).unwrap_or_default());
    let unchanged = headers.get_all(IF_NONE_MATCH).iter().any(|value| {
        value.to_str().is_ok_and(|value| value.split(',').any(|known| known.trim().trim_start_matches("W/") == tag))
    });
    let mut response = Response::new(Body::empty());
    let out = response.headers_mut();
    out.insert(CACHE_CONTROL, if file.path.starts_with("/assets/") { FOREVER } else { REVALIDATE });
    out.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    out.insert(ETAG, HeaderValue::try_from(tag).expect("hexadecimal digits make a header"));
    if unchanged {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let body = match encoded {
        Some((_, bytes)) => Bytes::from_static(bytes),
        None => match file.plain() {
            Ok(bytes) => bytes,
            Err(error) => return ApiError::internal(error).into_response(),
        },
    };
    out.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(file.path)));
    if let Some(coding) = coding {
        out.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    *response.body_mut() = Body::from(body);
    response
}

impl File {
    /// The file without an encoding. Decompressed for each request, because browsers accept gzip.
    fn plain(&self) -> std::io::Result<Bytes> {
        let packed = match (self.identity, self.gzip) {
            (Some(bytes), _) => return Ok(Bytes::from_static(bytes)),
            (None, packed) => packed.unwrap_or_default(),
        };
        let mut bytes = Vec::new();
        GzDecoder::new(packed).read_to_end(&mut bytes)?;
        Ok(Bytes::from(bytes))
    }
}

/// Whether a comma-separated header names `token` without refusing it (`q=0`).
pub(super) fn accepts(headers: &HeaderMap, header: &str, token: &str) -> bool {
    headers.get_all(header).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(
        |item| {
            let mut parts = item.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(token));
            named && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
        },
    )
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("webp") => "image/webp",
        Some("woff2") => "font/woff2",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("txt") => "text/plain; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inline_script_of_a_page() {
        for (page, expected) in [
            ("<body><script>let a = '<b>';</script></body>", Some("let a = '<b>';")),
            ("<script></script>", Some("")),
            ("<script>no end", None),
            ("<body></body>", None),
        ] {
            assert_eq!(inline_script(page.as_bytes()), expected.map(str::as_bytes), "{page}");
        }
    }

    #[test]
    fn accept_headers() {
        for (value, token, expected) in [
            ("gzip, deflate, br", "br", true),
            ("gzip, deflate, BR;q=0.5", "br", true),
            ("gzip, br;q=0", "br", false),
            ("gzip", "br", false),
            ("text/html,application/xhtml+xml", "text/html", true),
            ("*/*", "text/html", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, value.parse().unwrap())]);
            assert_eq!(accepts(&headers, "accept", token), expected, "{value:?} {token}");
        }
    }
}
