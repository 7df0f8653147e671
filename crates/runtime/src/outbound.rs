//! HTTP requests of the server to other servers: the machine's root certificates, rustls with ring, no redirects.
//!
//! - this module: servers that the operator configures.
//! - [`guarded`]: servers that users configure. [`policy`]: which addresses of these are contacted.
//!
//! Invariant: the address that was checked is the address of the connection.

pub mod guarded;
pub mod policy;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_rustls::rustls::crypto::ring;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::typestate::AgentScope;

/// Creates an HTTP client whose calls end after `call_max`. Error statuses are returned as responses, not as errors.
///
/// Redirects are not followed: the operator alone configures the servers that are contacted.
pub fn agent(call_max: Duration) -> Agent {
    config(call_max).build().into()
}

fn config(call_max: Duration) -> ConfigBuilder<AgentScope> {
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
