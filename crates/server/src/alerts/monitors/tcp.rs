//! Checks of TCP connections and of certificates.

use std::time::Instant;

use tidewatch_alerts::monitors::config::{TcpConfig, TlsConfig};
use tidewatch_alerts::monitors::verdict;
use tidewatch_limits as limits;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::connection::{Observed, Probe, add, connect, handshake};

/// Connects, and checks the answer if one is expected.
pub(super) async fn check(
    probe: &Probe,
    config: &TcpConfig,
    observed: &mut Observed,
    start: Instant,
) -> Result<(), String> {
    let stream = connect(probe, &config.host, config.port, &mut observed.timings).await?;
    match config.use_tls {
        false => converse(stream, config, observed).await?,
        true => {
            let stream = handshake(stream, &config.host, true, observed).await?;
            converse(stream, config, observed).await?;
        }
    }
    observed.answered(start);
    match config.tls_min_days_remaining {
        Some(days) => verdict::certificate(observed.tls_expires_ns, days, probe.now_ns),
        None => Ok(()),
    }
}

/// Sends the payload and reads until the answer has what is expected.
async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    config: &TcpConfig,
    observed: &mut Observed,
) -> Result<(), String> {
    let sent = Instant::now();
    if !config.send_payload.is_empty() {
        let write = async {
            stream.write_all(config.send_payload.as_bytes()).await?;
            stream.flush().await
        };
        write.await.map_err(|error| format!("cannot send: {error}"))?;
    }
    if config.expect_contains.is_empty() {
        return Ok(());
    }
    let mut read = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.map_err(|error| format!("cannot read the answer: {error}"))?;
        if read.is_empty() {
            add(&mut observed.timings.wait_ns, sent);
        }
        read.extend_from_slice(&chunk[..count]);
        let found = verdict::answer(&config.expect_contains, &read);
        if found.is_ok() || count == 0 || read.len() >= limits::MONITOR_RESPONSE_BYTES_MAX {
            return found;
        }
    }
}

/// Makes a handshake and checks the end of the validity of the certificate.
pub(super) async fn check_certificate(
    probe: &Probe,
    config: &TlsConfig,
    observed: &mut Observed,
    start: Instant,
) -> Result<(), String> {
    let stream = connect(probe, &config.host, config.port, &mut observed.timings).await?;
    let name = if config.server_name.is_empty() { &config.host } else { &config.server_name };
    handshake(stream, name, !config.skip_tls_verify, observed).await?;
    observed.answered(start);
    verdict::certificate(observed.tls_expires_ns, config.tls_min_days_remaining, probe.now_ns)
}
