//! The windows of [`tidewatch_limits::admission::per_ip`] as extractors.

use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::app::App;
use crate::error::ApiError;
use tidewatch_limits::per_ip::Named;

/// Put `_: PerIp<Login>` first among a handler's arguments, and its route has the window `Login`.
pub struct PerIp<W>(PhantomData<W>);

impl<W: Named + Send> FromRequestParts<Arc<App>> for PerIp<W> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<PerIp<W>, ApiError> {
        app.per_ip.count(W::WINDOW, client_address(&parts.extensions), app.clock.now_ns())?;
        Ok(PerIp(PhantomData))
    }
}

/// The address `listen` found out. A request that came through no socket has none.
pub fn client_address(extensions: &Extensions) -> IpAddr {
    extensions.get::<ClientAddress>().map_or(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED), |client| client.0)
}

/// Whose request it is; among each request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct ClientAddress(pub IpAddr);
