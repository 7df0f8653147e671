//! Answers that lack rows say so: the header `Tidewatch-Incomplete`.
//!
//! Rows that an operator set aside, or that could not be written, are missing from answers over their range
//! ([`tidewatch_store::lake::Lake::is_incomplete`]). Whatever asks the store while a request is answered notes it here,
//! and the answer gets the header.

use std::cell::Cell;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// On answers that lack rows.
pub const HEADER: HeaderName = HeaderName::from_static("tidewatch-incomplete");
const WHY: HeaderValue = HeaderValue::from_static("rows of this range were damaged and set aside");

tokio::task_local! {
    static IS_INCOMPLETE: Cell<bool>;
}

/// The request that is being answered has an answer that lacks rows.
pub fn note() {
    // Nobody hears of it outside of a request.
    let _ = IS_INCOMPLETE.try_with(|is_incomplete| is_incomplete.set(true));
}

/// Around the routes that ask the store.
pub async fn tell(request: Request, next: Next) -> Response {
    let answered = async {
        let mut response = next.run(request).await;
        if IS_INCOMPLETE.get().get() {
            response.headers_mut().insert(HEADER, WHY);
        }
        response
    };
    IS_INCOMPLETE.scope(Cell::new(false), answered).await
}
