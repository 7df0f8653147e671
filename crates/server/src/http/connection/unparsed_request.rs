//! Responses to requests whose head hyper cannot parse. hyper writes them itself, without a hook for headers.
//!
//! They are recognized by a missing header: every other response has the headers of [`security_headers::guard`].

use axum::http::{HeaderMap, StatusCode};
use memchr::memmem;

use crate::http::security_headers;

/// The bytes to write instead of `written`: the same status, with our headers and an error message. `None` if `written`
/// is another response, or a part of one.
pub fn refusal(written: &[u8], is_https: bool) -> Option<Vec<u8>> {
    let version = written.get(..9).filter(|version| matches!(*version, b"HTTP/1.1 " | b"HTTP/1.0 "))?;
    let message = match written.get(9..12)? {
        b"400" => "the request's head is not HTTP",
        b"414" => "the request's path is too long",
        b"431" => "the request's headers are too large or too many",
        _ => return None,
    };
    let end = memmem::find(written, b"\r\n\r\n")?;
    let is_ours = memmem::find(&written[..end].to_ascii_lowercase(), b"\r\nreferrer-policy:").is_some();
    if is_ours || end + 4 != written.len() {
        return None;
    }
    let status = StatusCode::from_bytes(&written[9..12]).ok()?;
    let body = serde_json::json!({ "error": message }).to_string();
    let mut response = version.to_vec();
    response.extend_from_slice(status.to_string().as_bytes());
    let length = body.len();
    response.extend_from_slice(
        format!("\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n").as_bytes(),
    );
    let mut headers = HeaderMap::new();
    security_headers::guard(&mut headers, security_headers::Framing::Nobody, is_https);
    for (name, value) in &headers {
        response.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    response.extend_from_slice(&[b"\r\n", body.as_bytes()].concat());
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_responses_of_hyper_are_replaced() {
        let hypers = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
        for (written, expected) in [
            (hypers, true),
            ("HTTP/1.0 400 Bad Request\r\ncontent-length: 0\r\n\r\n", true),
            ("HTTP/1.1 400 Bad Request\r\nReferrer-Policy: same-origin\r\n\r\n", false),
            ("HTTP/1.1 400 Bad Request\r\ncontent-length: 1\r\n\r\nx", false),
            ("HTTP/1.1 400 Bad Request\r\ncontent-le", false),
            ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\n\r\n", false),
            ("HTTP/1.1", false),
            ("", false),
        ] {
            assert_eq!(refusal(written.as_bytes(), false).is_some(), expected, "{written}");
        }
        let response = String::from_utf8(refusal(hypers.as_bytes(), true).expect("ours instead")).expect("text");
        assert!(response.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{response}");
        for header in ["x-frame-options: DENY", "frame-ancestors 'none'", "strict-transport-security: "] {
            assert!(response.contains(header), "{response}");
        }
    }
}
