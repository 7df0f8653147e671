//! The secret of a link that was mailed: in the header `Link-Token`, or in the path, where earlier clients send it.
//!
//! A header stays out of the access logs of proxies; a path does not. Our own pages send the header.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use crate::app::App;
use crate::error::ApiError;

/// The header that holds it.
pub const LINK_TOKEN: &str = "link-token";

/// 400 when there is none. Whether it is a known one is for the handler to find out.
pub struct LinkToken(pub String);

impl FromRequestParts<Arc<App>> for LinkToken {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<LinkToken, ApiError> {
        let path = RawPathParams::from_request_parts(parts, app).await.map_err(ApiError::internal)?;
        let in_path = path.iter().find(|(name, _)| *name == "token").map(|(_, value)| value.to_owned());
        let in_header = || parts.headers.get(LINK_TOKEN).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let token = in_path.or_else(in_header).filter(|token| !token.is_empty());
        token.map(LinkToken).ok_or_else(|| ApiError::malformed("the header Link-Token is missing"))
    }
}
