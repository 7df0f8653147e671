//! TLS termination: a certificate and its key from files, reloaded when they change. HTTP/2 and HTTP/1.1 by ALPN.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use parking_lot::Mutex;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate that may be replaced while the server runs.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: Mutex<Current>,
}

struct Current {
    /// Content of the files: certificate chain and key.
    read: [Vec<u8>; 2],
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Loads PEM files: the chain, with the server's own certificate first, and its key. An error if they cannot be
    /// used.
    pub fn load(certificate: &Path, key: &Path) -> anyhow::Result<Tls> {
        let current = Mutex::new(Current::load(certificate, key)?);
        Ok(Tls { certificate: certificate.to_owned(), key: key.to_owned(), current })
    }

    /// The acceptor for new connections.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.current.lock().acceptor.clone()
    }

    /// Reloads the files. Returns whether they changed. Files that cannot be used are an error, and the old certificate
    /// stays. Blocks.
    pub fn reload(&self) -> anyhow::Result<bool> {
        let current = Current::load(&self.certificate, &self.key)?;
        let mut known = self.current.lock();
        let is_new = current.read != known.read;
        if is_new {
            *known = current;
        }
        Ok(is_new)
    }
}

impl Current {
    fn load(certificate: &Path, key: &Path) -> anyhow::Result<Current> {
        let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let (chain_text, key_text) = (read(certificate)?, read(key)?);
        let chain = CertificateDer::pem_slice_iter(&chain_text).collect::<Result<Vec<_>, _>>();
        let chain = chain.with_context(|| format!("{} holds no PEM certificates", certificate.display()))?;
        ensure!(!chain.is_empty(), "{} holds no PEM certificates", certificate.display());
        let private = PrivateKeyDer::from_pem_slice(&key_text);
        let private = private.with_context(|| format!("{} holds no PEM key", key.display()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .context("the certificate and the key do not fit")?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Current { read: [chain_text, key_text], acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}
