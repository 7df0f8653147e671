//! `tidewatch browser-runner`: makes checks by a browser for servers elsewhere, which have its token.
//!
//! `POST /checks` with a [`Job`] makes a check and answers with its [`Report`]; if the caller goes, the check ends.
//! `GET /checks` answers with the version. `GET /health` needs no token.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::{self, Body};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Json, Router};
use clap::ArgAction;
use clap::builder::BoolishValueParser;
use sha2::{Digest, Sha256};
use tidewatch_journal::heartbeat::Heartbeat;
use tidewatch_limits as limits;
use tidewatch_limits::clock::Clock;
use tidewatch_probes::browser::installation::Installation;
use tidewatch_probes::browser::job::{CHECKS, Greeting, Job, Report};
use tidewatch_probes::browser::local;
use tidewatch_runtime::background::HeartbeatGuard;
use tokio::sync::{Semaphore, watch};

use crate::config::browser::{ProgramSettings, TokenSettings};
use crate::error::ApiError;
use crate::http::connection::listen;
use crate::http::connection::socket::Socket;
use crate::http::gate::auth::bearer;
use crate::http::request_context::RequestContextService;
use crate::listen::ListenAddress;
use crate::listen::client_ip::Trust;
use crate::listen::tls::Tls;
use crate::serve::{self, Reloaded};

/// Arguments of `tidewatch browser-runner`.
#[derive(Debug, clap::Args)]
pub struct RunnerArgs {
    /// Address to listen on: `127.0.0.1:8090`, `tls:0.0.0.0:8443` or `unix:/run/browsers.sock`.
    #[arg(long, env = "SYNTHETICS_BROWSER_LISTEN", default_value = "127.0.0.1:8090")]
    pub listen: ListenAddress,
    /// PEM file with the certificate chain of `tls:` addresses.
    #[arg(long, env = "SYNTHETICS_BROWSER_TLS_CERTIFICATE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// PEM file with the key of the certificate.
    #[arg(long, env = "SYNTHETICS_BROWSER_TLS_KEY", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Scripts may contact private networks, if the server allows it too.
    #[arg(long, env = "ALLOW_PRIVATE_MONITOR_TARGETS", action = ArgAction::Set, value_parser = BoolishValueParser::new(),
        num_args = 0..=1, default_value = "false", default_missing_value = "true")]
    pub allow_private_monitor_targets: bool,
    /// The token.
    #[command(flatten)]
    pub token: TokenSettings,
    /// The programs.
    #[command(flatten)]
    pub programs: ProgramSettings,
}

struct Runner {
    /// Hash of the token: its comparison takes as long for any text.
    token: [u8; 32],
    installation: Installation,
    allows_private: bool,
    permits: Semaphore,
}

/// Makes checks until `stop` completes. `ready` is called with the address once they are accepted. Fails if a program
/// or the token is missing, or if the address cannot be bound.
pub async fn run(
    arguments: RunnerArgs,
    ready: impl FnOnce(&ListenAddress),
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let token = arguments.token.token()?;
    let programs = arguments.programs.named();
    let installation = tokio::task::spawn_blocking(move || Installation::find(&programs)).await?;
    let installation = installation.map_err(anyhow::Error::msg)?;
    let tls = match (&arguments.tls_certificate, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Some(Arc::new(Tls::load(certificate, key)?)),
        _ => None,
    };
    let socket = Socket::bind(&arguments.listen, tls.as_ref()).await?;
    let address = socket.address()?;
    let runner = Arc::new(Runner {
        token: Sha256::digest(token).into(),
        installation,
        allows_private: arguments.allow_private_monitor_targets,
        permits: Semaphore::new(limits::BROWSER_CHECKS_CONCURRENT),
    });
    let (_router, current) = watch::channel(router(runner));
    let service = RequestContextService::new(current, Trust::new(None, None)?, tls.is_some(), Clock::system());
    let (_stopping, stopped) = watch::channel(false);
    let reloaded = Reloaded::new(tls, None, service.trust());
    tokio::spawn(serve::reload(reloaded, HeartbeatGuard(Heartbeat::new("reload")), stopped));
    ready(&address);
    listen::serve(vec![socket], Arc::new(service), limits::BROWSER_RUNNER_CONNECTIONS_MAX, stop).await;
    Ok(())
}

fn router(runner: Arc<Runner>) -> Router {
    Router::new()
        .route(&format!("/{CHECKS}"), post(check).get(greet))
        .route("/health", get(async || "ok\n"))
        .fallback(async || ApiError::not_found("a browser runner has no such page"))
        .with_state(runner)
}

impl Runner {
    fn admit(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let given: Option<[u8; 32]> = bearer(headers).map(|token| Sha256::digest(token).into());
        match given == Some(self.token) {
            true => Ok(()),
            false => Err(ApiError::Unauthorized("the token of this browser runner is missing or wrong")),
        }
    }
}

async fn greet(State(runner): State<Arc<Runner>>, headers: HeaderMap) -> Result<Json<Greeting>, ApiError> {
    runner.admit(&headers)?;
    Ok(Json(Greeting { version: env!("CARGO_PKG_VERSION").to_owned() }))
}

async fn check(State(runner): State<Arc<Runner>>, headers: HeaderMap, body: Body) -> Result<Json<Report>, ApiError> {
    runner.admit(&headers)?;
    let bytes_max = limits::BROWSER_JOB_BYTES_MAX;
    let body = body::to_bytes(body, bytes_max).await.map_err(|_| ApiError::TooLarge(bytes_max))?;
    let job: Job = serde_json::from_slice(&body).map_err(|error| ApiError::malformed(format!("no check: {error}")))?;
    let seconds = limits::MONITOR_TIMEOUT_SECONDS;
    if !i64::try_from(job.timeout_seconds).is_ok_and(|timeout| seconds.contains(&timeout)) {
        return Err(ApiError::unprocessable(format!("a check takes {} to {} s", seconds.start(), seconds.end())));
    }
    let Ok(_permit) = runner.permits.try_acquire() else {
        return Err(ApiError::Overloaded("too many checks by a browser run now; try again later"));
    };
    let allows_private = job.allows_private && runner.allows_private;
    Ok(Json(local::run(Job { allows_private, ..job }, runner.installation.clone()).await))
}
