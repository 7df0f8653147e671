//! Connections to targets: resolved, checked, and made to the checked address, with the duration of each step.

use std::sync::Arc;
use std::time::Instant;

use tidewatch_accounts::MonitorTimings;
use tidewatch_alerts::outbound::OutboundPolicy;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// What a check may contact, and when it is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    pub(super) policy: OutboundPolicy,
    /// Nanoseconds since the epoch.
    pub(super) now_ns: i64,
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
    let name = server_name.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(name).map_err(|_| format!("{server_name} is no name of a certificate"))?;
    let config = client_config(verifies).map_err(|error| format!("TLS is not available: {error}"))?;
    let connected = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    let stream = connected.map_err(|error| format!("the TLS handshake failed: {error}"))?;
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

fn client_config(verifies: bool) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let mut config = match verifies {
        true => config.with_root_certificates(roots()),
        false => config.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
    }
    .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The machine's root certificates. Read once.
fn roots() -> Arc<RootCertStore> {
    static ROOTS: std::sync::OnceLock<Arc<RootCertStore>> = std::sync::OnceLock::new();
    let load = || {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    };
    ROOTS.get_or_init(load).clone()
}

/// Accepts any certificate, as a user has chosen (`skipTlsVerify`). The server proves that it has the key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
