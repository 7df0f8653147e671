//! Checks of TCP connections and of certificates.

use std::time::Instant;

use tidewatch_limits as limits;
use tidewatch_runtime::outbound::policy::OutboundPolicy;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::connection::{Observed, add, connect, handshake};

/// A connection to make.
#[derive(Debug, Clone, Copy)]
pub struct TcpRequest<'a> {
    /// Name or address.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// Whether a TLS handshake follows the connection.
    pub use_tls: bool,
    /// Bytes to send; may be empty.
    pub payload: &'a [u8],
    /// The answer is read until it contains this text; empty: no answer is read.
    pub expected: &'a str,
}

/// A TLS handshake to make.
#[derive(Debug, Clone, Copy)]
pub struct TlsRequest<'a> {
    /// Name or address.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// Name in the certificate.
    pub server_name: &'a str,
    /// Whether the issuer and the name are verified.
    pub verifies: bool,
}

/// Connects, sends the payload and returns the answer as far as it was read.
pub async fn check(
    policy: OutboundPolicy,
    request: TcpRequest<'_>,
    observed: &mut Observed,
    start: Instant,
) -> Result<Vec<u8>, String> {
    let stream = connect(policy, request.host, request.port, &mut observed.timings).await?;
    let answer = match request.use_tls {
        false => converse(stream, request, observed).await?,
        true => {
            let stream = handshake(stream, request.host, true, observed).await?;
            converse(stream, request, observed).await?
        }
    };
    if contains(&answer, request.expected) {
        observed.answered(start);
    }
    Ok(answer)
}

fn contains(answer: &[u8], expected: &str) -> bool {
    String::from_utf8_lossy(answer).contains(expected)
}

/// Sends the payload and reads until the answer contains the expected text, ends, or is too long.
async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: TcpRequest<'_>,
    observed: &mut Observed,
) -> Result<Vec<u8>, String> {
    let sent = Instant::now();
    if !request.payload.is_empty() {
        let write = async {
            stream.write_all(request.payload).await?;
            stream.flush().await
        };
        write.await.map_err(|error| format!("cannot send: {error}"))?;
    }
    let mut read = Vec::new();
    if request.expected.is_empty() {
        return Ok(read);
    }
    loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.map_err(|error| format!("cannot read the answer: {error}"))?;
        if read.is_empty() {
            add(&mut observed.timings.wait_ns, sent);
        }
        read.extend_from_slice(&chunk[..count]);
        if contains(&read, request.expected) || count == 0 || read.len() >= limits::MONITOR_RESPONSE_BYTES_MAX {
            return Ok(read);
        }
    }
}

/// Makes a handshake, which observes the end of the validity of the certificate.
pub async fn check_certificate(
    policy: OutboundPolicy,
    request: TlsRequest<'_>,
    observed: &mut Observed,
    start: Instant,
) -> Result<(), String> {
    let stream = connect(policy, request.host, request.port, &mut observed.timings).await?;
    handshake(stream, request.server_name, request.verifies, observed).await?;
    observed.answered(start);
    Ok(())
}
