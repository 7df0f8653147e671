//! The client of a request: address, user agent, page, cookies.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::header::USER_AGENT;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};

use super::per_ip::client_address;
use super::session_cookie::{self, Cookie, CookieJar, Page};
use crate::app::AppState;
use crate::contexts::{Accounts, Process};
use crate::error::ApiError;
use tidewatch_accounts::{Actor, User};
use tidewatch_domain::units::SECOND_NS;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_runtime::redact::plain;

/// The client of a request. An extractor for routes without authentication.
#[derive(Debug, Clone)]
pub struct ClientInfo {
    /// The client's address, as reported by trusted proxies.
    pub address: IpAddr,
    /// The `User-Agent` for the audit log: at most [`limits::USER_AGENT_CHARS_MAX`] characters, none of them hidden.
    pub user_agent: String,
    /// Whether a page of this server made the request.
    pub page: Page,
    /// The device cookie, if the request has one.
    pub device: Option<String>,
    /// The cookies that the response sets.
    pub cookies: CookieJar,
}

impl ClientInfo {
    /// The client of a request with these headers and extensions.
    pub fn of(headers: &HeaderMap, extensions: &Extensions, process: &Process) -> ClientInfo {
        let user_agent = headers.get(USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let user_agent = plain(&user_agent.unwrap_or_default(), limits::USER_AGENT_CHARS_MAX);
        let page = session_cookie::page(headers, &process.config.base_url());
        let cookies = CookieJar::of(extensions);
        let device = cookies.read(Cookie::Device, headers).map(str::to_owned);
        ClientInfo { address: client_address(extensions), user_agent, page, device, cookies }
    }

    /// The actor of an audit log entry, for a request without a user. `name`: an e-mail address, or the kind of client.
    pub fn actor(&self, clock: &Clock, name: &str) -> Actor {
        Actor {
            user_id: None,
            name: name.to_owned(),
            address: self.address.to_string(),
            user_agent: self.user_agent.clone(),
            at_ns: clock.now_ns(),
        }
    }

    /// Whether the user has signed in from this browser before, according to its device cookie.
    pub async fn is_known_to(&self, user: i64, accounts: &Accounts) -> Result<bool, ApiError> {
        match &self.device {
            Some(cookie) => Ok(accounts.control.sign_in.is_known_device(user, cookie, accounts.clock.now_ns()).await?),
            None => Ok(false),
        }
    }

    /// Records a successful sign-in. `how`: `password`, `passkey`, `second factor`, or a provider.
    pub async fn record_sign_in(&self, accounts: &Accounts, user: &User, how: &str) -> Result<(), ApiError> {
        let has_cookies = self.page == Page::Own || self.device.is_some();
        let is_known = if has_cookies { Some(self.is_known_to(user.id, accounts).await?) } else { None };
        Ok(accounts
            .control
            .sign_in
            .record_sign_in(&self.actor(&accounts.clock, &user.email), user, how, is_known)
            .await?)
    }

    /// Sets the session cookie with the response.
    pub fn keep_cookie(&self, value: &str, expires_ns: i64, now_ns: i64) {
        self.cookies.set(Cookie::Session, value, expires_ns.saturating_sub(now_ns) / SECOND_NS);
    }
}

impl FromRequestParts<AppState> for ClientInfo {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<ClientInfo, ApiError> {
        Ok(ClientInfo::of(&parts.headers, &parts.extensions, &Arc::<Process>::from_ref(state)))
    }
}
