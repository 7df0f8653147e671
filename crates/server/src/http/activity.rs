//! What a connection is doing, and when that has taken too long: headers that never end, or nothing at all.
//!
//! Spec: limits, rows "Headers" (15 s) and "Idle keep-alive" (2 min). hyper has one timer for both; telling a slow head
//! from a quiet client takes a look at when the first byte came.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Duration, Instant, sleep_until};

use crate::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Waiting for the rest of a request's head, since this moment.
    Head(Instant),
    /// Requests in flight.
    Busy(usize),
    /// Nothing since this moment.
    Idle(Instant),
}

/// Shared by the socket, the service and the watch of one connection.
#[derive(Debug)]
pub struct Activity {
    phase: Mutex<Phase>,
}

/// One request in flight; dropping it ends the request.
pub struct InFlight(Arc<Activity>);

/// How often a connection is looked at; timeouts are late by at most this.
const STEP: Duration = Duration::from_secs(3);

impl Activity {
    /// A connection just accepted: its first head is due.
    pub fn start() -> Arc<Activity> {
        Arc::new(Activity { phase: Mutex::new(Phase::Head(Instant::now())) })
    }

    pub fn request(self: &Arc<Activity>) -> InFlight {
        let mut phase = self.phase.lock();
        *phase = match *phase {
            Phase::Busy(count) => Phase::Busy(count + 1),
            Phase::Head(_) | Phase::Idle(_) => Phase::Busy(1),
        };
        InFlight(self.clone())
    }

    fn bytes_came(&self) {
        let mut phase = self.phase.lock();
        if let Phase::Idle(_) = *phase {
            *phase = Phase::Head(Instant::now());
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match *self.phase.lock() {
            Phase::Head(since) => Some(since + limits::HEADERS_MAX),
            Phase::Idle(since) => Some(since + limits::IDLE_MAX),
            Phase::Busy(_) => None,
        }
    }

    /// Completes when the connection has waited too long.
    pub async fn expired(&self) {
        loop {
            let now = Instant::now();
            match self.deadline() {
                Some(deadline) if deadline <= now => return,
                Some(deadline) => sleep_until(deadline.min(now + STEP)).await,
                None => sleep_until(now + STEP).await,
            }
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut phase = self.0.phase.lock();
        *phase = match *phase {
            Phase::Busy(count) if count > 1 => Phase::Busy(count - 1),
            _ => Phase::Idle(Instant::now()),
        };
    }
}

/// The socket, telling the connection's [`Activity`] when bytes come.
pub struct Watched<S> {
    pub stream: S,
    pub activity: Arc<Activity>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if polled.is_ready() && buffer.filled().len() > before {
            self.activity.bytes_came();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Virtual seconds until the connection is given up.
    async fn given_up_after(activity: &Activity) -> u64 {
        let start = Instant::now();
        activity.expired().await;
        start.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_15_seconds_and_silence_two_minutes() {
        let silent = Activity::start();
        assert_eq!(given_up_after(&silent).await, 15, "nothing after connecting");

        let idle = Activity::start();
        drop(idle.request());
        assert_eq!(given_up_after(&idle).await, 120, "keep-alive");

        let slow_head = Activity::start();
        drop(slow_head.request());
        slow_head.bytes_came();
        assert_eq!(given_up_after(&slow_head).await, 15, "a second head that never ends");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_in_flight_are_left_alone() {
        let activity = Activity::start();
        let (first, second) = (activity.request(), activity.request());
        activity.bytes_came();
        drop(first);
        let patience = Duration::from_secs(3600);
        assert!(tokio::time::timeout(patience, activity.expired()).await.is_err());
        drop(second);
        assert_eq!(given_up_after(&activity).await, 120);
    }
}
