//! The header `Tidewatch-Incomplete` of responses that lack rows.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use tidewatch_query::incomplete;

/// The name of the header.
pub const HEADER: HeaderName = HeaderName::from_static("tidewatch-incomplete");
const WHY: HeaderValue = HeaderValue::from_static("rows of this range were damaged and set aside");

/// Middleware of the routes that query the store: adds the header if a query skipped damaged rows.
pub async fn add_header(request: Request, next: Next) -> Response {
    let (mut response, is_incomplete) = incomplete::track(next.run(request)).await;
    if is_incomplete {
        response.headers_mut().insert(HEADER, WHY);
    }
    response
}
