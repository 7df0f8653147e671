//! What a connection is doing, and when that has taken too long: headers that never end, or nothing at all.
//!
//! Spec: limits, rows "Headers" (15 s) and "Idle keep-alive" (2 min). hyper has one timer for both; telling a slow head
//! from a quiet client takes a look at when the first byte came. On HTTP/2 bytes between requests may be pings, so
//! there only the first head is timed; later ones are bounded by the idle time and by hyper.

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
    /// Waiting for the rest of a request's head, since this moment.
    Head(Instant),
    /// Requests in flight.
    Busy(usize),
    /// Nothing since this moment.
    Idle(Instant),
    /// Answered and closed on our side, since this moment; the client may still be sending.
    Lingering(Instant),
    /// To be closed, because others want its place.
    Evicted,
}

/// Shared by the socket, the service and the watch of one connection.
#[derive(Debug)]
pub struct Activity {
    state: Mutex<State>,
    evicted: Notify,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Known from the first bytes.
    is_http2: Option<bool>,
    /// Where the bytes of HTTP/1 are: some may have come that hyper has not looked at.
    framing: Framing,
    /// The last answer was given before its request's body was read.
    has_unread: bool,
}

/// One request in flight; dropping it ends the request.
pub struct InFlight(Arc<Activity>);

/// How often a connection is looked at; timeouts are late by at most this.
const STEP: Duration = Duration::from_secs(3);
/// How an HTTP/2 connection begins.
const HTTP2_START: &[u8] = b"PRI";

impl Activity {
    /// A connection just accepted: its first head is due.
    pub fn start() -> Arc<Activity> {
        let state = State {
            phase: Phase::Head(Instant::now()),
            is_http2: None,
            framing: Framing::default(),
            has_unread: false,
        };
        Arc::new(Activity { state: Mutex::new(state), evicted: Notify::new() })
    }

    /// The first head is due from now on: a handshake is over.
    pub fn begins(&self) {
        let mut state = self.state.lock();
        if let Phase::Head(since) = &mut state.phase {
            *since = Instant::now();
        }
    }

    /// Since when nobody waits for anything here; `None` while somebody does.
    pub fn idle_since(&self) -> Option<Instant> {
        match self.state.lock().phase {
            Phase::Head(since) | Phase::Idle(since) | Phase::Lingering(since) => Some(since),
            Phase::Busy(_) | Phase::Evicted => None,
        }
    }

    /// Ends the connection, unless a request is in flight: then false.
    pub fn evict(&self) -> bool {
        let mut state = self.state.lock();
        if let Phase::Busy(_) = state.phase {
            return false;
        }
        state.phase = Phase::Evicted;
        self.evicted.notify_one();
        true
    }

    pub fn request(self: &Arc<Activity>) -> InFlight {
        let mut state = self.state.lock();
        state.phase = match state.phase {
            Phase::Busy(count) => Phase::Busy(count + 1),
            Phase::Head(_) | Phase::Idle(_) | Phase::Lingering(_) => Phase::Busy(1),
            Phase::Evicted => Phase::Evicted,
        };
        InFlight(self.clone())
    }

    /// The request was refused before its body was read: closing at once could cost its sender the answer.
    pub fn leaves_unread(&self) {
        self.state.lock().has_unread = true;
    }

    fn bytes_came(&self, bytes: &[u8]) {
        let mut state = self.state.lock();
        if *state.is_http2.get_or_insert_with(|| bytes.starts_with(HTTP2_START)) {
            return;
        }
        state.framing.follow(bytes);
        if let Phase::Idle(_) = state.phase {
            state.phase = Phase::Head(Instant::now());
        }
    }

    fn is_busy(&self) -> bool {
        matches!(self.state.lock().phase, Phase::Busy(_))
    }

    /// A slow reader of a large answer is not idle.
    fn bytes_went(&self) {
        let mut state = self.state.lock();
        if let Phase::Idle(since) = &mut state.phase {
            *since = Instant::now();
        }
    }

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

    /// Completes when the connection has waited too long, or others want its place.
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
            // It came behind the request that just ended.
            _ if state.framing.is_in_head() => Phase::Head(Instant::now()),
            _ => Phase::Idle(Instant::now()),
        };
    }
}

/// The socket, telling the connection's [`Activity`] when bytes come and go.
pub struct Watched<S> {
    stream: S,
    activity: Arc<Activity>,
    is_https: bool,
    /// What is being written in place of hyper's refusal.
    refusal: Option<Refusal>,
    is_shut: bool,
}

struct Refusal {
    bytes: Vec<u8>,
    written: usize,
}

impl<S> Watched<S> {
    pub fn new(stream: S, activity: Arc<Activity>, is_https: bool) -> Watched<S> {
        Watched { stream, activity, is_https, refusal: None, is_shut: false }
    }
}

impl<S: AsyncWrite + Unpin> Watched<S> {
    /// Instead of `bytes`, when they are hyper's refusal of a head it cannot read: ours. Ready when all of it is written.
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
            self.activity.bytes_came(&buffer.filled()[before..]);
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
        self.activity.bytes_went();
        Poll::Ready(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// After a refusal whose request is still coming: what comes is thrown away until the client closes, or
    /// [`limits::LINGER_MAX`]. Closing at once would reset the connection, and a sender that sees a reset instead of
    /// 413 sends again.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_shut {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            self.is_shut = true;
        }
        if !self.activity.lingers() {
            return Poll::Ready(Ok(()));
        }
        let mut waste = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut waste);
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
        self.activity.bytes_went();
        Poll::Ready(written)
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
        slow_head.bytes_came(b"G");
        assert_eq!(given_up_after(&slow_head).await, 15, "a second head that never ends");

        let pipelined = Activity::start();
        let request = pipelined.request();
        pipelined.bytes_came(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTT");
        drop(request);
        assert_eq!(given_up_after(&pipelined).await, 15, "half a head in the packet of the request before it");
    }

    #[tokio::test(start_paused = true)]
    async fn requests_in_flight_are_left_alone() {
        let activity = Activity::start();
        let (first, second) = (activity.request(), activity.request());
        activity.bytes_came(HTTP2_START);
        drop(first);
        let patience = Duration::from_secs(3600);
        assert!(tokio::time::timeout(patience, activity.expired()).await.is_err());
        drop(second);
        assert_eq!(given_up_after(&activity).await, 120);
    }

    #[tokio::test(start_paused = true)]
    async fn pings_between_http2_requests_are_no_heads() {
        let activity = Activity::start();
        activity.bytes_came(b"PRI * HTTP/2.0");
        assert_eq!(given_up_after(&activity).await, 15, "the first head");
        drop(activity.request());
        activity.bytes_came(b"a ping");
        assert_eq!(given_up_after(&activity).await, 120);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_on_its_way_is_not_idle() {
        let activity = Activity::start();
        drop(activity.request());
        tokio::time::advance(Duration::from_secs(100)).await;
        activity.bytes_went();
        assert_eq!(given_up_after(&activity).await, 120);
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_refusal_with_something_unread_lingers() {
        let (activity, refused) = (Activity::start(), Activity::start());
        drop(activity.request());
        drop(refused.request());
        refused.leaves_unread();
        assert_eq!((activity.lingers(), refused.lingers()), (false, true));
        assert_eq!(given_up_after(&refused).await, limits::LINGER_MAX.as_secs());
    }
}
