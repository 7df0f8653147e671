//! The header `Tidewatch-Incomplete` of responses that lack rows.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use tidewatch_query::incomplete;

/// The name of the header.
pub const HEADER: HeaderName = HeaderName::from_static("tidewatch-incomplete");
const DAMAGED: HeaderValue = HeaderValue::from_static("rows of this range were damaged and set aside");
const SPANS: HeaderValue = HeaderValue::from_static("child conditions looked at the latest spans only");

/// Middleware of the routes that query the store: adds the header if a query skipped damaged rows, or did not look at all spans.
pub async fn add_header(request: Request, next: Next) -> Response {
    let (mut response, lacks) = incomplete::track(next.run(request)).await;
    if lacks.damaged || lacks.spans {
        response.headers_mut().insert(HEADER, if lacks.damaged { DAMAGED } else { SPANS });
    }
    response
}
