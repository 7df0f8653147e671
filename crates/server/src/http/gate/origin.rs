//! Where a request comes from: address, program, page, cookies.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

use super::per_ip::client_address;
use super::session_cookie::{self, CookieJar, Page};
use crate::app::App;
use crate::control::By;
use crate::error::ApiError;
use crate::limits;
use crate::redact::plain;

/// Where a request comes from; for routes that ask for no credential.
#[derive(Debug, Clone)]
pub struct Origin {
    pub address: IpAddr,
    /// For the audit log: the start of what the request says of itself, without hidden characters.
    pub user_agent: String,
    pub page: Page,
    pub cookies: CookieJar,
}

impl Origin {
    pub fn of(headers: &HeaderMap, extensions: &Extensions, app: &App) -> Origin {
        let said = headers.get(USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let said = said.unwrap_or_default();
        let user_agent = plain(&said, limits::USER_AGENT_CHARS_MAX);
        let page = session_cookie::page(headers, &app.config.base_url());
        Origin { address: client_address(extensions), user_agent, page, cookies: CookieJar::of(extensions) }
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

    /// The answer gives the page its session's cookie.
    pub fn keep_cookie(&self, value: &str, expires_ns: i64, now_ns: i64) {
        self.cookies.keep(value, expires_ns.saturating_sub(now_ns) / 1_000_000_000);
    }
}

impl FromRequestParts<Arc<App>> for Origin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Origin, ApiError> {
        Ok(Origin::of(&parts.headers, &parts.extensions, app))
    }
}
