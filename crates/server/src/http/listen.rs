//! The socket: HTTP/1.1 and HTTP/2 (h2c with prior knowledge) on one port, header and idle timeouts, drain on stop.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::connect_info::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

use super::activity::{Activity, Watched};
use crate::limits;

/// Serves what `router` holds at the time of each request, until `stop` completes; then accepts nothing more and gives what is in flight [`limits::DRAIN_MAX`].
pub async fn serve(listener: TcpListener, router: watch::Receiver<Router>, stop: impl Future<Output = ()>) {
    let server = Arc::new(builder());
    let (stopping, stopped) = watch::channel(());
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                tokio::spawn(connection(server.clone(), router.clone(), stream, peer, stopped.clone()));
            }
            Err(error) => {
                // Out of file descriptors, most likely: connections in flight must end before the next can begin.
                tracing::warn!(%error, "cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop((listener, stopped));
    let _ = stopping.send(());
    if tokio::time::timeout(limits::DRAIN_MAX, stopping.closed()).await.is_err() {
        tracing::warn!("stopped with requests still in flight after {} s", limits::DRAIN_MAX.as_secs());
    }
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

fn builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    // `Activity` times heads and silence; hyper's own timer cannot tell them apart.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::HTTP2_STREAMS_MAX)
        .keep_alive_interval(limits::IDLE_MAX)
        .keep_alive_timeout(limits::HEADERS_MAX);
    builder
}

async fn connection(
    server: Arc<auto::Builder<TokioExecutor>>,
    router: watch::Receiver<Router>,
    stream: TcpStream,
    peer: SocketAddr,
    mut stopped: watch::Receiver<()>,
) {
    // Answers are small and wanted at once.
    let _ = stream.set_nodelay(true);
    let activity = Activity::start();
    let requests = activity.clone();
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        let in_flight = requests.request();
        request.extensions_mut().insert(ConnectInfo(peer));
        let router = router.borrow().clone();
        let answer = router.oneshot(request.map(Body::new));
        async move {
            let answer = answer.await;
            drop(in_flight);
            answer
        }
    });
    let io = TokioIo::new(Watched { stream, activity: activity.clone() });
    let mut connection = pin!(server.serve_connection(io, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = activity.expired() => return,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %peer, "a connection ended with an error: {error}");
    }
}
