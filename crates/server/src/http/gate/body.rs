//! JSON bodies as extractors, each bound to a row of `limits.rs`.
//!
//! 400 what is no such JSON, 408 too slow, 413 too large. The content type is not asked for.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use serde::de::DeserializeOwned;

use super::pace::{self, Cut};
use crate::app::App;
use crate::error::ApiError;
use crate::limits::{self, RouteLimits, SlowAnswer};

/// A JSON body of at most [`limits::JSON`].
#[derive(Debug, Clone)]
pub struct JsonBody<T>(pub T);

/// A JSON body of at most [`limits::ANONYMOUS`], for those who have not signed in.
#[derive(Debug, Clone)]
pub struct AnonymousBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<JsonBody<T>, ApiError> {
        read_json(request, &limits::JSON).await.map(JsonBody)
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for AnonymousBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<AnonymousBody<T>, ApiError> {
        read_json(request, &limits::ANONYMOUS).await.map(AnonymousBody)
    }
}

/// An empty body reads as `{}`.
async fn read_json<T: DeserializeOwned>(request: Request, limits: &RouteLimits) -> Result<T, ApiError> {
    let declared = declared_length(request.headers());
    let body = pace::read(request.into_body(), declared, limits.body_bytes_max, limits)
        .await
        .map_err(|cut| cut_error(cut, limits.body_bytes_max, limits))?;
    let text: &[u8] = if body.is_empty() { b"{}" } else { &body };
    serde_json::from_slice(text).map_err(|error| ApiError::malformed(format!("cannot read the JSON body: {error}")))
}

/// `Content-Length`, when it is there and a number.
pub fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// What the sender of a cut body hears.
pub fn cut_error(cut: Cut, bytes_max: usize, limits: &RouteLimits) -> ApiError {
    match (cut, limits.slow_answer) {
        (Cut::TooLarge, _) => ApiError::TooLarge(bytes_max),
        (Cut::Slow, SlowAnswer::Timeout408) => ApiError::Slow,
        (Cut::Slow, SlowAnswer::Retry503) => ApiError::Overloaded("the request body came too slowly"),
        (Cut::Broken, _) => ApiError::malformed("the request body ended early"),
    }
}
