//! The state of a connection, and its timeouts: an incomplete request head, and an idle connection.
//!
//! Spec: limits, rows "Headers" (15 s) and "Idle keep-alive" (2 min). hyper has one timer for both; the time of the
//! first byte distinguishes a slow head from an idle connection. On HTTP/2, bytes between requests may be pings, so
//! only the first head has a timeout; later ones are bounded by the idle timeout and by hyper.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Duration, Instant, sleep_until};

use super::framing::Framing;
use super::unparsed_request;
use tidewatch_limits as limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Reading a request head since this time.
    Head(Instant),
    /// The number of requests in flight.
    Busy(usize),
    /// No request and no bytes since this time.
    Idle(Instant),
    /// The response is sent and the write side is shut down since this time; the client may still be sending.
    Lingering(Instant),
    /// To be closed in favor of another connection.
    Evicted,
}

/// The state of one connection, shared by its byte stream, its service and its timeout.
#[derive(Debug)]
pub struct Activity {
    state: Mutex<State>,
    evicted: Notify,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// `None` before the first bytes.
    is_http2: Option<bool>,
    /// The position in the HTTP/1 request stream, which may be ahead of hyper's.
    framing: Framing,
    /// Whether a response was sent before its request's body was read to its end.
    has_unread: bool,
}

/// One request in flight; dropping it ends the request.
pub struct InFlight(Arc<Activity>);

/// The interval of timeout checks. Timeouts are late by at most this.
const STEP: Duration = Duration::from_secs(3);
/// The beginning of the HTTP/2 connection preface.
const HTTP2_START: &[u8] = b"PRI";

impl Activity {
    /// The state of an accepted connection, which waits for its first head.
    pub fn start() -> Arc<Activity> {
        let state = State {
            phase: Phase::Head(Instant::now()),
            is_http2: None,
            framing: Framing::default(),
            has_unread: false,
        };
        Arc::new(Activity { state: Mutex::new(state), evicted: Notify::new() })
    }

    /// Restarts the timeout of the first head, after the TLS handshake.
    pub fn restart_head(&self) {
        let mut state = self.state.lock();
        if let Phase::Head(since) = &mut state.phase {
            *since = Instant::now();
        }
    }

    /// The time since which no request is in flight; `None` while one is, and after an eviction.
    pub fn idle_since(&self) -> Option<Instant> {
        match self.state.lock().phase {
            Phase::Head(since) | Phase::Idle(since) | Phase::Lingering(since) => Some(since),
            Phase::Busy(_) | Phase::Evicted => None,
        }
    }

    /// Closes the connection. Returns false, without effect, if a request is in flight.
    pub fn evict(&self) -> bool {
        let mut state = self.state.lock();
        if let Phase::Busy(_) = state.phase {
            return false;
        }
        state.phase = Phase::Evicted;
        self.evicted.notify_one();
        true
    }

    /// Counts a request as in flight until the result is dropped.
    pub fn request(self: &Arc<Activity>) -> InFlight {
        let mut state = self.state.lock();
        state.phase = match state.phase {
            Phase::Busy(count) => Phase::Busy(count + 1),
            Phase::Head(_) | Phase::Idle(_) | Phase::Lingering(_) => Phase::Busy(1),
            Phase::Evicted => Phase::Evicted,
        };
        InFlight(self.clone())
    }

    /// Records that a response precedes the end of its request's body: an immediate close could lose the response.
    pub fn leave_unread(&self) {
        self.state.lock().has_unread = true;
    }

    fn on_read(&self, bytes: &[u8]) {
        let mut state = self.state.lock();
        if *state.is_http2.get_or_insert_with(|| bytes.starts_with(HTTP2_START)) {
            return;
        }
        state.framing.advance(bytes);
        if let Phase::Idle(_) = state.phase {
            state.phase = Phase::Head(Instant::now());
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.state.lock().phase, Phase::Busy(_))
    }

    /// Restarts the idle timeout: a slow reader of a large response is not idle.
    fn on_write(&self) {
        let mut state = self.state.lock();
        if let Phase::Idle(since) = &mut state.phase {
            *since = Instant::now();
        }
    }

    /// Whether the connection stays open after its last response, to read the rest of a request.
    fn lingers(&self) -> bool {
        let mut state = self.state.lock();
        let lingers = state.has_unread && state.is_http2 != Some(true);
        if lingers && !matches!(state.phase, Phase::Lingering(_)) {
            state.phase = Phase::Lingering(Instant::now());
        }
        lingers
    }

    fn deadline(&self) -> Option<Instant> {
        match self.state.lock().phase {
            Phase::Head(since) => Some(since + limits::HEADERS_MAX),
            Phase::Idle(since) => Some(since + limits::IDLE_MAX),
            Phase::Lingering(since) => Some(since + limits::LINGER_MAX),
            Phase::Evicted => Some(Instant::now()),
            Phase::Busy(_) => None,
        }
    }

    /// Completes when a timeout of the connection ends, or when it is evicted.
    pub async fn expired(&self) {
        loop {
            let now = Instant::now();
            let next = match self.deadline() {
                Some(deadline) if deadline <= now => return,
                Some(deadline) => deadline.min(now + STEP),
                None => now + STEP,
            };
            tokio::select! {
                () = sleep_until(next) => {}
                () = self.evicted.notified() => return,
            }
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.phase = match state.phase {
            Phase::Evicted => Phase::Evicted,
            Phase::Busy(count) if count > 1 => Phase::Busy(count - 1),
            // Part of the next head arrived with the request that just ended.
            _ if state.framing.is_in_head() => Phase::Head(Instant::now()),
            _ => Phase::Idle(Instant::now()),
        };
    }
}

/// A byte stream that reports reads and writes to the connection's [`Activity`].
pub struct Watched<S> {
    stream: S,
    activity: Arc<Activity>,
    is_https: bool,
    /// The response that is being written in place of hyper's.
    refusal: Option<Refusal>,
    is_shut: bool,
}

struct Refusal {
    bytes: Vec<u8>,
    written: usize,
}

impl<S> Watched<S> {
    /// `is_https` selects the headers of responses to unparsed requests.
    pub fn new(stream: S, activity: Arc<Activity>, is_https: bool) -> Watched<S> {
        Watched { stream, activity, is_https, refusal: None, is_shut: false }
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Writes our response in place of `bytes` if they are hyper's response to a head that it cannot parse. Ready when
    /// all of it is written; `None` for other bytes.
    fn poll_refusal(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<usize>>> {
        if self.refusal.is_none() {
            if self.activity.is_busy() {
                return None;
            }
            let bytes = unparsed_request::refusal(bytes, self.is_https)?;
            self.refusal = Some(Refusal { bytes, written: 0 });
        }
        let refusal = self.refusal.as_mut()?;
        while refusal.written < refusal.bytes.len() {
            match Pin::new(&mut self.stream).poll_write(context, &refusal.bytes[refusal.written..]) {
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into()))),
                Poll::Ready(Ok(written)) => refusal.written += written,
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => return Some(Poll::Pending),
            }
        }
        self.refusal = None;
        Some(Poll::Ready(Ok(bytes.len())))
    }
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
            self.activity.on_read(&buffer.filled()[before..]);
        }
        polled
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(polled) = self.poll_refusal(context, bytes) {
            return polled;
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        self.activity.on_write();
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// After a response to a request that is still being received, discards input until the client closes the
    /// connection, at most for [`limits::LINGER_MAX`]. An immediate close would reset the connection, and a client that
    /// sees a reset instead of 413 retries.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_shut {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            self.is_shut = true;
        }
        if !self.activity.lingers() {
            return Poll::Ready(Ok(()));
        }
        let mut discarded = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut discarded);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                _ => return Poll::Ready(Ok(())),
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = slices.first()
            && let Some(polled) = self.poll_refusal(context, first)
        {
            return polled;
        }
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, slices));
        self.activity.on_write();
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Virtual seconds until the connection expires.
    async fn expires_after(activity: &Activity) -> u64 {
        let start = Instant::now();
        activity.expired().await;
        start.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_15_seconds_and_an_idle_connection_two_minutes() {
        let silent = Activity::start();
        assert_eq!(expires_after(&silent).await, 15, "nothing after connecting");

        let idle = Activity::start();
        drop(idle.request());
        assert_eq!(expires_after(&idle).await, 120, "keep-alive");

        let slow_head = Activity::start();
        drop(slow_head.request());
        slow_head.on_read(b"G");
        assert_eq!(expires_after(&slow_head).await, 15, "an incomplete second head");

        let pipelined = Activity::start();
        let request = pipelined.request();
        pipelined.on_read(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTT");
        drop(request);
        assert_eq!(expires_after(&pipelined).await, 15, "half a head in the packet of the request before it");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_in_flight_do_not_expire() {
        let activity = Activity::start();
        let (first, second) = (activity.request(), activity.request());
        activity.on_read(HTTP2_START);
        drop(first);
        let hour = Duration::from_secs(3600);
        assert!(tokio::time::timeout(hour, activity.expired()).await.is_err());
        drop(second);
        assert_eq!(expires_after(&activity).await, 120);
    }

    #[tokio::test(start_paused = true)]
    async fn pings_between_http2_requests_are_no_heads() {
        let activity = Activity::start();
        activity.on_read(b"PRI * HTTP/2.0");
        assert_eq!(expires_after(&activity).await, 15, "the first head");
        drop(activity.request());
        activity.on_read(b"a ping");
        assert_eq!(expires_after(&activity).await, 120);
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_being_sent_is_not_idle() {
        let activity = Activity::start();
        drop(activity.request());
        tokio::time::advance(Duration::from_secs(100)).await;
        activity.on_write();
        assert_eq!(expires_after(&activity).await, 120);
    }

    #[tokio::test(start_paused = true)]
    async fn only_responses_to_unread_bodies_linger() {
        let (activity, refused) = (Activity::start(), Activity::start());
        drop(activity.request());
        drop(refused.request());
        refused.leave_unread();
        assert_eq!((activity.lingers(), refused.lingers()), (false, true));
        assert_eq!(expires_after(&refused).await, limits::LINGER_MAX.as_secs());
    }
}
