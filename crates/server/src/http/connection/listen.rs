//! The accept loop: HTTP/1.1 and HTTP/2 on every socket (without TLS, too), timeouts, graceful shutdown.

use std::future::Future;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, Version};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::connections::{self, ConnectionCounts, ConnectionSlot, Connections};
use super::in_flight_body;
use super::request_body;
use super::socket::{Accepted, Caller, Socket, Stream};
use super::streamed_body::StreamedRequest;
use super::timeouts::{Activity, Watched};
use crate::error::ApiError;
use tidewatch_limits as limits;

/// The service that handles the requests of every connection.
pub trait RequestHandler: Send + Sync + 'static {
    /// The counters of the connections it serves.
    fn connection_counts(&self) -> Arc<ConnectionCounts>;

    /// Whether `peer` is a trusted proxy.
    fn trusts(&self, peer: IpAddr) -> bool;

    /// Whether clients reach the server through TLS, according to the configuration or the connection.
    fn is_https(&self, caller: Caller) -> bool;

    /// The response to one request. Errors are responses, too.
    fn handle(self: Arc<Self>, caller: Caller, request: Request<Body>) -> impl Future<Output = Response> + Send;
}

/// Serves requests from `sockets` with `handler` until `stop` completes. Then it accepts no more connections, and
/// requests in flight have [`limits::DRAIN_MAX`] to complete. At most `connections_max` connections are open at once,
/// besides a few reserved for probes.
pub async fn serve<H: RequestHandler>(
    sockets: Vec<Socket>,
    handler: Arc<H>,
    connections_max: usize,
    stop: impl Future<Output = ()>,
) {
    let server = Arc::new(builder());
    let connections = Connections::new(connections_max, handler.connection_counts());
    let (stopping, stopped) = watch::channel(());
    let mut listeners = tokio::task::JoinSet::new();
    for socket in sockets {
        listeners.spawn(accept(socket, server.clone(), handler.clone(), connections.clone(), stopped.clone()));
    }
    drop(stopped);
    stop.await;
    // Starts the graceful shutdown of every connection; the sockets are closed below.
    let _ = stopping.send(());
    listeners.shutdown().await;
    if tokio::time::timeout(limits::DRAIN_MAX, stopping.closed()).await.is_err() {
        tracing::warn!("stopped with requests still in flight after {} s", limits::DRAIN_MAX.as_secs());
    }
}

/// The response on connections in slots that are reserved for probes.
const NO_SLOT: ApiError = ApiError::Overloaded("too many connections; try again later");

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts connections until the task is aborted.
async fn accept<H: RequestHandler>(
    socket: Socket,
    server: Arc<auto::Builder<TokioExecutor>>,
    handler: Arc<H>,
    connections: Arc<Connections>,
    stopped: watch::Receiver<()>,
) {
    loop {
        match socket.accept().await {
            Ok(accepted) => {
                let activity = Activity::start();
                let peer = accepted.caller.peer;
                let share_of = (!handler.trusts(peer)).then_some(peer);
                // Without a slot the connection is closed here.
                if let Some(slot) = connections.admit(share_of, &activity) {
                    let served = Served { server: server.clone(), handler: handler.clone(), activity, slot };
                    tokio::spawn(connected(accepted, served, stopped.clone()));
                }
            }
            Err(error) => {
                // The likely cause is a lack of file descriptors: a connection must end before another can begin.
                tracing::warn!(%error, "cannot accept a connection: {error}");
                connections.make_room();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // `Activity` has separate timeouts for heads and idle connections; hyper has one timer for both.
        .header_read_timeout(None)
        .max_buf_size(limits::HEADER_BYTES_MAX)
        .max_headers(limits::HEADER_COUNT_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::HTTP2_STREAMS_MAX)
        .initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
        .initial_connection_window_size(limits::HTTP2_CONNECTION_WINDOW_BYTES)
        .max_header_list_size(limits::HEADER_BYTES_MAX as u32)
        .max_pending_accept_reset_streams(limits::HTTP2_RESETS_MAX)
        .max_local_error_reset_streams(limits::HTTP2_RESETS_MAX)
        .keep_alive_interval(limits::IDLE_MAX)
        .keep_alive_timeout(limits::HEADERS_MAX);
    builder
}

/// The state of one connection.
struct Served<H> {
    server: Arc<auto::Builder<TokioExecutor>>,
    handler: Arc<H>,
    activity: Arc<Activity>,
    slot: ConnectionSlot,
}

async fn connected<H: RequestHandler>(accepted: Accepted, served: Served<H>, stopped: watch::Receiver<()>) {
    let caller = accepted.caller;
    match accepted.stream {
        Stream::Tcp(stream) => connection(stream, caller, served, stopped).await,
        Stream::Unix(stream) => connection(stream, caller, served, stopped).await,
        Stream::Tls(stream, acceptor) => {
            // A handshake has the same timeout as a request head.
            let handshake = tokio::select! {
                handshake = tokio::time::timeout(limits::HEADERS_MAX, acceptor.accept(stream)) => handshake,
                () = served.activity.expired() => return,
            };
            match handshake {
                Ok(Ok(stream)) => {
                    served.activity.restart_head();
                    connection(stream, caller, served, stopped).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, peer = %caller.peer, "a TLS handshake failed: {error}"),
                Err(_) => {}
            }
        }
    }
}

async fn connection<H: RequestHandler, S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    caller: Caller,
    Served { server, handler, activity, slot }: Served<H>,
    mut stopped: watch::Receiver<()>,
) {
    let (requests, is_https, is_reserved) = (activity.clone(), handler.is_https(caller), slot.is_reserved);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let in_flight = requests.request();
        let (requests, is_http1) = (requests.clone(), request.version() < Version::HTTP_2);
        let is_served = !is_reserved || connections::is_probe(request.uri().path());
        let handler = handler.clone();
        async move {
            let (head, body) = request.into_parts();
            let (body, unread) = request_body::watch(body);
            let mut response = match is_served {
                true => handler.handle(caller, Request::from_parts(head, body)).await,
                false => NO_SLOT.into_response(),
            };
            if unread.is_left() {
                requests.leave_unread();
            }
            if is_http1 && unread.ends_connection() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            let streamed: StreamedRequest = response.extensions_mut().remove().unwrap_or_default();
            Ok::<_, std::convert::Infallible>(response.map(|body| in_flight_body::with(body, in_flight, streamed)))
        }
    });
    let io = TokioIo::new(Watched::new(stream, activity.clone(), is_https));
    let mut connection = pin!(server.serve_connection(io, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = activity.expired() => return,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => ended,
                () = activity.expired() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, peer = %caller.peer, "a connection ended with an error: {error}");
    }
}
