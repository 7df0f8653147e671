//! What every request passes on its way in and every answer on its way out: whose request it is, and the headers.

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

use super::exposition::Traffic;
use super::gate::per_ip::ClientAddress;
use super::gate::session_cookie::CookieJar;
use super::security_headers;
use crate::listen::client_ip::{self, Trust};
use crate::own_traces::Tracer;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    pub peer: IpAddr,
    /// The connection is encrypted by us.
    pub is_tls: bool,
}

/// The service behind every socket.
pub struct Door {
    /// Changes once, when the store is open.
    router: watch::Receiver<Router>,
    /// The operator may change it.
    trust: Arc<RwLock<Trust>>,
    /// Its users see this server through TLS.
    is_https: bool,
    clock: Clock,
    unheard: UnheardProxies,
    traffic: Arc<Traffic>,
    tracer: Option<Arc<Tracer>>,
}

/// Peers that the log has told of, each with when that was (nanoseconds since the epoch) and how often it came since.
#[derive(Default)]
struct UnheardProxies {
    said: Mutex<HashMap<IpAddr, (i64, u64)>>,
}

impl Door {
    pub fn new(router: watch::Receiver<Router>, trust: Trust, is_https: bool, clock: Clock) -> Door {
        Door {
            router,
            trust: Arc::new(RwLock::new(trust)),
            is_https,
            clock,
            unheard: UnheardProxies::default(),
            traffic: Arc::default(),
            tracer: None,
        }
    }

    /// Its requests become spans.
    pub fn traced(self, tracer: Option<Arc<Tracer>>) -> Door {
        Door { tracer, ..self }
    }

    /// What came and how it was answered.
    pub fn traffic(&self) -> Arc<Traffic> {
        self.traffic.clone()
    }

    /// What is put there counts from the next request on.
    pub fn trust(&self) -> Arc<RwLock<Trust>> {
        self.trust.clone()
    }

    /// Whether this peer may speak for others.
    pub fn trusts(&self, peer: IpAddr) -> bool {
        self.trust.read().trusts(peer)
    }

    /// Whatever its request says.
    pub fn is_https(&self, caller: Caller) -> bool {
        self.is_https || caller.is_tls
    }

    pub async fn answer(self: Arc<Door>, caller: Caller, mut request: Request<Body>) -> Response {
        let start = Instant::now();
        let route = self.traffic.route(request.uri().path());
        let (client, proxy_says_https) = {
            let trust = self.trust.read();
            let says_https = trust.trusts(caller.peer) && came_through_tls(request.headers());
            (trust.client(caller.peer, request.headers()), says_https)
        };
        if client.is_unheard_proxy
            && let Some(others) = self.unheard.due(caller.peer, self.clock.now_ns())
        {
            tracing::warn!(others, "{}", client_ip::unheard_proxy_line(caller.peer));
        }
        let is_https = self.is_https(caller) || proxy_says_https;
        let may_be_framed = security_headers::may_be_framed(request.uri().path());
        let traced = self.tracer.as_ref().and_then(|tracer| {
            let started = tracer.begin(request.method(), request.uri().path(), request.headers(), is_https)?;
            Some((tracer, started))
        });
        request.extensions_mut().insert(ClientAddress(client.address));
        let cookies = CookieJar::new(is_https);
        request.extensions_mut().insert(cookies.clone());
        let router = self.router.borrow().clone();
        let mut answer = match router.oneshot(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        for cookie in cookies.take() {
            answer.headers_mut().append(SET_COOKIE, cookie);
        }
        security_headers::guard(answer.headers_mut(), may_be_framed, is_https);
        let took = start.elapsed();
        self.traffic.add(route, answer.status().as_u16(), took);
        if let Some((tracer, started)) = traced {
            tracer.end(started, self.traffic.documented(route), answer.status(), took);
        }
        answer
    }
}

/// A trusted proxy says how its client reached it.
fn came_through_tls(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|scheme| scheme.as_bytes().eq_ignore_ascii_case(b"https"))
}

impl UnheardProxies {
    /// How many requests of this peer went unsaid since its last line, when it is time for another.
    fn due(&self, peer: IpAddr, now_ns: i64) -> Option<u64> {
        let pause_ns = limits::PROXY_LOG_PAUSE.as_nanos() as i64;
        let is_recent = |said_ns: i64| (0..pause_ns).contains(&now_ns.saturating_sub(said_ns));
        let mut said = self.said.lock();
        if let Some((said_ns, unsaid)) = said.get_mut(&peer) {
            if is_recent(*said_ns) {
                *unsaid += 1;
                return None;
            }
            *said_ns = now_ns;
            return Some(std::mem::take(unsaid));
        }
        if said.len() >= limits::PROXY_LOG_ADDRESSES_MAX {
            said.retain(|_, (said_ns, _)| is_recent(*said_ns));
        }
        // So many in one minute are no misconfigured proxies.
        if said.len() >= limits::PROXY_LOG_ADDRESSES_MAX {
            return None;
        }
        said.insert(peer, (now_ns, 0));
        Some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_minute_for_each_address() {
        let log = UnheardProxies::default();
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
    fn memory_is_bounded_whatever_comes() {
        let log = UnheardProxies::default();
        let lines = |now_ns| (0..5000_u32).filter(|peer| log.due(IpAddr::V4((*peer).into()), now_ns).is_some()).count();
        assert_eq!(lines(1), limits::PROXY_LOG_ADDRESSES_MAX);
        assert_eq!(log.said.lock().len(), limits::PROXY_LOG_ADDRESSES_MAX);
        assert!(lines(1 + limits::PROXY_LOG_PAUSE.as_nanos() as i64) > 0);
        assert!(log.said.lock().len() <= limits::PROXY_LOG_ADDRESSES_MAX);
    }
}
