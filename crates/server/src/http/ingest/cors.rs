//! CORS for browsers that export: preflights need no token, and no answer hides behind an origin. OTLP.md, row "CORS".
//!
//! Any origin may send: the project token is the permission, and cookies play no part.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// What browser SDKs send; anything else a preflight names is allowed as well.
const HEADERS: &str = "Content-Type, Content-Encoding, Authorization, traceparent, tracestate, baggage, b3, \
     X-Requested-With, User-Agent";
const METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
/// Seconds a browser may remember the preflight; browsers cap it lower.
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");
const ANY: HeaderValue = HeaderValue::from_static("*");
const EXPOSED: HeaderValue = HeaderValue::from_static("Retry-After");
const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// `OPTIONS`: 204, without a token.
pub async fn preflight(headers: HeaderMap) -> Response {
    let mut answer = HeaderMap::new();
    answer.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answer.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    let asked = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|asked| asked.to_str().ok());
    let allowed = match asked {
        Some(asked) if !asked.is_empty() => format!("{HEADERS}, {asked}"),
        _ => HEADERS.to_owned(),
    };
    let allowed = HeaderValue::try_from(allowed).unwrap_or(HeaderValue::from_static(HEADERS));
    answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    answer.insert(VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    answer.insert(PRIVATE_NETWORK, HeaderValue::from_static("true"));
    allow_any_origin((StatusCode::NO_CONTENT, answer).into_response())
}

/// On every answer of the ingest routes, errors too.
pub fn allow_any_origin(mut response: Response) -> Response {
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    response
}
