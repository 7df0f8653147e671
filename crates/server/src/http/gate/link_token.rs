//! The token of a mailed link: in the header `Link-Token`, or in the path, where earlier clients send it.
//!
//! Proxies write paths to their access logs, but not this header. The UI sends the header.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use crate::app::AppState;
use crate::error::ApiError;

/// The name of the header.
pub const LINK_TOKEN: &str = "link-token";

/// Extracts the token, which the handler validates. Fails with 400 without a token.
pub struct LinkToken(pub String);

impl FromRequestParts<AppState> for LinkToken {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<LinkToken, ApiError> {
        let path = RawPathParams::from_request_parts(parts, state).await.map_err(ApiError::internal)?;
        let in_path = path.iter().find(|(name, _)| *name == "token").map(|(_, value)| value.to_owned());
        let in_header = || parts.headers.get(LINK_TOKEN).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let token = in_path.or_else(in_header).filter(|token| !token.is_empty());
        token.map(LinkToken).ok_or_else(|| ApiError::malformed("the header Link-Token is missing"))
    }
}
