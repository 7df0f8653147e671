//! Limits log lines of libraries that warn once per connection to one a minute, so that clients cannot flood the log.

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;
use tracing::callsite::Identifier;
use tracing::{Level, Metadata};
use tracing_subscriber::layer::{Context, Filter};

use tidewatch_limits as limits;

/// Crates whose warnings are caused by what clients send.
const LIBRARIES: [&str; 4] = ["h2", "hyper", "hyper_util", "rustls"];

/// Lets each place in the code of such a library log once per [`limits::REJECTION_LOG_PAUSE`].
#[derive(Default)]
pub struct Throttle {
    /// When each place logged last. Bounded by the number of such places.
    logged: Mutex<HashMap<Identifier, Instant>>,
}

impl Throttle {
    fn is_due(&self, place: Identifier, now: Instant) -> bool {
        let mut logged = self.logged.lock();
        let is_due = logged.get(&place).is_none_or(|last| now.duration_since(*last) >= limits::REJECTION_LOG_PAUSE);
        if is_due {
            logged.insert(place, now);
        }
        is_due
    }
}

fn is_of_library(metadata: &Metadata<'_>) -> bool {
    let library = metadata.target().split("::").next().unwrap_or_default();
    // More detailed levels were enabled by the operator.
    *metadata.level() <= Level::WARN && metadata.is_event() && LIBRARIES.contains(&library)
}

impl<S> Filter<S> for Throttle {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        !is_of_library(metadata) || self.is_due(metadata.callsite(), Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use tracing_subscriber::Layer;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_warning_per_connection_is_one_line() {
        let lines = Lines::default();
        let writer = lines.clone();
        let format = tracing_subscriber::fmt::layer().with_writer(move || writer.clone()).with_ansi(false);
        let subscriber = tracing_subscriber::registry().with(format.with_filter(Throttle::default()));
        tracing::subscriber::with_default(subscriber, || {
            for connection in 0..100 {
                tracing::warn!(target: "h2::proto::streams", connection, "too many resets");
                tracing::warn!(connection, "our own");
            }
        });
        let text = String::from_utf8_lossy(&lines.0.lock()).into_owned();
        let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        assert_eq!((count("too many resets"), count("our own")), (1, 100));
    }
}
