//! The sockets: HTTP/1.1 and HTTP/2 (h2c with prior knowledge) on each, header and idle timeouts, drain on stop.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Version};
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::connections::{self, Connections, Place};
use super::door::{Caller, Door};
use super::in_flight_body;
use super::request_body;
use super::socket::{Accepted, Socket, Stream};
use super::streamed_body::Answered;
use super::timeouts::{Activity, Watched};
use crate::error::ApiError;
use tidewatch_limits as limits;

/// Serves what comes through `sockets` at `door`, until `stop` completes; then accepts nothing more and gives what is in
/// flight [`limits::DRAIN_MAX`]. At most `connections_max` are open at once, and a few for probes.
pub async fn serve(sockets: Vec<Socket>, door: Arc<Door>, connections_max: usize, stop: impl Future<Output = ()>) {
    let server = Arc::new(builder());
    let room = Connections::new(connections_max, door.traffic().connections.clone());
    let (stopping, stopped) = watch::channel(());
    let mut listeners = tokio::task::JoinSet::new();
    for socket in sockets {
        listeners.spawn(accept(socket, server.clone(), door.clone(), room.clone(), stopped.clone()));
    }
    drop(stopped);
    stop.await;
    // The sockets close; each connection hears that it is to end.
    let _ = stopping.send(());
    listeners.shutdown().await;
    if tokio::time::timeout(limits::DRAIN_MAX, stopping.closed()).await.is_err() {
        tracing::warn!("stopped with requests still in flight after {} s", limits::DRAIN_MAX.as_secs());
    }
}

/// When only places for probes are left.
const NO_PLACE: ApiError = ApiError::Overloaded("too many connections; try again later");

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Until it is aborted.
async fn accept(
    socket: Socket,
    server: Arc<auto::Builder<TokioExecutor>>,
    door: Arc<Door>,
    room: Arc<Connections>,
    stopped: watch::Receiver<()>,
) {
    loop {
        match socket.accept().await {
            Ok(accepted) => {
                let activity = Activity::start();
                let peer = accepted.caller.peer;
                let share_of = (!door.trusts(peer)).then_some(peer);
                // Without a place the connection closes here.
                if let Some(place) = room.admit(share_of, &activity) {
                    let served = Served { server: server.clone(), door: door.clone(), activity, place };
                    tokio::spawn(connected(accepted, served, stopped.clone()));
                }
            }
            Err(error) => {
                // Out of file descriptors, most likely: another connection must end before the next can begin.
                tracing::warn!(%error, "cannot accept a connection: {error}");
                room.make_room();
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
        // `Activity` times heads and silence; hyper's own timer cannot tell them apart.
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

/// What one connection has.
struct Served {
    server: Arc<auto::Builder<TokioExecutor>>,
    door: Arc<Door>,
    activity: Arc<Activity>,
    place: Place,
}

async fn connected(accepted: Accepted, served: Served, stopped: watch::Receiver<()>) {
    let caller = accepted.caller;
    match accepted.stream {
        Stream::Tcp(stream) => connection(stream, caller, served, stopped).await,
        Stream::Unix(stream) => connection(stream, caller, served, stopped).await,
        Stream::Tls(stream, acceptor) => {
            // A handshake that takes as long as a head may is one that never ends.
            let shaken = tokio::select! {
                shaken = tokio::time::timeout(limits::HEADERS_MAX, acceptor.accept(stream)) => shaken,
                () = served.activity.expired() => return,
            };
            match shaken {
                Ok(Ok(stream)) => {
                    served.activity.begins();
                    connection(stream, caller, served, stopped).await;
                }
                Ok(Err(error)) => tracing::debug!(%error, peer = %caller.peer, "a TLS handshake failed: {error}"),
                Err(_) => {}
            }
        }
    }
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    caller: Caller,
    Served { server, door, activity, place }: Served,
    mut stopped: watch::Receiver<()>,
) {
    let (requests, is_https, is_reserved) = (activity.clone(), door.is_https(caller), place.is_reserved);
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let in_flight = requests.request();
        let (requests, is_http1) = (requests.clone(), request.version() < Version::HTTP_2);
        let may_ask = !is_reserved || connections::is_probe(request.uri().path());
        let door = door.clone();
        async move {
            let (head, body) = request.into_parts();
            let (body, unread) = request_body::watch(body);
            let mut answer = match may_ask {
                true => door.answer(caller, hyper::Request::from_parts(head, body)).await,
                false => NO_PLACE.into_response(),
            };
            if unread.is_left() {
                requests.leaves_unread();
            }
            if is_http1 && unread.ends_connection() {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            let answered: Answered = answer.extensions_mut().remove().unwrap_or_default();
            Ok::<_, std::convert::Infallible>(answer.map(|body| in_flight_body::with(body, in_flight, answered)))
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
