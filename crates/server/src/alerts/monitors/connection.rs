//! Connections to targets: resolved, checked, and made to the checked address, with the duration of each step.

use std::time::Instant;

use tidewatch_alerts::monitors::MonitorTimings;
use tidewatch_alerts::outbound::OutboundPolicy;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::http_client;

/// What a check may contact, and when it is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    pub(super) policy: OutboundPolicy,
    /// Nanoseconds since the epoch.
    pub(super) now_ns: i64,
}

/// Why a check is not up.
pub(super) enum Failure {
    /// The target is bad.
    Bad(String),
    /// Nothing is known of the target: the check was not made.
    NotMade(String),
}

/// What a check has seen so far.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) timings: MonitorTimings,
    pub(super) status_code: Option<i64>,
    pub(super) trace_id: String,
    pub(super) tls_expires_ns: Option<i64>,
    /// What a script printed.
    pub(super) output: String,
}

impl Observed {
    /// Sets the duration of the whole check, and returns it. Called when the target has answered.
    pub(super) fn answered(&mut self, start: Instant) -> i64 {
        let total_ns = elapsed_ns(start);
        self.timings.total_ns = Some(total_ns);
        total_ns
    }
}

fn elapsed_ns(start: Instant) -> i64 {
    i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

/// Adds a duration to a phase: redirects have several of each.
pub(super) fn add(phase: &mut Option<i64>, start: Instant) {
    *phase = Some(phase.unwrap_or_default().saturating_add(elapsed_ns(start)));
}

/// Connects to the first address of a host that accepts.
pub(super) async fn connect(
    probe: &Probe,
    host: &str,
    port: u16,
    timings: &mut MonitorTimings,
) -> Result<TcpStream, String> {
    let start = Instant::now();
    let addresses = probe.policy.resolve(host, port).await.map_err(|error| error.to_string())?;
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
pub(super) async fn handshake(
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
