//! The server's own TLS: both protocols, replaced certificates, handshakes that never end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidewatch_server::listen::ListenAddress;
use tidewatch_server::listen::tls::Tls;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::client::{Connection, arrive};
use crate::harness::Harness;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/tls").join(name)
}

/// A TLS client that trusts only this certificate.
fn client(trusted: &str, protocol: &[u8]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(fixture(trusted)).expect("a certificate")).expect("a root");
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    TlsConnector::from(Arc::new(config))
}

async fn server() -> (Harness, std::net::SocketAddr) {
    let harness = Harness::start_with(|config| {
        config.listen.push("tls:127.0.0.1:0".parse().expect("an address"));
        config.tls_certificate = Some(fixture("one.crt"));
        config.tls_key = Some(fixture("one.key"));
    })
    .await;
    let Some(&ListenAddress::Tls(address)) = harness.app().process.config.listen.last() else {
        panic!("no TLS address")
    };
    (harness, address)
}

#[tokio::test]
async fn https_with_transport_security() {
    let (mut harness, address) = server().await;
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TcpStream::connect(address).await.expect("the server listens");
    let mut stream = client("one.crt", b"http/1.1").connect(name.clone(), stream).await.expect("a handshake");
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.expect("it reads");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("strict-transport-security: max-age=31536000"), "{answer}");

    let stream = TcpStream::connect(address).await.expect("the server listens");
    let stream = client("one.crt", b"h2").connect(name.clone(), stream).await.expect("a handshake");
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    drop(stream);

    let stream = TcpStream::connect(address).await.expect("the server listens");
    assert!(client("two.crt", b"h2").connect(name, stream).await.is_err(), "another certificate");
    harness.stop().await;
}

#[tokio::test]
async fn a_handshake_that_never_ends_has_15_seconds() {
    let (_harness, address) = server().await;
    tokio::time::pause();
    let start = Instant::now();
    let connection = Connection::open(address).await;
    arrive().await;
    connection.rest().await;
    assert!((15..=18).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
}

#[test]
fn a_certificate_is_replaced_and_an_invalid_one_is_ignored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let put = |from: &str| {
        for ending in ["crt", "key"] {
            std::fs::copy(fixture(&format!("{from}.{ending}")), path(&format!("used.{ending}"))).expect("a copy");
        }
    };
    put("one");
    let tls = Tls::load(&path("used.crt"), &path("used.key")).expect("a certificate");
    assert!(!tls.reload().expect("as before"), "nothing new");
    put("two");
    assert!(tls.reload().expect("good files"));
    std::fs::write(path("used.key"), "half a key").expect("a file");
    assert!(tls.reload().is_err());
    std::fs::copy(fixture("one.key"), path("used.key")).expect("a copy");
    assert!(tls.reload().is_err(), "the key of another certificate");
    put("two");
    assert!(!tls.reload().expect("as before"), "the last good one stayed");
}
