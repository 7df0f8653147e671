//! Connections to targets: resolved, checked, and made to the checked address, with the duration of each step.

use std::time::Instant;

use tidewatch_runtime::outbound::policy::OutboundPolicy;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::http_client;

/// Durations of the phases of a check, nanoseconds; absent: the check has no such phase, or did not reach its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Resolution of names.
    pub dns_ns: Option<i64>,
    /// Connections.
    pub connect_ns: Option<i64>,
    /// TLS handshakes.
    pub tls_ns: Option<i64>,
    /// From a request to the first byte of its answer.
    pub wait_ns: Option<i64>,
    /// The whole check.
    pub total_ns: Option<i64>,
}

/// Observations of a check so far; they remain when it fails or its time ends.
#[derive(Debug, Default)]
pub struct Observed {
    /// Durations.
    pub timings: Timings,
    /// The status of the latest HTTP response.
    pub status_code: Option<i64>,
    /// The trace that the request belongs to, hexadecimal; empty: none.
    pub trace_id: String,
    /// End of the validity of the server's certificate, nanoseconds since the epoch.
    pub tls_expires_ns: Option<i64>,
}

impl Observed {
    /// Sets the duration of the whole check, and returns it. Called when the target has answered.
    pub(crate) fn answered(&mut self, start: Instant) -> i64 {
        let total_ns = elapsed_ns(start);
        self.timings.total_ns = Some(total_ns);
        total_ns
    }
}

fn elapsed_ns(start: Instant) -> i64 {
    i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// Adds a duration to a phase: redirects have several of each.
pub(crate) fn add(phase: &mut Option<i64>, start: Instant) {
    *phase = Some(phase.unwrap_or_default().saturating_add(elapsed_ns(start)));
}

/// Connects to the first address of a host that accepts.
pub(crate) async fn connect(
    policy: OutboundPolicy,
    host: &str,
    port: u16,
    timings: &mut Timings,
) -> Result<TcpStream, String> {
    let start = Instant::now();
    let addresses = policy.resolve(host, port).await.map_err(|error| error.to_string())?;
    add(&mut timings.dns_ns, start);
    let start = Instant::now();
    let mut refused = String::new();
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                add(&mut timings.connect_ns, start);
                // A request is one write; without effect on the result if it cannot be set.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Err(error) => refused = format!("cannot connect to {address}: {error}"),
        }
    }
    Err(refused)
}

/// Makes a TLS handshake. Without `verifies` any certificate is accepted.
pub(crate) async fn handshake(
    stream: TcpStream,
    server_name: &str,
    verifies: bool,
    observed: &mut Observed,
) -> Result<TlsStream<TcpStream>, String> {
    let start = Instant::now();
    let stream = http_client::handshake(stream, server_name, verifies).await?;
    add(&mut observed.timings.tls_ns, start);
    let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
    observed.tls_expires_ns = certificates.first().and_then(expires_ns);
    Ok(stream)
}

/// The end of the validity of a certificate, nanoseconds since the epoch. `None` if it cannot be parsed.
fn expires_ns(certificate: &CertificateDer<'_>) -> Option<i64> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let expires = certificate.tbs_certificate().validity().not_after.to_unix_duration();
    Some(i64::try_from(expires.as_nanos()).unwrap_or(i64::MAX))
}
