//! `tidewatch serve`: listen, open the store, serve, drain, close.

use std::future::Future;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use tokio::sync::watch;

use crate::app::{App, Outside};
use crate::config::Config;
use crate::http::door::Door;
use crate::http::socket::{ListenAddress, Socket};
use crate::http::tls::Tls;
use crate::http::{listen, routes};
use crate::limits;
use crate::own_traces::Tracer;

/// Serves until `stop` completes, then finishes what is in flight and flushes.
///
/// The socket answers 503 while the store is being opened. `ready` hears the address once requests are taken.
pub async fn serve(
    config: Config,
    outside: Outside,
    ready: impl FnOnce(&ListenAddress, &Arc<App>),
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    serve_routes(config, outside, routes::router, ready, stop).await
}

/// The same with other routes.
pub async fn serve_routes(
    mut config: Config,
    outside: Outside,
    router_of: fn(Arc<App>) -> Router,
    ready: impl FnOnce(&ListenAddress, &Arc<App>),
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let tls = config.tls()?.map(Arc::new);
    let mut sockets = Vec::new();
    for address in &mut config.listen {
        let socket = Socket::bind(address, tls.as_ref()).await?;
        *address = socket.address()?;
        sockets.push(socket);
    }
    let address = config.listen.first().context("there is no address to listen on")?.clone();
    // Bound before the start, so that a wrong address ends it.
    let figures = match &config.metrics_listen {
        Some(address) => Some(Socket::bind(address, tls.as_ref()).await?),
        None => None,
    };
    let trust = config.trust()?;
    let (router, current) = watch::channel(routes::starting());
    let tracer = match config.own_traces()? {
        Some(target) => Some(Arc::new(Tracer::start(target, outside.clock.clone()).context("cannot start a thread")?)),
        None => None,
    };
    let door = Door::new(current, trust.clone(), config.is_https(), outside.clock.clone()).traced(tracer.clone());
    let door = Arc::new(door);
    let (stopping, mut stopped) = watch::channel(false);
    tokio::spawn(async move {
        stop.await;
        let _ = stopping.send(true);
    });
    let (clock, traffic) = (outside.clock.clone(), door.traffic());
    let mut also_stopped = stopped.clone();
    let listening = tokio::spawn(listen::serve(sockets, door, async move {
        let _ = also_stopped.wait_for(|stop| *stop).await;
    }));
    let app = tokio::select! {
        app = App::open(config, outside) => app?,
        // Nothing was accepted yet, so there is nothing to finish.
        _ = stopped.wait_for(|stop| *stop) => return Ok(()),
    };
    let (counted, traced) = (app.store_metrics.clone(), tracer.clone());
    app.intake.lake().set_on_worked(move |worked| {
        counted.add(worked);
        if let Some(tracer) = &traced {
            tracer.worked(worked);
        }
    });
    let _ = router.send(router_of(app.clone()));
    if let Some(socket) = figures {
        tracing::info!("own figures at http://{}/metrics", socket.address()?);
        let (_, router) = watch::channel(routes::figures(app.clone(), traffic, tracer.clone()));
        let door = Arc::new(Door::new(router, trust, false, clock));
        let mut stopped = stopped.clone();
        tokio::spawn(listen::serve(vec![socket], door, async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        }));
    }
    tokio::spawn(reload(tls, stopped));
    ready(&address, &app);
    listening.await.context("the listener failed")?;
    app.close().await;
    if let Some(tracer) = tracer {
        // What it cannot send is lost, and counted no more.
        let _ = tokio::task::spawn_blocking(move || tracer.close()).await;
    }
    Ok(())
}

/// Reads the certificate again on SIGHUP, and once a while. Without one SIGHUP changes nothing, and ends nothing.
async fn reload(tls: Option<Arc<Tls>>, mut stopped: watch::Receiver<bool>) {
    use tokio::signal::unix::{SignalKind, signal};
    let mut asked = signal(SignalKind::hangup()).expect("SIGHUP can be listened for");
    loop {
        tokio::select! {
            _ = asked.recv() => {}
            () = tokio::time::sleep(limits::TLS_RELOAD_PAUSE) => {}
            _ = stopped.wait_for(|stop| *stop) => return,
        }
        let Some(tls) = tls.clone() else { continue };
        match tokio::task::spawn_blocking(move || tls.reload()).await {
            Ok(Ok(true)) => tracing::info!("the TLS certificate was replaced"),
            Ok(Ok(false)) => {}
            Ok(Err(error)) => tracing::error!("the TLS certificate stays as it is: {error:#}"),
            Err(error) => tracing::error!(%error, "reading the TLS certificate failed: {error}"),
        }
    }
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
