//! Answers that lack rows say so: the header `Tidewatch-Incomplete`.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use tidewatch_query::incomplete;

/// On answers that lack rows.
pub const HEADER: HeaderName = HeaderName::from_static("tidewatch-incomplete");
const WHY: HeaderValue = HeaderValue::from_static("rows of this range were damaged and set aside");

/// Around the routes that ask the store.
pub async fn tell(request: Request, next: Next) -> Response {
    let (mut response, is_incomplete) = incomplete::noticing(next.run(request)).await;
    if is_incomplete {
        response.headers_mut().insert(HEADER, WHY);
    }
    response
}
