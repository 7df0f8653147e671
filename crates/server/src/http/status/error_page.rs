//! Errors for visitors of status pages: a page for browsers, JSON for other clients (docs/spec/decisions.md, 19b).

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, VARY};
use axum::http::{HeaderValue, Uri};
use axum::middleware::Next;
use axum::response::Response;
use tidewatch_alerts::status_pages::html;

use super::public::HTML;
use crate::error::ApiError;
use crate::http::ui;

/// Replaces the body of an [`ApiError`] by a page when the request accepts HTML. Status and headers stay.
pub async fn for_browsers(request: Request, next: Next) -> Response {
    let takes_html = ui::accepts(request.headers(), ACCEPT.as_str(), "text/html");
    let uri = request.uri().clone();
    let mut response = next.run(request).await;
    let Some(error) = response.extensions_mut().remove::<ApiError>() else { return response };
    // Caches keep no error: the page may be public a moment later.
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if takes_html {
        response.headers_mut().insert(CONTENT_TYPE, HTML);
        response.headers_mut().remove(CONTENT_LENGTH);
        *response.body_mut() = Body::from(html::problem(&error.to_string(), page_above(&uri)));
    }
    response
}

/// `/status/{slug}` of a path below it.
fn page_above(uri: &Uri) -> Option<&str> {
    let below = uri.path().strip_prefix("/status/")?.find('/')?;
    uri.path().get(.."/status/".len() + below)
}
