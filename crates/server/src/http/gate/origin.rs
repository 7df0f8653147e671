//! Where a request comes from: address, program, page, cookies.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

use super::per_ip::client_address;
use super::session_cookie::{self, Cookie, CookieJar, Page};
use crate::app::App;
use crate::error::ApiError;
use tidewatch_accounts::{By, User};
use tidewatch_limits as limits;
use tidewatch_runtime::redact::plain;

/// Where a request comes from; for routes that ask for no credential.
#[derive(Debug, Clone)]
pub struct Origin {
    pub address: IpAddr,
    /// For the audit log: the start of what the request says of itself, without hidden characters.
    pub user_agent: String,
    pub page: Page,
    /// The cookie of the browser, when it has one.
    pub device: Option<String>,
    pub cookies: CookieJar,
}

impl Origin {
    pub fn of(headers: &HeaderMap, extensions: &Extensions, app: &App) -> Origin {
        let said = headers.get(USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let said = said.unwrap_or_default();
        let user_agent = plain(&said, limits::USER_AGENT_CHARS_MAX);
        let page = session_cookie::page(headers, &app.config.base_url());
        let cookies = CookieJar::of(extensions);
        let device = cookies.read(Cookie::Device, headers).map(str::to_owned);
        Origin { address: client_address(extensions), user_agent, page, device, cookies }
    }

    /// For the audit log: somebody who has not signed in.
    pub fn by(&self, app: &App, name: &str) -> By {
        By {
            user_id: None,
            name: name.to_owned(),
            address: self.address.to_string(),
            user_agent: self.user_agent.clone(),
            at_ns: app.clock.now_ns(),
        }
    }

    /// Whether the account knows the browser by its cookie.
    pub async fn is_known_to(&self, user: i64, app: &App) -> Result<bool, ApiError> {
        match &self.device {
            Some(cookie) => Ok(app.control.knows_device(user, cookie, app.clock.now_ns()).await?),
            None => Ok(false),
        }
    }

    /// Records a sign-in that succeeded. `how`: `password`, `passkey`, `second factor`, or a provider.
    pub async fn record_sign_in(&self, app: &App, user: &User, how: &str) -> Result<(), ApiError> {
        let has_cookies = self.page == Page::Own || self.device.is_some();
        let is_known = if has_cookies { Some(self.is_known_to(user.id, app).await?) } else { None };
        Ok(app.control.record_sign_in(&self.by(app, &user.email), user, how, is_known).await?)
    }

    /// The answer gives the page its session's cookie.
    pub fn keep_cookie(&self, value: &str, expires_ns: i64, now_ns: i64) {
        self.cookies.keep(Cookie::Session, value, expires_ns.saturating_sub(now_ns) / 1_000_000_000);
    }
}

impl FromRequestParts<Arc<App>> for Origin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Origin, ApiError> {
        Ok(Origin::of(&parts.headers, &parts.extensions, app))
    }
}
