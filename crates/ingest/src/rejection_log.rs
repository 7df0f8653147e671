//! Refused exports in the operator's log.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tidewatch_domain::model::RequestKind;

use super::outcome::{Refused, RejectReason};
use tidewatch_limits as limits;

/// Logs refused exports: the first of a reason and signal at once, then one line per [`limits::REJECTION_LOG_PAUSE`]
/// with the number of others.
#[derive(Default)]
pub struct RejectionLog {
    total: AtomicU64,
    kinds: Mutex<HashMap<(RejectReason, RequestKind), Kind>>,
}

struct Kind {
    /// When the last line was logged. Nanoseconds since the epoch.
    logged_ns: i64,
    suppressed: u64,
    total: u64,
}

impl RejectionLog {
    /// Counts a refused export, and logs it if a line is due.
    pub fn add(&self, project: u32, kind: RequestKind, refused: &Refused, now_ns: i64) {
        self.total.fetch_add(1, Ordering::Relaxed);
        let Some(others) = self.due((refused.reason, kind), now_ns) else { return };
        let (reason, signal) = (refused.reason.as_str(), kind.as_str());
        let error = &refused.error;
        tracing::warn!(project, signal, reason, others, "refused an export of {signal}: {error} ({reason})");
    }

    /// Counts of all refused exports: reason, signal, count.
    pub fn by_kind(&self) -> Vec<(&'static str, &'static str, u64)> {
        let kinds = self.kinds.lock();
        let mut all: Vec<_> =
            kinds.iter().map(|((reason, signal), kind)| (reason.as_str(), signal.as_str(), kind.total)).collect();
        all.sort_unstable();
        all
    }

    /// Number of all refused exports.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Number of refusals not logged since the last line, when another line is due.
    fn due(&self, kind: (RejectReason, RequestKind), now_ns: i64) -> Option<u64> {
        let mut kinds = self.kinds.lock();
        let known = kinds.entry(kind).or_insert(Kind { logged_ns: i64::MIN, suppressed: 0, total: 0 });
        known.total += 1;
        let pause_ns = limits::REJECTION_LOG_PAUSE.as_nanos() as i64;
        if now_ns.saturating_sub(known.logged_ns) < pause_ns {
            known.suppressed += 1;
            return None;
        }
        known.logged_ns = now_ns;
        Some(std::mem::take(&mut known.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use tidewatch_domain::model::Signal;

    use super::*;

    #[test]
    fn one_line_a_minute_for_each_kind() {
        let log = RejectionLog::default();
        let bad_token = (RejectReason::BadToken, RequestKind::from(Signal::Traces));
        let second = 1_000_000_000;
        for (at, kind, expected) in [
            (0, bad_token, Some(0)),
            (0, (RejectReason::BadToken, Signal::Logs.into()), Some(0)),
            (second, bad_token, None),
            (59 * second, bad_token, None),
            (60 * second, bad_token, Some(2)),
            (61 * second, bad_token, None),
        ] {
            assert_eq!(log.due(kind, at), expected, "{at}");
        }
    }
}
