//! Refused exports in the operator's log.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tidewatch_domain::model::Signal;

use super::outcome::{Refused, RejectReason};
use tidewatch_limits as limits;

/// Refused exports in the log: the first of a kind at once, then one line a while with how many there were.
#[derive(Default)]
pub struct RejectionLog {
    total: AtomicU64,
    kinds: Mutex<HashMap<(RejectReason, Signal), Kind>>,
}

struct Kind {
    /// Nanoseconds since the epoch.
    said_ns: i64,
    unsaid: u64,
    total: u64,
}

impl RejectionLog {
    pub fn add(&self, project: u32, signal: Signal, refused: &Refused, now_ns: i64) {
        self.total.fetch_add(1, Ordering::Relaxed);
        let Some(others) = self.due((refused.reason, signal), now_ns) else { return };
        let (reason, signal) = (refused.reason.as_str(), signal.as_str());
        let error = &refused.error;
        tracing::warn!(project, signal, reason, others, "refused an export of {signal}: {error} ({reason})");
    }

    /// All that were added: reason, signal, how many.
    pub fn by_kind(&self) -> Vec<(&'static str, &'static str, u64)> {
        let kinds = self.kinds.lock();
        let mut all: Vec<_> =
            kinds.iter().map(|((reason, signal), kind)| (reason.as_str(), signal.as_str(), kind.total)).collect();
        all.sort_unstable();
        all
    }

    /// All that were added.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// How many of this kind went unsaid since the last line, when it is time for another.
    fn due(&self, kind: (RejectReason, Signal), now_ns: i64) -> Option<u64> {
        let mut kinds = self.kinds.lock();
        let known = kinds.entry(kind).or_insert(Kind { said_ns: i64::MIN, unsaid: 0, total: 0 });
        known.total += 1;
        let pause_ns = limits::REJECTION_LOG_PAUSE.as_nanos() as i64;
        if now_ns.saturating_sub(known.said_ns) < pause_ns {
            known.unsaid += 1;
            return None;
        }
        known.said_ns = now_ns;
        Some(std::mem::take(&mut known.unsaid))
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
