//! What every request passes on its way in and every answer on its way out: whose request it is, and the headers.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::Instant;
use tower::ServiceExt;

use super::frames;
use super::gate::client_ip::{self, Trust};
use super::gate::per_ip::ClientAddress;
use crate::clock::Clock;
use crate::limits;
use crate::metrics::Traffic;
use crate::own_traces::Tracer;

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

/// When the log last said so, and how often it has not since.
#[derive(Default)]
struct UnheardProxies {
    /// Nanoseconds since the epoch; 0: never.
    said_ns: AtomicI64,
    unsaid: AtomicU64,
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
            && let Some(others) = self.unheard.due(self.clock.now_ns())
        {
            tracing::warn!(others, "{}", client_ip::unheard_proxy_line(caller.peer));
        }
        let is_https = self.is_https(caller) || proxy_says_https;
        let may_be_framed = frames::may_be_framed(request.uri().path());
        let traced = self.tracer.as_ref().and_then(|tracer| {
            let started = tracer.begin(request.method(), request.uri().path(), request.headers(), is_https)?;
            Some((tracer, started))
        });
        request.extensions_mut().insert(ClientAddress(client.address));
        let router = self.router.borrow().clone();
        let mut answer = match router.oneshot(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        frames::guard(answer.headers_mut(), may_be_framed, is_https);
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
    /// How many requests went unsaid since the last line, when it is time for another.
    fn due(&self, now_ns: i64) -> Option<u64> {
        let said_ns = self.said_ns.load(Ordering::Relaxed);
        let pause_ns = limits::PROXY_LOG_PAUSE.as_nanos() as i64;
        let is_due = said_ns == 0 || now_ns - said_ns >= pause_ns;
        // Of several at the same moment one speaks.
        let speaks =
            is_due && self.said_ns.compare_exchange(said_ns, now_ns, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if speaks {
            return Some(self.unsaid.swap(0, Ordering::Relaxed));
        }
        self.unsaid.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_minute() {
        let log = UnheardProxies::default();
        let second = 1_000_000_000;
        for (at, expected) in [(1, Some(0)), (2, None), (59, None), (61, Some(2)), (62, None), (121, Some(1))] {
            assert_eq!(log.due(at * second), expected, "{at}");
        }
    }
}
