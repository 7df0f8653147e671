//! `tidewatch serve`: listen, open the store, serve, drain, close.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::app::{App, Outside};
use crate::config::Config;
use crate::http::{listen, routes};

/// Serves until `stop` completes, then finishes what is in flight and flushes.
///
/// The socket answers 503 while the store is being opened. `ready` hears the address once requests are taken.
pub async fn serve(
    mut config: Config,
    outside: Outside,
    ready: impl FnOnce(SocketAddr, &Arc<App>),
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let address = config.listen;
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    config.listen = listener.local_addr().context("cannot learn the address listened on")?;
    let address = config.listen;
    let (router, current) = watch::channel(routes::starting());
    let (stopping, mut stopped) = watch::channel(false);
    tokio::spawn(async move {
        stop.await;
        let _ = stopping.send(true);
    });
    let mut also_stopped = stopped.clone();
    let listening = tokio::spawn(listen::serve(listener, current, async move {
        let _ = also_stopped.wait_for(|stop| *stop).await;
    }));
    let app = tokio::select! {
        app = App::open(config, outside) => app?,
        // Nothing was accepted yet, so there is nothing to finish.
        _ = stopped.wait_for(|stop| *stop) => return Ok(()),
    };
    let _ = router.send(routes::router(app.clone()));
    ready(address, &app);
    listening.await.context("the listener failed")?;
    app.close().await;
    Ok(())
}

/// Completes on SIGTERM or SIGINT.
pub async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).expect("SIGTERM can be listened for");
    let mut interrupt = signal(SignalKind::interrupt()).expect("SIGINT can be listened for");
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping: finishing what is in flight");
}
