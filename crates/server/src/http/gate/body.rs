//! Whole request bodies within the limits of their route: extractors for JSON and forms.
//!
//! 400: malformed. 408 or 503: too slow. 413: too large after decompression. 415: an unsupported content encoding. 503:
//! no slot or no memory. The content type of JSON is not checked. A JSON body of a read route with an unknown field is
//! 400 ([`super::known_fields`]).

use std::sync::Arc;

use axum::extract::{FromRef, FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::known_fields::KnownFields;
use crate::app::AppState;
use crate::contexts::Process;
use crate::error::ApiError;
use tidewatch_ingest::coding;
use tidewatch_ingest::coding::{Coding, InflateError};
use tidewatch_limits as limits;
use tidewatch_limits::admission::FULL;
use tidewatch_limits::admission::slow_client;
use tidewatch_limits::admission::slow_client::BodyError;
use tidewatch_limits::{RouteLimits, SlowResponse};

/// A JSON body of at most [`limits::JSON`].
#[derive(Debug, Clone)]
pub struct JsonBody<T>(pub T);

/// A JSON body of at most [`limits::ANONYMOUS`], for routes without authentication.
#[derive(Debug, Clone)]
pub struct AnonymousBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<AppState> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<JsonBody<T>, ApiError> {
        read_json(request, &Arc::<Process>::from_ref(state), &limits::JSON).await.map(JsonBody)
    }
}

impl<T: DeserializeOwned> FromRequest<AppState> for AnonymousBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<AnonymousBody<T>, ApiError> {
        read_json(request, &Arc::<Process>::from_ref(state), &limits::ANONYMOUS).await.map(AnonymousBody)
    }
}

/// A body of at most [`limits::STATUS_LOGO`], as it is.
#[derive(Debug, Clone)]
pub struct LogoBody(pub Bytes);

impl FromRequest<AppState> for LogoBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<LogoBody, ApiError> {
        read(request, &Arc::<Process>::from_ref(state), &limits::STATUS_LOGO).await.map(LogoBody)
    }
}

/// A form or a JSON body, according to the content type, of at most [`limits::ANONYMOUS`]; for the OAuth routes. A
/// malformed body is `invalid_request`. RFC 6749, 5.2.
#[derive(Debug, Clone)]
pub struct FormOrJson<T>(pub T);

impl<T: DeserializeOwned> FromRequest<AppState> for FormOrJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<FormOrJson<T>, ApiError> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_form = kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
        let body = read(request, &Arc::<Process>::from_ref(state), &limits::ANONYMOUS).await?;
        let value = if is_form {
            form(&body)
        } else {
            serde_json::from_slice(if body.is_empty() { b"{}" } else { &body }).ok()
        };
        let value = value.and_then(|value| serde_json::from_value(value).ok());
        value.map(FormOrJson).ok_or_else(|| ApiError::malformed("invalid_request"))
    }
}

/// Parses a form. `None` if a parameter is repeated; parameters without a value are ignored. RFC 6749, 3.2.
fn form(body: &[u8]) -> Option<serde_json::Value> {
    let mut fields = serde_json::Map::new();
    for (name, value) in url::form_urlencoded::parse(body) {
        if !value.is_empty() && fields.insert(name.into_owned(), value.into_owned().into()).is_some() {
            return None;
        }
    }
    Some(fields.into())
}

/// An empty body reads as `{}`.
async fn read_json<T: DeserializeOwned>(
    request: Request,
    process: &Process,
    limits: &RouteLimits,
) -> Result<T, ApiError> {
    let known = request.extensions().get::<KnownFields>().cloned();
    let body = read(request, process, limits).await?;
    let text: &[u8] = if body.is_empty() { b"{}" } else { &body };
    if let Some(known) = known {
        known.check_body(text)?;
    }
    serde_json::from_slice(text).map_err(|error| ApiError::malformed(format!("cannot read the JSON body: {error}")))
}

/// The inflated body.
async fn read(request: Request, process: &Process, limits: &RouteLimits) -> Result<Bytes, ApiError> {
    let coding = content_coding(request.headers())?;
    let declared = declared_length(request.headers());
    let mut held = process.json_bodies.reserve(NO_PROJECT);
    let body = slow_client::read(request.into_body(), declared, limits, &mut held)
        .await
        .map_err(|error| body_error(error, limits))?;
    inflate(coding, body, limits, |bytes| held.grow_to(bytes)).await
}

/// JSON bodies of all projects share one budget.
const NO_PROJECT: u32 = 0;

/// Decompresses a body on a blocking thread. `holds` reserves the memory of the result and returns false if there is
/// none.
async fn inflate(
    coding: Coding,
    body: Bytes,
    limits: &RouteLimits,
    mut holds: impl FnMut(usize) -> bool,
) -> Result<Bytes, ApiError> {
    if coding == Coding::Identity {
        return Ok(body);
    }
    let bytes_max = limits.body_bytes_max;
    let work = tokio::task::spawn_blocking(move || coding::inflate_whole(coding, &body, bytes_max));
    let inflated = work.await.map_err(ApiError::internal)?.map_err(|error| match error {
        InflateError::TooLarge => ApiError::TooLarge(bytes_max),
        InflateError::Bad => ApiError::malformed("the body is not what its content encoding says"),
    })?;
    if holds(inflated.len()) { Ok(inflated) } else { Err(ApiError::Overloaded(FULL)) }
}

fn content_coding(headers: &HeaderMap) -> Result<Coding, ApiError> {
    coding::of(headers).map_err(|name| ApiError::UnsupportedMedia(coding::unknown(&name)))
}

/// The value of `Content-Length`. `None` if it is missing or malformed.
pub fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The response to a body that could not be read.
pub fn body_error(error: BodyError, limits: &RouteLimits) -> ApiError {
    match (error, limits.slow_response) {
        (BodyError::TooLarge, _) => ApiError::TooLarge(limits.body_bytes_max),
        (BodyError::Slow, SlowResponse::Timeout408) => ApiError::Slow,
        (BodyError::Slow, SlowResponse::Retry503) => ApiError::Overloaded("the request body came too slowly"),
        (BodyError::Broken, _) => ApiError::malformed("the request body ended early"),
        (BodyError::NoMemory, _) => ApiError::Overloaded(FULL),
    }
}
