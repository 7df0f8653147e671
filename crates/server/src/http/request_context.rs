//! The service behind every socket. It adds the client's address and cookies to each request, and headers to each
//! response.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;
use tokio::time::Instant;
use tower::ServiceExt;

use super::connection::connections::ConnectionCounts;
use super::connection::listen::RequestHandler;
use super::connection::socket::Caller;
use super::exposition::Traffic;
use super::gate::per_ip::ClientAddress;
use super::gate::session_cookie::CookieJar;
use super::security_headers;
use crate::listen::client_ip::{self, Trust};
use crate::process::own_traces::Tracer;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;

/// The service behind every socket: determines the context of a request, forwards it to the router, and counts it.
pub struct RequestContextService {
    /// Changes once, when the store is open.
    router: watch::Receiver<Router>,
    /// Replaced when settings are reloaded.
    trust: Arc<RwLock<Trust>>,
    /// Whether the public URL of the server is `https`.
    is_https: bool,
    clock: Clock,
    untrusted_proxies: UntrustedProxyLog,
    traffic: Arc<Traffic>,
    tracer: Option<Arc<Tracer>>,
}

/// Limits the log lines about untrusted proxies.
#[derive(Default)]
struct UntrustedProxyLog {
    /// By peer: the time of its last log line in nanoseconds since the epoch, and the number of requests since.
    logged: Mutex<HashMap<IpAddr, (i64, u64)>>,
}

impl RequestContextService {
    /// `is_https`: whether the public URL of the server is `https`.
    pub fn new(router: watch::Receiver<Router>, trust: Trust, is_https: bool, clock: Clock) -> RequestContextService {
        RequestContextService {
            router,
            trust: Arc::new(RwLock::new(trust)),
            is_https,
            clock,
            untrusted_proxies: UntrustedProxyLog::default(),
            traffic: Arc::default(),
            tracer: None,
        }
    }

    /// Records requests as spans of `tracer`.
    pub fn traced(self, tracer: Option<Arc<Tracer>>) -> RequestContextService {
        RequestContextService { tracer, ..self }
    }

    /// The metrics of requests and connections.
    pub fn traffic(&self) -> Arc<Traffic> {
        self.traffic.clone()
    }

    /// The trusted proxies. A change applies to subsequent requests.
    pub fn trust(&self) -> Arc<RwLock<Trust>> {
        self.trust.clone()
    }
}

impl RequestHandler for RequestContextService {
    fn connection_counts(&self) -> Arc<ConnectionCounts> {
        self.traffic.connections.clone()
    }

    fn trusts(&self, peer: IpAddr) -> bool {
        self.trust.read().trusts(peer)
    }

    fn is_https(&self, caller: Caller) -> bool {
        self.is_https || caller.is_tls
    }

    async fn handle(self: Arc<Self>, caller: Caller, mut request: Request<Body>) -> Response {
        let start = Instant::now();
        let route = self.traffic.route(request.uri().path());
        let (client, proxy_says_https) = {
            let trust = self.trust.read();
            let says_https = trust.trusts(caller.peer) && is_forwarded_https(request.headers());
            (trust.client(caller.peer, request.headers()), says_https)
        };
        if client.is_untrusted_proxy
            && let Some(others) = self.untrusted_proxies.due(caller.peer, self.clock.now_ns())
        {
            tracing::warn!(others, "{}", client_ip::untrusted_proxy_line(caller.peer));
        }
        let is_https = self.is_https(caller) || proxy_says_https;
        let framing = security_headers::framing(request.uri().path());
        let traced = self.tracer.as_ref().and_then(|tracer| {
            let started = tracer.begin(request.method(), request.uri().path(), request.headers(), is_https)?;
            Some((tracer, started))
        });
        request.extensions_mut().insert(ClientAddress(client.address));
        let cookies = CookieJar::new(is_https);
        request.extensions_mut().insert(cookies.clone());
        let router = self.router.borrow().clone();
        let mut response = match router.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        for cookie in cookies.take() {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
        security_headers::guard(response.headers_mut(), framing, is_https);
        let took = start.elapsed();
        self.traffic.add(route, response.status().as_u16(), took);
        if let Some((tracer, started)) = traced {
            tracer.end(started, self.traffic.documented(route), response.status(), took);
        }
        response
    }
}

/// Whether the client reached the proxy through TLS, according to the proxy.
fn is_forwarded_https(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|scheme| scheme.as_bytes().eq_ignore_ascii_case(b"https"))
}

impl UntrustedProxyLog {
    /// The number of requests from this peer since its last log line if another line is due, otherwise `None`.
    fn due(&self, peer: IpAddr, now_ns: i64) -> Option<u64> {
        let pause_ns = limits::PROXY_LOG_PAUSE.as_nanos() as i64;
        let is_recent = |logged_ns: i64| (0..pause_ns).contains(&now_ns.saturating_sub(logged_ns));
        let mut logged = self.logged.lock();
        if let Some((logged_ns, unlogged)) = logged.get_mut(&peer) {
            if is_recent(*logged_ns) {
                *unlogged += 1;
                return None;
            }
            *logged_ns = now_ns;
            return Some(std::mem::take(unlogged));
        }
        if logged.len() >= limits::PROXY_LOG_ADDRESSES_MAX {
            logged.retain(|_, (logged_ns, _)| is_recent(*logged_ns));
        }
        // This many peers in one minute are not misconfigured proxies.
        if logged.len() >= limits::PROXY_LOG_ADDRESSES_MAX {
            return None;
        }
        logged.insert(peer, (now_ns, 0));
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_logged_once_a_minute() {
        let log = UntrustedProxyLog::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let second = 1_000_000_000;
        for (at, peer, expected) in [
            (1, one, Some(0)),
            (2, one, None),
            (3, other, Some(0)),
            (59, one, None),
            (61, one, Some(2)),
            (62, one, None),
            (62, other, None),
            (63, other, Some(1)),
            (121, one, Some(1)),
        ] {
            assert_eq!(log.due(peer, at * second), expected, "{peer} at {at}");
        }
    }

    #[test]
    fn the_memory_of_the_proxy_log_is_bounded() {
        let log = UntrustedProxyLog::default();
        let lines = |now_ns| (0..5000_u32).filter(|peer| log.due(IpAddr::V4((*peer).into()), now_ns).is_some()).count();
        assert_eq!(lines(1), limits::PROXY_LOG_ADDRESSES_MAX);
        assert_eq!(log.logged.lock().len(), limits::PROXY_LOG_ADDRESSES_MAX);
        assert!(lines(1 + limits::PROXY_LOG_PAUSE.as_nanos() as i64) > 0);
        assert!(log.logged.lock().len() <= limits::PROXY_LOG_ADDRESSES_MAX);
    }
}
