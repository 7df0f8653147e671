//! HTTP/1.1 to one server over one connection, which ends when its future or its answer is dropped.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderMap};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use url::{Position, Url};

/// One request.
pub struct Hop {
    /// The address, `http` or `https`.
    pub url: Url,
    /// The method.
    pub method: Method,
    /// The headers; `Host` is added if it is missing.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// A response, and the task that drives its connection while it is read.
pub struct Answer {
    response: Response<Incoming>,
    _connection: Connection,
}

/// Ends a connection when it is dropped.
struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Answer {
    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Reads the start of the body. Returns whether it goes on.
    pub async fn read(self, bytes_max: usize) -> Result<(Vec<u8>, bool), String> {
        let mut body = self.response.into_body();
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| format!("the body ends early: {}", cause(&error)))?;
            let Ok(data) = frame.into_data() else { continue };
            let left = bytes_max - read.len();
            read.extend_from_slice(&data[..data.len().min(left)]);
            if data.len() > left {
                return Ok((read, true));
            }
        }
        Ok((read, false))
    }
}

/// Sends a request to a server that the operator has configured, wherever it is.
pub async fn send(hop: &Hop) -> Result<Answer, String> {
    let host = hop.url.host_str().ok_or("the address has no host")?;
    let port = hop.url.port_or_known_default().ok_or("the address has no port")?;
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let connected = TcpStream::connect((name, port)).await;
    let stream = connected.map_err(|error| format!("cannot connect to {host}:{port}: {error}"))?;
    match hop.url.scheme() {
        "https" => exchange(handshake(stream, host, true).await?, hop).await,
        _ => exchange(stream, hop).await,
    }
}

/// Sends the request and waits for the head of the response.
pub async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    hop: &Hop,
) -> Result<Answer, String> {
    let failed = |error: hyper::Error| format!("no HTTP response: {}", cause(&error));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // Its end is seen by the response.
    let connection = Connection(tokio::spawn(async move { drop(connection.await) }));
    let target = &hop.url[Position::BeforePath..Position::AfterQuery];
    let mut request = Request::builder().method(&hop.method).uri(target);
    if !hop.headers.contains_key(HOST) {
        request = request.header(HOST, &hop.url[Position::BeforeHost..Position::AfterPort]);
    }
    let mut request = request.body(Full::new(hop.body.clone())).map_err(|error| error.to_string())?;
    for (name, value) in &hop.headers {
        request.headers_mut().insert(name, value.clone());
    }
    let response = sender.send_request(request).await.map_err(failed)?;
    Ok(Answer { response, _connection: connection })
}

/// The innermost cause, which names what happened.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// Makes a TLS handshake. Without `verifies` any certificate is accepted.
pub async fn handshake(stream: TcpStream, server_name: &str, verifies: bool) -> Result<TlsStream<TcpStream>, String> {
    let name = server_name.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(name).map_err(|_| format!("{server_name} is no name of a certificate"))?;
    let config = client_config(verifies).map_err(|error| format!("TLS is not available: {error}"))?;
    let connected = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    connected.map_err(|error| format!("the TLS handshake failed: {error}"))
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
