//! Whole bodies, each bound to a row of `limits.rs`: JSON as extractors, reports and profiles with a turn at the gate.
//!
//! 400 what cannot be read, 408 or 503 too slow, 413 too large once inflated, 415 a content encoding we do not take,
//! 503 too much at once. The content type is not asked for.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::ApiError;
use tidewatch_ingest::coding;
use tidewatch_ingest::coding::{Coding, InflateError};
use tidewatch_limits as limits;
use tidewatch_limits::admission::FULL;
use tidewatch_limits::admission::pace;
use tidewatch_limits::admission::pace::Cut;
use tidewatch_limits::admission::slots::Full;
use tidewatch_limits::admission::turn::Turn;
use tidewatch_limits::{RouteLimits, SlowAnswer};

/// A JSON body of at most [`limits::JSON`].
#[derive(Debug, Clone)]
pub struct JsonBody<T>(pub T);

/// A JSON body of at most [`limits::ANONYMOUS`], for those who have not signed in.
#[derive(Debug, Clone)]
pub struct AnonymousBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<JsonBody<T>, ApiError> {
        read_json(request, app, &limits::JSON).await.map(JsonBody)
    }
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for AnonymousBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<AnonymousBody<T>, ApiError> {
        read_json(request, app, &limits::ANONYMOUS).await.map(AnonymousBody)
    }
}

/// A form or JSON of at most [`limits::ANONYMOUS`], as the content type says; for the OAuth routes. What cannot be read is
/// `invalid_request`. RFC 6749, 5.2.
#[derive(Debug, Clone)]
pub struct FormOrJson<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for FormOrJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<FormOrJson<T>, ApiError> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_form = kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
        let body = read(request, app, &limits::ANONYMOUS).await?;
        let value = if is_form {
            form(&body)
        } else {
            serde_json::from_slice(if body.is_empty() { b"{}" } else { &body }).ok()
        };
        let value = value.and_then(|value| serde_json::from_value(value).ok());
        value.map(FormOrJson).ok_or_else(|| ApiError::malformed("invalid_request"))
    }
}

/// RFC 6749, 3.2: no parameter comes twice; one without a value is as if it had not come.
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
async fn read_json<T: DeserializeOwned>(request: Request, app: &App, limits: &RouteLimits) -> Result<T, ApiError> {
    let body = read(request, app, limits).await?;
    let text: &[u8] = if body.is_empty() { b"{}" } else { &body };
    serde_json::from_slice(text).map_err(|error| ApiError::malformed(format!("cannot read the JSON body: {error}")))
}

/// The inflated body.
async fn read(request: Request, app: &App, limits: &RouteLimits) -> Result<Bytes, ApiError> {
    let coding = content_coding(request.headers())?;
    let declared = declared_length(request.headers());
    let mut held = app.json_bodies.hold(NO_PROJECT);
    let body =
        pace::read(request.into_body(), declared, limits, &mut held).await.map_err(|cut| cut_error(cut, limits))?;
    inflate(coding, body, limits, |bytes| held.grow_to(bytes)).await
}

/// JSON bodies share one budget, whosever they are.
const NO_PROJECT: u32 = 0;

/// A body that has passed the ingest gate; slot and memory go with it.
pub struct Admitted {
    /// Inflated.
    pub bytes: Bytes,
    pub turn: Turn,
}

/// The inflated body of a route behind the ingest gate (reports, profiles), for this project.
///
/// Spec: limits, "Report and profile body": the limit holds after decompression.
pub async fn admit(app: &App, project: u32, request: Request, limits: &RouteLimits) -> Result<Admitted, ApiError> {
    let coding = content_coding(request.headers())?;
    let declared = declared_length(request.headers());
    let entered = Turn::enter(&app.admission, &app.bodies, project).await;
    let mut turn = entered.map_err(|Full| ApiError::Overloaded(FULL))?;
    let body = turn.read(request.into_body(), declared, limits).await.map_err(|cut| cut_error(cut, limits))?;
    let received = body.len();
    let bytes = inflate(coding, body, limits, |inflated| turn.grow_to(received + inflated)).await?;
    Ok(Admitted { bytes, turn })
}
/// Off the async threads. `holds` hears how large the result is.
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

/// `Content-Length`, when it is there and a number.
pub fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// What the sender of a cut body hears.
pub fn cut_error(cut: Cut, limits: &RouteLimits) -> ApiError {
    match (cut, limits.slow_answer) {
        (Cut::TooLarge, _) => ApiError::TooLarge(limits.body_bytes_max),
        (Cut::Slow, SlowAnswer::Timeout408) => ApiError::Slow,
        (Cut::Slow, SlowAnswer::Retry503) => ApiError::Overloaded("the request body came too slowly"),
        (Cut::Broken, _) => ApiError::malformed("the request body ended early"),
        (Cut::NoMemory, _) => ApiError::Overloaded(FULL),
    }
}
