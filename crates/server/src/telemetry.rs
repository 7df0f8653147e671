//! Our own logs: one line per event on standard error; `RUST_LOG` chooses what is shown (default `info`).

use std::collections::HashMap;
use std::io::IsTerminal;

use parking_lot::Mutex;
use tidewatch_domain::model::Signal;
use tracing_subscriber::EnvFilter;

use crate::ingest::outcome::{Refused, RejectReason};
use crate::limits;

/// Starts logging. Later calls change nothing (tests call it more than once).
pub fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let colours = std::io::stderr().is_terminal();
    let format = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colours);
    let _ = format.try_init();
}

/// Refused exports in the log: the first of a kind at once, then one line a while with how many there were.
#[derive(Default)]
pub struct RejectionLog {
    kinds: Mutex<HashMap<(RejectReason, Signal), Kind>>,
}

struct Kind {
    /// Nanoseconds since the epoch.
    said_ns: i64,
    unsaid: u64,
}

impl RejectionLog {
    pub fn add(&self, project: u32, signal: Signal, refused: &Refused, now_ns: i64) {
        let Some(others) = self.due((refused.reason, signal), now_ns) else { return };
        let (reason, signal) = (refused.reason.as_str(), signal.as_str());
        let error = &refused.error;
        tracing::warn!(project, signal, reason, others, "refused an export of {signal}: {error} ({reason})");
    }

    /// How many of this kind went unsaid since the last line, when it is time for another.
    fn due(&self, kind: (RejectReason, Signal), now_ns: i64) -> Option<u64> {
        let mut kinds = self.kinds.lock();
        match kinds.get_mut(&kind) {
            Some(known) if now_ns - known.said_ns < limits::REJECTION_LOG_PAUSE.as_nanos() as i64 => {
                known.unsaid += 1;
                None
            }
            Some(known) => {
                known.said_ns = now_ns;
                Some(std::mem::take(&mut known.unsaid))
            }
            None => {
                kinds.insert(kind, Kind { said_ns: now_ns, unsaid: 0 });
                Some(0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_minute_for_each_kind() {
        let log = RejectionLog::default();
        let bad_token = (RejectReason::BadToken, Signal::Traces);
        let second = 1_000_000_000;
        for (at, kind, expected) in [
            (0, bad_token, Some(0)),
            (0, (RejectReason::BadToken, Signal::Logs), Some(0)),
            (second, bad_token, None),
            (59 * second, bad_token, None),
            (60 * second, bad_token, Some(2)),
            (61 * second, bad_token, None),
        ] {
            assert_eq!(log.due(kind, at), expected, "{at}");
        }
    }
}
