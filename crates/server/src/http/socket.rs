//! Bound sockets: TCP, with TLS or without, and Unix.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;

use super::door::Caller;
use crate::listen::ListenAddress;
use crate::listen::tls::Tls;
use tidewatch_runtime::files;

/// A bound socket.
pub enum Socket {
    Tcp(TcpListener),
    Tls(TcpListener, Arc<Tls>),
    Unix(UnixListener, UnixPath),
}

/// The socket's file goes with it.
pub struct UnixPath(PathBuf);

impl Drop for UnixPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub enum Stream {
    Tcp(TcpStream),
    /// Before its handshake.
    Tls(TcpStream, TlsAcceptor),
    Unix(UnixStream),
}

/// A connection and whose it is.
pub struct Accepted {
    pub stream: Stream,
    pub caller: Caller,
}

impl Socket {
    /// `tls`: for addresses with TLS.
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
                    .and_then(|listener| files::open_socket_file(path).map(|()| listener))
                    .map(|listener| Socket::Unix(listener, UnixPath(path.clone())))
            }
        };
        bound.with_context(|| format!("cannot listen on {address}"))
    }

    /// With the port that was picked.
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

    pub async fn accept(&self) -> io::Result<Accepted> {
        match self {
            Socket::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Answers are small and wanted at once.
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
                // Whoever may open the socket's file is on this machine.
                let caller = Caller { peer: IpAddr::V4(Ipv4Addr::LOCALHOST), is_tls: false };
                Ok(Accepted { stream: Stream::Unix(stream), caller })
            }
        }
    }
}

/// A socket file that a killed server left behind: nobody answers there any more.
async fn remove_stale(path: &Path) {
    if let Err(error) = UnixStream::connect(path).await
        && error.kind() == io::ErrorKind::ConnectionRefused
    {
        let _ = std::fs::remove_file(path);
    }
}
