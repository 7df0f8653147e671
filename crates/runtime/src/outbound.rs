//! HTTP requests of the server to other servers: the machine's root certificates, rustls with ring, no redirects.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_rustls::rustls::crypto::ring;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Creates an HTTP client whose calls end after `call_max`. Error statuses are returned as responses, not as errors.
///
/// Redirects are not followed: the operator alone configures the servers that are contacted.
pub fn agent(call_max: Duration) -> Agent {
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .root_certs(roots())
        .build();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(call_max))
        .tls_config(tls)
        .build()
        .into()
}

/// The machine's root certificates, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name. Read once; without any, no
/// certificate is trusted.
fn roots() -> RootCerts {
    static ROOTS: OnceLock<RootCerts> = OnceLock::new();
    let load = || {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "a root certificate cannot be read: {error}");
        }
        let certificates: Vec<_> = found.certs.iter().map(|found| Certificate::from_der(found).to_owned()).collect();
        RootCerts::new_with_certs(&certificates)
    };
    ROOTS.get_or_init(load).clone()
}
