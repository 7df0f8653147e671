//! When a job is late: it has not reported for its period and grace.
//!
//! Reports that were due while no server could receive them are forgiven: the one of the next period counts. So a
//! restart, or a clock that jumps ahead, makes no job late.

use tidewatch_domain::units::SECOND_NS;

/// The times of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// Seconds between two reports.
    pub period_seconds: i64,
    /// Seconds that a report may be late.
    pub grace_seconds: i64,
    /// The latest report, nanoseconds since the epoch.
    pub ping_ns: i64,
}

/// The latest deadline that the job has missed at `now_ns`, nanoseconds since the epoch; `None`: it is not late.
///
/// `blind`: the latest time without a server, from and to.
pub fn missed_deadline_ns(job: Heartbeat, blind: Option<(i64, i64)>, now_ns: i64) -> Option<i64> {
    let period_ns = job.period_seconds.max(1).saturating_mul(SECOND_NS);
    let grace_ns = job.grace_seconds.max(0).saturating_mul(SECOND_NS);
    let first_ns = job.ping_ns.saturating_add(period_ns).saturating_add(grace_ns);
    let mut due_ns = first_ns;
    if let Some((from_ns, to_ns)) = blind
        && first_ns >= from_ns
    {
        // A job may also report somewhat early.
        let early_ns = grace_ns.min(period_ns / 2);
        let until_expected_ns = to_ns.saturating_add(early_ns).saturating_sub(job.ping_ns);
        let periods = until_expected_ns.div_euclid(period_ns).saturating_add(1).max(1);
        let expected_ns = job.ping_ns.saturating_add(periods.saturating_mul(period_ns));
        due_ns = expected_ns.saturating_add(grace_ns);
    }
    if now_ns <= due_ns {
        return None;
    }
    Some(due_ns + (now_ns - due_ns - 1).div_euclid(period_ns) * period_ns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An hourly job with five minutes of grace that reported at minute 0. Minutes: the blind time, now, the deadline.
    #[test]
    fn a_job_is_late_after_its_period_and_grace() {
        let job = Heartbeat { period_seconds: 3600, grace_seconds: 300, ping_ns: 0 };
        let minutes = |minutes: i64| minutes * 60 * SECOND_NS;
        for (blind, now, expected) in [
            (None, 30, None),
            (None, 65, None),
            (None, 66, Some(65)),
            (None, 124, Some(65)),
            (None, 126, Some(125)),
            (None, 660, Some(605)),
            // Blind when the report was due: the next one counts.
            (Some((50, 70)), 71, None),
            (Some((50, 70)), 125, None),
            (Some((50, 70)), 126, Some(125)),
            (Some((62, 63)), 66, None),
            // Blind long before it, or after it was late.
            (Some((10, 20)), 66, Some(65)),
            (Some((70, 80)), 81, Some(65)),
            // Blind for hours: a restart, or a clock that jumped ahead.
            (Some((1, 601)), 602, None),
            (Some((1, 601)), 665, None),
            (Some((1, 601)), 666, Some(665)),
        ] {
            let blind = blind.map(|(from, to)| (minutes(from), minutes(to)));
            assert_eq!(missed_deadline_ns(job, blind, minutes(now)), expected.map(minutes), "{blind:?} at {now}");
        }
    }

    proptest! {
        /// A job that reports within its grace is never late, whatever the server could not receive.
        #[test]
        fn jobs_that_report_are_never_late(
            period in 30..10_000_i64, grace in 0..1000_i64, jitter in prop::collection::vec(0..1000_i64, 1..30),
            from in 0..100_000_i64, length in 0..50_000_i64,
        ) {
            let grace = grace.min(period / 2);
            let (from, to) = (from * SECOND_NS, (from + length) * SECOND_NS);
            let mut ping_ns = 0;
            for (number, jitter) in jitter.into_iter().enumerate() {
                let at = ((number as i64 + 1) * period + jitter % (grace + 1)) * SECOND_NS;
                if (from..to).contains(&at) {
                    continue;
                }
                let job = Heartbeat { period_seconds: period, grace_seconds: grace, ping_ns };
                let blind = (to <= at).then_some((from, to));
                prop_assert_eq!(missed_deadline_ns(job, blind, at), None, "just before the report at {}", at);
                ping_ns = at;
            }
        }

        /// A job that stops is late after two periods at most, unless the server is blind.
        #[test]
        fn jobs_that_stop_are_late(period in 30..10_000_i64, grace in 0..1000_i64, now in 0..100_000_i64) {
            let job = Heartbeat { period_seconds: period, grace_seconds: grace, ping_ns: 0 };
            let late = missed_deadline_ns(job, None, now * SECOND_NS);
            prop_assert_eq!(late.is_some(), now > period + grace);
            if let Some(late) = late {
                prop_assert!(late < now * SECOND_NS && now * SECOND_NS - late <= period * SECOND_NS);
            }
        }
    }
}
