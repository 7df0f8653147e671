//! `admin.sock` in the data directory: connects `tidewatch backup` to the running server.
//!
//! One request and one answer per connection, each a line of JSON. Only processes of the server's own user and of root
//! are accepted, whatever the permissions of the directory.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Mutex, watch};

use super::source::Serving;
use super::write;
use crate::contexts::Process;
use tidewatch_limits as limits;

/// File name of the socket.
pub const NAME: &str = "admin.sock";

/// A request to write a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    /// Absolute path that does not exist or is an empty directory.
    pub target: PathBuf,
    /// Whether to copy the keys in `secrets/`.
    pub with_secrets: bool,
}

impl Request {
    /// Parses one line of JSON. An error if it is malformed or the target is not absolute.
    pub fn parse(line: &[u8]) -> anyhow::Result<Request> {
        let request: Request = serde_json::from_slice(line).context("the request cannot be read")?;
        ensure!(request.target.is_absolute(), "the target {} is not absolute", request.target.display());
        Ok(request)
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// The backup is written.
    Done {
        /// Number of files.
        files: usize,
        /// Their total size in bytes.
        bytes: u64,
    },
    /// The backup failed.
    Failed {
        /// Reason, as a sentence.
        error: String,
    },
}

/// Answers requests until `stopped`. If the socket cannot be created, a warning is logged and the server continues.
pub async fn serve(source: Serving, process: Arc<Process>, mut stopped: watch::Receiver<bool>) {
    let path = process.config.data_dir.join(NAME);
    let listener = match listen(&path) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(%error, "tidewatch backup cannot reach this server: cannot listen on {}", path.display());
            return;
        }
    };
    let one_at_a_time = Arc::new(Mutex::new(()));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let (source, process) = (source.clone(), process.clone());
                drop(tokio::spawn(answer(source, process, stream, one_at_a_time.clone())));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection on {}", path.display());
                tokio::time::sleep(limits::ADMIN_ACCEPT_PAUSE).await;
            }
        }
    }
    let _ = fs::remove_file(&path);
}

/// This process holds the lock of the data directory, so an existing socket is stale.
fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn answer(source: Serving, process: Arc<Process>, mut stream: UnixStream, one_at_a_time: Arc<Mutex<()>>) {
    let done = match is_allowed(&stream) {
        true => act(source, &process, &mut stream, &one_at_a_time).await,
        false => Err(anyhow::anyhow!("only the server's own user and root are answered")),
    };
    let answer = done.unwrap_or_else(|error| {
        tracing::error!("a backup failed: {error:#}");
        Answer::Failed { error: format!("{error:#}") }
    });
    let mut line = serde_json::to_vec(&answer).expect("an answer has a text");
    line.push(b'\n');
    // A client that has disconnected finds the backup, or none.
    let _ = stream.write_all(&line).await;
}

fn is_allowed(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own.as_raw() || peer.uid() == 0)
}

async fn act(
    source: Serving,
    process: &Process,
    stream: &mut UnixStream,
    one_at_a_time: &Mutex<()>,
) -> anyhow::Result<Answer> {
    let mut line = Vec::new();
    let mut reader = tokio::io::BufReader::new(stream).take(limits::ADMIN_REQUEST_BYTES_MAX);
    let read = tokio::time::timeout(limits::ADMIN_REQUEST_MAX, reader.read_until(b'\n', &mut line));
    read.await.context("the request did not come in time")?.context("cannot read the request")?;
    let Request { target, with_secrets } = Request::parse(&line)?;
    let _guard = one_at_a_time.try_lock().context("another backup is being written")?;
    tracing::info!(target = %target.display(), with_secrets, "writing a backup to {}", target.display());
    let made_ns = process.clock.now_ns();
    let data = process.config.data_dir.clone();
    let written =
        tokio::task::spawn_blocking(move || write::write(&source, &data, &target, with_secrets, made_ns)).await;
    let manifest = written.context("writing it failed")??;
    tracing::info!("the backup is written: {}", manifest.summary());
    Ok(Answer::Done { files: manifest.files.len(), bytes: manifest.bytes() })
}

/// Sends a request to the server that uses `data`, and waits for the answer. `None`: no server listens. Blocks until
/// the backup is done.
pub fn send_request(data: &Path, request: &Request) -> anyhow::Result<Option<Answer>> {
    let path = data.join(NAME);
    let mut stream = match BlockingStream::connect(&path) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Ok(None);
        }
        Err(error) => {
            let path = path.display();
            return Err(error).with_context(|| format!("cannot reach the server on {path}; run this as its user"));
        }
    };
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    let mut answer = String::new();
    let exchanged = stream.write_all(&line).and_then(|()| BufReader::new(&stream).read_line(&mut answer));
    exchanged.with_context(|| format!("the server on {} went away", path.display()))?;
    let answer = serde_json::from_str(&answer).context("the server went away before the backup was complete")?;
    Ok(Some(answer))
}
