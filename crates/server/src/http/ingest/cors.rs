//! CORS for exporters in browsers: preflights need no token, and every response is readable. OTLP.md, row "CORS".
//!
//! All origins are allowed: requests are authorized by the project token, not by cookies.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// The headers that browser SDKs send. The headers of a preflight are allowed, too.
const HEADERS: &str = "Content-Type, Content-Encoding, Authorization, traceparent, tracestate, baggage, b3, \
     X-Requested-With, User-Agent";
const METHODS: HeaderValue = HeaderValue::from_static("POST, OPTIONS");
/// For how many seconds browsers may cache the preflight. They have lower limits of their own.
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");
const ANY: HeaderValue = HeaderValue::from_static("*");
const EXPOSED: HeaderValue = HeaderValue::from_static("Retry-After");
const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The response to `OPTIONS`: 204, without authentication.
pub async fn preflight(headers: HeaderMap) -> Response {
    let mut response = HeaderMap::new();
    response.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    response.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    let requested = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|requested| requested.to_str().ok());
    let allowed = match requested {
        Some(requested) if !requested.is_empty() => format!("{HEADERS}, {requested}"),
        _ => HEADERS.to_owned(),
    };
    let allowed = HeaderValue::try_from(allowed).unwrap_or(HeaderValue::from_static(HEADERS));
    response.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    response.insert(VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    response.insert(PRIVATE_NETWORK, HeaderValue::from_static("true"));
    allow_any_origin((StatusCode::NO_CONTENT, response).into_response())
}

/// Sets the CORS headers of a response. For every response of the ingest routes, errors included.
pub fn allow_any_origin(mut response: Response) -> Response {
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    response
}
