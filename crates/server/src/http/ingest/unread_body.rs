//! A request body that can be discarded after its reader gave up.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Frame;
use parking_lot::Mutex;

use tidewatch_limits as limits;

/// A body that is shared with its reader.
pub struct UnreadBody(Arc<Mutex<Body>>);

struct Shared(Arc<Mutex<Body>>);

impl hyper::body::Body for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.0.lock()).poll_frame(context)
    }
}

impl UnreadBody {
    /// Takes the body of a request.
    pub fn new(body: Body) -> UnreadBody {
        UnreadBody(Arc::new(Mutex::new(body)))
    }

    /// The body for a reader. What the reader leaves is discarded by [`UnreadBody::discard`].
    pub fn body(&self) -> Body {
        Body::new(Shared(self.0.clone()))
    }

    /// The whole body. `None` if it has more than `bytes_max` bytes, ends early, or takes longer than
    /// [`limits::LINGER_MAX`].
    pub async fn read(&self, bytes_max: usize) -> Option<Bytes> {
        let mut body = self.body();
        let read = async {
            let mut bytes = BytesMut::new();
            while let Some(frame) = body.frame().await {
                if let Ok(data) = frame.ok()?.into_data() {
                    bytes.extend_from_slice(&data);
                }
                if bytes.len() > bytes_max {
                    return None;
                }
            }
            Some(bytes.freeze())
        };
        tokio::time::timeout(limits::LINGER_MAX, read).await.ok()?
    }

    /// Reads and discards the rest of the body, within limits. The stream of a slow client is reset.
    pub async fn discard(self) {
        let mut body = self.body();
        let mut left = limits::OTLP.body_bytes_max;
        let read = async {
            while let Some(Ok(frame)) = body.frame().await {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                let Some(rest) = left.checked_sub(bytes) else { return };
                left = rest;
            }
        };
        let _ = tokio::time::timeout(limits::LINGER_MAX, read).await;
    }
}
