//! Bound sockets: TCP, with TLS or without, and Unix.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;

use crate::listen::ListenAddress;
use crate::listen::tls::Tls;
use tidewatch_runtime::files;

/// A bound socket.
pub enum Socket {
    /// TCP without TLS.
    Tcp(TcpListener),
    /// TCP with TLS. The certificate may change while the server runs.
    Tls(TcpListener, Arc<Tls>),
    /// A Unix domain socket, without TLS.
    Unix(UnixListener, UnixPath),
}

/// The path of a Unix socket. Dropping it removes the file.
pub struct UnixPath(PathBuf);

impl Drop for UnixPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The byte stream of an accepted connection.
pub enum Stream {
    /// TCP without TLS.
    Tcp(TcpStream),
    /// TCP before the TLS handshake.
    Tls(TcpStream, TlsAcceptor),
    /// A Unix domain socket.
    Unix(UnixStream),
}

/// The peer of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    /// The address of the other end; 127.0.0.1 on a Unix socket. It may be a proxy's.
    pub peer: IpAddr,
    /// Whether the connection is encrypted by this server.
    pub is_tls: bool,
}

/// An accepted connection.
pub struct Accepted {
    /// The connection's byte stream.
    pub stream: Stream,
    /// The connection's peer.
    pub caller: Caller,
}

impl Socket {
    /// Binds `address` and removes a stale Unix socket file. Addresses with TLS need `tls`. Fails if the address cannot
    /// be bound, or if `tls` is missing.
    pub async fn bind(address: &ListenAddress, tls: Option<&Arc<Tls>>) -> anyhow::Result<Socket> {
        let bound = match address {
            ListenAddress::Tcp(address) => TcpListener::bind(address).await.map(Socket::Tcp),
            ListenAddress::Tls(address) => {
                let tls = tls.context("TLS needs a certificate and its key: tls_certificate, tls_key")?.clone();
                TcpListener::bind(address).await.map(|listener| Socket::Tls(listener, tls))
            }
            ListenAddress::Unix(path) => {
                remove_stale(path).await;
                UnixListener::bind(path)
                    .and_then(|listener| files::set_socket_mode(path).map(|()| listener))
                    .map(|listener| Socket::Unix(listener, UnixPath(path.clone())))
            }
        };
        bound.with_context(|| format!("cannot listen on {address}"))
    }

    /// The bound address. A requested port of 0 is replaced by the port that the system chose.
    pub fn address(&self) -> anyhow::Result<ListenAddress> {
        match self {
            Socket::Tcp(listener) => {
                listener.local_addr().map(ListenAddress::Tcp).context("cannot learn the address listened on")
            }
            Socket::Tls(listener, _) => {
                listener.local_addr().map(ListenAddress::Tls).context("cannot learn the address listened on")
            }
            Socket::Unix(_, path) => Ok(ListenAddress::Unix(path.0.clone())),
        }
    }

    /// Waits for the next connection. Fails if the system cannot accept it, for instance without free file descriptors.
    pub async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Socket::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Responses are small: do not wait for more data.
                let _ = stream.set_nodelay(true);
                Ok(Accepted { stream: Stream::Tcp(stream), caller: Caller { peer: peer.ip(), is_tls: false } })
            }
            Socket::Tls(listener, tls) => {
                let (stream, peer) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                let stream = Stream::Tls(stream, tls.acceptor());
                Ok(Accepted { stream, caller: Caller { peer: peer.ip(), is_tls: true } })
            }
            Socket::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                // Only processes on this machine can open the socket's file.
                let caller = Caller { peer: IpAddr::V4(Ipv4Addr::LOCALHOST), is_tls: false };
                Ok(Accepted { stream: Stream::Unix(stream), caller })
            }
        }
    }
}

/// Removes the socket file of a killed server. Connections to it are refused.
async fn remove_stale(path: &Path) {
    if let Err(error) = UnixStream::connect(path).await
        && error.kind() == io::ErrorKind::ConnectionRefused
    {
        let _ = std::fs::remove_file(path);
    }
}
