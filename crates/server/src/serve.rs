//! `tidewatch serve`: listens, opens the store, serves, drains, closes.

use std::future::Future;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use parking_lot::{Mutex, RwLock};
use tidewatch_journal::heartbeat::Heartbeat;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::alerts;
use crate::app::{App, Environment, Settings};
use crate::backup::socket;
use crate::backup::source::Serving;
use crate::config::{self, Config};
use crate::http::connection::listen;
use crate::http::connection::socket::Socket;
use crate::http::exposition::{self, Scrape};
use crate::http::request_context::RequestContextService;
use crate::http::routes;
use crate::jobs::ai_prices;
use crate::jobs::first_versions;
use crate::jobs::regroup;
use crate::jobs::resymbolicate;
use crate::jobs::retention_changes;
use crate::listen::ListenAddress;
use crate::listen::client_ip::Trust;
use crate::listen::tls::Tls;
use crate::process::own_traces::Tracer;
use tidewatch_ingest::symbols::persist;
use tidewatch_limits as limits;
use tidewatch_runtime::background;
use tidewatch_runtime::background::HeartbeatGuard;

/// Serves until `stop` completes, then finishes requests in flight and flushes.
///
/// The socket answers 503 while the store is being opened. `ready` is called with the address once requests are
/// accepted. An error: the server could not start, or the listener failed.
pub async fn serve(
    config: Config,
    environment: Environment,
    ready: impl FnOnce(&ListenAddress, &Arc<App>),
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    serve_routes(config, environment, routes::router, ready, stop).await
}

/// Like [`serve`], with other routes.
pub async fn serve_routes(
    mut config: Config,
    mut environment: Environment,
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
    // Bound before the store is opened, so a wrong address fails early.
    let metrics_socket = match &config.metrics_listen {
        Some(address) => Some(Socket::bind(address, tls.as_ref()).await?),
        None => None,
    };
    let trust = config.trust()?;
    config.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
    let (router, current) = watch::channel(routes::starting());
    let tracer = match config.own_traces()? {
        Some(target) => {
            Some(Arc::new(Tracer::start(target, environment.clock.clone()).context("cannot start a thread")?))
        }
        None => None,
    };
    let service = RequestContextService::new(current, trust.clone(), config.is_https(), environment.clock.clone());
    let service = Arc::new(service.traced(tracer.clone()));
    let (stopping, mut stopped) = watch::channel(false);
    tokio::spawn(async move {
        stop.await;
        let _ = stopping.send(true);
    });
    let (clock, traffic) = (environment.clock.clone(), service.traffic());
    let reloaded = Reloaded::new(tls, environment.settings.take(), service.trust());
    let mut also_stopped = stopped.clone();
    let connections_max = config.connections_max;
    let listening = tokio::spawn(listen::serve(sockets, service, connections_max, async move {
        let _ = also_stopped.wait_for(|stop| *stop).await;
    }));
    let app = tokio::select! {
        app = App::open(config, environment) => app?,
        // No request was accepted yet, so there is nothing to drain.
        _ = stopped.wait_for(|stop| *stop) => return Ok(()),
    };
    let (counted, traced) = (app.ingest.store_metrics.clone(), tracer.clone());
    app.query.store.set_on_work_completed(Box::new(move |worked| {
        counted.add(worked);
        if let Some(tracer) = &traced {
            tracer.work_completed(worked);
        }
    }));
    let _ = router.send(router_of(app.clone()));
    if let Some(socket) = metrics_socket {
        tracing::info!("own metrics at http://{}/metrics", socket.address()?);
        let scrape = Scrape {
            ingest: app.ingest.clone(),
            query: app.query.clone(),
            process: app.process.clone(),
            traffic,
            tracer: tracer.clone(),
        };
        let (_, router) = watch::channel(exposition::router(scrape));
        let service = Arc::new(RequestContextService::new(router, trust, false, clock));
        let mut stopped = stopped.clone();
        tokio::spawn(listen::serve(vec![socket], service, limits::METRICS_CONNECTIONS_MAX, async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        }));
    }
    let (live_tails, mut tails_stopped) = (app.process.live_tails.clone(), stopped.clone());
    tokio::spawn(async move {
        let _ = tails_stopped.wait_for(|stop| *stop).await;
        live_tails.close();
    });
    let mut tasks = JoinSet::new();
    let (query, ingest) = (&app.query, &app.ingest);
    let background = app.process.background.clone();
    tasks.spawn(resymbolicate::run(query.clone(), ingest.clone(), background.clone(), stopped.clone()));
    tasks.spawn(regroup::run(query.clone(), ingest.regrouping.clone(), background, stopped.clone()));
    tasks.spawn(ai_prices::run(ingest.clone(), stopped.clone()));
    tasks.spawn(first_versions::run(query.clone(), ingest.clone(), stopped.clone()));
    tasks.spawn(persist::run(app.ingest.symbols.clone(), app.accounts.clock.clone(), stopped.clone()));
    tasks.spawn(retention_changes::run(query.clone(), ingest.clone(), stopped.clone()));
    let serving = Serving {
        lake: app.lake.clone(),
        ingest: ingest.clone(),
        accounts: app.accounts.clone(),
        runtime: Handle::current(),
    };
    tasks.spawn(socket::serve(serving, app.process.clone(), stopped.clone()));
    alerts::start(&app, &mut tasks, &stopped);
    let heartbeat = Heartbeat::new("reload");
    app.process.background.add(&heartbeat);
    tracer.iter().for_each(|tracer| app.process.background.add(tracer.heartbeat()));
    tokio::spawn(background::watch(app.process.background.clone(), stopped.clone()));
    tokio::spawn(reload(reloaded, HeartbeatGuard(heartbeat), stopped));
    ready(&address, &app);
    listening.await.context("the listener failed")?;
    app.ingest.demos.close().await;
    app.ingest.symbols.builder.close();
    while tasks.join_next().await.is_some() {}
    app.close().await;
    if let Some(tracer) = tracer {
        // Spans that it cannot send are lost and not counted.
        let _ = tokio::task::spawn_blocking(move || tracer.close()).await;
    }
    Ok(())
}

/// State that a reload may change.
pub struct Reloaded {
    tls: Option<Arc<Tls>>,
    settings: Option<Settings>,
    trust: Arc<RwLock<Trust>>,
}

/// Reloads settings and certificate on SIGHUP, and the certificate every [`limits::TLS_RELOAD_PAUSE`], until `stopped` is
/// true or its sender is dropped.
pub async fn reload(reloaded: Reloaded, running: HeartbeatGuard, mut stopped: watch::Receiver<bool>) {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangups = signal(SignalKind::hangup()).expect("SIGHUP can be listened for");
    let reloaded = Arc::new(Mutex::new(reloaded));
    loop {
        let is_requested = tokio::select! {
            _ = hangups.recv() => true,
            () = tokio::time::sleep(limits::TLS_RELOAD_PAUSE) => false,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        running.0.beat();
        read_again(&reloaded, is_requested).await;
        running.0.idle();
    }
}

/// Reloads on a blocking thread. A panic leaves everything unchanged, and the next attempt reads the files again.
async fn read_again(reloaded: &Arc<Mutex<Reloaded>>, is_requested: bool) {
    let reading = reloaded.clone();
    if let Err(error) = tokio::task::spawn_blocking(move || reading.lock().read(is_requested)).await {
        tracing::error!(%error, "reading the settings and the certificate again failed: {error}");
    }
}

impl Reloaded {
    /// Settings in use, and their source.
    pub fn new(tls: Option<Arc<Tls>>, settings: Option<Settings>, trust: Arc<RwLock<Trust>>) -> Reloaded {
        Reloaded { tls, settings, trust }
    }

    /// Reloads the certificate, and the settings if requested. Invalid files are logged and change nothing. Blocks.
    fn read(&mut self, is_requested: bool) {
        if let Some(tls) = &self.tls {
            match tls.reload() {
                Ok(true) => tracing::info!("the TLS certificate was replaced"),
                Ok(false) => {}
                Err(error) => tracing::error!("the TLS certificate stays as it is: {error:#}"),
            }
        }
        if let Some(settings) = &mut self.settings
            && is_requested
            && let Err(error) = apply_settings(settings, &self.trust)
        {
            tracing::error!("the settings stay as they are: {error:#}");
        }
    }
}

fn apply_settings(settings: &mut Settings, trust: &RwLock<Trust>) -> anyhow::Result<()> {
    let (config, changed) = settings()?;
    *trust.write() = config.trust()?;
    let (taken, waiting): (Vec<_>, Vec<_>) =
        changed.into_iter().partition(|name| config::RELOADED.contains(&name.as_str()));
    tracing::info!("settings read again; changed: {}", if taken.is_empty() { "none".into() } else { taken.join(", ") });
    if !waiting.is_empty() {
        tracing::warn!("settings that wait for a restart: {}", waiting.join(", "));
    }
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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A panic, then an error, then other settings: each attempt reads them again.
    #[tokio::test]
    async fn settings_are_read_again_after_a_panic_and_after_an_error() {
        let config = || Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), "data");
        let before = config().trust().expect("the default");
        let trust = Arc::new(RwLock::new(before.clone()));
        let reads = Arc::new(AtomicU32::new(0));
        let counted = reads.clone();
        let settings: Settings = Box::new(move || match counted.fetch_add(1, Ordering::Relaxed) {
            0 => panic!("on purpose"),
            1 => anyhow::bail!("no such file"),
            _ => {
                let mut config = config();
                config.trusted_proxy_header = Some("x-real-ip".to_owned());
                Ok((config, Vec::new()))
            }
        });
        let reloaded = Reloaded::new(None, Some(settings), trust.clone());
        let reloaded = Arc::new(Mutex::new(reloaded));
        for expected in [1, 2] {
            read_again(&reloaded, true).await;
            assert_eq!(reads.load(Ordering::Relaxed), expected);
            assert_eq!(*trust.read(), before, "what cannot be read changes nothing");
        }
        read_again(&reloaded, true).await;
        assert_ne!(*trust.read(), before);
    }
}
