//! Rate limits per address, as an extractor. The windows are in [`tidewatch_limits::admission::per_ip`].

use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;

use crate::app::AppState;
use crate::contexts::Process;
use crate::error::ApiError;
use tidewatch_limits::per_ip::Named;

/// Counts a request in the window `W`; fails with 429 if it is full. The first argument of a handler: `_:
/// PerIp<Login>`.
pub struct PerIp<W>(PhantomData<W>);

impl<W: Named + Send> FromRequestParts<AppState> for PerIp<W> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<PerIp<W>, ApiError> {
        let process = Arc::<Process>::from_ref(state);
        process.per_ip.count(W::WINDOW, client_address(&parts.extensions), process.clock.now_ns())?;
        Ok(PerIp(PhantomData))
    }
}

/// The client's address, which `request_context` determines; unspecified for requests without a socket, as in tests.
pub fn client_address(extensions: &Extensions) -> IpAddr {
    extensions.get::<ClientAddress>().map_or(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED), |client| client.0)
}

/// The client's address, an extension of each request.
#[derive(Debug, Clone, Copy)]
pub struct ClientAddress(pub IpAddr);
